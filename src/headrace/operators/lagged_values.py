"""`lag`: the last values of each key, in a ring, and the value of the row so many before each one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.operators.arrow_types import arrow_type
from headrace.operators.kept_values import KeptValues
from headrace.operators.over_functions import Picked
from headrace.serial import NodeState
from headrace.serial.items import Fields
from headrace.serial.keys import Integers

_PLACE = "_place"


class LaggedValues:
    """As many values of each key as the function looks back: the row with the ordinal n is in place n modulo that."""

    def __init__(self, state: NodeState, name: str, key: Fields, function: Picked) -> None:
        self._offset = function.offset
        self._default = pa.scalar(function.default, arrow_type(function.type))
        columns = KeptValues.fields("", function.type)
        self._table = state.table(name, [*key, (_PLACE, pa.int32())], columns)
        self._kept = KeptValues(self._table, "", function.type)

    def of(
        self,
        column: pa.Array[Any],
        keys: Sequence[pa.Array[Any]],
        codes: Integers,
        starts: Integers,
        before: Integers,
    ) -> pa.Array[Any]:
        """For rows by key, each with the code of its key, the values that they look back at. `before` is how many rows
        each key had; these count from now on."""
        here = np.arange(len(codes))
        ordinals = before[codes] + here - starts[codes]
        source = here - self._offset
        is_here = source >= starts[codes]
        is_kept = ~is_here & (ordinals >= self._offset)
        slots = self._table.find(self._places(keys, codes[is_kept], ordinals[is_kept]))
        place = np.where(is_here, source + len(slots), 0)
        place[is_kept] = np.arange(len(slots))
        pool = pa.concat_arrays([self._kept.values(slots), column])
        is_there: Any = pa.array(is_here | is_kept)
        made = pc.if_else(is_there, pool.take(place), self._default)
        self._keep(column, keys, codes, ordinals)
        return cast("pa.Array[Any]", made)

    def _keep(self, column: pa.Array[Any], keys: Sequence[pa.Array[Any]], codes: Integers, ordinals: Integers) -> None:
        """The last rows of each key."""
        ends = np.append(np.flatnonzero(np.diff(codes)) + 1, len(codes))
        is_last = np.arange(len(codes)) >= ends[codes] - self._offset
        slots, _ = self._table.add(self._places(keys, codes[is_last], ordinals[is_last]))
        self._kept.keep(slots, column.filter(pa.array(is_last)))

    def _places(self, keys: Sequence[pa.Array[Any]], codes: Integers, ordinals: Integers) -> list[pa.Array[Any]]:
        return [*(key.take(codes) for key in keys), pa.array((ordinals % self._offset).astype(np.int32))]

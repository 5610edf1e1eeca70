"""Values of any type, nulls among them, as columns of a table by key."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.operators.arrow_types import arrow_type
from headrace.serial import KeyedTable
from headrace.serial.items import Fields
from headrace.serial.keys import Integers

# A value that nobody kept, one that is null, and any other.
_UNKNOWN, _NULL, _SOME = range(3)


class KeptValues:
    """One value for each key; a table keeps no nulls of numbers, so it is told beside whether there is one."""

    def __init__(self, table: KeyedTable, name: str, kind: str) -> None:
        self._table = table
        (self._value, self._type), (self._state, _) = self.fields(name, kind)

    @staticmethod
    def fields(name: str, kind: str) -> Fields:
        """The columns that the table needs for it."""
        return [(f"v{name}", arrow_type(kind)), (f"s{name}", pa.int8())]

    def are_known(self, slots: Integers) -> np.ndarray[Any, Any]:
        """Whether a value was kept, be it null."""
        return np.asarray(self._table[self._state][slots] != _UNKNOWN)

    def values(self, slots: Integers) -> pa.Array[Any]:
        """Null where none was kept."""
        is_some: Any = pa.array(self._table[self._state][slots] == _SOME)
        values: Any = self._table.values(self._value, slots)
        return cast("pa.Array[Any]", pc.if_else(is_some, values, pa.scalar(None, self._type)))

    def keep(self, slots: Integers, values: pa.Array[Any]) -> None:
        """Each slot at most once."""
        self._table.assign(self._value, slots, values)
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        self._table[self._state][slots] = np.where(valid, _SOME, _NULL)
        self._table.touch(slots)

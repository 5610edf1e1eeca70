"""The values of groups, for aggregates of all of them: each is a row of state, by its group and its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.operators.aggregates.numbers import row_numbers, valid_of
from headrace.serial import KeyedTable, NodeState
from headrace.serial.items import Fields
from headrace.serial.keys import Groups, Integers, order_of

# For all groups of a lane, of one column.
KEPT_VALUES_MAX = 20_000_000
_NUMBER, _VALUE = "_number", "_value"


class GroupValues:
    """Values are numbered from 0 in the order in which they came; how many a group has is kept with its aggregate."""

    def __init__(self, state: NodeState, name: str, key: Fields, type_: pa.DataType) -> None:
        """`key` are the columns that name a group."""
        self._table: KeyedTable = state.table(name, [*key, (_NUMBER, pa.int64())], [(_VALUE, type_)])
        self._type = type_

    def take_in(self, groups: Groups, values: pa.Array[Any], before: Integers) -> None:
        """`before`: how many values each group has already. Raises InvalidInput beyond the limit."""
        codes = groups.codes
        if values.null_count:
            valid = valid_of(values)
            codes, values = codes[valid], values.filter(pa.array(valid))
        if not len(codes):
            return
        if len(self._table) + len(codes) > KEPT_VALUES_MAX:
            hint = "use aggregates that do not need all values, such as avg and stddev, shorter windows, or more lanes"
            what = "collect_list, percentile and the like keep all values"
            raise InvalidInput(f"more than {KEPT_VALUES_MAX} values of open groups in a lane: {what}", hint=hint)
        counts = np.bincount(codes, minlength=groups.count)
        order = order_of(codes, groups.count)
        numbers = np.empty(len(codes), np.int64)
        numbers[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        owners = row_numbers(codes)
        slots, _ = self._table.add([*(key.take(owners) for key in groups.keys), pa.array(numbers + before[codes])])
        self._table.assign(_VALUE, slots, values)
        self._table.touch(slots)

    def of(self, keys: Sequence[pa.Array[Any]], counts: Integers) -> pa.Array[Any]:
        """The values of these groups, group by group."""
        return self._table.values(_VALUE, self._slots(keys, counts))

    def forget(self, keys: Sequence[pa.Array[Any]], counts: Integers) -> None:
        """The values of groups that end."""
        self._table.delete(self._slots(keys, counts))

    def _slots(self, keys: Sequence[pa.Array[Any]], counts: Integers) -> Integers:
        owners = row_numbers(np.repeat(np.arange(len(counts)), counts))
        if not len(owners):
            return np.empty(0, np.int64)
        numbers = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._table.find([*(key.take(owners) for key in keys), pa.array(numbers)])

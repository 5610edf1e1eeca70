"""Which values a group of rows has had: for count(DISTINCT …), under as many conditions as there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial import KeyedTable, NodeState, group
from headrace.serial.items import Fields
from headrace.serial.keys import Groups, Integers

# Beside the columns of the key. A bit for each condition that a value was seen under.
_VALUE, _SEEN, _END = "_value", "_seen", "_end"


class DistinctValues:
    """A table with a row for each group and value. Groups that end take their values with them."""

    def __init__(self, state: NodeState, name: str, key: Fields, type_: pa.DataType) -> None:
        """`key` are the columns that name a group."""
        columns = [(_SEEN, pa.int64()), (_END, pa.int64())]
        self._table: KeyedTable = state.table(name, [*key, (_VALUE, type_)], columns)

    def take_in(
        self, groups: Groups, values: pa.Array[Any], conditions: Integers, ends: Integers, bit_count: int
    ) -> list[Integers]:
        """For each condition how many values each group has now that it had not under it before; nulls are none.

        `conditions` has the bits of those that hold for each row, `ends` the time at which each group ends.
        """
        codes = groups.codes
        counts = conditions != 0
        if values.null_count:
            counts &= values.is_valid().to_numpy(zero_copy_only=False)
        if not counts.all():
            codes, values, conditions = codes[counts], values.filter(pa.array(counts)), conditions[counts]
        if not len(codes):
            return [np.zeros(groups.count, np.int64)] * bit_count
        pairs = group([pa.array(codes), values], len(codes))
        bits = np.zeros(pairs.count, np.int64)
        np.bitwise_or.at(bits, pairs.codes, conditions)
        owners = pairs.keys[0].to_numpy()
        fresh = self._mark([key.take(pairs.keys[0]) for key in groups.keys], pairs.keys[1], bits, ends[owners])
        return [np.bincount(owners[fresh >> bit & 1 == 1], minlength=groups.count) for bit in range(bit_count)]

    def _mark(self, keys: Sequence[pa.Array[Any]], values: pa.Array[Any], bits: Integers, ends: Integers) -> Integers:
        """Returns the bits that are new."""
        slots, _ = self._table.add([*keys, values])
        seen = self._table[_SEEN]
        fresh: Integers = bits & ~seen[slots]
        changed = slots[fresh != 0]
        seen[slots] |= bits
        self._table[_END][changed] = ends[fresh != 0]
        self._table.touch(changed)
        return fresh

    def end(self, at_us: int) -> None:
        """The values of groups that end by this time go."""
        slots = self._table.slots()
        self._table.delete(slots[self._table[_END][slots] <= at_us])

"""State by key: the last N numbers of each key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from headrace.serial.items import ALL_BUCKETS, Fields, Shape, StateItem
from headrace.serial.keys import Integers, KeyIndex, order_of

_SLOTS_FIRST = 64
_GROWTH = 4


class KeyedRings(StateItem):
    """The last `length` numbers of each key. A change is what was appended: not what is there."""

    kind = "rings"

    def __init__(self, key: Fields, length: int) -> None:
        self.key = tuple(key)
        self.length = length
        self.index = KeyIndex()
        self.values = np.zeros((_SLOTS_FIRST, length))
        self.counts = np.zeros(_SLOTS_FIRST, np.int64)
        """How many numbers each slot ever got: the next one goes to `counts % length`."""
        self._appended: list[tuple[Integers, np.ndarray[Any, Any]]] = []

    def add(self, keys: Sequence[pa.Array[Any]]) -> Integers:
        """Slots of these keys, made where they are new."""
        slots, _ = self.index.add(keys)
        if self.index.capacity > len(self.counts):
            self._grow(max(self.index.capacity, _GROWTH * len(self.counts)))
        return slots

    def _grow(self, size: int) -> None:
        used = len(self.counts)
        # Memory that is all zeros costs nothing before it is written to.
        values, counts = np.zeros((size, self.length)), np.zeros(size, np.int64)
        values[:used], counts[:used] = self.values, self.counts
        self.values, self.counts = values, counts

    def append(self, slots: Integers, ordinals: Integers, numbers: np.ndarray[Any, Any]) -> None:
        """Numbers for slots, in order; `ordinals` counts each slot's numbers of this call from 0."""
        # Where a slot gets more than `length` numbers, numpy keeps the last one written to a place.
        self.values[slots, (self.counts[slots] + ordinals) % self.length] = numbers
        self.counts += np.bincount(slots, minlength=len(self.counts))
        self.note(slots, numbers)

    def note(self, slots: Integers, numbers: np.ndarray[Any, Any]) -> None:
        """Called after numbers for slots, in order, were written to `values` and counted in `counts` by hand."""
        self._appended.append((slots, numbers))

    @property
    def shape(self) -> Shape:
        return {"keys": len(self.key), "length": self.length}

    @property
    def size(self) -> int:
        return int(np.minimum(self.counts, self.length).sum())

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table:
        slots = self.index.slots(buckets)
        return self._table(slots, self.counts[slots], self.values[self._places(slots, self.counts[slots])])

    def delta(self) -> pa.Table | None:
        if not self._appended:
            return None
        slots = np.concatenate([slots for slots, _ in self._appended])
        numbers = np.concatenate([numbers for _, numbers in self._appended])
        counts = np.bincount(slots, minlength=self.index.capacity)
        touched = np.flatnonzero(counts)
        sizes = counts[touched]
        ends = np.cumsum(sizes)
        # What was pushed out again by numbers after it is not written down.
        is_kept = np.arange(len(slots)) >= np.repeat(ends - self.length, sizes)
        return self._table(touched, sizes, numbers[order_of(slots, self.index.capacity)[is_kept]])

    def apply(self, change: pa.Table) -> None:
        self._restore(change, added=True)

    def replace(self, rows: pa.Table, buckets: range) -> None:
        """Keys never go, so all that were there are there again."""
        self._restore(rows, added=False)

    def _restore(self, rows: pa.Table, *, added: bool) -> None:
        """Takes in what `_table` made: instead of what there was, or `added` to it."""
        batch = rows.combine_chunks()
        if batch.num_rows:
            slots = self.add([one_array(batch[name]) for name, _ in self.key])
            counts = one_array(batch["count"]).to_numpy()
            after = self.counts[slots] + counts if added else counts
            lists = cast("pa.LargeListArray[Any]", one_array(batch["numbers"]))
            self.values[self._places(slots, after, counts)] = lists.flatten().to_numpy()
            self.counts[slots] = after
        self.mark_written()

    def mark_written(self) -> None:
        self._appended = []

    def _places(self, slots: Integers, counts: Integers, newest: Integers | None = None) -> tuple[Integers, Integers]:
        """Where the numbers of slots lie that got so many in all, the oldest first: of the `newest`, or of all."""
        kept = np.minimum(counts if newest is None else newest, self.length)
        ends = np.cumsum(kept)
        ordinals = np.arange(kept.sum()) - np.repeat(ends - kept, kept) + np.repeat(counts - kept, kept)
        return np.repeat(slots, kept), ordinals % self.length

    def _table(self, slots: Integers, counts: Integers, numbers: np.ndarray[Any, Any]) -> pa.Table:
        """How many numbers each slot got, and the last `length` of these."""
        ends = np.concatenate([[0], np.cumsum(np.minimum(counts, self.length))])
        lists = pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), pa.array(numbers))
        keys = self.index.arrays(slots, [type_ for _, type_ in self.key])
        names = [*(name for name, _ in self.key), "count", "numbers"]
        return pa.table([*keys, pa.array(counts), lists], names=names)


def one_array(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """A column without its division into chunks."""
    chunks: list[pa.Array[Any]] = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.nulls(0, column.type)])

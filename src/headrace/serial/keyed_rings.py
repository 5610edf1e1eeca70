"""State by key: the last N numbers of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from headrace.serial.items import ALL_BUCKETS, Fields, Shape, StateItem
from headrace.serial.keys import Integers, KeyIndex, group, ordinals_of

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
        self._put(slots, ordinals, numbers)
        self._appended.append((slots, numbers))

    def _put(self, slots: Integers, ordinals: Integers, numbers: np.ndarray[Any, Any]) -> None:
        # Where a slot gets more than `length` numbers, numpy keeps the last one written to a place.
        self.values[slots, (self.counts[slots] + ordinals) % self.length] = numbers
        self.counts += np.bincount(slots, minlength=len(self.counts))

    @property
    def shape(self) -> Shape:
        return {"keys": len(self.key), "length": self.length}

    @property
    def size(self) -> int:
        return int(np.minimum(self.counts, self.length).sum())

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table:
        slots = self.index.slots(buckets)
        kept = np.minimum(self.counts[slots], self.length)
        ends = np.concatenate([[0], np.cumsum(kept)])
        places = np.arange(ends[-1]) - np.repeat(ends[:-1], kept) + np.repeat(self.counts[slots] - kept, kept)
        numbers = self.values[np.repeat(slots, kept), places % self.length]
        lists = pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), pa.array(numbers))
        return self._table(slots, {"count": pa.array(self.counts[slots]), "numbers": lists})

    def delta(self) -> pa.Table | None:
        if not self._appended:
            return None
        slots = np.concatenate([slots for slots, _ in self._appended])
        return self._table(slots, {"number": pa.array(np.concatenate([numbers for _, numbers in self._appended]))})

    def apply(self, change: pa.Table) -> None:
        batch = change.combine_chunks()
        groups = group([one_array(batch[name]) for name, _ in self.key], batch.num_rows)
        slots = self.add(groups.keys)[groups.codes]
        self._put(slots, ordinals_of(groups.codes), one_array(batch["number"]).to_numpy())
        self.mark_written()

    def replace(self, rows: pa.Table, buckets: range) -> None:
        """Keys never go, so all that were there are there again."""
        batch = rows.combine_chunks()
        if batch.num_rows:
            self._restore(self.add([one_array(batch[name]) for name, _ in self.key]), batch)
        self.mark_written()

    def _restore(self, slots: Integers, batch: pa.Table) -> None:
        lists = cast("pa.LargeListArray[Any]", one_array(batch["numbers"]))
        counts = one_array(batch["count"]).to_numpy()
        kept = np.minimum(counts, self.length)
        ends = np.concatenate([[0], np.cumsum(kept)])
        places = np.arange(ends[-1]) - np.repeat(ends[:-1], kept) + np.repeat(counts - kept, kept)
        self.values[np.repeat(slots, kept), places % self.length] = lists.flatten().to_numpy()
        self.counts[slots] = counts

    def mark_written(self) -> None:
        self._appended = []

    def _table(self, slots: Integers, columns: Mapping[str, pa.Array[Any]]) -> pa.Table:
        # Slots are dense: to mark them is much faster than to sort them.
        is_there = np.zeros(len(self.counts), np.bool_)
        is_there[slots] = True
        different, places = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[slots]
        keys = [key.take(places) for key in self.index.arrays(different, [type_ for _, type_ in self.key])]
        return pa.table([*keys, *columns.values()], names=[*(name for name, _ in self.key), *columns])


def one_array(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """A column without its division into chunks."""
    chunks: list[pa.Array[Any]] = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.nulls(0, column.type)])

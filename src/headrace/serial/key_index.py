"""Rows by key: those that many keys at once belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute

from headrace.serial.keys import Integers
from headrace.serial.row_hash import RowHashes, is_permuted, row_hashes, words_of

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute
# Pairs that are made at once, unless one key alone has more.
PAIRS_MAX = 1 << 18
# Keys are found by their number alone where at most so many numbers lie between the least and the greatest: for each
# key, and in any case.
_SPAN_PER_KEY = 8
_SPAN_ALWAYS = 1 << 16

Keys: TypeAlias = "Sequence[pa.Array[Any]]"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Of the keys from `start` to `stop`: which of them (`asking`, ascending) belongs to which row (`found`)."""

    start: int
    stop: int
    asking: Integers
    found: Integers

    def where(self, is_kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Pairs:
        return self if is_kept.all() else Pairs(self.start, self.stop, self.asking[is_kept], self.found[is_kept])


class TableIndex:
    """Keys are columns of whole numbers, booleans, times or texts. One with a null in it equals no other."""

    def __init__(self, keys: Keys) -> None:
        places, columns = _without_nulls(keys)
        self._is_exact = is_permuted([column.type for column in columns])
        words = self._words(columns)
        order = np.argsort(words, kind="stable")
        if not self._is_exact:
            order = _together(order, words, columns)
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = words[order[1:]] != words[order[:-1]]
        if not self._is_exact:
            is_first[1:] |= ~_are_equal(columns, order[1:], columns, order[:-1])
        firsts = np.flatnonzero(is_first)
        # By slot, one for each key: its word, its values, and where in `_places` its rows begin.
        self._known = words[order[firsts]]
        self._columns = [column.take(order[firsts]) for column in columns]
        self._bounds = np.append(firsts, len(order))
        self._places = places[order]
        self._by_number = _by_number(self._known) if self._is_exact else None

    def slots(self, keys: Keys) -> Integers:
        """What stands for each key; -1 where it has no row."""
        slots = np.full(len(keys[0]), -1, np.int64)
        asking, columns = _without_nulls(keys)
        words = self._words(columns)
        if self._by_number is not None:
            first, slot_of = self._by_number
            # Below the first one the difference is a number beyond all others.
            steps = words - first
            is_inside = steps < len(slot_of)
            slots[asking] = np.where(is_inside, slot_of[np.where(is_inside, steps, 0).astype(np.int64)], -1)
        elif len(self._known):
            self._search(slots, asking, words, columns)
        return slots

    def find(self, keys: Keys) -> Iterator[Pairs]:
        """The rows of each key, in the order of the keys."""
        slots = self.slots(keys)
        asking = np.flatnonzero(slots >= 0)
        counts = np.zeros(len(slots), np.int64)
        counts[asking] = np.diff(self._bounds)[slots[asking]]
        ends = np.cumsum(counts)
        start, pairs_before = 0, 0
        while start < len(slots):
            stop = max(start + 1, int(np.searchsorted(ends, pairs_before + PAIRS_MAX, side="right")))
            yield self._pairs(start, stop, slots[start:stop], counts[start:stop])
            start, pairs_before = stop, int(ends[stop - 1])

    def _pairs(self, start: int, stop: int, slots: Integers, counts: Integers) -> Pairs:
        asking = np.flatnonzero(counts)
        firsts, counts = self._bounds[slots[asking]], counts[asking]
        if len(counts) and counts.max() > 1:
            before = np.cumsum(counts) - counts
            firsts = np.repeat(firsts - before, counts) + np.arange(counts.sum())
            asking = np.repeat(asking, counts)
        return Pairs(start, stop, asking + start, self._places[firsts])

    def _words(self, columns: Keys) -> RowHashes:
        """A number for each key: equal keys have equal ones."""
        return words_of(columns[0]) if self._is_exact else row_hashes(columns)

    def _search(self, slots: Integers, asking: Integers, words: RowHashes, columns: Keys) -> None:
        """Several keys may have one number: those that differ look at the next slot."""
        tried = np.searchsorted(self._known, words)
        waiting = np.arange(len(words))
        while True:
            waiting = waiting[tried[waiting] < len(self._known)]
            waiting = waiting[self._known[tried[waiting]] == words[waiting]]
            if not len(waiting):
                return
            is_same = np.ones(len(waiting), np.bool_)
            if not self._is_exact:
                is_same = _are_equal(columns, waiting, self._columns, tried[waiting])
            slots[asking[waiting[is_same]]] = tried[waiting[is_same]]
            waiting = waiting[~is_same]
            tried[waiting] += 1


def _without_nulls(keys: Keys) -> tuple[Integers, Keys]:
    """The places of whole keys, and those."""
    if not any(key.null_count for key in keys):
        return np.arange(len(keys[0])), keys
    is_whole = reduce(pc.and_, [pc.is_valid(key) for key in keys])
    return np.flatnonzero(is_whole.to_numpy(zero_copy_only=False)), [key.filter(is_whole) for key in keys]


def _by_number(known: RowHashes) -> tuple[np.uint64, Integers] | None:
    """The least key, and by the distance from it the slot of each; None where there are too many gaps."""
    if not len(known):
        return None
    numbers = known.view(np.int64)
    first = numbers.min()
    distances = (numbers - first).view(np.uint64)
    if distances.max() >= max(_SPAN_ALWAYS, _SPAN_PER_KEY * len(known)):
        return None
    slot_of = np.full(int(distances.max()) + 1, -1, np.int64)
    slot_of[distances.astype(np.int64)] = np.arange(len(known))
    return first.view(np.uint64), slot_of


def _together(order: Integers, words: RowHashes, columns: Keys) -> Integers:
    """Rows of one key next to each other, also where another key has the same number."""
    is_same_word = words[order[1:]] == words[order[:-1]]
    is_doubtful = is_same_word & ~_are_equal(columns, order[1:], columns, order[:-1])
    if not is_doubtful.any():
        return order
    order = order.copy()
    for word in np.unique(words[order[1:][is_doubtful]]):
        inside = np.flatnonzero(words[order] == word)
        values = zip(*(column.take(order[inside]).to_pylist() for column in columns), strict=True)
        by_key: dict[tuple[Any, ...], list[int]] = {}
        for place, key in zip(order[inside].tolist(), values, strict=True):
            by_key.setdefault(key, []).append(place)
        order[inside] = list(chain.from_iterable(by_key.values()))
    return order


def _are_equal(
    keys: Keys, places: Integers, others: Keys, other_places: Integers
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether the keys at these places are the same, one by one."""
    found = [pc.equal(key.take(places), other.take(other_places)) for key, other in zip(keys, others, strict=True)]
    result: np.ndarray[Any, np.dtype[np.bool_]] = reduce(pc.and_, found).to_numpy(zero_copy_only=False)
    return result

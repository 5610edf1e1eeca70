"""Keys → slots: where in dense arrays the state of a key lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.serial import key_slots
from headrace.serial.key_hash import bucket_of
from headrace.serial.key_words import KeyWords

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_SLOTS_FIRST = 64
# What codes of several columns are put together into: beyond this they might not fit.
_COMBINED_MAX = 1 << 62
# The bucket of a slot that no key has.
_FREE = 255


@dataclass(frozen=True, slots=True)
class Groups:
    """The rows of a batch by key: `codes` says for each row which of the `keys` it has."""

    codes: Integers
    keys: tuple[pa.Array[Any], ...]

    @property
    def count(self) -> int:
        return len(self.keys[0]) if self.keys else 1

    def order(self) -> Integers:
        """Row numbers, group after group, within a group as they came."""
        return order_of(self.codes, self.count)


def order_of(codes: Integers, count: int) -> Integers:
    """Places of the codes, which are below `count`, code by code; those of one code as they come."""
    # Sixteen bits make numpy sort by counting.
    return np.argsort(codes.astype(np.uint16) if count <= 1 << 16 else codes, kind="stable")


def group(columns: Sequence[pa.Array[Any]], row_count: int) -> Groups:
    """Rows that are alike in all columns share a code; codes are in the order of first appearance. Nulls are alike."""
    if not columns:
        return Groups(np.zeros(row_count, np.int64), ())
    first, *others = [column.dictionary_encode(null_encoding="encode") for column in columns]
    if not others:
        return Groups(_codes(first), (first.dictionary,))
    combined, size = _codes(first), max(1, len(first.dictionary))
    for encoded in others:
        more = max(1, len(encoded.dictionary))
        if size * more > _COMBINED_MAX:
            # As many as there are rows, at most.
            combined, size = _codes(pa.array(combined).dictionary_encode()), row_count
        combined, size = combined * more + _codes(encoded), size * more
    codes = _codes(pa.array(combined).dictionary_encode())
    firsts = _first_rows(codes)
    return Groups(codes, tuple(column.take(firsts) for column in columns))


def _first_rows(codes: Integers) -> pa.Array[Any]:
    """Where each code appears first."""
    firsts = np.zeros(int(codes.max()) + 1 if len(codes) else 0, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return pa.array(firsts)


def _codes(encoded: pa.DictionaryArray[Any, Any]) -> Integers:
    codes: Integers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


class KeyIndex:
    """A slot for every key. Slots of removed keys are used again."""

    def __init__(self) -> None:
        self._words = KeyWords()
        self._stored = np.zeros((_SLOTS_FIRST, 1), np.int64)
        self._table = np.full(2 * _SLOTS_FIRST, key_slots.EMPTY, np.int64)
        # Places of the table that are not empty: keys, and those that were removed.
        self._taken = 0
        self._used = 0
        self._free = np.empty(0, np.int64)
        self._buckets = np.full(_SLOTS_FIRST, _FREE, np.uint8)

    def __len__(self) -> int:
        return self._used - len(self._free)

    @property
    def capacity(self) -> int:
        """All slots ever given are below this."""
        return self._used

    def find(self, keys: Sequence[pa.Array[Any]]) -> Integers:
        """Slots of these keys; −1 for one that is not there."""
        words = self._words.of(keys, remember=False)
        return key_slots.find(words, self._rows_of(words), self._table)

    def add(self, keys: Sequence[pa.Array[Any]]) -> tuple[Integers, Integers]:
        """Slots of these keys, and which of those slots are new."""
        words = self._words.of(keys, remember=True)
        self._make_room(words)
        slots, is_new = key_slots.add(words, self._stored, self._table, self._free, self._used)
        fresh = slots[is_new]
        if len(fresh):
            reused = min(len(fresh), len(self._free))
            self._free = self._free[: len(self._free) - reused]
            self._used += len(fresh) - reused
            self._taken += len(fresh)
            self._buckets[fresh] = bucket_of([column.filter(pa.array(is_new)) for column in keys])
        return slots, fresh

    def _rows_of(self, words: Integers) -> Integers:
        """The keys that are there, as wide as these."""
        if not self._used and self._stored.shape[1] != words.shape[1]:
            self._stored = np.zeros((len(self._stored), words.shape[1]), np.int64)
        return self._stored

    def _make_room(self, words: Integers) -> None:
        """For all of these keys, as if none was there."""
        stored = self._rows_of(words)
        wanted = self._used + len(words)
        if wanted > len(stored):
            more = max(wanted, 2 * len(stored)) - len(stored)
            self._stored = np.concatenate([stored, np.zeros((more, stored.shape[1]), np.int64)])
            self._buckets = np.concatenate([self._buckets, np.full(more, _FREE, np.uint8)])
        if 2 * (self._taken + len(words)) > len(self._table):
            self._arrange(len(self) + len(words))

    def _arrange(self, key_count: int) -> None:
        """A new table with room for so many keys."""
        self._table = np.full(1 << (4 * key_count).bit_length(), key_slots.EMPTY, np.int64)
        self._taken = len(self)
        key_slots.put(self.slots(), self._stored, self._table)

    def remove(self, slots: Integers) -> None:
        if not len(slots):
            return
        key_slots.remove(slots, self._stored, self._table)
        self._buckets[slots] = _FREE
        self._free = np.concatenate([self._free, slots])
        living = self.slots()
        if self._words.forget(self._stored, living):
            self._arrange(len(living))

    def slots(self, buckets: range | None = None) -> Integers:
        """Of all keys that are there, or of those in some buckets."""
        if buckets is None:
            return np.flatnonzero(self._buckets != _FREE)
        return np.flatnonzero((self._buckets >= buckets.start) & (self._buckets < buckets.stop))

    def arrays(self, slots: Integers, types: Sequence[pa.DataType]) -> list[pa.Array[Any]]:
        """The keys in these slots, as columns."""
        if not len(slots):
            return [pa.array([], type_) for type_ in types]
        return self._words.columns(self._stored[slots], types)

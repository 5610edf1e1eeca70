"""Keys → slots: where in dense arrays the state of a key lies."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.serial.key_hash import bucket_of

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
        self._slots: dict[Hashable, int] = {}
        self._keys: list[Hashable] = []
        self._free: list[int] = []
        self._buckets = np.full(_SLOTS_FIRST, _FREE, np.uint8)

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def capacity(self) -> int:
        """All slots ever given are below this."""
        return len(self._keys)

    def find(self, keys: Sequence[pa.Array[Any]]) -> Integers:
        """Slots of these keys; −1 for one that is not there."""
        get = self._slots.get
        values = key_values(keys)
        return np.fromiter((get(key, -1) for key in values), np.int64, len(values))

    def add(self, keys: Sequence[pa.Array[Any]]) -> tuple[Integers, Integers]:
        """Slots of these keys, and which of those slots are new."""
        slots = self.find(keys)
        missing = np.flatnonzero(slots < 0)
        if len(missing):
            columns = [column.take(missing) for column in keys]
            slots[missing] = [self._insert(key) for key in key_values(columns)]
            self._grow()
            self._buckets[slots[missing]] = bucket_of(columns)
        return slots, slots[missing]

    def _insert(self, key: Hashable) -> int:
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        if self._free:
            slot = self._free.pop()
            self._keys[slot] = key
        else:
            slot = len(self._keys)
            self._keys.append(key)
        self._slots[key] = slot
        return slot

    def _grow(self) -> None:
        size = len(self._buckets)
        if self.capacity > size:
            more = max(self.capacity, 2 * size) - size
            self._buckets = np.concatenate([self._buckets, np.full(more, _FREE, np.uint8)])

    def remove(self, slots: Integers) -> None:
        self._buckets[slots] = _FREE
        for slot in slots.tolist():
            del self._slots[self._keys[slot]]
            self._keys[slot] = None
            self._free.append(slot)

    def slots(self, buckets: range | None = None) -> Integers:
        """Of all keys that are there, or of those in some buckets."""
        if buckets is None:
            return np.flatnonzero(self._buckets != _FREE)
        return np.flatnonzero((self._buckets >= buckets.start) & (self._buckets < buckets.stop))

    def arrays(self, slots: Integers, types: Sequence[pa.DataType]) -> list[pa.Array[Any]]:
        """The keys in these slots, as columns."""
        keys = [self._keys[slot] for slot in slots.tolist()]
        if len(types) == 1:
            return [pa.array(keys, types[0])]
        return [pa.array([key[i] for key in keys], kind) for i, kind in enumerate(types)]


def key_values(keys: Sequence[pa.Array[Any]]) -> list[Any]:
    """What a dict can hold: the value itself for one column, a tuple for several, () for none."""
    if not keys:
        return [()]
    if len(keys) == 1:
        return _plain(keys[0])
    return list(zip(*map(_plain, keys), strict=True))


def _plain(column: pa.Array[Any]) -> list[Any]:
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return column.to_pylist()

"""Keys of whole numbers → slots, compiled: a table with open addressing over rows of 64-bit words."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from headrace.compiled import compiled

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
# Rows of words: one row for each key.
Words: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

EMPTY = -1
# A place whose key was removed: keys behind it are still looked for.
REMOVED = -2
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@compiled
def _first_place(words: Words, row: int, mask: int) -> int:
    mixed = np.uint64(0)
    for column in range(words.shape[1]):
        mixed = (mixed ^ np.uint64(words[row, column])) * _FACTOR
        mixed ^= mixed >> _SHIFT
    return np.int64(mixed & np.uint64(mask))  # type: ignore[return-value]


@compiled
def _are_equal(words: Words, row: int, stored: Words, slot: int) -> bool:
    for column in range(words.shape[1]):  # noqa: SIM110 - compiled as it stands
        if words[row, column] != stored[slot, column]:
            return False
    return True


@compiled
def find(words: Words, stored: Words, table: Integers) -> Integers:
    """The slot of each row of words; −1 for one that is not there."""
    mask = len(table) - 1
    slots = np.full(len(words), -1, np.int64)
    for row in range(len(words)):
        place = _first_place(words, row, mask)
        while table[place] != EMPTY:
            if table[place] >= 0 and _are_equal(words, row, stored, table[place]):
                slots[row] = table[place]
                break
            place = (place + 1) & mask
    return slots


@compiled
def add(words: Words, stored: Words, table: Integers, free: Integers, used: int) -> tuple[Integers, Flags]:
    """The slot of each row of words, and which rows are the first of a key that is new.

    New keys have the slots in `free`, from its end, then those from `used` on. There is room for all of them.
    """
    mask = len(table) - 1
    slots, is_new = np.empty(len(words), np.int64), np.zeros(len(words), np.bool_)
    left = len(free)
    for row in range(len(words)):
        place = _first_place(words, row, mask)
        while table[place] != EMPTY and not (table[place] >= 0 and _are_equal(words, row, stored, table[place])):
            place = (place + 1) & mask
        if table[place] == EMPTY:
            if left:
                left -= 1
                table[place] = free[left]
            else:
                table[place] = used
                used += 1
            stored[table[place]] = words[row]
            is_new[row] = True
        slots[row] = table[place]
    return slots, is_new


@compiled
def put(slots: Integers, stored: Words, table: Integers) -> None:
    """Slots that are in no place yet, into a table that has room for them."""
    mask = len(table) - 1
    for slot in slots:
        place = _first_place(stored, slot, mask)
        while table[place] != EMPTY:
            place = (place + 1) & mask
        table[place] = slot


@compiled
def remove(slots: Integers, stored: Words, table: Integers) -> None:
    mask = len(table) - 1
    for slot in slots:
        place = _first_place(stored, slot, mask)
        while table[place] != slot:
            place = (place + 1) & mask
        table[place] = REMOVED

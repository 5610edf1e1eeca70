"""The values of some fields of objects."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.compiled import compiled
from headrace.formats.json_scan.addresses import byte_at
from headrace.formats.json_scan.characters import MINUS, NINE, QUOTE, SMALL_N, SMALL_T, SPACE, ZERO
from headrace.formats.json_scan.syntax import (
    NOWHERE,
    after_colon,
    after_number,
    after_space,
    after_text,
    after_value,
    after_word,
    first_name,
    next_name,
    text_stop,
)
from headrace.formats.json_scan.text_times import read_time

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# By field and object: whether it has a value; the number, or where the text begins; where that ends, less than zero if
# there are escapes in it.
Found = tuple[Flags, Integers, Integers]
# What is behind a value; the number that it is, or where its text begins; where that ends; how it is written.
Value = tuple[int, int, int, int]

# What a field is to be. Of texts and of numbers with a point, only the place is told.
WHOLE: Final = 0
TIME: Final = 1
BOOLEAN: Final = 2
TEXT: Final = 3
REAL: Final = 4

# How a value is written; and how an object writes its times: both ways in one are not plain.
TEXT_TIME: Final = 1
NUMBER_TIME: Final = 2
_BOTH_TIMES: Final = 3
_IS_NULL: Final = 4

BUCKET_COUNT: Final = 256

# So many digits fit into 64 bits, whichever they are; more than 63 bits make a number below zero.
_DIGITS_MAX: Final = 19
# Longer ones are for a real parser: no double needs as many.
_REAL_CHARACTERS_MAX: Final = 40


class Fields(NamedTuple):
    """Name n has the bytes from starts[n] to ends[n]; what it is to be is kinds[n], a number from lows[n] to highs[n].

    The first name of a bucket is firsts[bucket], the one after name n is nexts[n], -1 where there is none.
    """

    starts: Integers
    ends: Integers
    kinds: Integers
    lows: Integers
    highs: Integers
    firsts: Integers
    nexts: Integers


def name_bucket(name: bytes) -> int:
    """As `_bucket` has it."""
    return (len(name) + 3 * (name[0] + 5 * name[-1] if name else 0)) % BUCKET_COUNT


@compiled
def _bucket(start: int, end: int) -> int:
    length = end - start
    return (length + 3 * (byte_at(start) + 5 * byte_at(end - 1) if length else 0)) % BUCKET_COUNT


@compiled
def _is_same(at: int, end: int, other_at: int, other_end: int) -> bool:
    if end - at != other_end - other_at:
        return False
    while at < end and byte_at(at) == byte_at(other_at):
        at += 1
        other_at += 1
    return at == end


@compiled
def _whole(at: int, end: int) -> tuple[int, int]:
    """Behind a number without a point, and the number."""
    is_negative = byte_at(at) == MINUS
    first = at + 1 if is_negative else at
    at, size = first, 0
    while at < end and ZERO <= byte_at(at) <= NINE:
        size = size * 10 + byte_at(at) - ZERO
        at += 1
    count = at - first
    if count == 0 or count > _DIGITS_MAX or size < 0 or (count > 1 and byte_at(first) == ZERO):
        return NOWHERE, 0
    return at, -size if is_negative else size


@compiled
def _take_text(at: int, end: int, kind: int) -> Value:
    """From behind the quote."""
    stop = text_stop(at, end)
    if kind == TEXT:
        after = after_text(stop, end)
        return after, at, stop if after == stop + 1 else 1 - after, 0
    if kind != TIME or stop >= end or byte_at(stop) != QUOTE:
        return NOWHERE, 0, 0, 0
    after, time = read_time(at, stop)
    return NOWHERE if after == NOWHERE else stop + 1, time, 0, TEXT_TIME


@compiled
def _take_number(at: int, end: int, kind: int, low: int, high: int) -> Value:
    if kind == REAL:
        after = after_number(at, end)
        return after if after - at <= _REAL_CHARACTERS_MAX else NOWHERE, at, after, 0
    after, number = _whole(at, end)
    if not low <= number <= high:
        return NOWHERE, 0, 0, 0
    if kind == TIME:
        return after, number * 1000, 0, NUMBER_TIME
    return after if kind == WHOLE else NOWHERE, number, 0, 0


@compiled
def _take_value(at: int, end: int, kind: int, low: int, high: int) -> Value:
    byte = byte_at(at) if at < end else SPACE
    if byte == QUOTE:
        return _take_text(at + 1, end, kind)
    if byte == MINUS or ZERO <= byte <= NINE:
        return _take_number(at, end, kind, low, high)
    if byte == SMALL_N:
        return after_word(at, end), 0, 0, _IS_NULL
    return after_word(at, end) if kind == BOOLEAN else NOWHERE, int(byte == SMALL_T), 0, 0


@compiled
def find_values(borders: Integers, fields: tuple[Integers, ...], found: Found) -> tuple[Flags, int]:
    """Whether each object is plain, and how the last one that has times writes them.

    Object n is from the address borders[n] to borders[n + 1], and must be UTF-8. `fields` are a Fields as a
    tuple without a name. Fills `found` for plain objects; nothing in it is valid before.
    """
    name_starts, name_ends, kinds, lows, highs, firsts, nexts = fields
    valid, numbers, ends = found
    count = len(borders) - 1
    plain = np.zeros(count, np.bool_)
    seen = np.full(len(kinds), NOWHERE, np.int64)
    last_times = 0
    for row in range(count):
        end = borders[row + 1]
        at = first_name(borders[row], end)
        times = 0
        while at != NOWHERE and byte_at(at) == QUOTE:
            name, stop = at + 1, text_stop(at + 1, end)
            at = after_colon(stop + 1, end) if stop < end and byte_at(stop) == QUOTE else NOWHERE
            if at == NOWHERE:
                break
            number = firsts[_bucket(name, stop)]
            while number != NOWHERE and not _is_same(name, stop, name_starts[number], name_ends[number]):
                number = nexts[number]
            if number == NOWHERE:
                at = after_value(at, end)
            else:
                at, numbers[number, row], ends[number, row], written = _take_value(
                    at, end, kinds[number], lows[number], highs[number]
                )
                valid[number, row] = not written & _IS_NULL
                times |= written & _BOTH_TIMES
                if seen[number] == row or times == _BOTH_TIMES:
                    at = NOWHERE
                seen[number] = row
            if at != NOWHERE:
                at = next_name(at, end)
        if at != NOWHERE and after_space(at + 1, end) == end:
            plain[row] = True
            last_times = times or last_times
    return plain, last_times

"""Spark's `xxhash64` of rows, for whole columns at once: XXH64, column after column, seeded by those before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.compiled import compiled
from headrace.serial.keys import Integers
from headrace.serial.text_bytes import text_bytes

Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

# Spark's.
_SEED = 42
# The primes of XXH64.
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_LONG_BYTES = 8
_INT_BYTES = 4
_STRIPE_BYTES = 4 * _LONG_BYTES
_BITS = np.uint64(64)
_BYTE_BITS = np.uint64(8)
# Decimals of so many digits are whole numbers of eight bytes; Spark hashes longer ones in another way.
_LONG_DIGITS_MAX = 18
# What a null adds where everything counts.
_NULL = -1


def can_hash(type_: pa.DataType) -> bool:
    """Whether columns of this type can be hashed here."""
    if isinstance(type_, pa.ListType):
        return can_hash(type_.value_type)
    if isinstance(type_, pa.Decimal128Type):
        return bool(type_.precision <= _LONG_DIGITS_MAX)
    return _is_text(type_) or _is_long(type_) or _is_int(type_)


def xxhash64(columns: Sequence[pa.Array[Any]], *, tells_all: bool = False) -> Integers:
    """What Spark's function of this name gives for each row.

    To it some rows that differ are alike: it does not see nulls, the ends of lists, the sign of zero. With `tells_all`
    another hash that does.
    """
    hashes: Words = np.full(len(columns[0]), _SEED, np.uint64)
    for column in columns:
        hashes = _hashed(column, hashes, tells_all=tells_all)
    return hashes.view(np.int64)


def _hashed(column: pa.Array[Any], seeds: Words, *, tells_all: bool) -> Words:
    if not column.null_count:
        return _hashed_values(column, seeds, tells_all=tells_all)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    hashes = seeds.copy()
    hashes[valid] = _hashed_values(column.drop_null(), seeds[valid], tells_all=tells_all)
    if tells_all:
        hashes[~valid] = _of_ints(np.full(int((~valid).sum()), _NULL, np.int32), seeds[~valid])
    return hashes


def _hashed_values(column: pa.Array[Any], seeds: Words, *, tells_all: bool) -> Words:
    """Of a column without nulls."""
    type_ = column.type
    if isinstance(column, pa.ListArray):
        return _hashed_lists(column, seeds, tells_all=tells_all)
    if _is_text(type_):
        return _of_texts(*text_bytes(column), seeds)
    if pa.types.is_floating(type_):
        bits = _float_bits(column, tells_all=tells_all)
        return _of_longs(bits, seeds) if type_.bit_width == 64 else _of_ints(bits, seeds)
    if isinstance(type_, pa.Decimal128Type):
        return _of_longs(unscaled(column), seeds)
    return _of_longs(_whole(column), seeds) if _is_long(type_) else _of_ints(_whole(column), seeds)


def _hashed_lists(column: pa.ListArray[Any], seeds: Words, *, tells_all: bool) -> Words:
    """The first element of all lists, then the second of those that have one, and so on."""
    lengths = column.value_lengths().to_numpy()
    elements = column.flatten()
    starts = np.cumsum(lengths) - lengths
    hashes = _of_ints(lengths, seeds) if tells_all else seeds.copy()
    for place in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > place)
        hashes[rows] = _hashed(elements.take(starts[rows] + place), hashes[rows], tells_all=tells_all)
    return hashes


def unscaled(column: pa.Array[Any]) -> Integers:
    """Decimals of at most eight bytes as whole numbers. What nulls have is not told."""
    values = np.frombuffer(memoryview(column.buffers()[1] or b""), np.int64)
    return values[2 * column.offset : 2 * (column.offset + len(column)) : 2]


def _whole(column: pa.Array[Any]) -> Integers:
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    whole: Integers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return whole


def _float_bits(column: pa.Array[Any], *, tells_all: bool) -> np.ndarray[Any, Any]:
    numbers = column.to_numpy(zero_copy_only=False)
    if not tells_all:
        # One zero, and one of the values that are no number.
        numbers = np.where(np.isnan(numbers), numbers.dtype.type(np.nan), numbers + numbers.dtype.type(0))
    return numbers.view(np.int64 if numbers.itemsize == _LONG_BYTES else np.int32)


def _of_longs(values: np.ndarray[Any, Any], seeds: Words) -> Words:
    hashes = seeds + _P5 + np.uint64(_LONG_BYTES)
    hashes ^= _rotated(values.astype(np.int64).view(np.uint64) * _P2, 31) * _P1
    return _finished(_rotated(hashes, 27) * _P1 + _P4)


def _of_ints(values: np.ndarray[Any, Any], seeds: Words) -> Words:
    hashes = seeds + _P5 + np.uint64(_INT_BYTES)
    hashes ^= values.astype(np.int32).view(np.uint32).astype(np.uint64) * _P1
    return _finished(_rotated(hashes, 23) * _P2 + _P3)


def _rotated(words: Words, count: int) -> Words:
    return words << np.uint64(count) | words >> np.uint64(64 - count)


def _finished(hashes: Words) -> Words:
    hashes = (hashes ^ hashes >> np.uint64(33)) * _P2
    hashes = (hashes ^ hashes >> np.uint64(29)) * _P3
    return hashes ^ hashes >> np.uint64(32)


@compiled
def _rotated_word(word: Any, count: Any) -> Any:
    return (word << count) | (word >> (_BITS - count))


@compiled
def _word(content: Any, at: int, size: int) -> Any:
    word = np.uint64(0)
    for place in range(size):
        word |= np.uint64(content[at + place]) << (np.uint64(place) * _BYTE_BITS)
    return word


@compiled
def _round(lane: Any, word: Any) -> Any:
    return _rotated_word(lane + word * _P2, np.uint64(31)) * _P1


@compiled
def _of_stripes(content: Any, start: int, end: int, seed: Any) -> Any:
    """Of the whole stripes of a text that has at least one."""
    one, two, three, four = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
    for at in range(start, end - _STRIPE_BYTES + 1, _STRIPE_BYTES):
        one = _round(one, _word(content, at, _LONG_BYTES))
        two = _round(two, _word(content, at + 8, _LONG_BYTES))
        three = _round(three, _word(content, at + 16, _LONG_BYTES))
        four = _round(four, _word(content, at + 24, _LONG_BYTES))
    made = _rotated_word(one, np.uint64(1)) + _rotated_word(two, np.uint64(7))
    made += _rotated_word(three, np.uint64(12)) + _rotated_word(four, np.uint64(18))
    for lane in (one, two, three, four):
        made = (made ^ _round(np.uint64(0), lane)) * _P1 + _P4
    return made


@compiled
def _of_text(content: Any, start: int, end: int, seed: Any) -> Any:
    size = end - start
    made = _of_stripes(content, start, end, seed) if size >= _STRIPE_BYTES else seed + _P5
    made += np.uint64(size)
    at = end - size % _STRIPE_BYTES
    while at + _LONG_BYTES <= end:
        made ^= _round(np.uint64(0), _word(content, at, _LONG_BYTES))
        made = _rotated_word(made, np.uint64(27)) * _P1 + _P4
        at += _LONG_BYTES
    if at + _INT_BYTES <= end:
        made ^= _word(content, at, _INT_BYTES) * _P1
        made = _rotated_word(made, np.uint64(23)) * _P2 + _P3
        at += _INT_BYTES
    while at < end:
        made ^= np.uint64(content[at]) * _P5
        made = _rotated_word(made, np.uint64(11)) * _P1
        at += 1
    return made


@compiled
def _of_each_text(content: Any, bounds: Any, seeds: Any, hashes: Any) -> None:
    for row in range(len(seeds)):
        hashes[row] = _of_text(content, bounds[row], bounds[row + 1], seeds[row])


def _of_texts(content: np.ndarray[Any, Any], bounds: Integers, seeds: Words) -> Words:
    hashes = np.empty_like(seeds)
    _of_each_text(content, bounds, seeds, hashes)
    return _finished(hashes)


def _is_text(type_: pa.DataType) -> bool:
    return type_ in (pa.string(), pa.binary())


def _is_long(type_: pa.DataType) -> bool:
    return type_ in (pa.int64(), pa.float64()) or (pa.types.is_timestamp(type_) and type_.unit == "us")


def _is_int(type_: pa.DataType) -> bool:
    return type_ in (pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.float32(), pa.date32())

"""Rows in the order in which Spark's plan ranks them: by columns, then by their hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.serial.keys import Integers, order_of
from headrace.serial.xxhash import can_hash, unscaled, xxhash64


@dataclass(frozen=True, slots=True)
class RowOrder:
    """What ranks rows: columns, each with whether its greatest values come first. Of rows that are equal in those a
    hash of the columns `told` decides, in the direction of the first column; it says the same of the same rows, in
    whatever order they come.
    """

    by: tuple[tuple[str, bool], ...]
    told: tuple[str, ...]

    def first(self, rows: pa.RecordBatch, codes: Integers, count: int) -> tuple[Integers, Integers]:
        """Of rows whose keys have these codes, the first `count` of each key: their numbers, code by code and the first
        one first, and the rank of each within its key, from 0 on."""
        sizes = np.bincount(codes)
        order = order_of(codes, len(sizes))
        several = np.flatnonzero((sizes > 1)[codes[order]])
        if len(several):
            order[several] = self._sorted(rows, order[several], codes, count)
        ranks = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        chosen = ranks < count
        return order[chosen], ranks[chosen]

    def _sorted(self, rows: pa.RecordBatch, numbers: Integers, codes: Integers, count: int) -> Integers:
        """These rows, which are code by code, with the first `count` of each code in their order.

        Each column is only looked at for rows that are equal in those before it.
        """
        numbers = numbers.copy()
        key_starts = _starts([codes[numbers]])
        places, ties = np.arange(len(numbers)), key_starts
        for words_of in self._levels():
            keys = [ties, *words_of(rows, numbers[places])]
            order = np.lexsort(keys[::-1])
            numbers[places] = numbers[places][order]
            ties = places[_starts([key[order] for key in keys])]
            undecided = (np.bincount(ties)[ties] > 1) & (ties - key_starts[places] < count)
            places, ties = places[undecided], ties[undecided]
            if not len(places):
                break
        return numbers

    def _levels(self) -> Iterator[Callable[[pa.RecordBatch, Integers], list[Integers]]]:
        for name, is_descending in self.by:
            yield partial(_column_words, name, is_descending)
        yield self._hash_words

    def _hash_words(self, rows: pa.RecordBatch, numbers: Integers) -> list[Integers]:
        columns = [rows.column(name).take(numbers) for name in self.told]
        hashes = xxhash64(columns)
        # Where Spark sees no difference, its plan takes any; this tells them apart.
        return [~hashes if self.by[0][1] else hashes, xxhash64(columns, tells_all=True)]


def can_rank(type_: pa.DataType) -> bool:
    """Whether rows can be ranked by columns of this type."""
    return can_hash(type_) and not isinstance(type_, pa.ListType)


def key_codes(columns: Sequence[pa.Array[Any]]) -> Integers:
    """Rows that are alike in all columns share a code; codes are in the order of first appearance. Nulls are alike."""
    codes, *others = [column.dictionary_encode(null_encoding="encode") for column in columns]
    combined = _numbers(codes.indices)
    for other in others:
        # Made dense each time: the product stays below the square of the number of rows.
        product = combined * max(1, len(other.dictionary)) + _numbers(other.indices)
        combined = _numbers(pa.array(product).dictionary_encode().indices)
    return combined


def _starts(keys: Sequence[Integers]) -> Integers:
    """Of rows in the order of these keys: for each the place of the first that is equal to it."""
    places = np.arange(len(keys[0]))
    is_first = np.zeros(len(places), np.bool_)
    for key in keys:
        is_first[1:] |= key[1:] != key[:-1]
    return np.maximum.accumulate(np.where(is_first, places, 0))


def _column_words(name: str, is_descending: bool, rows: pa.RecordBatch, numbers: Integers) -> list[Integers]:
    words = _words(rows.column(name).take(numbers))
    return [~word for word in words] if is_descending else words


def _words(column: pa.Array[Any]) -> list[Integers]:
    """Numbers that compare as the values do, the first counting most. Nulls are lowest."""
    values = _ordered(column)
    if not column.null_count:
        return [values]
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return [valid.astype(np.int64), np.where(valid, values, 0)]


def _ordered(column: pa.Array[Any]) -> Integers:
    """What nulls have is not told."""
    type_ = column.type
    if type_ in (pa.string(), pa.binary()):
        return _text_ranks(column)
    if isinstance(type_, pa.Decimal128Type):
        return unscaled(column)
    if pa.types.is_floating(type_):
        return _float_words(column)
    if pa.types.is_temporal(type_):
        column = column.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    return _numbers(column.cast(pa.int64()))


def _text_ranks(column: pa.Array[Any]) -> Integers:
    """By their bytes."""
    encoded = column.cast(pa.binary()).dictionary_encode()
    order = _numbers(pc.array_sort_indices(encoded.dictionary))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    found: Integers = ranks[_numbers(encoded.indices)] if len(ranks) else np.zeros(len(column), np.int64)
    return found


def _float_words(column: pa.Array[Any]) -> Integers:
    """One zero; what is no number is greatest."""
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    bits = np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.int64)
    words: Integers = bits ^ (bits >> 63 & np.int64(2**63 - 1))
    return words


def _numbers(column: pa.Array[Any]) -> Integers:
    if column.null_count:
        column = column.fill_null(0)
    numbers: Integers = column.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers

"""64-bit hashes of rows by some of their columns: the same in every process, for whole columns at once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.serial.key_hash import BUCKETS

RowHashes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

# The bits of a hash that say its bucket: the upper ones, so that rows in the order of their hashes are in the order of
# their buckets.
_BUCKET_SHIFT = 64 - (BUCKETS - 1).bit_length()
# Words of eight bytes of a text that are mixed in for all rows at once; of longer texts, which are few, the rest is
# taken in one by one.
_WORDS_MAX = 32
_WORD_BYTES = 8
# Of splitmix64: a permutation of all 64-bit numbers in which every bit depends on every other.
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
_ODD = np.uint64(0x9E3779B97F4A7C15)
# How many of the bytes of a word belong to a text that has so many left.
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD_BYTES + 1)], np.uint64)


def row_hashes(columns: Sequence[pa.Array[Any]]) -> RowHashes:
    """A hash for each row. Columns are whole numbers, booleans, times or texts, without nulls, and at least one.

    One column of numbers is mixed by a permutation: different values have different hashes.
    """
    first, *others = columns
    hashes = _mixed(words_of(first))
    for column in others:
        hashes = _mixed(hashes * _ODD ^ words_of(column))
    return hashes


def is_permuted(types: Sequence[pa.DataType]) -> bool:
    """Whether rows of equal hashes are sure to be equal in columns of these types."""
    return len(types) == 1 and not _is_text(types[0])


def bucket_bounds(buckets: range) -> tuple[int, int]:
    """The least hash in these buckets, and the greatest."""
    return buckets.start << _BUCKET_SHIFT, (buckets.stop << _BUCKET_SHIFT) - 1


def words_of(column: pa.Array[Any]) -> RowHashes:
    """Numbers as they are, texts by a hash; without nulls."""
    if _is_text(column.type):
        return _text_words(column)
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    numbers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    words: RowHashes = numbers.view(np.uint64)
    return words


def _text_words(column: pa.Array[Any]) -> RowHashes:
    """Word by word for all texts that are so long."""
    if not len(column):
        return np.empty(0, np.uint64)
    content, starts, lengths = _bytes_of(column)
    hashes: RowHashes = lengths.astype(np.uint64)
    rows = np.arange(len(lengths))
    for word in range(_WORDS_MAX):
        left = lengths[rows] - word * _WORD_BYTES
        if not (left > 0).all():
            rows, left = rows[left > 0], left[left > 0]
        if not len(rows):
            break
        found = content[starts[rows] + word * _WORD_BYTES] & _MASKS[np.minimum(left, _WORD_BYTES)]
        hashes[rows] = _mixed(hashes[rows] * _ODD ^ found)
    for row in np.flatnonzero(lengths > _WORDS_MAX * _WORD_BYTES).tolist():
        hashes[row] ^= np.uint64(zlib.crc32(column[row].as_buffer()))
    return hashes


def _bytes_of(column: pa.Array[Any]) -> tuple[RowHashes, Any, Any]:
    """The eight bytes from every place of the content on, where each text begins, and how long it is."""
    offsets, values = (memoryview(buffer or b"") for buffer in column.buffers()[1:])
    width = np.int64 if column.type in (pa.large_string(), pa.large_binary()) else np.int32
    ends = np.frombuffer(offsets, width)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    first, size = int(ends[0]), int(ends[-1] - ends[0])
    # The last words of the last text reach beyond it.
    padded = np.zeros(size + _WORD_BYTES, np.uint8)
    if size:
        padded[:size] = np.frombuffer(values, np.uint8)[first : first + size]
    words: RowHashes = np.ndarray((size + 1,), "<u8", padded.data, strides=(1,))
    return words, ends[:-1] - first, np.diff(ends)


def _mixed(words: RowHashes) -> RowHashes:
    words = words.copy()
    for shift, factor in _STEPS:
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(_LAST_SHIFT)
    return words


def _is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
    )

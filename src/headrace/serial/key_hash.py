"""A number for each key that is the same in every process, and in Spark: it says the key's lane and its bucket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.serial.checksums import Checksums
from headrace.serial.key_words import one_zero
from headrace.serial.text_bytes import text_bytes

Hashes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

# Between the texts of several key columns: no text of a key column ends with it by accident and none begins so.
KEY_SEPARATOR = b"\x1f"
NULL_KEY = b"\x00"
# Parts of a lane's state that are written out in turn, see `serial.store`.
BUCKETS = 32
_BUCKET_SHIFT = 27


def lane_of(keys: Sequence[pa.Array[Any]], lane_count: int) -> Hashes:
    """The lane of each key. Keyless: lane 0."""
    return key_hashes(keys) % lane_count


def bucket_of(keys: Sequence[pa.Array[Any]]) -> Hashes:
    """The bucket of each key: by the upper bits, for the lower ones are much alike in one lane."""
    return key_hashes(keys) >> _BUCKET_SHIFT


def key_hashes(keys: Sequence[pa.Array[Any]]) -> Hashes:
    """Checksums of the keys as text; 0 for the one key that there is without columns."""
    if not keys:
        return np.zeros(1, np.int64)
    sums = Checksums(len(keys[0]))
    for number, column in enumerate(keys):
        if number:
            sums.add_byte(KEY_SEPARATOR[0])
        sums.add(*text_bytes(_texts(column)))
    return sums.values()


def _texts(column: pa.Array[Any]) -> pa.Array[Any]:
    """Of each key: binary as it is, times as microseconds, numbers with a fraction as their bits, all else as Spark
    writes it."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz="UTC")).view(pa.int64())
    if pa.types.is_floating(column.type):
        column = _bits(column)
    if not pa.types.is_binary(column.type):
        column = column.cast(pa.string()).cast(pa.binary())
    return column.fill_null(NULL_KEY) if column.null_count else column


def _bits(column: pa.Array[Any]) -> pa.Array[Any]:
    """As whole numbers: Arrow and Spark do not write all of them alike."""
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    values = column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
    made: pa.Array[Any] = pa.array(one_zero(values).view(np.int64), mask=is_null)
    return made

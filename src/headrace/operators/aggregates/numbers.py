"""Columns as plain arrays for the kernels of aggregates, and sums of them by group."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.errors import InvalidInput
from headrace.operators.aggregates.kind import Array
from headrace.serial.key_words import one_zero
from headrace.serial.keys import Integers

LARGEST = (1 << 63) - 1
_HALF_BITS = 32
_SIGN = np.int64(LARGEST)


def numbers_of(column: pa.Array[Any], kept: pa.DataType) -> tuple[Array, Array | None]:
    """A column as numbers, and which of them are no nulls (None: all)."""
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    elif column.type != kept and (pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type)):
        # Of whole numbers that no double is equal to it is the nearest.
        column = column.cast(kept, safe=False)
    if not pa.types.is_primitive(column.type):
        return np.zeros(len(column)), valid_of(column)
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False), None
    filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return filled.to_numpy(zero_copy_only=False), valid_of(column)


def valid_of(column: pa.Array[Any]) -> Array:
    return cast("Array", column.is_valid().to_numpy(zero_copy_only=False))


def of_known(column: pa.Array[Any], kept: pa.DataType, codes: Integers) -> tuple[Array, Integers]:
    """The numbers that are no nulls, and their codes."""
    values, valid = numbers_of(column, kept)
    return (values, codes) if valid is None else (values[valid], codes[valid])


def row_numbers(rows: Array, missing: Array | None = None) -> Any:
    """What Arrow takes values by; null for what is missing."""
    return pa.array(rows, mask=missing)


def counted(codes: Integers, column: pa.Array[Any] | None) -> Integers:
    """The codes of rows whose value is no null."""
    return codes if column is None or not column.null_count else codes[valid_of(column)]


def sortable(column: pa.Array[Any]) -> Integers:
    """Whole numbers in the order of the values: NaN is the greatest, −0.0 is 0.0, texts go by their bytes. Of nulls
    they say nothing."""
    if pa.types.is_floating(column.type):
        bits = one_zero(numbers_of(column, pa.float64())[0]).view(np.int64)
        found: Integers = bits ^ (bits >> 63 & _SIGN)
        return found
    if pa.types.is_primitive(column.type):
        return numbers_of(column, column.type)[0].astype(np.int64)
    encoded = column.dictionary_encode()
    values = encoded.dictionary
    places = np.empty(len(values) + 1, np.int64)
    places[pc.sort_indices(values).to_numpy()] = np.arange(len(values))
    made: Integers = places[encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    return made


def normalised(column: pa.Array[Any]) -> pa.Array[Any]:
    """Keys and distinct values as Spark groups them: one zero, one NaN. Columns of other types as they are."""
    if not pa.types.is_floating(column.type) or not len(column):
        return column
    values, valid = numbers_of(column, column.type)
    return cast("pa.Array[Any]", pa.array(one_zero(values), column.type, mask=None if valid is None else ~valid))


def extreme_rows(keys: Integers, codes: Integers, rows: Integers, group_count: int, *, is_max: bool) -> Integers:
    """For each group the last of its rows with the greatest (least) key; −1 for a group without rows."""
    limits = np.iinfo(np.int64)
    best = np.full(group_count, limits.min if is_max else limits.max)
    (np.maximum if is_max else np.minimum).at(best, codes, keys)
    is_best = keys == best[codes]
    return last_rows(codes[is_best], rows[is_best], group_count)


def last_rows(codes: Integers, rows: Integers, group_count: int) -> Integers:
    """−1 for a group without rows."""
    found = np.full(group_count, -1)
    # Of several numbers for one place the last stays.
    found[codes] = rows
    return found


def sums_by_group(name: str, values: Array, codes: Integers, counts: Integers) -> Array:
    """The sum of each group. Raises InvalidInput where one of whole numbers does not fit."""
    sums = np.zeros(len(counts), values.dtype)
    with np.errstate(all="ignore"):
        np.add.at(sums, codes, values)
    if values.dtype.kind == "i" and largest_of(values) * int(counts.max(initial=0)) > LARGEST:
        _require_fitting(name, values, codes, len(counts))
    return sums


def largest_of(values: Array) -> int:
    """Of whole numbers, whatever their sign."""
    return max(abs(int(values.min())), abs(int(values.max()))) if len(values) else 0


def _require_fitting(name: str, values: Array, codes: Integers, group_count: int) -> None:
    """In two halves, whose sums fit whatever the numbers are."""
    high, low = np.zeros(group_count, np.int64), np.zeros(group_count, np.int64)
    np.add.at(high, codes, values >> _HALF_BITS)
    np.add.at(low, codes, values & ((1 << _HALF_BITS) - 1))
    whole = high.astype(object) * (1 << _HALF_BITS) + low.astype(object)
    if (whole > LARGEST).any() or (whole < -LARGEST - 1).any():
        raise too_large(name)


def added(name: str, sums: Array, more: Array) -> Array:
    """Raises InvalidInput where a sum of whole numbers does not fit."""
    with np.errstate(all="ignore"):
        made: Array = sums + more
    # Only numbers of one sign have a sum of the other one, when it does not fit.
    if made.dtype.kind == "i" and (((sums ^ made) & (more ^ made)) < 0).any():
        raise too_large(name)
    return made


def too_large(name: str) -> InvalidInput:
    """What to raise for a sum that overflows."""
    hint = f"aggregate its numbers as DOUBLE: `sum(CAST(… AS DOUBLE)) AS {name}`, with the cast in a select before"
    return InvalidInput(f"the sum {name!r} does not fit its type, BIGINT", hint=hint)

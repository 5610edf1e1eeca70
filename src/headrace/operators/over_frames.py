"""Frames of rows that look back: where each begins and ends among the rows of its key, and aggregates over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates import LARGEST, Aggregate, Array, largest_of, numbers_of, result, too_large
from headrace.operators.over_functions import Picked
from headrace.operators.over_walks import frame_extremes, frame_sums, has_overflow
from headrace.serial import group
from headrace.serial.keys import Integers

# Whole numbers up to this one have doubles of their own.
_EXACT_MAX = 1 << 53


@dataclass(frozen=True, slots=True)
class Frame:
    """So many rows before each one, or so much event time. Exactly one of both is given."""

    rows: int | None
    within_us: int | None

    def kept(self, at_us: Integers, starts: Integers, watermark_us: int) -> np.ndarray[Any, Any]:
        """Which rows, sorted by key and time, some row that comes later can look back at."""
        if self.within_us is not None:
            return at_us >= watermark_us - self.within_us
        ends = np.append(starts[1:], len(at_us))
        from_behind = np.repeat(ends, ends - starts) - np.arange(len(at_us))
        return from_behind <= (self.rows or 0)


def sorted_by_key(keys: Sequence[pa.Array[Any]], row_count: int) -> tuple[Integers, Integers]:
    """Row numbers by key, within a key as they came, and where each key begins among them."""
    groups = group(keys, row_count)
    order = groups.order()
    codes = groups.codes[order]
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    return order, starts


def places_of(order: Integers) -> Integers:
    """Where each row is among those in order."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def frame_ends(frame: Frame, at_us: Integers, starts: Integers) -> tuple[Integers, Integers]:
    """For rows sorted by key and time the first row of each one's frame, and the one behind its last."""
    count = len(at_us)
    if frame.within_us is None:
        own = np.repeat(starts, np.diff(np.append(starts, count)))
        here = np.arange(count)
        return np.maximum(own, here - (frame.rows or 0)), here + 1
    first, end = np.empty(count, np.int64), np.empty(count, np.int64)
    for start, stop in pairwise([*starts.tolist(), count]):
        times = at_us[start:stop]
        first[start:stop] = start + np.searchsorted(times, times - frame.within_us, "left")
        end[start:stop] = start + np.searchsorted(times, times, "right")
    return first, end


def windowed(
    functions: Sequence[Aggregate | Picked], rows: pa.RecordBatch, first: Integers, end: Integers
) -> list[pa.Array[Any]]:
    """The functions over rows[first:end], for each pair of them. Raises InvalidInput where a sum overflows."""
    return [
        _aggregated(function, rows, first, end)
        if isinstance(function, Aggregate)
        else rows.column(function.column).take(_picked(function, rows, first, end))
        for function in functions
    ]


def _picked(function: Picked, rows: pa.RecordBatch, first: Integers, end: Integers) -> pa.Array[Any]:
    """The row whose value it is; null where no row of the frame has one."""
    is_first = function.function == "first_value"
    if not function.ignores_nulls:
        return pa.array(first if is_first else end - 1)
    valid: Array = rows.column(function.column).is_valid().to_numpy(zero_copy_only=False)
    if is_first:
        found = next_of(valid)[first]
        return pa.array(found, mask=found >= end)
    found = last_of(valid)[end - 1]
    return pa.array(found, mask=found < first)


def last_of(flags: Array) -> Integers:
    """For each place the last one up to it that has the flag; −1 where none has."""
    return np.maximum.accumulate(np.where(flags, np.arange(len(flags)), -1))


def next_of(flags: Array) -> Integers:
    """For each place the next one from it on that has the flag; their number where none has."""
    count = len(flags)
    return np.minimum.accumulate(np.where(flags, np.arange(count), count)[::-1])[::-1]


def _aggregated(aggregate: Aggregate, rows: pa.RecordBatch, first: Integers, end: Integers) -> pa.Array[Any]:
    if aggregate.column is None:
        return result(aggregate, end - first, np.zeros(len(first)))
    values, known = known_numbers(rows.column(aggregate.column), aggregate.kept_type)
    counts = _differences(known.astype(np.int64), first, end)
    if aggregate.function == "count":
        return result(aggregate, counts, counts)
    if aggregate.function in ("min", "max"):
        is_lowest = aggregate.function == "min"
        return result(aggregate, counts, frame_extremes(values, known, first, end, is_lowest))
    return result(aggregate, counts, _sums(aggregate.name, np.where(known, values, 0), first, end))


def known_numbers(column: pa.Array[Any], kept: pa.DataType) -> tuple[Array, Array]:
    """A column as numbers, and which of them are no nulls. Both can be written to: one kind for compiled walks."""
    values, valid = numbers_of(column, kept)
    return np.array(values), np.ones(len(values), np.bool_) if valid is None else np.array(valid)


def _sums(name: str, values: Array, first: Integers, end: Integers) -> Array:
    if values.dtype.kind == "f":
        return _differences(values, first, end) if _are_exact(values) else frame_sums(values, first, end)
    longest = int((end - first).max(initial=0))
    if largest_of(values) * longest > LARGEST and has_overflow(values, first, end):
        raise too_large(name)
    return _differences(values, first, end)


def _differences(values: Array, first: Integers, end: Integers) -> Array:
    """Sums, by those of all rows up to a place: for numbers whose sums are exact."""
    totals = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values)])
    found: Array = totals[end] - totals[first]
    return found


def _are_exact(values: Array) -> bool:
    """Whether no sum of these numbers is rounded: they are whole, and not too large."""
    with np.errstate(invalid="ignore", over="ignore"):
        is_whole = bool((values == np.floor(values)).all())
        return is_whole and float(np.abs(values).sum()) <= _EXACT_MAX

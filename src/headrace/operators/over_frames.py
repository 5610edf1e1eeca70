"""Frames of rows that look back: where each begins and ends among the rows of its key, and aggregates over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates import Aggregate, Array, numbers_of, result
from headrace.serial import group
from headrace.serial.keys import Integers


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
    aggregates: Sequence[Aggregate], rows: pa.RecordBatch, first: Integers, end: Integers
) -> list[pa.Array[Any]]:
    """The aggregates over rows[first:end], for each pair of them."""
    return [_windowed(aggregate, rows, first, end) for aggregate in aggregates]


def _windowed(aggregate: Aggregate, rows: pa.RecordBatch, first: Integers, end: Integers) -> pa.Array[Any]:
    if aggregate.column is None:
        return result(aggregate, end - first, np.zeros(len(first)))
    values, valid = numbers_of(rows.column(aggregate.column), aggregate.kept_type)
    known = np.ones(len(values), np.bool_) if valid is None else valid
    counts = _sums(known.astype(np.int64), first, end)
    if aggregate.function in ("min", "max"):
        return result(aggregate, counts, _extremes(aggregate, values, known, first, end))
    return result(aggregate, counts, _sums(np.where(known, values, 0), first, end))


def _sums(values: Array, first: Integers, end: Integers) -> Array:
    totals = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values)])
    found: Array = totals[end] - totals[first]
    return found


def _extremes(aggregate: Aggregate, values: Array, known: Array, first: Integers, end: Integers) -> Array:
    """Frames may overlap: `reduceat` takes every second of the pairs."""
    lowest = aggregate.function == "min"
    limits = np.finfo(values.dtype) if values.dtype.kind == "f" else np.iinfo(values.dtype)
    filled = np.append(np.where(known, values, limits.max if lowest else limits.min), values[:1])
    pairs = np.column_stack([first, end]).ravel()
    found: Array = (np.minimum if lowest else np.maximum).reduceat(filled, pairs)[::2]
    return found

"""Sums and extremes over rows of a key, one row after the other: sums of fractions are rounded as Spark's."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from headrace.compiled import compiled, is_kept

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Array: TypeAlias = "np.ndarray[Any, Any]"


@compiled
def frame_sums(values: Array, first: Integers, end: Integers) -> Array:
    """The sum of values[first:end] for each pair of them. Nulls are zeros."""
    sums = np.zeros(len(first), values.dtype)
    for frame in range(len(first)):
        for row in range(first[frame], end[frame]):
            sums[frame] += values[row]
    return sums


@compiled
def has_overflow(values: Integers, first: Integers, end: Integers) -> bool:
    """Whether one of these sums, or of their beginnings, does not fit 64 bits."""
    for frame in range(len(first)):
        total = 0
        for row in range(first[frame], end[frame]):
            added = total + values[row]
            # Only numbers of one sign have a sum of the other one, when it does not fit.
            if (total ^ added) & (values[row] ^ added) < 0:
                return True
            total = added
    return False


@compiled
def _is_better(value: Any, best: Any, lowest: bool) -> bool:
    """NaN is greater than every number, as in Spark; of equal ones the first stays."""
    if value != value:  # noqa: PLR0124 - NaN, also where the values are whole numbers
        return not lowest and best == best  # noqa: PLR0124
    if best != best:  # noqa: PLR0124
        return lowest
    if lowest:
        return bool(value < best)
    return bool(value > best)


@compiled
def frame_extremes(values: Array, known: Flags, first: Integers, end: Integers, lowest: bool) -> Array:
    """The least or the greatest of values[first:end] that are known, for each pair of them; anything where none is."""
    made = np.zeros(len(first), values.dtype)
    for frame in range(len(first)):
        is_empty = True
        for row in range(first[frame], end[frame]):
            if known[row] and (is_empty or _is_better(values[row], made[frame], lowest)):
                made[frame] = values[row]
                is_empty = False
    return made


@compiled
def running_sums(values: Array, keys: Integers, before: Array) -> Array:
    """For rows sorted by key the sum up to each one. Nulls are zeros; `before` has the sum of each key so far, and
    afterwards the new one."""
    made = np.empty(len(values), values.dtype)
    for row in range(len(values)):
        before[keys[row]] += values[row]
        made[row] = before[keys[row]]
    return made


class Best(NamedTuple):
    """The least or the greatest number of each key, if there is one."""

    numbers: Array
    are_there: Flags


@compiled
def running_extremes(values: Array, known: Flags, keys: Integers, best: Best, lowest: bool) -> Array:
    """For rows sorted by key the least or the greatest of those known up to each one; anything where none is. `best`
    has that of each key so far, and afterwards the new one."""
    made = np.empty(len(values), values.dtype)
    for row in range(len(values)):
        key = keys[row]
        if known[row] and (not best.are_there[key] or _is_better(values[row], best.numbers[key], lowest)):
            best.numbers[key] = values[row]
            best.are_there[key] = True
        made[row] = best.numbers[key]
    return made


def prepare() -> None:
    """Compiles everything, or loads what was compiled before: processes forked from this one need not."""
    none, known = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    has_overflow(none, none, none)
    for values in (np.zeros(0, np.int64), np.zeros(0, np.float64)):
        frame_sums(values, none, none)
        frame_extremes(values, known, none, none, True)
        running_sums(values, none, values)
        running_extremes(values, known, none, Best(values, known), True)


def is_prepared() -> bool:
    """Whether that takes a moment, and not seconds."""
    return is_kept(__name__, running_extremes.__name__)

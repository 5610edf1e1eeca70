"""The walk of a length window: row by row, what comes into the window of its key and what leaves it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from headrace.compiled import compiled, is_kept

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


class Rings(NamedTuple):
    """The last numbers of each slot, how many it ever got, and the slots of the keys at hand. Rings may be shorter than
    the window (`length`) where all numbers are alike."""

    slots: Integers
    values: Numbers
    counts: Integers
    length: int


class Sums(NamedTuple):
    """Of each slot the sum over its window and how many numbers that has, and the slots of the keys at hand."""

    slots: Integers
    sums: Numbers
    valid: Integers


@compiled
def slide(codes: Integers, numbers: Numbers, since: Integers, rings: Rings, window: Sums) -> tuple[Numbers, Integers]:
    """For each row, sum and count over the last rows of its key, up to and with the row. NaN counts for nothing.

    `codes` says which key a row has, `since` the ordinal of the first row of a key that is in a window at all. Rings
    and sums have taken the numbers in afterwards.
    """
    sums, counts = np.empty(len(codes), np.float64), np.empty(len(codes), np.int64)
    last = rings.values.shape[1] - 1
    for row in range(len(codes)):
        ring, total = rings.slots[codes[row]], window.slots[codes[row]]
        count = rings.counts[ring]
        place = count % (last + 1)
        is_full = count - rings.length >= since[codes[row]]
        if is_full and not np.isnan(rings.values[ring, place]):
            window.sums[total] -= rings.values[ring, place]
            window.valid[total] -= 1
        rings.values[ring, place] = numbers[row]
        rings.counts[ring] = count + 1
        if not np.isnan(numbers[row]):
            window.sums[total] += numbers[row]
            window.valid[total] += 1
        if is_full and place == last and last + 1 == rings.length:
            # Running sums drift: once in every turn of the ring they are taken anew.
            window.sums[total] = np.nansum(rings.values[ring])
        sums[row], counts[row] = window.sums[total], window.valid[total]
    return sums, counts


def prepare() -> None:
    """Compiles it, or loads what was compiled before: processes forked from this one need not."""
    none, numbers = np.zeros(0, np.int64), np.zeros(0, np.float64)
    slide(none, numbers, none, Rings(none, np.zeros((0, 1)), none, 1), Sums(none, numbers, none))


def is_prepared() -> bool:
    """Whether that takes a moment, and not seconds."""
    return is_kept(__name__, slide.__name__)

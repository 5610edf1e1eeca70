"""Which row of the right each row of the left meets, where the newest one not later than it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial import group
from headrace.serial.keys import Integers

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Timed:
    """Rows of one side, in the order in which they came: the columns of their key, and their times."""

    keys: Sequence[pa.Array[Any]]
    at_us: Integers

    def __len__(self) -> int:
        return len(self.at_us)

    @property
    def has_key(self) -> Flags:
        """Which rows have no null in their key: others equal nothing."""
        valid = (key.is_valid().to_numpy(zero_copy_only=False) for key in self.keys)
        return reduce(and_, valid, np.ones(len(self), np.bool_))


def newest_right(left: Timed, right: Timed, within_us: int | None) -> Integers:
    """For each row of the left the number of the row of the right, −1 for none."""
    codes = _codes(right, left)
    is_left = np.arange(len(codes)) >= len(right)
    at_us = np.concatenate([right.at_us, left.at_us])
    # By key and time, at one time the right before the left, else as they came: the sort is stable.
    order = np.lexsort((is_left, at_us, codes))
    sorted_codes, places = codes[order], np.arange(len(order))
    last = np.maximum.accumulate(np.where(is_left[order], -1, places)) if len(order) else places
    known = (last >= 0) & (sorted_codes[last] == sorted_codes)
    if within_us is not None:
        known &= at_us[order] - at_us[order][last] <= within_us
    found = np.empty(len(order), np.int64)
    found[order] = np.where(known, order[last], -1)
    usable = np.append(right.has_key, False)
    return np.where(left.has_key & usable[found[len(right) :]], found[len(right) :], -1)


def newest_of_each(rows: Timed, watermark_us: int, within_us: int | None) -> Flags:
    """Which rows of the right a row of the left, not earlier than the watermark, can still meet."""
    codes = group(rows.keys, len(rows)).codes
    passed = rows.at_us < watermark_us
    order = np.lexsort((rows.at_us, codes, ~passed))
    # The last of each key among those that the watermark has passed.
    is_last = np.append(codes[order][1:] != codes[order][:-1], True)[: len(order)]
    is_last |= np.append(passed[order][1:] != passed[order][:-1], True)[: len(order)]
    kept = np.empty(len(order), np.bool_)
    kept[order] = is_last
    kept |= ~passed
    if within_us is not None:
        kept &= rows.at_us >= watermark_us - within_us
    return kept & rows.has_key


def _codes(right: Timed, left: Timed) -> Integers:
    """Keys of both sides as numbers, those of the right first."""
    keys = [pa.concat_arrays([one, other]) for one, other in zip(right.keys, left.keys, strict=True)]
    return group(keys, len(right) + len(left)).codes

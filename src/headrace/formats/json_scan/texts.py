"""Texts that were found, gathered without their escapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace.compiled import compiled
from headrace.formats.json_scan.addresses import copy, store
from headrace.formats.json_scan.syntax import character, text_stop
from headrace.formats.json_scan.values import Flags, Integers


@compiled
def _write_character(at: int, code: int) -> int:
    """Behind the character, written as UTF-8."""
    if code < 0x80:
        store(at, code)
        return at + 1
    size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    store(at, (0xF00 >> size & 0xFF) | code >> 6 * (size - 1))
    for place in range(1, size):
        store(at + place, 0x80 | (code >> 6 * (size - 1 - place) & 0x3F))
    return at + size


@compiled
def _write_text(target: int, at: int, end: int) -> int:
    """Behind a text with escapes, written to `target` without them."""
    while at < end:
        stop = text_stop(at, end)
        copy(at, target, stop - at)
        target += stop - at
        at = stop
        if at < end:
            at, code = character(at, end)
            target = _write_character(target, code)
    return target


@compiled
def gather(
    rows: Integers, valid: Flags, starts: Integers, ends: Integers
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The texts of these rows one after the other, and the borders between them; one that is not valid is empty."""
    size = 0
    for row in rows:
        size += abs(ends[row]) - starts[row] if valid[row] else 0
    # No escape is shorter than what it stands for.
    gathered = np.empty(size, np.uint8)
    borders = np.zeros(len(rows) + 1, np.int32)
    base = target = int(gathered.ctypes.data)
    for index in range(len(rows)):
        row = rows[index]
        if valid[row] and ends[row] < 0:
            target = _write_text(target, starts[row], -ends[row])
        elif valid[row]:
            length = int(ends[row] - starts[row])
            copy(starts[row], target, length)
            target += length
        borders[index + 1] = target - base
    return gathered[: target - base], borders

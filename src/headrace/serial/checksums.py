"""CRC-32, as zlib and Spark have it, of many texts at once; compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from headrace.compiled import compiled, is_kept
from headrace.serial.text_bytes import Bytes, Places

Sums: TypeAlias = "np.ndarray[Any, np.dtype[np.uint32]]"

_POLYNOMIAL = np.uint32(0xEDB88320)
_ALL_BITS = np.uint32(0xFFFFFFFF)
_BYTE_BITS = np.uint32(8)
_BYTE = np.uint32(0xFF)


def _steps() -> Sums:
    """What a byte makes of a sum."""
    steps = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        steps = np.where(steps & 1 == 1, _POLYNOMIAL ^ steps >> np.uint32(1), steps >> np.uint32(1))
    return steps


_STEPS = _steps()


class Checksums:
    """One for each row, of the texts that are added to it one after the other."""

    def __init__(self, row_count: int) -> None:
        self._sums: Sums = np.full(row_count, _ALL_BITS, np.uint32)

    def add(self, texts: Bytes, starts: Places) -> None:
        """To each row its own text, see `text_bytes`."""
        _add(self._sums, texts, starts, _STEPS)

    def add_byte(self, byte: int) -> None:
        """The same to all rows."""
        self._sums = _STEPS[(self._sums ^ np.uint32(byte)) & _BYTE] ^ self._sums >> _BYTE_BITS

    def values(self) -> Places:
        return (self._sums ^ _ALL_BITS).astype(np.int64)


@compiled
def _add(sums: Sums, texts: Bytes, starts: Places, steps: Sums) -> None:
    for row in range(len(sums)):
        value = sums[row]
        for place in range(starts[row], starts[row + 1]):
            value = steps[(value ^ texts[place]) & _BYTE] ^ (value >> _BYTE_BITS)
        sums[row] = value


def prepare() -> None:
    """Compiles everything, or loads what was compiled before: processes forked from this one need not."""
    # What Arrow holds can only be read, which makes it another type to the compiler.
    Checksums(0).add(np.frombuffer(b"", np.uint8), np.zeros(1, np.int64))


def is_prepared() -> bool:
    """Whether that takes a moment, and not seconds."""
    return is_kept(__name__, _add.__name__)

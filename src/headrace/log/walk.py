"""The way from record to record, compiled.

A record starts with its length, so that no operation on arrays finds the starts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from headrace.compiled import compiled

Integers = NDArray[np.int64]

_VARINT_BITS_MAX: Final = 70
ALL_SOUND: Final = -1


@compiled
def record_starts(
    data: NDArray[np.uint8], payload_starts: Integers, payload_ends: Integers, counts: Integers, starts: Integers
) -> int:
    """Fills `starts`. Returns ALL_SOUND, or the number of the first payload that its records do not fill exactly."""
    filled = 0
    for number in range(len(counts)):
        position, end = payload_starts[number], payload_ends[number]
        for _ in range(counts[number]):
            starts[filled] = position
            filled += 1
            zigzag, shift, byte = np.int64(0), 0, np.int64(0x80)
            while byte >= 0x80:
                if position >= end or shift >= _VARINT_BITS_MAX:
                    return number
                byte = np.int64(data[position])
                zigzag |= (byte & 0x7F) << shift
                position += 1
                shift += 7
            length = zigzag >> 1
            if zigzag & 1 or length < 0 or length > end - position:
                return number
            position += length
        if position != end:
            return number
    return ALL_SOUND


# The kinds of arrays it will meet, so that it is compiled or loaded now, and not in every process forked from this one.
_NOTHING: Final = np.zeros(0, np.int64)
for _data in (np.frombuffer(b"\0", np.uint8), np.zeros(1, np.uint8)):
    record_starts(_data, _NOTHING, _NOTHING, _NOTHING, _NOTHING)

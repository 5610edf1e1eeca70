"""Checksums on read: every batch is checked before it leaves the broker, and not again while its segment stays open.

Below the high watermark a segment's bytes never change, so what was checked once may be sent by the kernel straight
from its page cache (`Span.send`). What was checked is forgotten with the open segment: at a restart, and when it is
closed to make room for others.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import google_crc32c
import numpy as np

from headrace.log.batch import (
    CHECKED_FROM,
    HEADER_BYTES,
    LEADER_EPOCH,
    BatchHeader,
    crc_matches,
    is_plausible,
    read_header,
)
from headrace.log.files import LazyFile

WINDOW_BYTES = 256 << 10
"""Read at once: small enough to stay in the processor's cache until it is checked."""

BATCHES_MAX = 1_000
"""Checked in one go, some milliseconds of work; a reader gets the rest with its next request."""

RANGES_MAX = 64
"""Remembered of one segment. With more readers far apart, batches are checked again."""


class _Range(NamedTuple):
    start: int
    end: int
    end_offset: int
    """The offset of the batch that follows."""


class VerifiedRanges:
    """Which bytes of one open segment hold batches that are what was appended."""

    __slots__ = ("_ranges",)

    def __init__(self) -> None:
        self._ranges: list[_Range] = []

    def intact_end(self, file: LazyFile, start: int, end: int) -> int:
        """The end of the intact batches from `start` on, at most `end`; both are batch boundaries. Raises OSError.

        `start` when the first one is damaged. Less than `end` also when there are too many to check at once.
        """
        known = self._holding(start)
        if known is not None and known.end >= end:
            return end
        checked = _check(file, _Range(start, start, -1) if known is None else known, end)
        if checked.end > start:
            self._add(checked)
        return checked.end

    def _holding(self, position: int) -> _Range | None:
        at = bisect_right(self._ranges, position, key=lambda known: known.start) - 1
        return self._ranges[at] if at >= 0 and self._ranges[at].end >= position else None

    def _add(self, checked: _Range) -> None:
        """Ranges that touch become one, the others stay in order."""
        touching = [known for known in self._ranges if known.end >= checked.start and known.start <= checked.end]
        last = max([checked, *touching], key=lambda known: known.end)
        joined = last._replace(start=min(known.start for known in (checked, *touching)))
        apart = [known for known in self._ranges if known not in touching]
        # The longest would cost most to check again.
        self._ranges = sorted(sorted([*apart, joined], key=lambda known: known.end - known.start)[-RANGES_MAX:])


def _check(file: LazyFile, known: _Range, end: int) -> _Range:
    """`known` with the intact batches behind it, BATCHES_MAX of them at most."""
    window = _Window(file, known.end, end)
    for _ in range(BATCHES_MAX):
        header = _next_header(window, known, end)
        if header is None or not _is_intact(window, header, known.end):
            break
        known = _Range(known.start, known.end + header.size_bytes, header.next_offset)
    return known


def _next_header(window: _Window, known: _Range, end: int) -> BatchHeader | None:
    """The header behind `known`; None unless it can be one. Its offset and epoch are not under the checksum."""
    content = window.bytes_at(known.end, HEADER_BYTES)
    if len(content) < HEADER_BYTES:
        return None
    header = read_header(content)
    follows = known.end_offset in (header.base_offset, -1) and header.leader_epoch == LEADER_EPOCH
    return header if follows and is_plausible(header) and known.end + header.size_bytes <= end else None


def _is_intact(window: _Window, header: BatchHeader, position: int) -> bool:
    if header.size_bytes <= window.size_bytes:
        content = window.bytes_at(position, header.size_bytes)
        return len(content) == header.size_bytes and crc_matches(header, content)
    crc, at, end = 0, position + CHECKED_FROM, position + header.size_bytes
    while at < end:
        content = window.bytes_at(at, min(window.size_bytes, end - at))
        if not content:
            return False
        crc = google_crc32c.extend(crc, np.frombuffer(content, dtype=np.uint8))
        at += len(content)
    return int(crc) == header.crc


class _Window:
    """A part of a file in memory, in one buffer for the whole time."""

    __slots__ = ("_buffer", "_end", "_file", "_filled", "_start")

    def __init__(self, file: LazyFile, start: int, end: int) -> None:
        self._file = file
        self._buffer = memoryview(bytearray(min(WINDOW_BYTES, end - start)))
        self._start, self._end = start, end
        self._filled = 0

    @property
    def size_bytes(self) -> int:
        return len(self._buffer)

    def bytes_at(self, position: int, length: int) -> memoryview:
        """At most the window's size; valid until the next call. Fewer only where the file ends. Raises OSError."""
        if position + length > self._start + self._filled:
            self._start = position
            self._filled = self._file.read_into(self._buffer[: self._end - position], position)
        at = position - self._start
        return self._buffer[at : min(at + length, self._filled)]

"""The two sparse indexes of a segment: from offset to position, and from time to position.

Both have one entry for about every 4 KiB of log. Entries are hints: whoever uses one looks at the batch it points to,
and entries from a damaged one on are not loaded, so damage costs time and never gives a wrong answer.

    .index      8 bytes   position | (offset - base offset) << 32
    .timeindex  16 bytes  newest timestamp before the entry's batch | position | check word over both
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.log.files import FileCache, LazyFile
from headrace.log.storage import Storage

INDEX_INTERVAL_BYTES = 4 << 10
NO_TIMESTAMP_MS = -1

_LOW = 0xFFFF_FFFF
_ENTRY_BYTES = 8
_TIME_ENTRY = np.dtype([("time_ms", "<i8"), ("position", "<u4"), ("check", "<u4")])
_TIME_FIELDS = struct.Struct("<qII")
_CHECK_FACTOR = np.uint32(0x9E37_79B1)
_CHECK_SALT = np.uint32(0x5851_F42D)
"""So that a hole, read as zeros, is not an entry."""


class IndexEntry(NamedTuple):
    """A batch with this base offset starts at this position, if the entry is sound."""

    relative_offset: int
    position: int


SEGMENT_START = IndexEntry(0, 0)


def entry_at(entries: array[int], relative_offset: int) -> IndexEntry:
    """The last entry at or below the offset; the segment's start when there is none."""
    at = bisect_right(entries, relative_offset << 32 | _LOW) - 1
    return IndexEntry(entries[at] >> 32, entries[at] & _LOW) if at >= 0 else SEGMENT_START


def decode_entries(content: bytes) -> array[int]:
    """The whole entries of an `.index` file."""
    entries: array[int] = array("Q")
    entries.frombytes(content[: len(content) // _ENTRY_BYTES * _ENTRY_BYTES])
    return entries


class SegmentIndex:
    """Both indexes of one segment, in memory and, as they grow, in their files."""

    __slots__ = ("_ahead", "_entries", "_indexed_to", "_offset_file", "_time_file", "_times")

    def __init__(self, offset_file: LazyFile, time_file: LazyFile, entries: array[int], times: array[int]) -> None:
        self._offset_file = offset_file
        self._time_file = time_file
        self._entries = entries
        self._times = times
        # Entries of the files that come next, if they are added again. The last one first.
        self._ahead: list[tuple[int, int]] = []
        self._indexed_to = (entries[-1] & _LOW) + INDEX_INTERVAL_BYTES if entries else 0

    @classmethod
    def open(cls, storage: Storage, offset_path: Path, time_path: Path, files: FileCache) -> SegmentIndex:
        """Load what is in the files; entries of one that the other lacks do not count."""
        offset_file = LazyFile(storage, offset_path, files, create=True)
        time_file = LazyFile(storage, time_path, files, create=True)
        entries = decode_entries(offset_file.read(offset_file.size(), 0))
        times = _sound_times(entries, time_file.read(time_file.size(), 0))
        return cls(offset_file, time_file, entries[: len(times)], times)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, relative_offset: int, position: int, newest_before_ms: int) -> None:
        """Called for every batch in order; keeps an entry when the last one is an interval away.

        `newest_before_ms` is the newest timestamp of all batches in front of this one.
        """
        if position < self._indexed_to:
            return
        count, entry = len(self._entries), relative_offset << 32 | position
        if self._ahead and self._is_next(entry, newest_before_ms):
            return
        try:
            self._time_file.write([_time_entry(newest_before_ms, position)], count * _TIME_ENTRY.itemsize)
            self._offset_file.write([entry.to_bytes(_ENTRY_BYTES, "little")], count * _ENTRY_BYTES)
        except OSError:
            return  # A missing hint must not fail an append; the next batch gets the entry.
        self._entries.append(entry)
        self._times.append(newest_before_ms)
        self._indexed_to = position + INDEX_INTERVAL_BYTES

    def _is_next(self, entry: int, newest_before_ms: int) -> bool:
        """Takes over the next entry of the files if it is this one. Otherwise those that are left there are removed."""
        if self._ahead[-1] != (entry, newest_before_ms):
            with suppress(OSError):  # As in `add`: they are hints, and the new one takes the place of the first.
                self.trim()
            return False
        self._ahead.pop()
        self._entries.append(entry)
        self._times.append(newest_before_ms)
        self._indexed_to = (entry & _LOW) + INDEX_INTERVAL_BYTES
        return True

    def entry_at(self, relative_offset: int) -> IndexEntry:
        """Where to start looking for the batch that holds the offset."""
        return entry_at(self._entries, relative_offset)

    def position_below(self, position: int) -> int:
        """The last indexed batch start at or below a position; 0 when there is none."""
        at = bisect_right(self._entries, position, key=lambda entry: entry & _LOW) - 1
        return self._entries[at] & _LOW if at >= 0 else 0

    def position_before_time(self, timestamp_ms: int) -> int:
        """A batch start in front of which every record is older than the timestamp."""
        at = bisect_left(self._times, timestamp_ms) - 1
        return self._entries[at] & _LOW if at >= 0 else 0

    def last(self) -> IndexEntry:
        return IndexEntry(self._entries[-1] >> 32, self._entries[-1] & _LOW) if self._entries else SEGMENT_START

    def cut(self, position: int) -> int:
        """Forget the entries at and above a position, in memory and in the files. Raises OSError.

        The newest timestamp in front of the position, if an entry knew it.
        """
        newest_before_ms = self.rewind(position)
        self._ahead = []
        self._truncate()
        return newest_before_ms

    def rewind(self, position: int) -> int:
        """As `cut`, before the entries are added again: `trim` comes in the end. Equal ones are not written again.

        Truncating two files of each of thousands of partitions takes most of the time that opening them needs.
        """
        count = bisect_left(self._entries, position, key=lambda entry: entry & _LOW)
        known = count < len(self._entries) and self._entries[count] & _LOW == position
        newest_before_ms = self._times[count] if known else NO_TIMESTAMP_MS
        self._ahead = list(zip(self._entries[count:], self._times[count:], strict=True))[::-1]
        del self._entries[count:], self._times[count:]
        self._indexed_to = (self._entries[-1] & _LOW) + INDEX_INTERVAL_BYTES if count else 0
        return newest_before_ms

    def trim(self) -> None:
        """No more entries in the files than in memory. Raises OSError."""
        self._ahead = []
        count = len(self._entries)
        sizes = (self._offset_file.size(), self._time_file.size())
        if sizes != (count * _ENTRY_BYTES, count * _TIME_ENTRY.itemsize):
            self._truncate()

    def _truncate(self) -> None:
        self._offset_file.truncate(len(self._entries) * _ENTRY_BYTES)
        self._time_file.truncate(len(self._entries) * _TIME_ENTRY.itemsize)

    def sync(self) -> None:
        self._offset_file.sync()
        self._time_file.sync()


def _check(times_ms: NDArray[np.int64], positions: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A word that changes with every single bit of an entry; computed for a whole file at once."""
    halves = times_ms.view(np.uint64)
    folded = (halves ^ halves >> np.uint64(32)).astype(np.uint32)
    return (folded ^ positions ^ _CHECK_SALT) * _CHECK_FACTOR


def _time_entry(time_ms: int, position: int) -> bytes:
    """One entry, its check word as in `_check`: the same sum without arrays, since this is on the way of an append."""
    folded = (time_ms ^ time_ms >> 32) & _LOW
    check = (folded ^ position ^ int(_CHECK_SALT)) * int(_CHECK_FACTOR) & _LOW
    return _TIME_FIELDS.pack(time_ms, position, check)


def _sound_times(entries: array[int], content: bytes) -> array[int]:
    """Timestamps of the entries that both files have, up to the first that is damaged."""
    count = min(len(entries), len(content) // _TIME_ENTRY.itemsize)
    stored = np.frombuffer(content, _TIME_ENTRY, count)
    times_ms = np.ascontiguousarray(stored["time_ms"])
    positions = (np.frombuffer(entries, np.uint64, count) & np.uint64(_LOW)).astype(np.uint32)
    damaged = np.flatnonzero(
        (stored["check"] != _check(times_ms, stored["position"])) | (stored["position"] != positions)
    )
    times: array[int] = array("q")
    times.frombytes(times_ms[: damaged[0] if damaged.size else count].tobytes())
    return times

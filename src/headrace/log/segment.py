"""One segment of a partition: a file of whole batches, its indexes, and how to find one's way in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headrace.errors import CorruptData
from headrace.log.aborted import ABORTED_ENTRY_BYTES, AbortedTransaction, decode_aborted
from headrace.log.batch import HEADER_BYTES, BatchHeader, crc_matches, is_plausible, read_header
from headrace.log.files import OPEN_FILES_MIN, FileCache, LazyFile
from headrace.log.index import NO_TIMESTAMP_MS, SEGMENT_START, IndexEntry, SegmentIndex
from headrace.log.storage import Storage
from headrace.log.verified import VerifiedRanges

SCAN_WINDOW_BYTES = 64 << 10
"""Headers are read through a window of this size: many small batches cost one read."""

FIRST_WINDOW_BYTES = 4 << 10
"""A lookup starts at an index entry and rarely goes further."""

LOG_SUFFIX = ".log"
ABORTED_SUFFIX = ".txnindex"
SEGMENT_SUFFIXES = (LOG_SUFFIX, ".index", ".timeindex", ABORTED_SUFFIX)


def segment_path(directory: Path, base_offset: int, suffix: str) -> Path:
    return directory / f"{base_offset:020d}{suffix}"


def segment_bases(names: Sequence[str]) -> list[int]:
    """Base offsets of the segments among a directory's names, in order."""
    return sorted(int(name.removesuffix(LOG_SUFFIX)) for name in names if name.endswith(LOG_SUFFIX))


def _existing(storage: Storage, path: Path, files: FileCache) -> LazyFile | None:
    try:
        return LazyFile(storage, path, files, is_durable=True)
    except FileNotFoundError:
        return None


class Located(NamedTuple):
    """A batch and where it starts in its segment."""

    position: int
    header: BatchHeader


class Segment:
    """An open segment. `size_bytes`, `end_offset` and `max_timestamp_ms` cover what was appended or scanned."""

    def __init__(
        self,
        storage: Storage,
        directory: Path,
        base_offset: int,
        *,
        create: bool = False,
        mark: str = "",
        files: FileCache | None = None,
    ) -> None:
        """`mark` is added to the names of the files: those of a segment that is not in use yet.

        Without `files`, which one thread shares, the segment has its own.
        """
        self._storage = storage
        self._files = files = FileCache(OPEN_FILES_MIN) if files is None else files
        self._aborted_path = segment_path(directory, base_offset, ABORTED_SUFFIX + mark)
        self.base_offset = base_offset
        path = segment_path(directory, base_offset, LOG_SUFFIX + mark)
        self.file = LazyFile(storage, path, files, create=create, is_durable=True)
        self.index = SegmentIndex.open(
            storage,
            segment_path(directory, base_offset, ".index" + mark),
            segment_path(directory, base_offset, ".timeindex" + mark),
            files,
        )
        self._aborted_file = _existing(storage, self._aborted_path, files)
        self.aborted_count = self._aborted_file.size() // ABORTED_ENTRY_BYTES if self._aborted_file else 0
        self.verified = VerifiedRanges()
        self._first_timestamp_ms: int | None = None
        self.size_bytes = 0
        self.end_offset = base_offset
        self.max_timestamp_ms = NO_TIMESTAMP_MS

    def note(self, header: BatchHeader) -> None:
        """Take a batch that stands at the segment's end into account."""
        self.index.add(header.base_offset - self.base_offset, self.size_bytes, self.max_timestamp_ms)
        self.size_bytes += header.size_bytes
        self.end_offset = header.next_offset
        self.max_timestamp_ms = max(self.max_timestamp_ms, header.max_timestamp_ms)

    def first_timestamp_ms(self) -> int:
        """The newest time in the first batch; NO_TIMESTAMP_MS when there is none. Raises OSError."""
        if self._first_timestamp_ms is None and self.size_bytes:
            self._first_timestamp_ms = read_header(self.file.read(HEADER_BYTES, 0)).max_timestamp_ms
        return NO_TIMESTAMP_MS if self._first_timestamp_ms is None else self._first_timestamp_ms

    def load(self, before_offset: int | None = None) -> None:
        """Learn size, end offset and newest timestamp of what is in the file, reading from the nearest index entry on.

        With `before_offset`, of the batches below it only, and index entries above it are dropped once the caller has
        noted what follows and trims the index. Missing and damaged entries are written again on the way.
        """
        end = self.file.size()
        entry = (
            self.index.last() if before_offset is None else self.index.entry_at(before_offset - 1 - self.base_offset)
        )
        if not self._is_sound(entry, end):
            entry = SEGMENT_START
        self.max_timestamp_ms = self.index.rewind(entry.position)
        self.size_bytes, self.end_offset = entry.position, self.base_offset + entry.relative_offset
        for located in self.scan(entry.position, end):
            at_end = before_offset is not None and located.header.base_offset >= before_offset
            if at_end or located.header.base_offset != self.end_offset:
                break
            self.note(located.header)
        if before_offset is None:
            self.index.trim()

    def scan(self, position: int, end: int) -> Iterator[Located]:
        """Batches from a batch start on whose end is at most `end`; stops in front of bytes that are none.

        The offsets of batches follow each other without a gap. The checksum does not cover them, so this does.
        """
        window, window_at, offset = b"", position, None
        while position + HEADER_BYTES <= end:
            if position + HEADER_BYTES > window_at + len(window):
                length = SCAN_WINDOW_BYTES if window else FIRST_WINDOW_BYTES
                window, window_at = self.file.read(length, position), position
            if len(window) - (position - window_at) < HEADER_BYTES:
                return
            header = read_header(window, position - window_at)
            follows = offset is None or header.base_offset == offset
            if not (follows and is_plausible(header)) or position + header.size_bytes > end:
                return
            yield Located(position, header)
            offset = header.next_offset
            position += header.size_bytes

    def is_intact(self, located: Located) -> bool:
        """Whether the batch's bytes match its checksum."""
        content = self.file.read(located.header.size_bytes, located.position)
        return len(content) == located.header.size_bytes and crc_matches(located.header, content)

    def walk(self, position: int, end: int) -> Iterator[Located]:
        """As `scan`, where `end` is known to be a batch boundary. Raises CorruptData when it is not reached."""
        for located in self.scan(position, end):
            yield located
            position = located.position + located.header.size_bytes
        if position < end:
            raise CorruptData(f"{self.file.path.parent.name}/{self.file.path.name}: no batch at byte {position}")

    def locate(self, offset: int) -> int:
        """The position of the first batch that ends at or above the offset; the segment's end when there is none."""
        if offset >= self.end_offset:
            return self.size_bytes
        entry = self.index.entry_at(offset - self.base_offset)
        start = entry.position if self._is_sound(entry, self.size_bytes) else 0
        found = (at for at in self.walk(start, self.size_bytes) if at.header.last_offset >= offset)
        return next(found).position

    def _is_sound(self, entry: IndexEntry, end: int) -> bool:
        """Whether the batch that an index entry promises is there."""
        first = next(self.scan(entry.position, end), None)
        return first is not None and first.header.base_offset == self.base_offset + entry.relative_offset

    def boundary(self, start: int, limit: int) -> int:
        """The last batch boundary in [start, limit]; `start` is one."""
        if limit >= self.size_bytes:
            return self.size_bytes
        boundary = max(start, self.index.position_below(limit))
        for located in self.scan(boundary, limit):
            boundary = located.position + located.header.size_bytes
        return boundary

    def aborted(self, count: int | None = None) -> list[AbortedTransaction]:
        """The transactions whose abort marker is in this segment, the first `count` or all. Raises CorruptData."""
        content = self._aborted_file.read(self._aborted_file.size(), 0) if self._aborted_file else b""
        return decode_aborted(content, f"{self._aborted_path.parent.name}/{self._aborted_path.name}", count)

    def add_aborted(self, entry: AbortedTransaction) -> None:
        """Write down the segment's next aborted transaction; readers may look at once. Raises OSError."""
        if self._aborted_file is None:
            self._aborted_file = LazyFile(self._storage, self._aborted_path, self._files, create=True, is_durable=True)
        self._aborted_file.write([entry.encode()], self.aborted_count * ABORTED_ENTRY_BYTES)
        self.aborted_count += 1

    def cut_aborted(self, count: int) -> None:
        """Keep the first `count` aborted transactions in the file. Raises OSError."""
        if self._aborted_file is not None:
            self._aborted_file.truncate(count * ABORTED_ENTRY_BYTES)
        self.aborted_count = count

    def sync(self) -> None:
        """Make the log and its indexes durable. Raises OSError."""
        self.file.sync()
        self.index.sync()
        if self._aborted_file is not None:
            self._aborted_file.sync()

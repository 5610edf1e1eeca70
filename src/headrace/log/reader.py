"""Reading a partition from its files, in any process on the same machine, without asking the broker.

Below the high watermark the files never change. The reader maps them, checks every batch and gives columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from headrace.errors import CorruptData
from headrace.log.aborted import AbortedTransaction, decode_aborted, overlapping
from headrace.log.archive import REMOTE_SUFFIX, fetch_remote, remote_bases
from headrace.log.batch import HEADER_BYTES, BatchHeader, crc_matches, is_plausible, read_header
from headrace.log.index import decode_entries, entry_at
from headrace.log.records import Payload, Records, decode_payloads
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.segment import LOG_SUFFIX, segment_bases, segment_path
from headrace.log.storage import Buffer
from headrace.log.unreadable import UnreadableBatch, unpacked
from headrace.log.watermark import TORN_READS_MAX, Watermark, read_watermark
from headrace.memory import MappedFile

CHUNK_BYTES = 4 << 20
"""Log that is decoded at once when the caller does not say otherwise."""

CHUNK_BYTES_MAX = 1 << 30
"""Positions within a chunk are 32-bit numbers in Arrow."""

RELISTED_MAX = 100
"""How often segments may vanish between looking and opening."""


class PartitionReader:
    """Reads one partition's directory. Holds nothing open between calls; any number may read at the same time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def watermark(self) -> Watermark:
        """How far one can read now. Raises NotFound when there is no partition."""
        return read_watermark(self._directory)

    def read(
        self,
        start_offset: int,
        end_offset: int,
        *,
        committed: bool = True,
        chunk_bytes: int = CHUNK_BYTES,
        headers: bool = False,
    ) -> Iterator[Records]:
        """Every record in [start_offset, end_offset), in order, in chunks of about `chunk_bytes` of log.

        Left out are transaction markers and, when `committed`, records of aborted transactions. Raises LogRefusal
        (offset out of range) when the range is not wholly readable: records that retention removed, or an end above
        the high watermark (the last stable offset when `committed`). Raises CorruptData that names segment and offset,
        and UnreadableBatch once everything in front of the batch was given: a read from behind it goes on.
        """
        self._check_range(start_offset, end_offset, committed)
        if start_offset >= end_offset:
            return iter(())
        aborted = self._aborted(start_offset, end_offset) if committed else ()
        wanted = _Wanted(start_offset, end_offset, headers, min(chunk_bytes, CHUNK_BYTES_MAX), _by_producer(aborted))
        # Mapped before the first record is given, so that retention cannot take a segment away in between.
        segments = self._mapped(start_offset, end_offset)
        return self._read(segments, wanted)

    def _read(self, segments: Sequence[_MappedSegment], wanted: _Wanted) -> Iterator[Records]:
        try:
            for segment in segments:
                yield from segment.read(wanted)
        except UnreadableBatch as unreadable:
            raise unreadable.of(self._directory.name) from unreadable

    def _mapped(self, start_offset: int, end_offset: int) -> list[_MappedSegment]:
        """The segments of a range. Compaction may join some just now: then their names have to be read again."""
        for _ in range(RELISTED_MAX):
            bases = self._bases(start_offset, end_offset)
            try:
                return [_MappedSegment.open(self._directory, *span) for span in pairwise([*bases, end_offset])]
            except LogRefusal as refusal:
                gone = refusal
                if start_offset < self.watermark().log_start_offset:
                    break
        raise gone

    def _check_range(self, start_offset: int, end_offset: int, committed: bool) -> None:
        watermark = self.watermark()
        limit = watermark.last_stable_offset if committed else watermark.high_watermark
        if start_offset < watermark.log_start_offset or end_offset > limit:
            raise LogRefusal(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self._directory.name}: offsets {start_offset} to {end_offset} were asked for, "
                f"{watermark.log_start_offset} to {limit} can be read",
            )

    def _bases(self, start_offset: int, end_offset: int) -> list[int]:
        """Base offsets of the segments with a part of the range, on this disk or archived."""
        names = [path.name for path in self._directory.iterdir()]
        bases = sorted({*segment_bases(names), *remote_bases(names)})
        first = bisect_right(bases, start_offset) - 1
        return [base for base in bases[max(first, 0) :] if base < end_offset]

    def _aborted(self, start_offset: int, end_offset: int) -> tuple[AbortedTransaction, ...]:
        """Aborted transactions with records in the range. Their markers may be in any segment from the first on."""
        names = [path.name for path in self._directory.iterdir()]
        bases = sorted({*segment_bases(names), *remote_bases(names)})
        first = max(bisect_right(bases, start_offset) - 1, 0)
        entries = [e for base in bases[first:] for e in _read_aborted(segment_path(self._directory, base, ".txnindex"))]
        return overlapping(entries, start_offset, end_offset)


def segment_extent(directory: Path, base_offset: int, end_offset: int) -> int:
    """Bytes of a segment's batches below an offset. Raises FileNotFoundError, CorruptData."""
    path = segment_path(directory, base_offset, LOG_SUFFIX)
    if end_offset <= base_offset or not path.stat().st_size:
        return 0
    segment = _MappedSegment(directory, base_offset, end_offset, MappedFile(path).view)
    return max(position + header.size_bytes for position, header in segment._batches(end_offset - 1))


def _read_aborted(path: Path) -> list[AbortedTransaction]:
    """The entries of one index. The last may be half written at the moment, so damage is believed late."""
    place = f"{path.parent.name}/{path.name}"
    for _ in range(TORN_READS_MAX):
        try:
            return decode_aborted(path.read_bytes(), place)
        except FileNotFoundError:
            return []
        except CorruptData as error:
            damage = error
    raise damage


def _by_producer(entries: Sequence[AbortedTransaction]) -> dict[int, list[AbortedTransaction]]:
    grouped: dict[int, list[AbortedTransaction]] = {}
    for entry in entries:
        grouped.setdefault(entry.producer_id, []).append(entry)
    return grouped


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a read is about."""

    start_offset: int
    end_offset: int
    headers: bool
    chunk_bytes: int
    aborted: dict[int, list[AbortedTransaction]]

    def includes(self, header: BatchHeader) -> bool:
        """Whether the batch's records are to be given: not a marker's, not those of an aborted transaction."""
        if header.is_control:
            return False
        candidates = self.aborted.get(header.producer_id, ()) if header.is_transactional else ()
        return not any(entry.first_offset <= header.base_offset <= entry.last_offset for entry in candidates)


@dataclass(slots=True)
class _Chunk:
    """Batches that are decoded together, all from one segment."""

    segment: memoryview
    payloads: list[Payload] = field(default_factory=list)
    unpacked: list[Buffer] = field(default_factory=list)
    size_bytes: int = 0
    has_compressed: bool = False

    def add(self, position: int, header: BatchHeader) -> None:
        """Raises LogRefusal when the batch cannot be unpacked."""
        start, end = position + HEADER_BYTES, position + header.size_bytes
        content = unpacked(header, self.segment[position:end])
        self.payloads.append(Payload(header, start, end))
        self.unpacked.append(content)
        self.size_bytes += len(content)
        self.has_compressed |= header.codec_number != 0

    def decode(self, wanted: _Wanted) -> Records:
        """Without a compressed batch the records are decoded where they are in the file."""
        data, payloads = self._joined() if self.has_compressed else self._in_place()
        return decode_payloads(
            data,
            payloads,
            start_offset=wanted.start_offset,
            end_offset=wanted.end_offset,
            headers=wanted.headers,
        )

    def singly(self) -> Iterator[_Chunk]:
        """Each batch as a chunk of its own."""
        for payload, content in zip(self.payloads, self.unpacked, strict=True):
            yield _Chunk(self.segment, [payload], [content], len(content), self.has_compressed)

    def _in_place(self) -> tuple[Buffer, list[Payload]]:
        origin, end = self.payloads[0].start, self.payloads[-1].end
        return self.segment[origin:end], [Payload(p.header, p.start - origin, p.end - origin) for p in self.payloads]

    def _joined(self) -> tuple[Buffer, list[Payload]]:
        payloads, end = [], 0
        for payload, content in zip(self.payloads, self.unpacked, strict=True):
            payloads.append(Payload(payload.header, end, end + len(content)))
            end += len(content)
        return self.unpacked[0] if len(payloads) == 1 else b"".join(self.unpacked), payloads


@dataclass(frozen=True, slots=True)
class _MappedSegment:
    """A segment's file in memory."""

    directory: Path
    base_offset: int
    end_offset: int
    """Where the next segment starts, or what is wanted ends."""
    view: memoryview

    @classmethod
    def open(cls, directory: Path, base_offset: int, end_offset: int) -> _MappedSegment:
        try:
            return cls(
                directory, base_offset, end_offset, MappedFile(segment_path(directory, base_offset, LOG_SUFFIX)).view
            )
        except FileNotFoundError:
            pass
        try:
            archived = fetch_remote(segment_path(directory, base_offset, REMOTE_SUFFIX))
        except FileNotFoundError:
            cause = f"{directory.name}: the segment at offset {base_offset} was removed by retention"
            raise LogRefusal(ErrorCode.OFFSET_OUT_OF_RANGE, cause) from None
        return cls(directory, base_offset, end_offset, memoryview(archived))

    def read(self, wanted: _Wanted) -> Iterator[Records]:
        """The segment's part of what is wanted. Raises CorruptData, UnreadableBatch."""
        chunk = _Chunk(self.view)
        for position, header in self._batches(wanted.start_offset):
            if not crc_matches(header, self.view, position):
                raise self._damaged(position, f"the batch at offset {header.base_offset} fails its checksum")
            if not wanted.includes(header):
                continue
            if chunk.payloads and chunk.size_bytes + header.size_bytes > wanted.chunk_bytes:
                yield from self._decoded(chunk, wanted)
                chunk = _Chunk(self.view)
            try:
                chunk.add(position, header)
            except UnreadableBatch:
                yield from self._decoded(chunk, wanted)
                raise
        yield from self._decoded(chunk, wanted)

    def _decoded(self, chunk: _Chunk, wanted: _Wanted) -> Iterator[Records]:
        if not chunk.payloads:
            return
        try:
            decoded: Iterable[Records] = [chunk.decode(wanted)]
        except UnreadableBatch:
            if len(chunk.payloads) == 1:
                raise
            # One of them: those in front of it are given.
            decoded = (one.decode(wanted) for one in chunk.singly())
        yield from (records for records in decoded if len(records))

    def _batches(self, start_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """Batches from the one with the offset on, their headers sane, none missing."""
        position, offset = self._start_below(start_offset)
        while offset < self.end_offset:
            header = self._header(position, offset)
            if header.last_offset >= start_offset:
                yield position, header
            position += header.size_bytes
            offset = header.next_offset

    def _header(self, position: int, offset: int) -> BatchHeader:
        """The header that must be here. Its offset is not under the checksum, but known from the batch before."""
        header = read_header(self.view, position) if len(self.view) - position >= HEADER_BYTES else None
        if header is None or not is_plausible(header) or position + header.size_bytes > len(self.view):
            raise self._damaged(position, f"there is no whole batch where offset {offset} should be")
        if header.base_offset != offset:
            raise self._damaged(position, f"the batch says offset {header.base_offset}, {offset} is next")
        return header

    def _start_below(self, offset: int) -> tuple[int, int]:
        """Position and offset where the index says to start; the segment's start when the index is wrong or missing."""
        path = segment_path(self.directory, self.base_offset, ".index")
        entries = decode_entries(path.read_bytes() if path.exists() else b"")
        entry = entry_at(entries, max(offset - self.base_offset, 0))
        if entry.position + HEADER_BYTES > len(self.view):
            return 0, self.base_offset
        header = read_header(self.view, entry.position)
        is_sound = is_plausible(header) and header.base_offset == self.base_offset + entry.relative_offset
        return (entry.position, header.base_offset) if is_sound else (0, self.base_offset)

    def _damaged(self, position: int, cause: str) -> CorruptData:
        place = f"{self.directory.name}, segment {self.base_offset:020d}{LOG_SUFFIX}, byte {position}"
        return CorruptData(f"{place}: {cause}", hint="restore the segment from a backup")

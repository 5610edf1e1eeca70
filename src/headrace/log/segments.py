"""The segments of a partition as one run of batches: all but the last sealed, the last one active."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from headrace.errors import CorruptData
from headrace.log.archive import REMOTE_SUFFIX, NotLocal, RemoteSegment
from headrace.log.batch import LEADER_EPOCH, PREFIX, BatchHeader
from headrace.log.files import FileCache
from headrace.log.index import NO_TIMESTAMP_MS
from headrace.log.retention import SealedSegment
from headrace.log.segment import LOG_SUFFIX, SEGMENT_SUFFIXES, Segment, segment_path
from headrace.log.storage import Buffer, Span, Storage
from headrace.log.topics import TopicConfig

OPEN_SEALED_MAX = 4
"""Sealed segments per partition that stay open, with their indexes, between two reads."""

_RELATIVE_OFFSET_MAX = (1 << 32) - 1


class Segments:
    """Finds and extends a partition's segments. Every method may raise OSError; nothing here is durable by itself."""

    def __init__(
        self,
        storage: Storage,
        files: FileCache,
        directory: Path,
        sealed: Iterable[SealedSegment],
        active: Segment,
        *,
        remote: Mapping[int, RemoteSegment] | None = None,
        away: Iterable[int] = (),
    ) -> None:
        """`remote` are the archived segments, and `away` the base offsets of those that are nowhere else."""
        self._storage = storage
        self._files = files
        self._directory = directory
        self._sealed = list(sealed)
        self._opened: OrderedDict[int, Segment] = OrderedDict()
        self._remote = dict(remote or {})
        self._away = set(away)
        self.orphans: list[RemoteSegment] = []
        """Archived segments that are gone here, and may go there."""
        self.active = active

    @property
    def sealed(self) -> tuple[SealedSegment, ...]:
        return tuple(self._sealed)

    @property
    def start_offset(self) -> int:
        return self._sealed[0].base_offset if self._sealed else self.active.base_offset

    @property
    def end_offset(self) -> int:
        return self.active.end_offset

    @property
    def size_bytes(self) -> int:
        return self.active.size_bytes + sum(segment.size_bytes for segment in self._sealed)

    def write(self, headers: Sequence[BatchHeader], contents: Sequence[memoryview]) -> None:
        """Append batches with the offsets that their headers have. After an OSError call `undo_write`."""
        buffers: list[Buffer] = []
        for header, content in zip(headers, contents, strict=True):
            buffers += [PREFIX.pack(header.base_offset, header.length, LEADER_EPOCH), content[PREFIX.size :]]
        self.active.file.write(buffers, self.active.size_bytes)
        for header in headers:
            self.active.note(header)

    def undo_write(self) -> None:
        """Leave no half batch behind a write that failed."""
        self.active.file.truncate(self.active.size_bytes)

    def is_full(self, headers: Sequence[BatchHeader], added_bytes: int, config: TopicConfig) -> bool:
        """Whether the next write wants a new segment. A first batch always fits."""
        active = self.active
        if not active.size_bytes:
            return False
        if active.size_bytes + added_bytes > config.segment_bytes:
            return True
        if headers[-1].last_offset - active.base_offset > _RELATIVE_OFFSET_MAX:
            return True
        first_ms = active.first_timestamp_ms()
        if first_ms == NO_TIMESTAMP_MS:
            return False
        return max([header.max_timestamp_ms for header in headers]) - first_ms > config.segment_age_ms_max

    def newest_ms(self, segment: SealedSegment | Segment, now_ms: int) -> int:
        """The time of the segment's newest record. One that is yet to come counts as the time of the last write."""
        if segment.max_timestamp_ms <= now_ms or segment.base_offset in self._away:
            return segment.max_timestamp_ms
        path = segment_path(self._directory, segment.base_offset, LOG_SUFFIX)
        return min(segment.max_timestamp_ms, self._storage.modified_ms(path))

    def first_timestamp_ms(self, sealed: SealedSegment) -> int:
        """As `Segment.first_timestamp_ms`. Raises NotLocal."""
        return self._open(sealed).first_timestamp_ms()

    def roll(self) -> None:
        """Seal the active segment, made durable first, and begin the next."""
        self.active.sync()
        begun = Segment(self._storage, self._directory, self.end_offset, create=True, files=self._files)
        self._storage.fsync_directory(self._directory)
        self._sealed.append(SealedSegment.of(self.active))
        self.active = begun

    def span(self, offset: int, limit_offset: int, max_bytes: int, *, at_least_one: bool) -> Span:
        """Whole batches of one segment from the one that holds `offset` on, checksums checked. Raises CorruptData."""
        segment = self._holding(offset)
        start, end = segment.locate(offset), segment.locate(limit_offset)
        if start == end:
            raise CorruptData(f"{self._directory.name}: offset {offset} is in a damaged part of the log")
        if start + max_bytes < end:
            end = segment.boundary(start, start + max_bytes)
        if start == end and at_least_one:
            end = start + next(segment.scan(start, segment.size_bytes)).header.size_bytes
        intact_end = segment.verified.intact_end(segment.file, start, end)
        if start == intact_end < end:
            place = f"{self._directory.name}/{segment.file.path.name}, byte {start}"
            raise CorruptData(
                f"{place}: the batch with offset {offset} is damaged", hint="restore the segment from a backup"
            )
        return Span(segment.file.opened(), start, intact_end - start)

    def since(self, timestamp_ms: int, limit_offset: int) -> Iterator[bytes]:
        """Batches below an offset that say they hold a record at or after the time. Raises CorruptData."""
        for sealed in self.sealed:
            if sealed.max_timestamp_ms >= timestamp_ms:
                yield from _since(self._open(sealed), timestamp_ms, limit_offset)
        yield from _since(self.active, timestamp_ms, limit_offset)

    def remove_first(self) -> None:
        """Remove the oldest sealed segment. Durable afterwards, so that an older one cannot come back alone."""
        base_offset = self._sealed[0].base_offset
        names = self._storage.list_directory(self._directory)
        for suffix in (*SEGMENT_SUFFIXES, REMOTE_SUFFIX):
            path = segment_path(self._directory, base_offset, suffix)
            if path.name in names:
                self._storage.unlink(path)
        self._storage.fsync_directory(self._directory)
        self._opened.pop(base_offset, None)
        self._away.discard(base_offset)
        if (remote := self._remote.pop(base_offset, None)) is not None:
            self.orphans.append(remote)
        del self._sealed[0]

    @property
    def local_bytes(self) -> int:
        """Of all segments that are on this disk."""
        away = sum(segment.size_bytes for segment in self._sealed if segment.base_offset in self._away)
        return self.size_bytes - away

    @property
    def unarchived(self) -> tuple[SealedSegment, ...]:
        return tuple(segment for segment in self._sealed if segment.base_offset not in self._remote)

    @property
    def droppable(self) -> tuple[SealedSegment, ...]:
        """Archived segments that are on this disk too, oldest first."""
        local = (s for s in self._sealed if s.base_offset in self._remote and s.base_offset not in self._away)
        return tuple(local)

    @property
    def local_start_offset(self) -> int:
        local = (segment.base_offset for segment in self._sealed if segment.base_offset not in self._away)
        return next(local, self.active.base_offset)

    @property
    def archived_end_offset(self) -> int:
        return max((segment.end_offset for segment in self._remote.values()), default=0)

    @property
    def archived(self) -> tuple[RemoteSegment, ...]:
        return tuple(self._remote.values())

    def remote(self, base_offset: int) -> RemoteSegment | None:
        return self._remote.get(base_offset)

    def adopt_remote(self, remote: RemoteSegment) -> None:
        """A segment is archived now."""
        remote.save(self._storage, self._directory)
        self._remote[remote.base_offset] = remote

    def drop(self, sealed: SealedSegment) -> None:
        """Remove the local file of an archived segment; its indexes stay."""
        self._storage.unlink(segment_path(self._directory, sealed.base_offset, LOG_SUFFIX))
        self._away.add(sealed.base_offset)
        self._opened.pop(sealed.base_offset, None)

    def came_back(self, base_offset: int) -> None:
        self._away.discard(base_offset)

    def replace(self, replaced: Sequence[SealedSegment], by: SealedSegment) -> None:
        """Neighbouring sealed segments have become one, on disk; know it from now on."""
        at = self._sealed.index(replaced[0])
        self._sealed[at : at + len(replaced)] = [by]
        for sealed in replaced:
            self._opened.pop(sealed.base_offset, None)

    def _holding(self, offset: int) -> Segment:
        at = bisect_right(self._sealed, offset, key=lambda sealed: sealed.base_offset) - 1
        if offset >= self.active.base_offset or at < 0:
            return self.active
        return self._open(self._sealed[at])

    def _open(self, sealed: SealedSegment) -> Segment:
        """The segment's files. The one used longest ago is closed when too many are open."""
        if sealed.base_offset in self._away:
            raise NotLocal(self._directory.name, sealed.base_offset)
        segment = self._opened.pop(sealed.base_offset, None)
        if segment is None:
            segment = Segment(self._storage, self._directory, sealed.base_offset, files=self._files)
            segment.size_bytes, segment.end_offset = sealed.size_bytes, sealed.end_offset
        self._opened[sealed.base_offset] = segment
        if len(self._opened) > OPEN_SEALED_MAX:
            self._opened.popitem(last=False)
        return segment


def _since(segment: Segment, timestamp_ms: int, limit_offset: int) -> Iterator[bytes]:
    for located in segment.walk(segment.index.position_before_time(timestamp_ms), segment.locate(limit_offset)):
        if located.header.max_timestamp_ms >= timestamp_ms:
            yield segment.file.read(located.header.size_bytes, located.position)

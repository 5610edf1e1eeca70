"""Sealed segments in object storage: sent there, dropped here, brought back when somebody reads them.

Beside the segment's indexes, which stay, a file `<base offset>.remote` says where its batches are. It is written once
the object is complete; only then may the local file go. A segment that is brought back is an ordinary one again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import google_crc32c

from headrace.errors import CorruptData
from headrace.log.objects import ObjectStore, open_objects
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.retention import SealedSegment
from headrace.log.segment import LOG_SUFFIX, segment_path
from headrace.log.storage import OpenFile, Storage, read_whole, replace_atomically

REMOTE_SUFFIX = ".remote"
COPIED_BYTES = 8 << 20
"""Read at once while a segment is sent or brought back."""


class NotLocal(LogRefusal):
    """The segment at an offset is in object storage: `Partition.recall` brings it back, then it can be read."""

    def __init__(self, partition: str, base_offset: int) -> None:
        self.base_offset = base_offset
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, f"{partition}: the segment at {base_offset} is archived")


@dataclass(frozen=True, slots=True)
class RemoteSegment:
    """A segment and the object that holds its batches."""

    base_offset: int
    end_offset: int
    size_bytes: int
    max_timestamp_ms: int
    place: str
    key: str
    crc: int

    @property
    def sealed(self) -> SealedSegment:
        return SealedSegment(self.base_offset, self.end_offset, self.size_bytes, self.max_timestamp_ms)

    def save(self, storage: Storage, directory: Path) -> None:
        """Durable afterwards. Raises OSError."""
        path = segment_path(directory, self.base_offset, REMOTE_SUFFIX)
        replace_atomically(storage, path, json.dumps(asdict(self)).encode())


def remote_bases(names: Iterable[str]) -> list[int]:
    """Base offsets of the archived segments among a directory's names."""
    return sorted(int(name.removesuffix(REMOTE_SUFFIX)) for name in names if name.endswith(REMOTE_SUFFIX))


def load_remote(storage: Storage, directory: Path, names: Iterable[str]) -> dict[int, RemoteSegment]:
    """Archived segments by their base offsets. Raises CorruptData."""
    found = {}
    for name in names:
        if not name.endswith(REMOTE_SUFFIX):
            continue
        try:
            segment = RemoteSegment(**json.loads(read_whole(storage, directory / name) or b""))
        except (ValueError, TypeError) as error:
            cause = f"{directory.name}/{name} cannot be read: {error}"
            raise CorruptData(cause, hint="restore it from a backup") from error
        found[segment.base_offset] = segment
    return found


@dataclass(slots=True)
class Archiving:
    """Segments on their way to object storage. `run` may run in any thread; the partition takes the outcome over."""

    storage: Storage
    directory: Path
    segments: tuple[SealedSegment, ...]
    objects: ObjectStore
    done: list[RemoteSegment] = field(default_factory=list)

    def run(self) -> None:
        """Raises OSError, HeadraceError; what was sent before that is in `done`."""
        for sealed in self.segments:
            path = segment_path(self.directory, sealed.base_offset, LOG_SUFFIX)
            crc = _checksum(OpenFile.open(self.storage, path), sealed.size_bytes)
            key = f"{self.directory.name}/{sealed.base_offset:020d}-{sealed.size_bytes}-{crc:08x}.log"
            self.objects.put_file(key, path)
            fields = (sealed.base_offset, sealed.end_offset, sealed.size_bytes, sealed.max_timestamp_ms)
            self.done.append(RemoteSegment(*fields, self.objects.name, key, crc))


def _checksum(file: OpenFile, size_bytes: int) -> int:
    crc = 0
    for position in range(0, size_bytes, COPIED_BYTES):
        crc = google_crc32c.extend(crc, file.read(min(COPIED_BYTES, size_bytes - position), position))
    return int(crc)


@dataclass(slots=True)
class Recall:
    """A segment on its way back. `run` may run in any thread; the partition takes it into use."""

    storage: Storage
    directory: Path
    segment: RemoteSegment

    @property
    def temporary(self) -> Path:
        return segment_path(self.directory, self.segment.base_offset, f"{LOG_SUFFIX}.tmp")

    def run(self) -> None:
        """Raises OSError, HeadraceError; then nothing has come back."""
        file = OpenFile.open(self.storage, self.temporary, create=True)
        file.truncate(0)
        position = crc = 0
        for content in open_objects(self.segment.place).stream(self.segment.key, COPIED_BYTES):
            file.write([content], position)
            crc = google_crc32c.extend(crc, content)
            position += len(content)
        if (position, crc) != (self.segment.size_bytes, self.segment.crc):
            raise CorruptData(f"{self.segment.place}/{self.segment.key} is damaged", hint="restore it from a backup")
        file.sync()

    def take_over(self) -> None:
        """The segment's file is in its place afterwards, durably. Raises OSError."""
        path = segment_path(self.directory, self.segment.base_offset, LOG_SUFFIX)
        self.storage.rename(self.temporary, path)
        self.storage.fsync_directory(self.directory)


def delete_remote(segments: Iterable[RemoteSegment]) -> None:
    """Delete the objects of segments that are gone; blocks, in any thread. Raises HeadraceError."""
    for segment in segments:
        open_objects(segment.place).delete(segment.key)


def fetch_remote(path: Path) -> bytes:
    """The batches of the archived segment that a `.remote` file tells of. Raises FileNotFoundError, CorruptData."""
    segment = RemoteSegment(**json.loads(path.read_bytes()))
    content = open_objects(segment.place).get(segment.key)
    if google_crc32c.value(content) != segment.crc:
        raise CorruptData(f"{segment.place}/{segment.key} is damaged", hint="restore it from a backup")
    return content

"""Make a backup of a data directory while it is in use. Only what is new since the last moment is sent."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace.backup.cut import Cut, partition_directory, take_cut
from headrace.backup.freezing import DATABASE_SUFFIX, LOG_DIRECTORY, FrozenFile, frozen_files
from headrace.backup.manifest import FileCopy, Manifest, PartitionCopy, Piece, SegmentCopy, newest_before
from headrace.errors import Conflict
from headrace.log import now_ms, place_hold, release_hold
from headrace.log.archive import REMOTE_SUFFIX, fetch_remote, remote_bases
from headrace.log.batch import checksum
from headrace.log.objects import ObjectStore
from headrace.log.reader import segment_extent
from headrace.log.segment import LOG_SUFFIX, segment_bases, segment_path
from headrace.log.watermark import read_watermark

PIECE_BYTES: Final = 64 << 20
HOLD_OWNER: Final = "backup"
RELISTED_MAX: Final = 100
"""How often compaction may join segments while they are listed."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup holds, and what had to be sent for it."""

    time_ms: int
    topic_count: int
    record_count: int
    total_bytes: int
    sent_bytes: int


def create_backup(
    data_directory: Path, objects: ObjectStore, *, bootstrap: str | None, clock: Callable[[], int] = now_ms
) -> BackupReport:
    """Afterwards this moment can be restored. Topics, groups and pipelines go on meanwhile. Raises HeadraceError."""
    log_directory = data_directory / LOG_DIRECTORY
    previous = newest_before(objects)
    time_ms = clock()
    if previous is not None and time_ms <= previous.time_ms:
        raise Conflict(f"{objects.name} holds a backup of this moment or a later one", hint="check the clock")
    backup = _Backup(data_directory, objects, previous)
    cut = take_cut(log_directory, bootstrap)
    with frozen_files(data_directory) as frozen:
        place_hold(log_directory, HOLD_OWNER, dict.fromkeys(cut.offsets, 0))
        try:
            partitions = tuple(backup.partition(*key, end_offset) for key, end_offset in cut.offsets.items())
        finally:
            release_hold(log_directory, HOLD_OWNER)
        files = tuple(backup.file(file) for file in frozen)
    Manifest(time_ms, cut.topics, partitions, files).save(objects)
    return _report(time_ms, cut, partitions, backup.sent_bytes)


def _report(time_ms: int, cut: Cut, partitions: tuple[PartitionCopy, ...], sent_bytes: int) -> BackupReport:
    records = sum(partition.end_offset - partition.log_start_offset for partition in partitions)
    total_bytes = sum(segment.size_bytes for partition in partitions for segment in partition.segments)
    return BackupReport(time_ms, len(cut.topics), records, total_bytes, sent_bytes)


@dataclass(slots=True)
class _Backup:
    """One backup under way."""

    data_directory: Path
    objects: ObjectStore
    previous: Manifest | None
    sent_bytes: int = 0
    known: set[str] = field(default_factory=set)

    def partition(self, topic: str, index: int, end_offset: int) -> PartitionCopy:
        directory = partition_directory(self.data_directory / LOG_DIRECTORY, topic, index)
        start_offset = min(read_watermark(directory).log_start_offset, end_offset)
        older = {segment.base_offset: segment for segment in self._older(topic, index)}
        for _ in range(RELISTED_MAX):
            names = [path.name for path in directory.iterdir()]
            bases = sorted({*segment_bases(names), *remote_bases(names)})
            ends = [*bases[1:], end_offset]
            spans = [
                (b, min(e, end_offset)) for b, e in zip(bases, ends, strict=True) if b < end_offset or b == bases[0]
            ]
            with suppress(FileNotFoundError):
                segments = tuple(self._segment(directory, *span, older.get(span[0])) for span in spans)
                return PartitionCopy(topic, index, start_offset, end_offset, segments)
        raise Conflict(f"{topic}-{index}: its segments change all the time", hint="try again")

    def _older(self, topic: str, index: int) -> tuple[SegmentCopy, ...]:
        partitions = self.previous.partitions if self.previous else ()
        return next((p.segments for p in partitions if (p.topic, p.index) == (topic, index)), ())

    def _segment(self, directory: Path, base: int, end_offset: int, older: SegmentCopy | None) -> SegmentCopy:
        path = segment_path(directory, base, LOG_SUFFIX)
        if not path.exists():
            return self._archived(segment_path(directory, base, REMOTE_SUFFIX), base, older)
        stat = path.stat()
        identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        aborted_path = segment_path(directory, base, ".txnindex")
        aborted = aborted_path.read_bytes() if aborted_path.exists() else b""
        size_bytes = segment_extent(directory, base, end_offset)
        if older is not None and older.identity == identity and older.size_bytes == size_bytes:
            pieces = older.pieces
        else:
            pieces = self._pieces(path, size_bytes, older.pieces if older else ())
            if path.stat().st_ino != stat.st_ino:
                raise FileNotFoundError(path)  # Compaction put another one in its place.
        return SegmentCopy(base, pieces, identity, aborted.hex())

    def _archived(self, remote_path: Path, base: int, older: SegmentCopy | None) -> SegmentCopy:
        """A segment that only object storage has: a backup does not depend on that."""
        stat = remote_path.stat()
        identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        aborted_path = remote_path.with_suffix(".txnindex")
        aborted = aborted_path.read_bytes() if aborted_path.exists() else b""
        if older is not None and older.identity == identity:
            return older
        content = fetch_remote(remote_path)
        starts = range(0, len(content), PIECE_BYTES)
        pieces = (self._send_piece(remote_path, at, content[at : at + PIECE_BYTES]) for at in starts)
        return SegmentCopy(base, tuple(pieces), identity, aborted.hex())

    def _pieces(self, path: Path, size_bytes: int, older: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """What was sent before and is still so, and the rest."""
        pieces: list[Piece] = []
        with path.open("rb") as file:
            for piece in older:
                file.seek(piece.position)
                if piece.position + piece.length > size_bytes or checksum(file.read(piece.length)) != piece.crc:
                    break
                pieces.append(piece)
            at = pieces[-1].position + pieces[-1].length if pieces else 0
            for position in range(at, size_bytes, PIECE_BYTES):
                file.seek(position)
                content = file.read(min(PIECE_BYTES, size_bytes - position))
                pieces.append(self._send_piece(path, position, content))
        return tuple(pieces)

    def _send_piece(self, path: Path, position: int, content: bytes) -> Piece:
        crc = checksum(content)
        key = f"{LOG_DIRECTORY}/{path.parent.name}/{path.stem}-{position}-{len(content)}-{crc:08x}"
        self._send(key, content)
        return Piece(key, position, len(content), crc)

    def file(self, frozen: FrozenFile) -> FileCopy:
        is_database = frozen.content.suffix == DATABASE_SUFFIX
        content = _database(frozen.content) if is_database else frozen.content.read_bytes()
        key = f"files/{hashlib.blake2b(content, digest_size=20).hexdigest()}"
        known = {file.key for file in self.previous.files} if self.previous else set()
        if key not in known | self.known:
            self._send(key, content)
        return FileCopy(frozen.path, key)

    def _send(self, key: str, content: bytes) -> None:
        self.objects.put(key, content)
        self.known.add(key)
        self.sent_bytes += len(content)


def _database(path: Path) -> bytes:
    """An SQLite database as of one moment, though others write to it."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "copy"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy.read_bytes()

"""Opening a partition after a clean stop, a crash or a power loss: one way for all three.

What was acked stays. Recovery starts at the checkpoint and reads the log from there to its end. The recovery point is
the highest offset known to have been durable: that of the checkpoint, of the watermark file, and the start of the
active segment. Bytes at or above it that are no whole batch were never acked and are cut off. Anything wrong below it
is damage: it is reported, and nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from headrace.errors import CorruptData
from headrace.log.aborted import decode_aborted
from headrace.log.archive import REMOTE_SUFFIX, RemoteSegment, load_remote, remote_bases
from headrace.log.checkpoint import Checkpoint, load_checkpoint
from headrace.log.files import FileCache
from headrace.log.ledger import Ledger
from headrace.log.marker import is_commit
from headrace.log.retention import SealedSegment
from headrace.log.segment import (
    ABORTED_SUFFIX,
    LOG_SUFFIX,
    SEGMENT_SUFFIXES,
    Located,
    Segment,
    segment_bases,
    segment_path,
)
from headrace.log.storage import OpenFile, Storage, read_whole
from headrace.log.swap import NEW_MARK, finish_swap
from headrace.log.watermark import WATERMARK_FILE, Watermark

REWRITE_BYTES = 1 << 20


@dataclass(slots=True)
class Recovered:
    """A partition as it was found. With `damage` it may be read but not written."""

    active: Segment
    sealed: list[SealedSegment]
    ledger: Ledger
    checkpoint: Checkpoint
    high_watermark: int
    replayed_bytes: int
    """Of the log behind the checkpoint."""
    damage: CorruptData | None = None
    remote: dict[int, RemoteSegment] = field(default_factory=dict)
    away: frozenset[int] = frozenset()
    """Base offsets of archived segments whose batches are not on this disk."""


@dataclass(slots=True)
class _Recovery:
    """The steps of one partition's recovery, and what they found."""

    storage: Storage
    directory: Path
    now_ms: int
    names: frozenset[str]
    files: FileCache
    ledger: Ledger = field(default_factory=Ledger)
    damage: CorruptData | None = None

    def report(self, message: str) -> None:
        """Keep the first damage found."""
        hint = "restore the file from a backup, or delete the topic"
        self.damage = self.damage or CorruptData(f"{self.directory.name}: {message}", hint=hint)

    def run(self, bases: list[int]) -> Recovered:
        checkpoint = load_checkpoint(self.storage, self.directory) or Checkpoint(bases[0], bases[0], 0, ())
        active = Segment(self.storage, self.directory, bases[-1], files=self.files)
        recovery_point = max(checkpoint.offset, active.base_offset, self._recorded_durable_offset())
        self.ledger = Ledger(checkpoint.producers)
        remote = load_remote(self.storage, self.directory, self.names)
        away = frozenset(remote) - frozenset(segment_bases(sorted(self.names)))
        known = {segment.base_offset: segment for segment in checkpoint.sealed}
        sealed = [
            self._away(remote[base], end)
            if base in away
            else self._known(known.get(base), end) or self._sealed(base, end, checkpoint.offset)
            for base, end in pairwise(bases)
        ]
        replayed_bytes = self._replay_active(active, checkpoint, recovery_point)
        replayed_bytes += sum(segment.size_bytes for segment in sealed if segment.end_offset > checkpoint.offset)
        if self.damage is None:
            self._settle_tail(active, recovery_point)
        high_watermark = active.end_offset if self.damage is None else recovery_point
        return Recovered(
            active, sealed, self.ledger, checkpoint, high_watermark, replayed_bytes, self.damage, remote, away
        )

    def _recorded_durable_offset(self) -> int:
        watermark = Watermark.decode(read_whole(self.storage, self.directory / WATERMARK_FILE) or b"")
        return watermark.durable_offset if watermark else 0

    def _known(self, segment: SealedSegment | None, next_base_offset: int) -> SealedSegment | None:
        """A sealed segment as the checkpoint knows it, if its file still has that size: nothing of it is read.

        What the checkpoint knows is all below its offset, so there is nothing for the ledger but aborts.
        """
        if segment is None or segment.end_offset != next_base_offset:
            return None
        path = segment_path(self.directory, segment.base_offset, LOG_SUFFIX)
        if OpenFile.open(self.storage, path).size() != segment.size_bytes:
            return None
        self._adopt_indexed(segment.base_offset)
        return segment

    def _away(self, segment: RemoteSegment, next_base_offset: int) -> SealedSegment:
        """An archived segment. It was below the checkpoint when it was archived, so its producers are known."""
        if segment.end_offset != next_base_offset:
            self.report(f"the archived segment at {segment.base_offset} does not end at {next_base_offset}")
        self._adopt_indexed(segment.base_offset)
        return segment.sealed

    def _adopt_indexed(self, base_offset: int) -> None:
        """Take over aborted transactions without opening the segment."""
        path = segment_path(self.directory, base_offset, ABORTED_SUFFIX)
        if path.name not in self.names:
            return
        try:
            content = read_whole(self.storage, path) or b""
            self.ledger.adopt_aborted(decode_aborted(content, f"{self.directory.name}/{path.name}"))
        except CorruptData as error:
            self.report(error.message)

    def _sealed(self, base_offset: int, next_base_offset: int, from_offset: int) -> SealedSegment:
        """A sealed segment was synced before the next began: it must be whole. Its new batches go to the ledger."""
        segment = Segment(self.storage, self.directory, base_offset, files=self.files)
        segment.load()
        if segment.end_offset != next_base_offset:
            self.report(f"{segment.file.path.name} ends at offset {segment.end_offset}, not at {next_base_offset}")
        self._adopt_aborted(segment)
        try:
            for located in segment.walk(segment.locate(from_offset), segment.size_bytes):
                self._replay(segment, located, is_active=False)
        except CorruptData as error:
            self.report(error.message)
        return SealedSegment.of(segment)

    def _replay_active(self, active: Segment, checkpoint: Checkpoint, recovery_point: int) -> int:
        """Read the active segment from the checkpoint on, as far as batches follow each other without a flaw.

        How many bytes these are.
        """
        active.load(before_offset=max(checkpoint.offset, active.base_offset))
        known_bytes = active.size_bytes
        safe_count = checkpoint.active_aborted_count if checkpoint.offset > active.base_offset else 0
        self._adopt_aborted(active, safe_count)
        if self.damage is None:
            active.cut_aborted(safe_count)
        for located in active.scan(active.size_bytes, active.file.size()):
            if located.header.base_offset != active.end_offset:
                break
            if not active.is_intact(located):
                if active.end_offset >= recovery_point:
                    break
                self.report(f"{active.file.path.name}: the batch at offset {active.end_offset} fails its checksum")
            active.note(located.header)
            self._replay(active, located, is_active=True)
        active.index.trim()
        if active.end_offset < recovery_point:
            self.report(f"{active.file.path.name} ends at offset {active.end_offset}, {recovery_point} was durable")
        return active.size_bytes - known_bytes

    def _adopt_aborted(self, segment: Segment, count: int | None = None) -> None:
        """Take over the aborted transactions that a segment's index lists, the first `count` or all."""
        try:
            self.ledger.adopt_aborted(segment.aborted(count))
        except CorruptData as error:
            self.report(error.message)

    def _replay(self, segment: Segment, located: Located, *, is_active: bool) -> None:
        """Pass a batch through the ledger, as appending it did. A sealed segment's index knows its aborts already."""
        header = located.header
        if header.ends_transaction:
            commit = is_commit(segment.file.read(header.size_bytes, located.position))
            entry = self.ledger.mark(header, commit=commit, now_ms=self.now_ms)
            if entry is not None and is_active:
                segment.add_aborted(entry)
                self.ledger.adopt_aborted([entry])
        else:
            self.ledger.replay(header, self.now_ms)

    def _settle_tail(self, active: Segment, recovery_point: int) -> None:
        """Cut off what is no whole batch; write the rest of the unacked tail once more and sync it.

        After a failed sync the kernel may hold bytes as clean that never reached the disk: only a new write counts.
        Without such a tail everything was durable before: thousands of partitions open without a sync.
        """
        is_cut = active.file.size() > active.size_bytes
        if is_cut:
            active.file.truncate(active.size_bytes)
        elif active.end_offset <= recovery_point:
            return
        for position in range(active.locate(recovery_point), active.size_bytes, REWRITE_BYTES):
            length = min(REWRITE_BYTES, active.size_bytes - position)
            active.file.write([active.file.read(length, position)], position)
        active.file.sync()


def recover(storage: Storage, files: FileCache, directory: Path, now_ms: int) -> Recovered:
    """Bring a partition back. Raises CorruptData when no segment is there at all, OSError when the disk refuses."""
    finish_swap(storage, directory)
    names = storage.list_directory(directory)
    bases = sorted({*segment_bases(names), *remote_bases(names)})
    if not bases:
        raise CorruptData(
            f"{directory.name}: the partition has no segment file", hint="restore the directory from a backup"
        )
    _sweep(storage, directory, names)
    return _Recovery(storage, directory, now_ms, frozenset(names), files).run(bases)


def _sweep(storage: Storage, directory: Path, names: list[str]) -> None:
    """Remove what an interrupted removal or replacement left: indexes without a log, temporary files."""
    stems = {Path(name).stem for name in names if name.endswith((LOG_SUFFIX, REMOTE_SUFFIX))}
    for name in names:
        path = Path(name)
        if path.suffix in (".tmp", NEW_MARK) or (path.suffix in SEGMENT_SUFFIXES and path.stem not in stems):
            storage.unlink(directory / name)

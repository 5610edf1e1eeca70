"""Compaction: of each key only the newest record stays, at its offset.

One pass reads the dirty part of the log and remembers the newest offset of each key, then writes all segments up to
there anew without what is superseded. It only reads sealed segments, so it runs in any thread beside appends and reads;
the new segments take their places afterwards (`Partition.finish_compaction`).

Offsets stay without gaps: where nothing is left, an empty batch stands for the offsets that were there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headrace.errors import CorruptData, HeadraceError
from headrace.log.aborted import AbortedTransaction
from headrace.log.batch import BatchHeader, empty_batch, read_header, with_records
from headrace.log.codec import compress
from headrace.log.retention import SealedSegment
from headrace.log.segment import SEGMENT_SUFFIXES, Located, Segment
from headrace.log.storage import Storage
from headrace.log.swap import NEW_MARK, Swap
from headrace.log.unreadable import UnreadableBatch, unpacked

if TYPE_CHECKING:
    from headrace.log.records import RecordSpans

KEYS_MAX = 500_000
"""Keys that one pass remembers, about 100 MB; the rest of the log is left to the next."""

KEY_BYTES_MAX = 32
"""Longer keys are remembered by their digest."""

OFFSETS_MAX = 1 << 30
"""Offsets of one segment, and of one empty batch: they are counted from its base in 32 bits."""


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What a pass works on, taken from the partition when it begins."""

    storage: Storage
    directory: Path
    segments: tuple[SealedSegment, ...]
    aborted: tuple[AbortedTransaction, ...]
    clean_end_offset: int
    removable_before: int
    segment_bytes: int
    started_ms: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A segment that waits to take the place of others."""

    replaced: tuple[SealedSegment, ...]
    by: SealedSegment
    swap: Swap
    dropped_markers: frozenset[int]


class CompactionStopped(HeadraceError):
    """Nothing is wrong: the pass is not wanted any more."""

    code = "compaction_stopped"
    domain = "internal"


@dataclass(slots=True)
class Compaction:
    """One pass over one partition."""

    plan: CompactionPlan
    end_offset: int = 0
    """Cleaned up to here, once `run` is over."""
    rewritten: list[Rewritten] = field(default_factory=list)
    unreadable: list[UnreadableBatch] = field(default_factory=list)
    """Batches of the dirty part that stay as they are."""
    is_stopped: bool = False

    def stop(self) -> None:
        """Called in another thread: `run` ends with CompactionStopped before the next batch."""
        self.is_stopped = True

    def run(self) -> None:
        """Read, and write the new segments; blocks, in any thread. Raises OSError, CorruptData: nothing has changed."""
        newest = self._newest_offsets()
        left = deque(segment for segment in self.plan.segments if segment.base_offset < self.end_offset)
        while left:
            rewriting = _Rewriting(self, newest, left[0].base_offset)
            while left and rewriting.has_room(left[0]):
                rewriting.add(left.popleft())
            if (rewritten := rewriting.finish()) is not None:
                self.rewritten.append(rewritten)

    def _newest_offsets(self) -> dict[bytes, int]:
        newest: dict[bytes, int] = {}
        self.end_offset = self.plan.clean_end_offset
        for sealed in self.plan.segments:
            if sealed.end_offset <= self.plan.clean_end_offset:
                continue
            for header, content in self.batches(sealed, self.end_offset):
                if len(newest) > KEYS_MAX:
                    return newest
                if header.record_count and not header.is_control and not is_aborted(header, self.plan.aborted):
                    newest.update(self._offsets_by_key(header, content))
                self.end_offset = header.next_offset
        newest.pop(b"", None)
        return newest

    def _offsets_by_key(self, header: BatchHeader, content: bytes) -> Iterable[tuple[bytes, int]]:
        """None of a batch that cannot be read: it stays as it is, and its keys are not known."""
        try:
            payload, spans = _records(header, content)
        except UnreadableBatch as error:
            self.unreadable.append(error)
            return ()
        return zip(_keys(payload, spans), spans.offsets.tolist(), strict=True)

    def batches(self, sealed: SealedSegment, from_offset: int = 0) -> Iterator[tuple[BatchHeader, bytes]]:
        """The segment's batches, checksums checked. Raises CorruptData, CompactionStopped."""
        segment = Segment(self.plan.storage, self.plan.directory, sealed.base_offset)
        segment.size_bytes, segment.end_offset = sealed.size_bytes, sealed.end_offset
        for located in segment.walk(segment.locate(from_offset), sealed.size_bytes):
            if self.is_stopped:
                raise CompactionStopped("the broker is stopping")
            yield located.header, _intact(segment, located)


def is_dirty(segments: Sequence[SealedSegment], clean_end_offset: int, dirty_ratio_min: float) -> bool:
    """Whether enough of the segments has not been cleaned yet."""
    dirty_bytes = sum(segment.size_bytes for segment in segments if segment.end_offset > clean_end_offset)
    return dirty_bytes > 0 and dirty_bytes >= dirty_ratio_min * sum(segment.size_bytes for segment in segments)


def old_enough(segments: Iterable[SealedSegment], before_ms: int) -> tuple[SealedSegment, ...]:
    """Those in front of the first one with a record at or after a time: that may not be compacted yet."""
    return tuple(takewhile(lambda segment: segment.max_timestamp_ms <= before_ms, segments))


def is_aborted(header: BatchHeader, aborted: Iterable[AbortedTransaction]) -> bool:
    """Whether the batch's records belong to a transaction that was aborted."""
    return header.is_transactional and any(
        entry.producer_id == header.producer_id and entry.first_offset <= header.base_offset <= entry.last_offset
        for entry in aborted
    )


def _intact(segment: Segment, located: Located) -> bytes:
    if not segment.is_intact(located):
        path = segment.file.path
        raise CorruptData(
            f"{path.parent.name}/{path.name}: the batch at offset {located.header.base_offset} fails its checksum",
            hint="restore the segment from a backup",
        )
    return segment.file.read(located.header.size_bytes, located.position)


def _records(header: BatchHeader, content: bytes) -> tuple[bytes, RecordSpans]:
    """Raises UnreadableBatch."""
    # Arrow comes with it, which a broker without compacted topics need not load.
    from headrace.log.records import record_spans  # noqa: PLC0415

    payload = bytes(unpacked(header, content))
    return payload, record_spans(header, payload)


def _keys(payload: bytes, spans: RecordSpans) -> list[bytes]:
    """A name for each record's key. The empty name stands for no key; an empty key has another one."""
    starts, lengths = spans.key_starts.tolist(), spans.key_lengths.tolist()
    return [_key_name(payload[at : at + n]) if n >= 0 else b"" for at, n in zip(starts, lengths, strict=True)]


def _key_name(key: bytes) -> bytes:
    return b"=" + key if len(key) <= KEY_BYTES_MAX else b"#" + blake2b(key, digest_size=16).digest()


class _Rewriting:
    """Some neighbouring segments on their way into one."""

    def __init__(self, compaction: Compaction, newest: Mapping[bytes, int], base_offset: int) -> None:
        plan = compaction.plan
        self.compaction, self.plan, self.newest = compaction, plan, newest
        self.group: list[SealedSegment] = []
        self.changed = False
        self.dropped_markers: set[int] = set()
        # Offsets from here to the next batch that is written hold nothing any more.
        self.gap_offset = base_offset
        self.target = Segment(plan.storage, plan.directory, base_offset, create=True, mark=NEW_MARK)
        self.target.file.truncate(0)
        self.target.index.cut(0)

    def has_room(self, sealed: SealedSegment) -> bool:
        """Whether one more segment fits, if all of it stays. The first always does."""
        fits = self.target.size_bytes + sealed.size_bytes <= self.plan.segment_bytes
        return not self.group or (fits and sealed.end_offset - self.target.base_offset <= OFFSETS_MAX)

    def add(self, sealed: SealedSegment) -> None:
        self.changed |= bool(self.group)
        self.group.append(sealed)
        for header, content in self.compaction.batches(sealed):
            self._keep(header, content, self._cleaned(header, content))

    def finish(self) -> Rewritten | None:
        """None when there was nothing to remove."""
        self._fill_gap(self.group[-1].end_offset)
        if not self.changed:
            return None
        self._keep_aborted()
        self.target.sync()
        self.plan.storage.fsync_directory(self.plan.directory)
        return self._rewritten()

    def _cleaned(self, header: BatchHeader, content: bytes) -> bytes | None:
        """What stays of a batch."""
        if header.is_control:
            return self._cleaned_marker(header, content)
        if not header.record_count or is_aborted(header, self.plan.aborted):
            return None
        try:
            payload, spans = _records(header, content)
        except UnreadableBatch:
            return content
        wanted = self._wanted(header, payload, spans)
        if wanted.all():
            return content
        if not wanted.any():
            return None
        spans_kept = zip(spans.starts[wanted].tolist(), spans.ends[wanted].tolist(), strict=True)
        kept = b"".join(payload[start:end] for start, end in spans_kept)
        return with_records(header, compress(header.codec_number, kept), int(wanted.sum()))

    def _cleaned_marker(self, header: BatchHeader, content: bytes) -> bytes | None:
        """A marker may go when an earlier pass has removed, or settled, all that it was about."""
        if header.base_offset >= min(self.plan.removable_before, self.plan.clean_end_offset):
            return content
        self.dropped_markers.add(header.base_offset)
        return None

    def _wanted(self, header: BatchHeader, payload: bytes, spans: RecordSpans) -> NDArray[np.bool_]:
        offsets = spans.offsets.tolist()
        names = _keys(payload, spans)
        known = self.newest.get
        wanted = np.array([known(name, -1) <= offset for name, offset in zip(names, offsets, strict=True)])
        return wanted & ((spans.value_lengths >= 0) | (spans.offsets >= self.plan.removable_before))

    def _keep(self, header: BatchHeader, content: bytes, cleaned: bytes | None) -> None:
        # An empty batch that stays is no change: otherwise it would be written anew for ever.
        self.changed |= cleaned is not content and header.record_count > 0
        if cleaned is None:
            return
        self._fill_gap(header.base_offset)
        self._write(cleaned)
        self.gap_offset = header.next_offset

    def _fill_gap(self, end_offset: int) -> None:
        while self.gap_offset < end_offset:
            end = min(end_offset, self.gap_offset + OFFSETS_MAX)
            self._write(empty_batch(self.gap_offset, end))
            self.gap_offset = end

    def _write(self, content: bytes) -> None:
        self.target.file.write([content], self.target.size_bytes)
        self.target.note(read_header(content))

    def _keep_aborted(self) -> None:
        self.target.cut_aborted(0)
        end_offset = self.group[-1].end_offset
        for entry in self.plan.aborted:
            in_group = self.group[0].base_offset <= entry.last_offset < end_offset
            if in_group and entry.last_offset not in self.dropped_markers:
                self.target.add_aborted(entry)

    def _rewritten(self) -> Rewritten:
        suffixes = [s for s in SEGMENT_SUFFIXES if s != ".txnindex" or self.target.aborted_count]
        removed = [sealed.base_offset for sealed in self.group[1:]]
        return Rewritten(
            tuple(self.group),
            SealedSegment.of(self.target),
            Swap(self.target.base_offset, suffixes, removed),
            frozenset(self.dropped_markers),
        )

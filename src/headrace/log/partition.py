"""One partition of a topic: append, make durable, read.

Single-threaded: all methods are called from one thread, except `SyncTicket.run`, which may run in any.
The way of an append: `append` writes, `begin_sync` takes a ticket, `SyncTicket.run` syncs, `finish_sync` moves the high
watermark. Only then may the producer be answered; only then can anyone read the records.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from headrace.errors import CorruptData, HeadraceError
from headrace.log.archive import Archiving, Recall, RemoteSegment
from headrace.log.batch import NO_APPEND_TIME_MS, BatchHeader, read_header
from headrace.log.checkpoint import Checkpoint
from headrace.log.cleaned import load_cleaned
from headrace.log.compaction import Compaction, CompactionPlan, is_dirty, old_enough
from headrace.log.files import FileCache, LazyFile
from headrace.log.incoming import Origin, split_incoming
from headrace.log.index import NO_TIMESTAMP_MS
from headrace.log.ledger import Ledger
from headrace.log.marker import pack_marker, pack_signal_mark
from headrace.log.objects import ObjectStore
from headrace.log.producers import ProducerState
from headrace.log.reads import first_since, refusing_reads
from headrace.log.recovery import recover
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.results import Appended, Slice, SyncTicket, TimestampOffset
from headrace.log.retention import SealedSegment, expired_count, is_too_old
from headrace.log.segment import Segment
from headrace.log.segments import Segments
from headrace.log.storage import Buffer, Span, Storage
from headrace.log.swap import discard_new
from headrace.log.topics import NEVER_MS, TopicConfig
from headrace.log.watermark import WATERMARK_FILE, Watermark

CHECKPOINT_BYTES = 128 << 20
"""Recovery reads about so much of a partition again, at most."""

CLOSING_BYTES = 64 << 10
"""A clean stop leaves no more than so much for recovery to read. A checkpoint for less would cost five syncs."""

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class Partition:
    """A partition, open for its one writer."""

    def __init__(
        self,
        storage: Storage,
        directory: Path,
        *,
        topic: str,
        index: int,
        config: TopicConfig,
        clock: Callable[[], int],
        unsynced: dict[Partition, None],
        files: FileCache,
    ) -> None:
        """Recovers what is in the directory. Raises CorruptData when nothing is, OSError when the disk refuses.

        In `unsynced` it enters itself when something is appended, and leaves when a sync of that begins.
        """
        self.topic = topic
        self.index = index
        self._storage = storage
        self._files = files
        self._directory = directory
        self._config = config
        self._clock = clock
        self._unsynced = unsynced
        self._ticket: SyncTicket | None = None
        self._compaction: Compaction | None = None
        self._recover()

    def _recover(self) -> None:
        """Know what the directory holds, and nothing else. After an exception nothing has changed."""
        storage, directory = self._storage, self._directory
        found = recover(storage, self._files, directory, self._clock())
        self._segments = Segments(
            storage, self._files, directory, found.sealed, found.active, remote=found.remote, away=found.away
        )
        self._ledger: Ledger = found.ledger
        self._checkpoint = found.checkpoint
        self._failure: HeadraceError | None = found.damage
        self._high_watermark = self._durable_offset = found.high_watermark
        self._log_start_offset = max(found.checkpoint.log_start_offset, self._segments.start_offset)
        self._last_stable_offset = self._stable_offset()
        self._cleaned = load_cleaned(storage, directory)
        self._sync_offset = self.log_end_offset
        self._unsynced.pop(self, None)
        self._checkpoint_due_bytes = CHECKPOINT_BYTES - found.replayed_bytes
        self._watermark_file = LazyFile(storage, directory / WATERMARK_FILE, self._files, create=True)
        self._publish()
        self._save_checkpoint_if_due()

    @staticmethod
    def create(storage: Storage, directory: Path) -> None:
        """Make the directory of a new partition. Its own name lasts once the parent directory is synced."""
        storage.make_directory(directory)
        Segment(storage, directory, 0, create=True)
        storage.fsync_directory(directory)

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.index}"

    @property
    def directory(self) -> Path:
        return self._directory

    @property
    def log_start_offset(self) -> int:
        return self._log_start_offset

    @property
    def high_watermark(self) -> int:
        """Everything below is durable."""
        return self._high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Everything below is durable and, if transactional, decided."""
        return self._last_stable_offset

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record."""
        return self._segments.end_offset

    @property
    def local_start_offset(self) -> int:
        """The first offset that is on this disk."""
        return max(self._log_start_offset, self._segments.local_start_offset)

    @property
    def archived_end_offset(self) -> int:
        """Behind the last offset in object storage; 0 when nothing is there."""
        return self._segments.archived_end_offset

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def failure(self) -> HeadraceError | None:
        """Why the partition refuses writes; None while it takes them."""
        return self._failure

    def reconfigure(self, config: TopicConfig) -> None:
        """From the next append and the next clean-up on these settings hold."""
        self._config = config

    def producers(self) -> tuple[ProducerState, ...]:
        """Producers that wrote here lately, as far as they number their batches."""
        return self._ledger.producers.states()

    def open_transactions(self) -> Mapping[int, int]:
        """Producer id to the offset of its open transaction's first record."""
        return self._ledger.producers.open_transactions()

    def open_epoch(self, producer_id: int) -> int | None:
        """The epoch of the producer's newest write, if a transaction of its is open."""
        state = self._ledger.producers.get(producer_id)
        return None if state is None or state.transaction_offset is None else state.epoch

    def append(
        self, records: Buffer, *, origin: Origin = "client", check: Callable[[BatchHeader], None] | None = None
    ) -> Appended:
        """Append batches: all of them or, with an exception, none. They are not durable before `finish_sync`.

        Batches that were appended before, known by their sequence numbers, get the offsets of the first time.
        The broker's own writes (`origin="internal"`) are not bound by max.message.bytes. `check` sees the header of
        every batch first, and may raise. Raises LogRefusal.
        """
        self._check_writable()
        now_ms = self._clock()
        batches = split_incoming(records, self._config, origin, now_ms)
        if check is not None:
            for batch in batches:
                check(batch.header)
        admission = self._ledger.admit([batch.header for batch in batches], self.log_end_offset, now_ms)
        headers, contents = [], []
        for header, batch in zip(admission.headers, batches, strict=True):
            if header is not None:
                headers.append(header)
                contents.append(batch.content)
        if headers:
            self._write(headers, contents)
            self._ledger.accept(admission)
        return admission.appended

    def append_control(self, producer_id: int, producer_epoch: int, commit: bool) -> Appended:
        """End a producer's transaction with a marker. Raises LogRefusal; then nothing has ended."""
        self._check_writable()
        self._ledger.check_marker(producer_id, producer_epoch)
        now_ms = self._clock()
        content = pack_marker(producer_id, producer_epoch, commit=commit, time_ms=now_ms)
        header = read_header(content).at(self.log_end_offset)
        self._write([header], [memoryview(content)])
        aborted = self._ledger.mark(header, commit=commit, now_ms=now_ms)
        if aborted is not None:
            with self._failing_on_error():
                self._segments.active.add_aborted(aborted)
            self._ledger.adopt_aborted([aborted])
        return Appended(header.base_offset, header.base_offset, NO_APPEND_TIME_MS)

    def append_signal_mark(self) -> Appended:
        """Take one offset for a signal; no client ever sees it as a record. Raises LogRefusal."""
        self._check_writable()
        content = pack_signal_mark(self._clock())
        header = read_header(content).at(self.log_end_offset)
        self._write([header], [memoryview(content)])
        return Appended(header.base_offset, header.base_offset, NO_APPEND_TIME_MS)

    def _write(self, headers: Sequence[BatchHeader], contents: Sequence[memoryview]) -> None:
        added_bytes = sum([header.size_bytes for header in headers])
        if self._needs_roll(headers, added_bytes):
            self._roll()
        try:
            self._segments.write(headers, contents)
        except OSError as error:
            raise self._undo_write(error) from error
        self._unsynced[self] = None
        self._checkpoint_due_bytes -= added_bytes

    def _needs_roll(self, headers: Sequence[BatchHeader], added_bytes: int) -> bool:
        try:
            return self._segments.is_full(headers, added_bytes, self._config)
        except OSError as error:
            raise self._fail(error) from error

    def _undo_write(self, error: OSError) -> LogRefusal:
        """A full disk may have room again later; any other failure ends writing."""
        with self._failing_on_error():
            self._segments.undo_write()
        if error.errno not in _DISK_FULL:
            return self._fail(error)
        return LogRefusal(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.name}: the disk is full", hint="free some space")

    def _roll(self) -> None:
        with self._failing_on_error():
            self._segments.roll()
        self._checkpoint_due_bytes = 0

    def _check_writable(self) -> None:
        if self._failure is not None:
            cause = f"{self.name} takes no writes: {self._failure.message}"
            raise LogRefusal(ErrorCode.KAFKA_STORAGE_ERROR, cause, hint=self._failure.hint)

    def _fail(self, error: OSError) -> LogRefusal:
        """No write is taken any more: what the disk holds is known again only after recovery."""
        hint = "check the disk; writes go on by themselves once it works"
        refusal = LogRefusal(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.name}: {error}", hint=hint)
        self._failure = self._failure or refusal
        return refusal

    @contextmanager
    def _failing_on_error(self) -> Iterator[None]:
        """An OSError inside ends writing and comes out as LogRefusal."""
        try:
            yield
        except OSError as error:
            raise self._fail(error) from error

    def heal(self) -> bool:
        """Called now and then: a partition that a disk failed is recovered as by a restart, if the disk works again.

        Whether it takes writes afterwards. Damage does not heal.
        """
        in_use = self._ticket is not None or self._compaction is not None
        if self._failure is not None and not isinstance(self._failure, CorruptData) and not in_use:
            with suppress(OSError, CorruptData):
                self._recover()
        return self._failure is None

    @property
    def is_dirty(self) -> bool:
        """Whether `begin_sync` has something to do. While a sync is under way the next one has to wait."""
        return self._ticket is None and self._failure is None and self._sync_offset < self.log_end_offset

    def begin_sync(self) -> SyncTicket:
        """Take a ticket for everything appended so far. It has to come back to `finish_sync` or `fail_sync`."""
        if self._ticket is not None:
            raise RuntimeError(f"{self.name}: a sync is under way")
        try:
            self._ticket = SyncTicket(self.log_end_offset, self._segments.active.file.to_sync())
        except OSError as error:
            self._ticket = SyncTicket(self.log_end_offset, None, lost=error)
        self._sync_offset = self.log_end_offset
        self._unsynced.pop(self, None)
        return self._ticket

    def finish_sync(self, ticket: SyncTicket) -> None:
        """The ticket's sync succeeded: what it covers is readable from now on.

        Raises LogRefusal when the partition failed meanwhile; then nothing that waits for this sync may be acked.
        """
        self._ticket = None
        self._check_writable()
        self._high_watermark = ticket.end_offset
        self._durable_offset = ticket.end_offset if ticket.is_durable else self._durable_offset
        self._last_stable_offset = self._stable_offset()
        self._publish()
        self._save_checkpoint_if_due()

    def _stable_offset(self) -> int:
        """An undecided transaction holds it back, but not below the start of the log."""
        return max(self._log_start_offset, self._ledger.stable_offset(self._high_watermark))

    def fail_sync(self, ticket: SyncTicket, error: OSError) -> LogRefusal:
        """The ticket's sync failed: the partition takes no writes until it is opened anew.

        A second sync of the same file could succeed without the lost bytes, so there is none.
        """
        self._ticket = None
        return self._fail(error)

    def _publish(self) -> None:
        """Tell co-located readers how far they may read."""
        watermark = Watermark(
            self._high_watermark,
            self._last_stable_offset,
            self._log_start_offset,
            self._segments.active.base_offset,
            self._ledger.aborted_count,
            self._durable_offset,
        )
        try:
            self._watermark_file.write([watermark.encode()], 0)
        except OSError as error:
            self._fail(error)

    def _save_checkpoint_if_due(self) -> None:
        """Never while a ticket is out: of two syncs of one file only one would learn that it failed."""
        if self._checkpoint_due_bytes <= 0 and self._failure is None and self._ticket is None:
            self._save_checkpoint()

    def _save_checkpoint(self) -> None:
        """Sync the active segment with its indexes and write down where recovery may start."""
        active, states = self._segments.active, self._ledger.producers.states()
        start_offset, sealed = self._log_start_offset, self._segments.sealed
        checkpoint = Checkpoint(self.log_end_offset, start_offset, active.aborted_count, states, sealed)
        self._checkpoint_due_bytes = CHECKPOINT_BYTES
        try:
            active.sync()
        except OSError as error:
            self._fail(error)
            return
        try:
            checkpoint.save(self._storage, self._directory)
        except OSError:
            return  # The older one still holds: recovery only has more to read.
        self._checkpoint = checkpoint
        self._durable_offset = max(self._durable_offset, checkpoint.offset)

    def close(self) -> None:
        """Make everything durable, and write a checkpoint unless the next start has next to nothing to read again."""
        if self._failure is not None or self._checkpoint.offset >= self.log_end_offset:
            return
        is_durable = self._durable_offset >= self.log_end_offset
        if not is_durable or CHECKPOINT_BYTES - self._checkpoint_due_bytes > CLOSING_BYTES:
            self._save_checkpoint()

    def read(self, offset: int, max_bytes: int, *, committed: bool, at_least_one: bool = True) -> Slice:
        """Whole batches from the one that holds `offset` on, of one segment, up to `max_bytes`.

        Only what is below the high watermark, or below the last stable offset when `committed`. With `at_least_one`
        the first batch is returned even if it is longer. Raises LogRefusal.
        """
        end_offset = max(self.log_end_offset, self._high_watermark)
        if not self._log_start_offset <= offset <= end_offset:
            bounds = f"{self._log_start_offset} to {end_offset}"
            raise LogRefusal(ErrorCode.OFFSET_OUT_OF_RANGE, f"{self.name} has no offset {offset}, only {bounds}")
        limit = self._last_stable_offset if committed else self._high_watermark
        if offset >= limit:
            return self._slice(Span(), offset, offset)
        with refusing_reads(self.name):
            span = self._segments.span(offset, limit, max_bytes, at_least_one=at_least_one)
        return self._slice(span, offset, limit if committed else offset)

    def _slice(self, span: Span, start_offset: int, aborted_before: int) -> Slice:
        return Slice(
            span,
            high_watermark=self._high_watermark,
            last_stable_offset=self._last_stable_offset,
            log_start_offset=self._log_start_offset,
            aborted=self._ledger.aborted_between(start_offset, aborted_before),
        )

    def offset_for_time(self, timestamp_ms: int) -> TimestampOffset | None:
        """The first readable record at or after a time; None when all are older. Raises LogRefusal."""
        with refusing_reads(self.name):
            batches = self._segments.since(timestamp_ms, self._high_watermark)
            found = (first_since(batch, timestamp_ms, self._log_start_offset) for batch in batches)
            return next((record for record in found if record is not None), None)

    def delete_records(self, before_offset: int) -> int:
        """Let the log start at an offset; segments wholly below it are removed. The new start. Raises LogRefusal."""
        if not 0 <= before_offset <= self._high_watermark:
            cause = f"{self.name}: records can be deleted up to {self._high_watermark}, not {before_offset}"
            raise LogRefusal(ErrorCode.OFFSET_OUT_OF_RANGE, cause)
        if before_offset > self._log_start_offset:
            checkpoint = replace(self._checkpoint, log_start_offset=before_offset)
            with refusing_reads(self.name):
                checkpoint.save(self._storage, self._directory)
            self._checkpoint = checkpoint
            self._log_start_offset = before_offset
            self._remove_unwanted()
        return self._log_start_offset

    def apply_retention(self, needed_offset: int | None = None) -> None:
        """Remove segments that retention no longer wants, and forget idle producers. Raises LogRefusal.

        Nothing at or above `needed_offset` is removed.
        """
        now_ms = self._clock()
        self._ledger.producers.forget_idle(now_ms)
        if not self._config.is_deleted or isinstance(self._failure, CorruptData):
            return
        active, segments = self._segments.active, self._segments
        with refusing_reads(self.name):
            active_ms = segments.newest_ms(active, now_ms)
        if active.size_bytes and self._failure is None and is_too_old(active_ms, self._config, now_ms):
            self._roll()
            self._save_checkpoint_if_due()
        with refusing_reads(self.name):
            expired = expired_count(
                segments.sealed,
                segments.size_bytes,
                self._config,
                now_ms,
                lambda segment: segments.newest_ms(segment, now_ms),
            )
        limit = self._last_stable_offset if needed_offset is None else min(needed_offset, self._last_stable_offset)
        removable = [s.end_offset for s in segments.sealed[:expired] if s.end_offset <= limit]
        if removable and removable[-1] > self._checkpoint.offset:
            # Segments above the checkpoint stay. With a new one they can go, and the new start is durable.
            self._checkpoint_due_bytes = 0
            self._save_checkpoint_if_due()
        self._log_start_offset = max([self._log_start_offset, *removable])
        self._remove_unwanted()

    def begin_compaction(self) -> Compaction | None:
        """A pass to `run` in any thread, which has to come back to `finish_compaction`; None while none is due."""
        if self._failure is not None or self._compaction is not None or not self._config.is_compacted:
            return None
        bound, now_ms = min(self._last_stable_offset, self._checkpoint.offset), self._clock()
        settled = (sealed for sealed in self._segments.sealed if sealed.end_offset <= bound)
        segments = old_enough(settled, now_ms - self._config.min_compaction_lag_ms)
        dirty_enough = is_dirty(segments, self._cleaned.end_offset, self._config.min_cleanable_dirty_ratio)
        if not dirty_enough and not self._waits_too_long(segments, now_ms):
            return None
        plan = CompactionPlan(
            self._storage,
            self._directory,
            segments,
            self._ledger.aborted_between(0, bound),
            self._cleaned.end_offset,
            self._cleaned.removable_before(now_ms, self._config.delete_retention_ms),
            self._config.segment_bytes,
            now_ms,
        )
        self._compaction = Compaction(plan)
        return self._compaction

    def _waits_too_long(self, segments: Sequence[SealedSegment], now_ms: int) -> bool:
        """Whether max.compaction.lag.ms has passed for the first record that was not cleaned yet."""
        dirty = next((sealed for sealed in segments if sealed.end_offset > self._cleaned.end_offset), None)
        if dirty is None or self._config.max_compaction_lag_ms == NEVER_MS:
            return False
        with refusing_reads(self.name):
            first_ms = self._segments.first_timestamp_ms(dirty)
        return first_ms != NO_TIMESTAMP_MS and first_ms < now_ms - self._config.max_compaction_lag_ms

    def finish_compaction(self, compaction: Compaction, error: Exception | None = None) -> None:
        """The pass has run, or failed with an error: then everything stays as it is. Raises LogRefusal."""
        self._compaction = None
        present = set(self._segments.sealed)
        if error is not None or self._failure is not None:
            with refusing_reads(self.name):
                discard_new(self._storage, self._directory)
            return
        with self._failing_on_error():
            for rewritten in compaction.rewritten:
                # Retention may have removed some of them meanwhile.
                if present.issuperset(rewritten.replaced):
                    rewritten.swap.commit(self._storage, self._directory)
                    self._segments.replace(rewritten.replaced, rewritten.by)
                    self._ledger.forget_aborted(rewritten.dropped_markers)
            self._cleaned = self._cleaned.after(compaction.end_offset, compaction.plan.started_ms)
            self._cleaned.save(self._storage, self._directory)
            discard_new(self._storage, self._directory)
        self._publish()

    def begin_archiving(self, objects: ObjectStore) -> Archiving | None:
        """Sealed segments to send, by `run` in any thread; they come back to `finish_archiving`. None when all are."""
        if not self._config.remote_storage_enable or self._config.remote_log_copy_disable or self._failure is not None:
            return None
        bound = min(self._last_stable_offset, self._checkpoint.offset)
        segments = tuple(segment for segment in self._segments.unarchived if segment.end_offset <= bound)
        return Archiving(self._storage, self._directory, segments, objects) if segments else None

    def finish_archiving(self, archiving: Archiving) -> None:
        """What has been sent counts as archived; what local retention does not want is dropped. Raises LogRefusal."""
        with self._failing_on_error():
            for remote in archiving.done:
                if remote.sealed in self._segments.sealed:
                    self._segments.adopt_remote(remote)
        self.drop_local()

    def drop_local(self) -> None:
        """Remove the local files of archived segments that local retention does not want. Raises LogRefusal."""
        droppable = self._segments.droppable
        count = expired_count(droppable, self._segments.local_bytes, self._config.local(), self._clock())
        with self._failing_on_error():
            for segment in droppable[:count]:
                self._segments.drop(segment)

    def take_orphans(self, *, all_archived: bool = False) -> list[RemoteSegment]:
        """Archived segments whose objects nobody needs any more, each once: those of a deleted topic are all."""
        orphans, self._segments.orphans = self._segments.orphans, []
        return [*orphans, *self._segments.archived] if all_archived else orphans

    def begin_recall(self, base_offset: int) -> Recall | None:
        """An archived segment to bring back, by `run` in any thread, then `finish_recall`. None when it is here."""
        remote = self._segments.remote(base_offset)
        return None if remote is None else Recall(self._storage, self._directory, remote)

    def finish_recall(self, recall: Recall) -> None:
        """The segment can be read. Raises LogRefusal when retention removed it, or the disk refused."""
        if self._segments.remote(recall.segment.base_offset) is None:
            raise LogRefusal(ErrorCode.OFFSET_OUT_OF_RANGE, f"{self.name}: the segment was removed by retention")
        with refusing_reads(self.name):
            recall.take_over()
        self._segments.came_back(recall.segment.base_offset)

    def _remove_unwanted(self) -> None:
        """Remove the segments below the log's start; readers learn it before the files go.

        None above the checkpoint: what its producers did would be known from nowhere.
        """
        self._ledger.forget_below(self._log_start_offset)
        self._last_stable_offset = self._stable_offset()
        self._publish()
        bound = min(self._log_start_offset, self._checkpoint.offset)
        with self._failing_on_error():
            for _ in [sealed for sealed in self._segments.sealed if sealed.end_offset <= bound]:
                self._segments.remove_first()

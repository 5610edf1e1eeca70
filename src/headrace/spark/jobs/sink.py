"""The sink: one writer for all sinks of a query, exactly once.

Tasks encode their rows and stage them (in the message they return while small, else in a file); the driver commits what
the winning attempts staged. A lost, repeated or late attempt leaves nothing but a staged file that is swept.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from headrace.errors import CorruptData, ExternalFailure, QueryStuck
from headrace.serial import LaneResult, Moment
from headrace.spark.chains.batch_signals import NO_SIGNALS, BatchSignals, SignalsRecord
from headrace.spark.chains.driver import ChainDriver
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.chains.task import results_of
from headrace.spark.jobs.holds import QueryHold
from headrace.spark.jobs.query_figures import QueryFigures, TaskCounts
from headrace.spark.jobs.query_signals import QuerySignals
from headrace.spark.jobs.totals import Reported
from headrace.spark.reading.positions import source_offsets
from headrace.spark.specs import MESSAGE_COLUMN, SINK_PROPERTY, SinkSpec
from headrace.spark.writing.checkpoint import Checkpoint
from headrace.spark.writing.commit import CommitLog, CommitRecord, FileMove, Rows, append_rows
from headrace.spark.writing.files import make_visible, update_preview
from headrace.spark.writing.staged import Staged
from headrace.spark.writing.staging import message_of
from headrace.wire.client import Client

# How long a commit waits for a broker that is down before the query fails.
COMMIT_DEADLINE_S = 60.0
COMMIT_RETRY_S = 0.2
# How long the end of a query waits for a commit that is under way.
CLOSE_WAIT_S = 20.0

# Takes rows as JSON texts, in the order in which they came out.
Shown = Callable[[Sequence[str]], None]


def staged(spec: SinkSpec, frame: DataFrame) -> list[Staged]:
    """Runs the frame: every task stages its rows. Returns the messages of the winning attempts."""
    if frame.columns != [MESSAGE_COLUMN]:
        frame = frame.mapInArrow(_stager(spec), f"{MESSAGE_COLUMN} BINARY")
    else:
        frame.sparkSession.sparkContext.setLocalProperty(SINK_PROPERTY, spec.to_json())
    # Our own workers wrote these messages, over Spark's authenticated channel.
    return [pickle.loads(row[0]) for row in frame.collect()]  # noqa: S301


def _stager(spec: SinkSpec) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield message_of(spec, batches)

    return stage


class Committer:
    """Commits the batches of one query, in order. Lives on the driver for as long as the query runs.

    After any doubt it fences again, so that an answer that was lost on the way is read from the log, never guessed.
    """

    def __init__(
        self,
        spec: SinkSpec,
        log: CommitLog,
        chain: ChainDriver | None = None,
        hold: QueryHold | None = None,
        signals: QuerySignals | None = None,
        *,
        shown: Shown | None = None,
        figures: QueryFigures | None = None,
        reported: Callable[[], Reported] = Reported,
    ) -> None:
        """`shown` is told the rows that previews get with each commit. `figures` go on from the last one, and what
        Spark has `reported` is noted with each."""
        self.chain = chain
        self._shown = shown
        self.signals = signals
        self._hold = hold
        self._spec = spec
        self._log = log
        self._checkpoint = Checkpoint(Path(spec.checkpoint or ""))
        self._moment: Moment | None = None
        self.figures = figures or QueryFigures()
        self._reported = reported
        self._working = threading.Lock()
        self._closing = False

    def write(self, frame: DataFrame, batch: int, committing: Callable[[], None] = lambda: None) -> None:
        """Called by Spark once for every batch, and again for the same one after a crash: that changes nothing.

        `committing` is called when the tasks have ended.
        """
        with self._working:
            chain = self.chain
            if chain is not None:
                self._with_broker(lambda: self._order(chain, frame, batch))
            messages = staged(self._spec, frame) if chain is None or self._moment else ()
            committing()
            self.commit(batch, messages)

    @property
    def is_settled(self) -> bool:
        """False while another micro-batch, without rows, will call operators that wait for a time."""
        return self.chain is None or not self.chain.has_due_timers

    def end_soon(self) -> None:
        """What is under way is not tried again, and nothing new begins."""
        self._closing = True

    def close(self) -> None:
        """Nothing is written any more afterwards: a query that is started again must be the only one that commits.

        Raises QueryStuck for a commit that does not end.
        """
        self.end_soon()
        if not self._working.acquire(timeout=CLOSE_WAIT_S):
            raise QueryStuck(
                f"the commit of query {self._spec.query} does not end",
                hint="see whether the broker and the disk answer",
            )
        self._working.release()
        self._log.close()
        if self.signals is not None:
            self.signals.log.close()

    def commit(self, batch: int, messages: Sequence[Staged]) -> None:
        self._with_broker(lambda: self._commit_once(batch, messages))
        discard(messages)

    def _with_broker(self, action: Callable[[], None]) -> None:
        """Tries again while the broker is away, up to a limit."""
        deadline_s = time.monotonic() + COMMIT_DEADLINE_S
        while True:
            if self._closing:
                raise ExternalFailure(f"query {self._spec.query} is being stopped")
            try:
                return action()
            except ExternalFailure:
                self._log.forget()
                if self._closing or time.monotonic() > deadline_s:
                    raise
                time.sleep(COMMIT_RETRY_S)

    def _order(self, chain: ChainDriver, frame: DataFrame, batch: int) -> None:
        """Tells the tasks where the chain's state stands. A batch that is committed already must not run again."""
        last, offsets = self._log.last(), self._checkpoint.offsets(batch)
        known = last is None or offsets is None or last.batch >= batch
        self._moment = None
        if not known and last is not None and offsets is not None:
            signals, record = self._signals_of(last, offsets), ChainRecord.from_json(last.chain)
            self._moment = chain.give_orders(frame, batch, offsets, record, signals)

    def _signals_of(self, last: CommitRecord, offsets: str) -> BatchSignals:
        if self.signals is None:
            return NO_SIGNALS
        deployed = None if self.chain is None else self.chain.running(ChainRecord.from_json(last.chain), NO_SIGNALS)
        return self.signals.of_batch(last, offsets, deployed)

    def _chain_record(
        self, last: CommitRecord, offsets: str, results: Sequence[LaneResult], signals: BatchSignals
    ) -> ChainRecord | None:
        if self.chain is None:
            return None
        before = ChainRecord.from_json(last.chain)
        return before if self._moment is None else self.chain.after(before, self._moment, results, signals, offsets)

    def _signals_record(
        self, last: CommitRecord, results: Sequence[LaneResult], signals: BatchSignals
    ) -> SignalsRecord | None:
        if self.signals is None:
            return None
        plan = None if self.chain is None else self.chain.running(ChainRecord.from_json(last.chain), signals)
        return self.signals.after(signals, plan, results)

    def _commit_once(self, batch: int, messages: Sequence[Staged]) -> None:
        last = self._log.last()
        offsets = self._checkpoint.offsets(batch)
        if last is None or offsets is None:
            missing = "was never opened" if last is None else f"has no plan for batch {batch} in its checkpoint"
            raise CorruptData(f"query {self._spec.query} {missing}", hint="start the pipeline with --reset")
        if last.batch == batch:
            self._require_same(last, offsets)
            make_visible(last.files)
            return
        if last.batch != batch - 1:
            raise CorruptData(
                f"query {self._spec.query}: batch {batch} cannot follow batch {last.batch}, the last one committed",
                hint="the checkpoint and the log do not belong together; start with --reset to begin anew",
            )
        self._checkpoint.sync(last.time_ms)
        results = results_of(lane for message in messages for lane in message.lanes)
        batch_signals = self._signals_of(last, offsets)
        chain = self._chain_record(last, offsets, results, batch_signals)
        signals = self._signals_record(last, results, batch_signals)
        counts = TaskCounts.of(results, messages)
        record = CommitRecord(
            batch=batch,
            time_ms=time.time_ns() // 1_000_000,
            identity=last.identity if self.chain is None else self.chain.identity(last.identity),
            starts=last.starts,
            offsets=offsets,
            previous_offsets=last.offsets,
            previous_commit=self._checkpoint.commit(batch - 1),
            files=moves(self._spec, batch, messages),
            chain=None if chain is None else chain.to_json(),
            signals=None if signals is None else signals.to_json(),
            totals={"tasks": self.figures.to_json(counts), "reported": self._reported().to_json()},
            released=last.released,
        )
        self._log.commit(record, collect_rows(messages))
        if self._hold is not None:
            self._hold.advance(record)
        make_visible(record.files)
        update_preview(self._spec, messages)
        if self._shown is not None:
            self._shown([row for message in messages for rows in message.previews.values() for row in rows])
        if self.chain is not None and chain is not None:
            self.chain.committed(ChainRecord.from_json(last.chain), chain)
            self.figures.note_state(chain.manifest)
        self.figures.add(batch, counts)
        if self.signals is not None and signals is not None:
            self.signals.committed(signals, batch)

    def _require_same(self, last: CommitRecord, offsets: str) -> None:
        if source_offsets(last.offsets or "") != source_offsets(offsets):
            raise CorruptData(
                f"query {self._spec.query}: batch {last.batch} was committed with other offsets than Spark now has",
                hint="the checkpoint was changed from outside; a new start rebuilds it from the log",
            )


def write_once(spec: SinkSpec, frame: DataFrame) -> QueryFigures:
    """A batch run is one transaction: all its rows, or none. Returns what its tasks counted."""
    messages = staged(spec, frame)
    with Client(spec.bootstrap, client_id="headrace-sink") as client:
        append_rows(client, f"headrace.{spec.query}", collect_rows(messages))
    make_visible(moves(spec, 0, messages))
    update_preview(spec, messages)
    discard(messages)
    figures = QueryFigures()
    figures.add(0, TaskCounts.of(results_of(lane for message in messages for lane in message.lanes), messages))
    return figures


def collect_rows(messages: Sequence[Staged]) -> Rows:
    """Staged topic rows by partition, tasks in order."""
    rows: Rows = {}
    for message in sorted(messages, key=lambda message: message.task):
        for part in message.topic_parts:
            rows.setdefault((part.topic, part.partition), []).append(part.read())
    return rows


def moves(spec: SinkSpec, batch: int, messages: Sequence[Staged]) -> tuple[FileMove, ...]:
    return tuple(
        FileMove(part.path, str(Path(part.directory) / f"{spec.query}-{batch:08d}-{message.task:05d}.{part.suffix}"))
        for message in messages
        for part in message.file_parts
    )


def discard(messages: Sequence[Staged]) -> None:
    """Removes the spooled topic rows; staged files that became visible are no longer there."""
    for message in messages:
        for part in message.topic_parts:
            part.discard()

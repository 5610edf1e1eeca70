"""The driver's side of a chain: orders for each micro-batch, and what its lanes left, for the commit record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import Conflict, CorruptData
from headrace.graph.document import Node
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneResult, LocalFiles, Manifest, Moment, Progress, StateStore, Version
from headrace.serial.versions import file_names
from headrace.spark.chains.batch_signals import NO_SIGNALS, BatchSignals
from headrace.spark.chains.due_mark import DueMark
from headrace.spark.chains.orders import ORDERS_PROPERTY, ChainRecord, Orders
from headrace.spark.chains.partitions import SourcePartitions
from headrace.spark.chains.tables import TableReading, in_versions
from headrace.spark.reading.positions import watermark_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A partition without rows for this long no longer holds the watermark back; without a first row, since the query began.
IDLE_US = 30_000_000
# An operator that does not come back from one call within this is ended, and the task with it.
CALL_LIMIT_S = 300.0


class LanesChanged(Conflict):
    """Somebody moved the state while the query ran: a new start finds it."""

    code = "lanes_changed"
    retriable = True


@dataclass(slots=True)
class ChainDriver:
    """Belongs to one running query. `delay_us` is how far out of order rows may come; when none came for
    `idle_timeout_us`, event time goes on at the pace of the clock."""

    plan: ChainPlan
    directory: Path
    delay_us: int
    lane_count: int | None
    idle_timeout_us: int | None = None
    due_mark: DueMark | None = None
    behind_windows: bool = False
    """Whether nodes of Spark's plan before the chain may hold rows back until Spark's watermark has passed them."""
    tables: tuple[TableReading, ...] = ()
    """What the chain looks up."""
    is_called: bool = True
    """Whether it is called without rows, too."""
    partitions: SourcePartitions = field(default_factory=SourcePartitions)
    """Those of its topics: one without a first row holds the watermark."""
    until_end: bool = False
    """Whether the query reads what is there now and ends: a partition without rows is at its end."""
    plugins: str | None = None
    """The plugin folder that its operators are from."""
    has_due_timers: bool = False
    """Whether the watermark has reached times that operators wait for: they are called in the next micro-batch."""
    _obsolete: set[str] = field(default_factory=set)
    _idle: frozenset[int] = frozenset()
    """Partitions that had no records left to read when they became idle."""
    _next: tuple[tuple[Node, ...], str] | None = None
    """Operators that were asked for, and the identity of the query with them."""

    def replace(self, plan: ChainPlan, catalogue: Catalogue, identity: str) -> None:
        """Other operators from the micro-batch after the next commit on; the query goes on, state is kept by node.

        `identity` is that of the query with the new operators: a later start must be of those. Raises Conflict where
        rows would come in or go out otherwise than Spark was told.
        """
        same = (
            [node.id for node in plan.nodes] == [node.id for node in self.plan.nodes]
            and (plan.inputs, plan.edges, plan.tables) == (self.plan.inputs, self.plan.edges, self.plan.tables)
            and plan.stages(catalogue) == self.plan.stages(catalogue)
            and plan.output_schema(catalogue) == self.plan.output_schema(catalogue)
        )
        if not same:
            raise Conflict("only operators of the same nodes, keys and columns are replaced while the query runs")
        self._next = (plan.nodes, identity)

    def running(self, last: ChainRecord, signals: BatchSignals) -> ChainPlan:
        """The operators of the micro-batch after a commit, with the settings that signals gave them."""
        plan = self.plan if last.nodes is None else replace(self.plan, nodes=last.nodes)
        return plan.adjusted(signals.before.parameters)

    def give_orders(
        self, frame: DataFrame, batch: int, offsets: str, last: ChainRecord, signals: BatchSignals
    ) -> Moment:
        """Called before a micro-batch runs: tasks of this thread's jobs find their orders afterwards."""
        self._require_lanes(last)
        handed_us = batch_watermark_us(offsets) if self.behind_windows else None
        watermark_us, now_us = last.progress.watermark_us, batch_time_us(offsets)
        moment = Moment(batch, watermark_us, now_us, CALL_LIMIT_S, handed_us, last.before_us)
        plan = self.running(last, signals)
        tables = in_versions(self.tables, offsets)
        orders = Orders(plan, moment, str(self.directory), last.manifest, self.plugins, signals.offered, tables)
        frame.sparkSession.sparkContext.setLocalProperty(ORDERS_PROPERTY, orders.to_json())
        return moment

    def after(
        self,
        last: ChainRecord,
        moment: Moment,
        results: Sequence[LaneResult],
        signals: BatchSignals = NO_SIGNALS,
        offsets: str | None = None,
    ) -> ChainRecord:
        """The record of a micro-batch with these offsets, whose winning tasks left these results.

        Raises Conflict, CorruptData; and ExternalFailure where the log has to be asked and does not answer.
        """
        self._require_lanes(last)
        stages = range(1 + max((result.stage for result in results), default=0))
        ran = {(result.stage, result.lane) for result in results}
        if self.lane_count is not None and ran != set(product(stages, range(self.lane_count))):
            raise CorruptData(f"batch {moment.batch}: not every lane of the chain has run")
        latest: dict[int, int] = {}
        for result in results:
            for partition, us in result.latest_us.items():
                latest[partition] = max(us, latest.get(partition, us))
        progress = self._progress(last.progress, latest, moment, offsets)
        for reached_us in signals.watermarks_us:
            progress = progress.raised(reached_us)
        waiting = (result.next_event_us for result in results if result.next_event_us is not None)
        self._note_due(progress.has_reached(min(waiting, default=None)))
        nodes = last.nodes if self._next is None else self._next[0]
        return ChainRecord(_merged(last.manifest, results), progress, self.lane_count, nodes, moment.watermark_us)

    def _progress(self, last: Progress, latest_us: Mapping[int, int], moment: Moment, offsets: str | None) -> Progress:
        now_us, text = moment.now_us, offsets or ""
        partitions = frozenset() if self.until_end else self.partitions.all(text)
        due = last.idle(now_us, IDLE_US, partitions) - latest_us.keys()
        # One that became idle stays so until it has rows: it is looked at once.
        unread = self.partitions.unread(text, due - self._idle)
        self._idle = due - unread
        progress = last.advanced(latest_us, now_us, self.delay_us, IDLE_US, partitions=partitions, unread=unread)
        if self.idle_timeout_us is None:
            return progress
        return progress.idled(now_us, self.delay_us, self.idle_timeout_us, IDLE_US, moment.handed_us)

    def identity(self, last: str) -> str:
        """Of the query from the next micro-batch on."""
        return last if self._next is None else self._next[1]

    def committed(self, last: ChainRecord, record: ChainRecord) -> None:
        """Called once the record is in the log: removes files that nothing can need any more."""
        files = LocalFiles(self.directory)
        named = file_names(record.manifest)
        for name in self._obsolete - named:
            files.remove(name)
        # Tasks of the last micro-batch that end late may still read what it began with.
        self._obsolete = file_names(last.manifest) - named

    def _require_lanes(self, last: ChainRecord) -> None:
        if last.lane_count not in (None, self.lane_count):
            raise LanesChanged(
                f"the state was spread over {last.lane_count} lanes, and the query has {self.lane_count}"
            )

    def sweep(self, record: ChainRecord) -> None:
        """Before the query starts: removes what no commit names."""
        # Which times are waited for is known only to the state: until the first micro-batch any may be due.
        self._note_due(self.is_called and record.progress.watermark_us is not None)
        StateStore(LocalFiles(self.directory)).sweep(record.manifest)

    def _note_due(self, due: bool) -> None:
        self.has_due_timers = due
        if self.due_mark is not None:
            self.due_mark.put(due)


def batch_time_us(offsets: str) -> int:
    """When Spark planned a batch, by its write-ahead file: the same when the batch is run again."""
    return int(json.loads(offsets.splitlines()[1])["batchTimestampMs"]) * 1000


def batch_watermark_us(offsets: str) -> int:
    """Spark's watermark in a batch, by its write-ahead file: what waited for it leaves Spark's plan in that batch."""
    return watermark_ms(offsets) * 1000


def _merged(manifest: Manifest, results: Sequence[LaneResult]) -> dict[str, dict[int, Version]]:
    merged = {node: dict(lanes) for node, lanes in manifest.items()}
    for result in results:
        for node, version in result.versions.items():
            if version != Version():
                merged.setdefault(node, {})[result.lane] = version
    return merged

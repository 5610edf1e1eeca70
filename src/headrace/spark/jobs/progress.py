"""Spark's progress reports, as counts by node, edge and partition."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headrace.graph.document import Document
from headrace.spark.compiling.counts import BAD_ROWS, NODE_ROWS, SKIPPED_ROWS
from headrace.spark.jobs.late_counts import LateCounts
from headrace.spark.jobs.query_figures import QueryFigures
from headrace.spark.jobs.status import NodeCount, QueryStatus
from headrace.spark.jobs.totals import Reported, TotalsFile
from headrace.spark.planning.error_nodes import errors_node
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.reading.positions import parse_offsets
from headrace.spark.specs import node_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress


@dataclass(slots=True)
class QueryProgress:
    """Totals of one query since it was opened; the listener's thread writes. By source node: the topic that it reads,
    and `ends`. They begin with the last commit record.

    `batch` is the last one that was counted; `file` keeps what was.
    """

    plan: QueryPlan
    topics: Mapping[str, str]
    batch: int = -1
    batch_ms: float = 0.0
    ends: dict[str, dict[str, int]] = field(default_factory=dict)
    lag: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    late: LateCounts = field(default_factory=lambda: LateCounts(""))
    figures: QueryFigures = field(default_factory=QueryFigures)
    file: TotalsFile | None = None
    signals: Mapping[str, int] = field(default_factory=dict)
    """Signals by what became of them."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, report: StreamingQueryProgress, document: Document) -> dict[str, object]:
        """Takes one report in; returns what happened in that batch, for a progress event."""
        before = self.positions
        nodes, bad = self._node_rows(report)
        # First: who waits for all to be counted looks at the positions.
        self._count_once(report, nodes, bad)
        self.ends = {**self.ends, **self._offsets(report, "endOffset")}
        after = self.positions
        latest = self._by_partition(self._offsets(report, "latestOffset"))
        self.batch_ms = float(report.durationMs.get("triggerExecution", 0))
        self.lag = {partition: max(0, latest.get(partition, end) - end) for partition, end in after.items()}
        return {
            "query": self.plan.name,
            "batch": report.batchId,
            "batch_ms": self.batch_ms,
            "duration_ms": dict(report.durationMs),
            "nodes": {node: rows for node, rows in nodes.items() if node not in self.plan.hidden},
            "edges": {f"{e.source}→{e.target}": nodes[e.source] for e in document.edges if e.source in nodes},
            "partitions": {partition: end - before.get(partition, end) for partition, end in after.items()},
            "lag": dict(self.lag),
            "bad": sum(bad.values()) + self.figures.failed_in(report.batchId) + self._failed_among(nodes),
            "late": self.late.fresh(),
        }

    def _failed_among(self, rows: Mapping[str, int]) -> int:
        return sum(rows.get(made, 0) for made, of in self.plan.aside.items() if made == errors_node(of))

    @property
    def is_settled(self) -> bool:
        """Whether the last commit was reported, and all of it is counted."""
        return self.batch >= self.figures.newest and self.late.is_settled

    @property
    def positions(self) -> dict[str, int]:
        """Topic partition → offset after the last record that is in the output, of every source that reads it."""
        return self._by_partition(self.ends)

    def _count_once(self, report: StreamingQueryProgress, nodes: Mapping[str, int], bad: Mapping[str, int]) -> None:
        """A micro-batch may be run, and reported, once more after a start."""
        with self._lock:
            if report.batchId <= self.batch:
                return
            self.late.take(report)
            for total, counted in ((self.rows, nodes), (self.bad, bad)):
                for node, rows in counted.items():
                    total[node] = total.get(node, 0) + rows
            self.batch = report.batchId
        self._keep()

    def _keep(self) -> None:
        if self.file is not None:
            self.file.write(self.reported())

    def go_on(self, reported: Reported) -> None:
        """Called before the first report, with what was reported before."""
        self.batch = reported.batch
        self.rows, self.bad = dict(reported.rows), dict(reported.bad)
        self.late.go_on(reported.late, self._keep)

    def reported(self) -> Reported:
        """All of it as of one report, whichever thread asks."""
        with self._lock:
            return Reported(self.batch, dict(self.rows), dict(self.bad), self.late.known())

    def status(self) -> QueryStatus:
        counted = self.figures.by_node()
        late = self.late.totals()
        errors = self._errors()
        # Nodes that are there for failing rows are part of others.
        rows = {**dict.fromkeys(errors, 0), **{n: c for n, c in self.rows.items() if n not in self.plan.hidden}}
        counts = [
            replace(one, bad_total=one.bad_total + errors.get(one.node, 0))
            for one in (self._count(node, passed, counted.get(node, {}), late) for node, passed in rows.items())
        ]
        return QueryStatus(
            self.plan.name,
            self.batch,
            self.batch_ms,
            dict(self.lag),
            tuple(counts),
            tuple(node for node in self.plan.members if node not in self.plan.hidden),
            self.positions,
            dict(self.signals),
        )

    def _errors(self) -> dict[str, int]:
        """Node → rows that its expressions failed for."""
        made = {errors_node(of): of for of in self.plan.aside.values()}
        return {of: self.rows[name] for name, of in made.items() if name in self.rows}

    def _count(self, node: str, rows: int, counted: Mapping[str, int], late: Mapping[str, int]) -> NodeCount:
        """Rows of a node, and what Spark and the node's tasks counted besides."""
        return NodeCount(
            node,
            rows,
            self.bad.get(node, 0) + counted.get("failed", 0),
            late.get(node, 0) + counted.get("late", 0),
            counted.get("copies", 0),
            counted.get("copied_bytes", 0),
            self.figures.state_bytes.get(node),
        )

    def _by_partition(self, offsets: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        """What several sources of one topic have in common is the smallest offset."""
        found: dict[str, int] = {}
        for node, partitions in offsets.items():
            for partition, offset in partitions.items():
                name = f"{self.topics[node]}-{partition}"
                found[name] = min(offset, found.get(name, offset))
        return found

    def _source_of(self, report: SourceProgress) -> str:
        """The node that a report of a source is about; where a query has several, their offsets name them."""
        offsets: dict[str, Any] = json.loads(report.endOffset) if (report.endOffset or "").startswith("{") else {}
        return node_of(offsets) or self.plan.source.id

    def _offsets(self, report: StreamingQueryProgress, name: str) -> dict[str, dict[str, int]]:
        found = {self._source_of(source): parse_offsets(getattr(source, name)) for source in report.sources}
        return {node: offsets for node, offsets in found.items() if node in self.topics and offsets}

    def _node_rows(self, report: StreamingQueryProgress) -> tuple[dict[str, int], dict[str, int]]:
        counts = Counts.of((name, row.asDict()) for name, row in report.observedMetrics.items())
        handed_on: dict[str, int] = {}
        for source in report.sources:
            # A source that feeds two sides of a join is reported twice, with the same rows.
            node = self._source_of(source)
            handed_on[node] = max(source.numInputRows, handed_on.get(node, 0))
        rows = {node: n - counts.bad.get(node, 0) + counts.skipped.get(node, 0) for node, n in handed_on.items()}
        # Tasks count rows that never reach Spark: in a chain, and those that they stage as they read them.
        return {**rows, **self.figures.rows_of(report.batchId), **counts.nodes}, counts.bad


@dataclass(frozen=True, slots=True)
class Counts:
    """What was observed under our names: rows by node; bad rows, and rows left out, by source."""

    nodes: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, observed: Iterable[tuple[str, Mapping[str, Any]]]) -> Counts:
        counts = cls()
        kinds = {BAD_ROWS: counts.bad, SKIPPED_ROWS: counts.skipped}
        for key, rows in (item for name, row in observed if name.startswith(NODE_ROWS) for item in row.items()):
            kind, _, source = key.partition(":")
            if kind in kinds:
                kinds[kind][source] = rows
            else:
                counts.nodes[key] = rows
        return counts

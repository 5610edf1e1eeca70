"""Spark's progress reports, as counts by node, edge and partition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.graph.document import Document
from headrace.spark.chain_figures import ChainFigures
from headrace.spark.compile import BAD_ROWS, NODE_ROWS, SKIPPED_ROWS
from headrace.spark.plan import QueryPlan
from headrace.spark.status import NodeCount, QueryStatus

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress


@dataclass(slots=True)
class QueryProgress:
    """Totals of one query since its job started; the listener's thread writes. `end` begins where the query does."""

    plan: QueryPlan
    topic: str | None
    batch: int = -1
    batch_ms: float = 0.0
    rows_per_second: float = 0.0
    end: dict[str, int] = field(default_factory=dict)
    lag: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    bad: int = 0
    late: int = 0
    chain: ChainFigures = field(default_factory=ChainFigures)
    signals: Mapping[str, int] = field(default_factory=dict)
    """Signals by what became of them."""

    def add(self, report: StreamingQueryProgress, document: Document) -> dict[str, object]:
        """Takes one report in; returns what happened in that batch, for a progress event."""
        start, self.end = self._offsets(report, "startOffset") or self.end, self._offsets(report, "endOffset")
        latest = self._offsets(report, "latestOffset")
        nodes, bad = self._node_rows(report)
        late = sum(operator.numRowsDroppedByWatermark for operator in report.stateOperators)
        self.batch = report.batchId
        self.batch_ms = float(report.durationMs.get("triggerExecution", 0))
        self.rows_per_second = report.processedRowsPerSecond or 0.0
        self.lag = {self._partition(p): max(0, latest.get(p, end) - end) for p, end in self.end.items()}
        self.bad += bad
        self.late += late
        for node, rows in nodes.items():
            self.rows[node] = self.rows.get(node, 0) + rows
        return {
            "query": self.plan.name,
            "batch": self.batch,
            "batch_ms": self.batch_ms,
            "duration_ms": dict(report.durationMs),
            "nodes": nodes,
            "edges": {f"{e.source}→{e.target}": nodes[e.source] for e in document.edges if e.source in nodes},
            "partitions": {self._partition(p): end - start.get(p, end) for p, end in self.end.items()},
            "lag": dict(self.lag),
            "bad": bad,
            "late": late,
        }

    def status(self) -> QueryStatus:
        failed, late = self.chain.of_figure("failed"), self.chain.of_figure("late")
        counts = [
            NodeCount(
                node,
                rows,
                (self.bad if node == self.plan.source.id else 0) + failed.get(node, 0),
                (self.late if node == self.plan.base.id and self.plan.chained else 0) + late.get(node, 0),
            )
            for node, rows in self.rows.items()
        ]
        return QueryStatus(
            self.plan.name,
            self.batch,
            self.batch_ms,
            self.rows_per_second,
            dict(self.lag),
            tuple(counts),
            self.plan.members,
            {self._partition(partition): offset for partition, offset in self.end.items()},
            dict(self.signals),
        )

    def _partition(self, partition: str) -> str:
        return f"{self.topic}-{partition}"

    def _offsets(self, report: StreamingQueryProgress, name: str) -> dict[str, int]:
        if self.topic is None or not report.sources:
            return {}
        return parse_offsets(getattr(report.sources[0], name))

    def _node_rows(self, report: StreamingQueryProgress) -> tuple[dict[str, int], int]:
        counts = Counts.of((name, row.asDict()) for name, row in report.observedMetrics.items())
        source = self.plan.source.id
        bad = counts.bad.get(source, 0)
        handed_on = sum(source.numInputRows for source in report.sources)
        seen_by_spark = {source: handed_on - bad + counts.skipped.get(source, 0)}
        # A chain counts its own rows, those between its nodes, and those of a source that never reach Spark.
        return {**seen_by_spark, **self.chain.rows_of(report.batchId), **counts.nodes}, bad


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


def parse_offsets(text: str | None) -> dict[str, int]:
    """Spark gives offsets as JSON text, or something else before the first batch."""
    if not text or not text.startswith("{"):
        return {}
    offsets: dict[str, int] = json.loads(text)
    # Beside the partitions a source may count ticks.
    return {partition: offset for partition, offset in offsets.items() if partition.isdigit()}

"""Figures of running jobs by node and edge: totals from what Spark reported, rates over the last seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headrace.graph import Document, Edge
from headrace.server.models.jobs import BatchFigures, EdgeFigures, JobError, JobFigures, NodeFigures
from headrace.spark import JobStatus, NodeCount, QueryStatus

# Rows are reported batch by batch: a shorter window would show a sawtooth.
RATE_WINDOW_S: Final = 5.0
SAMPLES_MAX: Final = 64


@dataclass(slots=True)
class RateMeter:
    """Rows per second of one counter over the last RATE_WINDOW_S."""

    samples: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))

    def add(self, now_s: float, total: int) -> None:
        """A total below the last one is that of a counter that began anew."""
        if self.samples and total < self.samples[-1][1]:
            self.samples.clear()
        self.samples.append((now_s, total))
        while len(self.samples) > 2 and self.samples[1][0] <= now_s - RATE_WINDOW_S:
            self.samples.popleft()

    @property
    def rate(self) -> float:
        if len(self.samples) < 2:
            return 0.0
        (began_s, first), (ended_s, last) = self.samples[0], self.samples[-1]
        return (last - first) / (ended_s - began_s) if ended_s > began_s else 0.0


class FigureBook:
    """The figures of all jobs. `update` is called by one thread, at most some times a second."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._meters: dict[tuple[str, str], RateMeter] = {}

    def update(self, jobs: Iterable[tuple[JobStatus, Document | None]]) -> dict[str, JobFigures]:
        """By pipeline. Meters of jobs that are gone are forgotten."""
        now_s = self._clock_s()
        seen: set[tuple[str, str]] = set()
        figures: dict[str, JobFigures] = {}
        for status, document in jobs:
            rows = {f"node {node}": count.rows_out_total for node, count in node_counts(status).items()}
            edges = () if document is None else document.edges
            rows |= {_edge_key(edge): edge_rows(status, edge) for edge in edges}
            for name, total in rows.items():
                seen.add((status.pipeline, name))
                self._meters.setdefault((status.pipeline, name), RateMeter()).add(now_s, total)
            figures[status.pipeline] = self._figures(status, document)
        self._meters = {key: meter for key, meter in self._meters.items() if key in seen}
        return figures

    def _figures(self, status: JobStatus, document: Document | None) -> JobFigures:
        counts = node_counts(status)
        nodes = {
            node: NodeFigures(
                rows_in=_rows_in(status, document, node),
                rows_out=count.rows_out_total,
                rows_bad=count.bad_total,
                rows_late=count.late_total,
                rate=self._rate(status, f"node {node}"),
                state_bytes=count.state_bytes,
            )
            for node, count in counts.items()
        }
        edges = [
            EdgeFigures(
                source=edge.source,
                target=edge.target,
                source_port=edge.source_port,
                target_port=edge.target_port,
                rows=edge_rows(status, edge),
                rate=self._rate(status, _edge_key(edge)),
                lag=_lag(status, edge, document),
            )
            for edge in ([] if document is None else document.edges)
        ]
        return JobFigures(
            state=status.shown_state,
            paused_by=status.paused_by,
            waits_for=status.waits_for,
            error=job_error(status),
            nodes=nodes,
            edges=edges,
            batches=_batches(status, edges),
        )

    def _rate(self, status: JobStatus, name: str) -> float:
        meter = self._meters.get((status.pipeline, name))
        return round(meter.rate, 1) if meter is not None and status.shown_state == "running" else 0.0


def job_error(status: JobStatus) -> JobError | None:
    if status.error is None:
        return None
    known = {name: status.error.get(name) for name in ("node", "hint", "record")}
    return JobError.model_validate({"code": status.error["code"], "message": status.error["message"], **known})


def node_counts(status: JobStatus) -> Mapping[str, NodeCount]:
    """A node that several queries run is read by each of them: it counts once."""
    found: dict[str, NodeCount] = {}
    for count in (count for query in status.queries for count in query.nodes):
        other = found.get(count.node, count)
        found[count.node] = NodeCount(
            count.node,
            max(count.rows_out_total, other.rows_out_total),
            max(count.bad_total, other.bad_total),
            max(count.late_total, other.late_total),
            max(count.copies_total, other.copies_total),
            max(count.copied_bytes_total, other.copied_bytes_total),
            # A serial operator runs in one query.
            count.state_bytes if other.state_bytes is None else other.state_bytes,
        )
    return found


def edge_rows(status: JobStatus, edge: Edge) -> int:
    """Rows that left the edge's source in the query that runs its target."""
    counts = [count for query in _running(status, edge) for count in query.nodes if count.node == edge.source]
    return max((count.rows_out_total for count in counts), default=0)


def _running(status: JobStatus, edge: Edge) -> list[QueryStatus]:
    return [query for query in status.queries if edge.source in query.members and edge.target in query.members]


def _rows_in(status: JobStatus, document: Document | None, node: str) -> int:
    edges = () if document is None else document.inputs_of(node)
    return sum(edge_rows(status, edge) for edge in edges)


def _lag(status: JobStatus, edge: Edge, document: Document | None) -> int | None:
    """Of edges that begin at a source: what is not yet read there."""
    if document is None or document.inputs_of(edge.source):
        return None
    lags = [sum(query.lag.values()) for query in _running(status, edge) if query.lag]
    return max(lags) if lags else None


def _batches(status: JobStatus, edges: Sequence[EdgeFigures]) -> BatchFigures:
    return BatchFigures(
        count=sum(query.batch + 1 for query in status.queries),
        last_ms=max((query.batch_ms for query in status.queries), default=0.0),
        rows_per_second=sum(read_rate(query, edges) for query in status.queries),
    )


def read_rate(query: QueryStatus, edges: Sequence[EdgeFigures]) -> float:
    """Rows per second that leave the sources of a query, over the last seconds."""
    inner = {edge.target for edge in edges}
    rates: dict[str, float] = {}
    for edge in edges:
        if edge.source not in inner and {edge.source, edge.target} <= set(query.members):
            rates[edge.source] = max(edge.rate, rates.get(edge.source, 0.0))
    return sum(rates.values())


def _edge_key(edge: Edge) -> str:
    return f"edge {edge.source} {edge.source_port} {edge.target} {edge.target_port}"

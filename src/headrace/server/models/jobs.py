"""Running pipelines: state, figures, events, samples and test runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headrace.server.models.base import Model
from headrace.server.models.documents import ColumnView, EdgeModel
from headrace.spark.jobs.events import EventKind
from headrace.spark.jobs.status import ShownState


class JobError(Model):
    """`record` is the offending one, where it is known."""

    code: str
    message: str
    node: str | None
    hint: str | None
    record: dict[str, Any] | None


class NodeFigures(Model):
    """Since the pipeline was first started, also through resets; `rate` in rows out per second, over the last seconds.

    `state_bytes`: what the state of a serial operator takes on disk; null for a node that keeps none there.
    """

    rows_in: int
    rows_out: int
    rows_bad: int
    rows_late: int
    rate: float
    state_bytes: int | None


class EdgeFigures(EdgeModel):
    """`lag`: records of the source topic that are not yet in the output; null where the edge begins at no topic."""

    rows: int
    rate: float
    lag: int | None


class BatchFigures(Model):
    """Of the query whose batches take longest. `count` is over all queries, and so is `rows_per_second`: rows that
    left their sources, over the last seconds."""

    count: int
    last_ms: float
    rows_per_second: float


class JobFigures(Model):
    """`error` is why the job failed, or why it was started again, until it has moved since; `paused_by` the signal that
    a paused job waits behind.

    `waits_for`: what holds it up (Spark that starts, its turn to start, a query that has not moved for long, a registry
    or a broker that does not answer).
    """

    state: ShownState
    paused_by: str | None
    waits_for: str | None
    error: JobError | None
    nodes: dict[str, NodeFigures]
    edges: list[EdgeFigures]
    batches: BatchFigures


class NodeCountView(Model):
    node: str
    rows_out_total: int
    bad_total: int
    late_total: int
    copies_total: int
    copied_bytes_total: int
    state_bytes: int | None


class QueryView(Model):
    """One streaming query. `lag` is by topic partition, `signals` by what became of them; `rows_per_second` left its
    sources over the last seconds."""

    name: str
    batch: int
    batch_ms: float
    rows_per_second: float
    lag: dict[str, int]
    nodes: list[NodeCountView]
    signals: dict[str, int]


class BeginningView(Model):
    """Where a query began with the last start: it went on from its last commit, or the state of `empty` began empty."""

    query: str
    goes_on: bool
    empty: list[str]
    text: str


class JobView(JobFigures):
    """`signals_refused`: why no signal can reach the pipeline; null where one can. `parameters`: settings in force that
    signals changed, by node; the others are those of the document. `newer_code`: that plugin files were changed after
    it was started, and what is wrong with them; null where they were not."""

    pipeline: str
    version: int | None
    content_hash: str
    started_at: datetime
    restarts: int
    signals_refused: str | None
    parameters: dict[str, dict[str, Any]]
    queries: list[QueryView]
    began: list[BeginningView]
    newer_code: str | None


class JobList(Model):
    jobs: list[JobView]


class JobEvent(Model):
    """`number` grows by one from event to event."""

    number: int
    time_ms: int
    pipeline: str
    kind: EventKind
    node: str | None
    details: dict[str, Any]


class EventList(Model):
    """Oldest first."""

    events: list[JobEvent]


class NoticeView(Model):
    """What is wrong with the machine or with Spark now."""

    code: str
    message: str
    hint: str | None
    since_ms: int


class MetricsTick(Model):
    """All jobs at one moment; sent at most twice a second."""

    time_ms: int
    jobs: dict[str, JobFigures]
    notices: list[NoticeView]


class RowsView(Model):
    rows: list[dict[str, Any]]


class RowError(Model):
    """A row that an expression failed for, as JSON text, or a record that could not be read; `topic`, `partition` and
    `offset` say which record it was, where that is known."""

    node: str
    reason: str
    topic: str | None
    partition: int | None
    offset: int | None
    row: str | None


class RowErrorList(Model):
    rows: list[RowError]


class SampleView(Model):
    """The newest rows on an edge, the newest last. `ranges`: topic → partition → offsets read, [first, after].

    `begins_empty`: windows and other state above the edge began with the first of these records.
    """

    columns: list[ColumnView]
    rows: list[dict[str, Any]]
    ranges: dict[str, dict[str, tuple[int, int]]]
    begins_empty: bool
    took_ms: int


class NodeRows(Model):
    columns: list[ColumnView]
    rows: list[dict[str, Any]]


class TestRunView(Model):
    """Rows that leave each node, for the first rows of its sources."""

    nodes: dict[str, NodeRows]
    took_ms: int


class BatchView(Model):
    pipeline: str
    rows: dict[str, int]
    bad: dict[str, int]
    seconds: float

"""What is known of running pipelines, as plain data for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

JobState = Literal["starting", "running", "stopping", "stopped", "failed"]
# As people see it: a job that waits behind a signal is paused.
ShownState = Literal["starting", "running", "paused", "stopping", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class NodeCount:
    """Since the pipeline was first started, also through resets: rows that left the node, rows that could not be read,
    late rows; and how often a serial operator made rows its own to write to them.

    `state_bytes` is what the state of a serial operator takes on disk; None for a node that keeps none there.
    """

    node: str
    rows_out_total: int = 0
    bad_total: int = 0
    late_total: int = 0
    copies_total: int = 0
    copied_bytes_total: int = 0
    state_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """`lag` is by topic partition: records that are committed in the log and not yet in the output.

    `members` are the nodes whose rows pass through this query; a source may be in several. `positions` is by topic
    partition: the offset after the last record that is in the output.
    """

    name: str
    batch: int
    batch_ms: float
    lag: dict[str, int]
    nodes: tuple[NodeCount, ...]
    members: tuple[str, ...] = ()
    positions: Mapping[str, int] = field(default_factory=dict)
    signals: Mapping[str, int] = field(default_factory=dict)
    """Signals since the job started, by what became of them: handled, passed, dropped, kept."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    pipeline: str
    state: JobState
    content_hash: str
    queries: tuple[QueryStatus, ...]
    error: dict[str, object] | None
    started_ms: int
    restarts: int
    paused_by: str | None = None
    """The signal that a query of the job waits behind."""
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Node → settings that signals changed, as they are in force: the document has the others."""
    waits_for: str | None = None
    """What holds it up: Spark that starts, its turn to start, a query that has not moved for long, or what outside was
    at fault when it was last started again (a registry, a broker, a disk)."""
    stalled_s: float = 0.0
    """For how long that query has not moved."""

    @property
    def shown_state(self) -> ShownState:
        return "paused" if self.state == "running" and self.paused_by is not None else self.state


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Of a batch run: rows that left each node, and how long it took."""

    rows: Mapping[str, int]
    bad: Mapping[str, int]
    seconds: float

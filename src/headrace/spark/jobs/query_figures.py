"""What the tasks of a query counted: totals for its status, and rows by node for each micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.serial import LaneResult, Manifest, NodeReport
from headrace.spark.writing.commit import OPENED
from headrace.spark.writing.staged import Staged

# Reports of progress come a little after their commit: micro-batches whose rows are kept for them.
BATCHES_KEPT = 16


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """What the winning tasks of one micro-batch counted: rows that left each node, rows that could not be read or
    handled, and (node, figure) → sum."""

    rows: Counter[str]
    failed: int
    figures: Counter[tuple[str, str]]

    @classmethod
    def of(cls, results: Sequence[LaneResult], messages: Iterable[Staged]) -> TaskCounts:
        rows, figures = Counter[str](), Counter[tuple[str, str]]()
        failed = sum(report.failed for result in results for report in result.reports.values())
        for node, report in (item for result in results for item in result.reports.items()):
            rows[node] += report.rows_out
            for name, value in _figures(report).items():
                figures[node, name] += value
        for node, count in (item for message in messages for item in message.rows.items()):
            rows[node] += count
            figures[node, "rows_out"] += count
        return cls(rows, failed, figures)


@dataclass(slots=True)
class QueryFigures:
    """Of one query since it was opened: what Spark cannot count, for its tasks stage their rows or run a chain. Sinks
    are counted too."""

    totals: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(node, figure) → sum."""
    state_bytes: Mapping[str, int] = field(default_factory=dict)
    """Node → size of the files that hold its state, as of the last commit."""
    _rows: dict[int, Counter[str]] = field(default_factory=dict)
    _failed: dict[int, int] = field(default_factory=dict)

    def add(self, batch: int, counts: TaskCounts) -> None:
        self._rows[batch] = counts.rows
        self._failed[batch] = counts.failed
        while len(self._rows) > BATCHES_KEPT:
            oldest = min(self._rows)
            del self._rows[oldest], self._failed[oldest]
        self.totals.update(counts.figures)

    def to_json(self, counts: TaskCounts) -> dict[str, Any]:
        """As they are after a micro-batch that counted this, and what it counted itself."""
        totals = [[node, name, value] for (node, name), value in (self.totals + counts.figures).items()]
        return {"totals": totals, "rows": dict(counts.rows), "failed": counts.failed}

    @classmethod
    def from_json(cls, batch: int, value: Mapping[str, Any]) -> QueryFigures:
        found = cls(Counter({(node, name): total for node, name, total in value["totals"]}))
        found._rows[batch] = Counter(value["rows"])
        found._failed[batch] = value["failed"]
        return found

    def note_state(self, manifest: Manifest) -> None:
        """Called when a commit names these files."""
        self.state_bytes = {
            node: sum(version.size_bytes for version in lanes.values()) for node, lanes in manifest.items()
        }

    @property
    def newest(self) -> int:
        """The last micro-batch that was committed."""
        return max(list(self._rows), default=OPENED)

    def rows_of(self, batch: int) -> dict[str, int]:
        """Rows that left each node in a micro-batch; empty for one that is not kept."""
        return dict(self._rows.get(batch, {}))

    def failed_in(self, batch: int) -> int:
        """Rows that could not be read or handled in a micro-batch; 0 for one that is not kept."""
        return self._failed.get(batch, 0)

    def by_node(self) -> dict[str, dict[str, int]]:
        """All totals of each node."""
        nodes: dict[str, dict[str, int]] = {}
        for (node, name), value in dict(self.totals).items():
            nodes.setdefault(node, {})[name] = value
        return nodes

    def of_figure(self, figure: str) -> dict[str, int]:
        """A figure by node."""
        return {node: value for (node, name), value in dict(self.totals).items() if name == figure}


def _figures(report: NodeReport) -> dict[str, int]:
    own = {"rows_in": report.rows_in, "rows_out": report.rows_out, "failed": report.failed}
    copies = {"copies": report.copies.count, "copied_bytes": report.copies.bytes}
    return {**own, **copies, **report.counts}

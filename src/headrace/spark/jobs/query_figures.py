"""What the tasks of a query counted: totals for its status, and rows by node for each micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headrace.serial import LaneResult, Manifest, NodeReport
from headrace.spark.writing.staged import Staged

# Reports of progress come a little after their commit: micro-batches whose rows are kept for them.
BATCHES_KEPT = 16


@dataclass(slots=True)
class QueryFigures:
    """Of one query since it started: what Spark cannot count, for its tasks stage their rows or run a chain. Sinks are
    counted too."""

    totals: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(node, figure) → sum."""
    state_bytes: Mapping[str, int] = field(default_factory=dict)
    """Node → size of the files that hold its state, as of the last commit."""
    _rows: dict[int, Counter[str]] = field(default_factory=dict)
    _failed: dict[int, int] = field(default_factory=dict)

    def add(self, batch: int, results: Sequence[LaneResult], messages: Iterable[Staged]) -> None:
        rows = self._rows[batch] = Counter[str]()
        self._failed[batch] = sum(report.failed for result in results for report in result.reports.values())
        while len(self._rows) > BATCHES_KEPT:
            oldest = min(self._rows)
            del self._rows[oldest], self._failed[oldest]
        for node, report in (item for result in results for item in result.reports.items()):
            rows[node] += report.rows_out
            for name, value in _figures(report).items():
                self.totals[node, name] += value
        for node, count in (item for message in messages for item in message.rows.items()):
            rows[node] += count
            self.totals[node, "rows_out"] += count

    def note_state(self, manifest: Manifest) -> None:
        """Called when a commit names these files."""
        self.state_bytes = {
            node: sum(version.size_bytes for version in lanes.values()) for node, lanes in manifest.items()
        }

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

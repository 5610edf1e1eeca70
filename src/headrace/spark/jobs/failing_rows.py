"""The row that a micro-batch failed for: found by another run over the records that it read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headrace.errors import HeadraceError, JobFailed
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.sample import Sampling
from headrace.spark.planning.error_nodes import errors_node
from headrace.spark.planning.row_errors import probes
from headrace.spark.specs import Offsets

# Of each partition, behind what is committed; a micro-batch reads no more as a rule.
RECORDS_MAX: Final = 1_000_000
WAYS_OUT: Final = (
    "on_error=drop counts such rows, on_error=dead_letter keeps them in a topic, with on_error='null' the result is "
    "null; or mend the expression"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FailingRows:
    """`bounds` are the first offset and the one after the last of each partition of a topic."""

    sampling: Sampling
    catalogue: Catalogue
    bounds: Callable[[str], Mapping[int, tuple[int, int]]]

    def located(self, error: HeadraceError, validated: Validated, ends: Mapping[str, Offsets]) -> HeadraceError:
        """The error with the row at fault; as it is where none is found. `ends` are where sources stood, by node."""
        try:
            found = self._first(validated, error.node, ends)
        except Exception:
            # The error itself is known: what was tried to tell more must not hide it.
            _log.exception("the failing row was not found")
            return error
        return error if found is None else _told(error, found)

    def _first(self, validated: Validated, node: str | None, ends: Mapping[str, Offsets]) -> dict[str, Any] | None:
        for name, probe in probes(validated, self.catalogue).items():
            sources = [one for one in probe.document.nodes if not probe.document.inputs_of(one.id)]
            if (node is not None and name != node) or any(source.id not in ends for source in sources):
                continue
            ranges = {source.id: self._range(str(source.config["topic"]), ends[source.id]) for source in sources}
            rows = self.sampling.rows_of(probe, errors_node(name), ranges, 1)
            if rows:
                return rows[0]
        return None

    def _range(self, topic: str, committed: Offsets) -> Range:
        bounds = self.bounds(topic)
        starts = {p: max(first, committed.get(str(p), first)) for p, (first, _) in bounds.items()}
        ends = {str(p): min(end, starts[p] + RECORDS_MAX) for p, (_, end) in bounds.items()}
        return Range({str(p): start for p, start in starts.items()}, ends)


def _told(error: HeadraceError, row: dict[str, Any]) -> HeadraceError:
    place = (
        "" if row.get("offset") is None else f" (record {row['topic']}-{row['partition']} at offset {row['offset']})"
    )
    record = {name: row.get(name) for name in ("topic", "partition", "offset", "row")}
    return JobFailed(f"{row['reason']}{place}", node=str(row["node"]), hint=WAYS_OUT, record=record)

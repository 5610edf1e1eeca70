"""Totals of a query that last as long as its commits: what its tasks counted is part of each commit record, and what
Spark reports afterwards goes into a small file beside the checkpoint, and into the next record.

A report that was under way at a crash comes again: Spark then runs the last micro-batch once more, and the sink, which
knows it, writes nothing.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from headrace.spark.writing.commit import OPENED, CommitLog, CommitRecord

_FILE: Final = "totals.json"


@dataclass(frozen=True, slots=True)
class Reported:
    """What Spark reported by node, up to and with a micro-batch."""

    batch: int = OPENED
    rows: Mapping[str, int] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class TotalsFile:
    """Not synced: what a power loss takes, the commit record has. Of one plan: another may call its nodes otherwise."""

    def __init__(self, directory: Path, identity: str) -> None:
        self._path = directory / _FILE
        self._identity = identity

    def reported(self, last: CommitRecord) -> Reported:
        """As of a query that stands at its last commit record. Older records have no totals: they begin there."""
        if last.offsets is None:
            self._path.unlink(missing_ok=True)
        kept = Reported(last.batch) if last.totals is None else Reported(**last.totals["reported"])
        found = self._read()
        return found if found is not None and kept.batch <= found.batch <= last.batch else kept

    def write(self, reported: Reported) -> None:
        """A disk that refuses leaves the older one."""
        fresh = self._path.with_suffix(".new")
        with suppress(OSError):
            fresh.write_text(json.dumps({"identity": self._identity, **reported.to_json()}))
            os.replace(fresh, self._path)

    def _read(self) -> Reported | None:
        try:
            fields = json.loads(self._path.read_text())
            return Reported(**fields) if fields.pop("identity", None) == self._identity else None
        except (OSError, ValueError, TypeError, AttributeError):
            return None


def carried_totals(
    log: CommitLog, jobs_directory: Path, pipeline: str, carried: Mapping[str, frozenset[str]]
) -> dict[str, Any] | None:
    """What queries that have ended counted of these nodes, for the first record of the one that goes on with them.

    `carried` is ended query → nodes. None where nothing was counted.
    """
    tasks: Counter[tuple[str, str]] = Counter()
    sums: dict[str, Counter[str]] = {"rows": Counter(), "bad": Counter(), "late": Counter()}
    for name, nodes in carried.items():
        last = log.of(f"{pipeline}.{name}").peek()
        if last is None or last.totals is None:
            continue
        reported = TotalsFile(jobs_directory / pipeline / name, last.identity).reported(last).to_json()
        for figure, counted in sums.items():
            counted.update({node: value for node, value in reported[figure].items() if node in nodes})
        tasks.update({(node, what): value for node, what, value in last.totals["tasks"]["totals"] if node in nodes})
    if not tasks and not any(sums.values()):
        return None
    totals = [[node, what, value] for (node, what), value in tasks.items()]
    reported_rows = Reported(OPENED, **{figure: dict(counted) for figure, counted in sums.items()})
    return {"tasks": {"totals": totals, "rows": {}, "failed": 0}, "reported": reported_rows.to_json()}

"""Signals and one running query: which ones a micro-batch carries, what is told of them, what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headrace.errors import HeadraceError
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneResult
from headrace.signals import SignalRequest
from headrace.spark.chains.batch_signals import BatchSignals, Outcome, SignalsRecord
from headrace.spark.jobs.events import EventKind
from headrace.spark.reading.positions import position_in
from headrace.spark.sources.signal_log import SignalLog
from headrace.spark.specs import Offsets
from headrace.spark.writing.commit import CommitRecord


class Publish(Protocol):
    def __call__(self, kind: EventKind, details: Mapping[str, object], node: str | None) -> object: ...


@dataclass(slots=True)
class QuerySignals:
    """Lives on the driver for as long as the query runs. `elsewhere` are nodes that other queries of the job run."""

    log: SignalLog
    catalogue: Catalogue
    elsewhere: frozenset[str]
    publish: Publish
    figures: Callable[[], dict[str, object]] = dict
    record: SignalsRecord = field(default_factory=SignalsRecord)
    counts: Counter[str] = field(default_factory=Counter)
    """Fate → signals since the query started."""

    def of_batch(self, last: CommitRecord, offsets: str) -> BatchSignals:
        """The same whenever it is asked: it follows from where the micro-batch starts and ends."""
        last = last.with_sources(self.log.sources)
        start, end = position_of(last), position_in(offsets, last.starts)
        found = [signal.request for signal in self.log.cuts().between(start, end)]
        fresh = tuple(request for request in found if request.node not in self.elsewhere)
        return BatchSignals(SignalsRecord.from_json(last.signals), fresh, start != end)

    def after(self, batch: BatchSignals, chain: ChainPlan | None, results: Iterable[LaneResult]) -> SignalsRecord:
        """The record of a micro-batch whose winning tasks left these results."""
        handled: dict[str, set[str]] = {}
        for result in results:
            for name, nodes in result.handled.items():
                handled.setdefault(name, set()).update(nodes)
        refused = {r.id: reason for r in batch.fresh if (reason := self._refusal(r, chain)) is not None}
        return batch.after({name: sorted(nodes) for name, nodes in handled.items()}, refused)

    def committed(self, record: SignalsRecord, batch: int) -> None:
        """Called once the record is in the log: counts, and tells of each signal."""
        self.record = record
        for outcome in record.outcomes:
            self.counts[outcome.fate] += 1
            self.publish("signal", {**self._details(outcome), "batch": batch}, outcome.node)

    def _details(self, outcome: Outcome) -> dict[str, object]:
        figures = self.figures() if outcome.kind == "snapshot_metrics" else None
        return outcome.details if figures is None else {**outcome.details, "figures": figures}

    def _refusal(self, request: SignalRequest, chain: ChainPlan | None) -> str | None:
        """Why settings cannot be changed so; None where they can."""
        if request.kind != "update_parameters":
            return None
        if chain is None or request.node is None:
            return "no serial operator runs here"
        try:
            chain.check_adjustment(request.node, dict(request.parameters), self.catalogue)
        except HeadraceError as error:
            return str(error)
        return None


def position_of(last: CommitRecord) -> dict[str, Offsets]:
    """Where the sources stand after a commit."""
    return position_in(last.offsets, last.starts)

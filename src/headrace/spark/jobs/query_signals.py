"""Signals and one running query: which ones a micro-batch carries, what is told of them, what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

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
    _checked: tuple[tuple[object, object], dict[str, str]] | None = None
    """The chain and the stored settings that were looked at last, and why some of these are ignored, by node."""

    def of_batch(self, last: CommitRecord, offsets: str, chain: ChainPlan | None = None) -> BatchSignals:
        """The same whenever it is asked: it follows from where the micro-batch starts and ends.

        `chain` is as it was deployed: settings that signals gave it earlier, and that it does not accept (any more),
        are left out and told once, so that no signal can keep a pipeline from running.
        """
        last = last.with_sources(self.log.sources)
        start, end = position_of(last), position_in(offsets, last.starts)
        cuts, released = self.log.cuts(), last.released or {}
        found = [
            signal.request
            for signal in cuts.between(start, end)
            if not (released and signal.request.kind == "stop" and cuts.is_passed(signal, released))
        ]
        fresh = tuple(request for request in found if request.node not in self.elsewhere)
        return BatchSignals(self._sound(SignalsRecord.from_json(last.signals), chain), fresh, start != end)

    def _sound(self, record: SignalsRecord, chain: ChainPlan | None) -> SignalsRecord:
        if chain is None or not record.parameters:
            return record
        asked = (chain.nodes, record.parameters)
        if self._checked is None or self._checked[0] != asked:
            faults = {node: self._fault(chain, node, settings) for node, settings in record.parameters.items()}
            self._checked = (asked, {node: fault for node, fault in faults.items() if fault is not None})
            self._tell_ignored(record)
        ignored = self._checked[1]
        return replace(record, parameters={n: s for n, s in record.parameters.items() if n not in ignored})

    def _tell_ignored(self, record: SignalsRecord) -> None:
        for node, reason in (self._checked[1] if self._checked else {}).items():
            ignored = {"kind": "update_parameters", "fate": "dropped", "parameters": dict(record.parameters[node])}
            text = f"the settings that a signal gave {node} earlier are ignored: {reason}"
            self.publish("signal", {"id": None, **ignored, "handled_by": (), "reason": text}, node)

    def after(self, batch: BatchSignals, chain: ChainPlan | None, results: Iterable[LaneResult]) -> SignalsRecord:
        """The record of a micro-batch whose winning tasks left these results."""
        handled: dict[str, set[str]] = {}
        for result in results:
            for name, nodes in result.handled.items():
                handled.setdefault(name, set()).update(nodes)
        refused: dict[str, str] = {}
        for request in batch.fresh:
            reason = self._refusal(request, chain)
            if reason is not None:
                refused[request.id] = reason
            elif chain is not None and request.kind == "update_parameters" and request.node is not None:
                # The next one has to go with what this one changed.
                chain = chain.adjusted({request.node: dict(request.parameters)})
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
        return self._fault(chain, request.node, request.parameters)

    def _fault(self, chain: ChainPlan, node: str, settings: Mapping[str, Any]) -> str | None:
        try:
            chain.check_adjustment(node, dict(settings), self.catalogue)
        except HeadraceError as error:
            return str(error)
        except (ValueError, TypeError, KeyError) as error:
            return f"{type(error).__name__}: {error}"
        return None


def position_of(last: CommitRecord) -> dict[str, Offsets]:
    """Where the sources stand after a commit."""
    return position_in(last.offsets, last.starts)


def released_by(last: CommitRecord) -> dict[str, Offsets]:
    """Up to there, signals that stopped the query before do not stop it when somebody starts it now."""
    released = last.released or {}
    return {
        node: {
            partition: max(offset, released.get(node, {}).get(partition, 0)) for partition, offset in offsets.items()
        }
        for node, offsets in position_of(last).items()
    }

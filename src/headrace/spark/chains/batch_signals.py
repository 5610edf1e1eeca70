"""The signals of one micro-batch on the driver: what is offered to the chain, and what became of each.

What outlives the micro-batch is part of its commit record: signals that are offered again, settings that were changed.
So a crash repeats nothing and forgets nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from headrace.serial import Signal
from headrace.signals import OPERATOR_KINDS, SignalRequest, watermark_us

# Signals that are offered again with every micro-batch.
STANDING_MAX: Final = 100

Fate: TypeAlias = Literal["handled", "passed", "dropped", "kept"]
"""`passed`: a broadcast that nobody handled; `dropped`: one for a node that did not; `kept`: offered again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one signal in one micro-batch."""

    id: str
    kind: str
    fate: Fate
    node: str | None = None
    handled_by: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def details(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if name != "node"}


@dataclass(frozen=True, slots=True)
class SignalsRecord:
    """The signals' part of a commit record."""

    standing: tuple[SignalRequest, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Node → settings that signals changed."""
    outcomes: tuple[Outcome, ...] = ()
    paused_by: str | None = None
    stopped_by: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "standing": [request.to_json() for request in self.standing]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> SignalsRecord:
        if value is None:
            return cls()
        standing = tuple(SignalRequest.from_json(request) for request in value["standing"])
        outcomes = tuple(Outcome(**{**o, "handled_by": tuple(o["handled_by"])}) for o in value["outcomes"])
        return cls(**{**value, "standing": standing, "outcomes": outcomes})


@dataclass(frozen=True, slots=True)
class BatchSignals:
    """`fresh` are those that the micro-batch ends at; `before` is what the last commit record says."""

    before: SignalsRecord = field(default_factory=SignalsRecord)
    fresh: tuple[SignalRequest, ...] = ()
    moved: bool = True
    """Whether the micro-batch has offsets of its own."""

    @property
    def offered(self) -> tuple[Signal, ...]:
        """What the chain is given after the rows: signals that stand first, then new ones in their order."""
        wanted = [r for r in self.fresh if r.kind in (*OPERATOR_KINDS, "advance_watermark")]
        return tuple(Signal(r.id, r.kind, r.node, r.parameters) for r in (*self.before.standing, *wanted))

    @property
    def watermarks_us(self) -> list[int]:
        return [watermark_us(r.parameters) for r in self.fresh if r.kind == "advance_watermark"]

    def after(self, handled: Mapping[str, Sequence[str]], refused: Mapping[str, str]) -> SignalsRecord:
        """The record of the micro-batch. `handled` are signals and the nodes that handled them, `refused` changes of
        settings that cannot be made, and why."""
        fates = {r.id: _fate(r, bool(handled.get(r.id)), r.id in refused) for r in self._all}
        standing = [r for r in self._all if self._stands(r, fates[r.id])]
        for request in standing[STANDING_MAX:]:
            fates[request.id] = "dropped"
        outcomes = [
            Outcome(r.id, r.kind, fates[r.id], r.node, _handlers(r, handled), refused.get(r.id))
            for r in self._all
            if r in self.fresh or (fates[r.id] == "handled" and r.handling == "until_handled")
        ]
        kept = tuple(standing[:STANDING_MAX])
        return SignalsRecord(kept, self._parameters(refused), tuple(outcomes), *self._holding())

    @property
    def _all(self) -> tuple[SignalRequest, ...]:
        return (*self.before.standing, *self.fresh)

    def _stands(self, request: SignalRequest, fate: Fate) -> bool:
        """Whether the signal is offered again with the next micro-batch."""
        wanted = request.handling == "always" or (request.handling == "until_handled" and fate == "kept")
        return wanted and request.id not in self._withdrawn

    @property
    def _withdrawn(self) -> set[str]:
        return {str(r.parameters["id"]) for r in self.fresh if r.kind == "withdraw"}

    def _parameters(self, refused: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        changed = {node: dict(settings) for node, settings in self.before.parameters.items()}
        for request in self.fresh:
            if request.kind == "update_parameters" and request.node is not None and request.id not in refused:
                changed.setdefault(request.node, {}).update(request.parameters)
        return changed

    def _holding(self) -> tuple[str | None, str | None]:
        """Which signal the job waits behind. Whoever reads on is no longer held."""
        if not self.moved:
            return self.before.paused_by, self.before.stopped_by
        holding: dict[str, str | None] = {"pause": None, "stop": None}
        for request in self.fresh:
            if request.kind in ("resume", "start"):
                holding["pause"] = None
            elif request.kind in holding:
                holding[request.kind] = request.id
        return holding["pause"], holding["stop"]


NO_SIGNALS: Final = BatchSignals()


def _fate(request: SignalRequest, is_handled: bool, is_refused: bool) -> Fate:
    if is_refused:
        return "dropped"
    if is_handled or request.kind not in (*OPERATOR_KINDS, "advance_watermark"):
        return "handled"
    if request.handling != "once":
        return "kept"
    return "passed" if request.node is None else "dropped"


def _handlers(request: SignalRequest, handled: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    if request.kind == "update_parameters" and request.node is not None:
        return (request.node,)
    return tuple(sorted(handled.get(request.id, ())))

"""The chain: neighbouring operators as one piece, in one task. Batches go from one to the next by reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import pyarrow as pa

from headrace.serial.batch import DEFAULT_INPUT, DEFAULT_OUTPUT, Batch, Copies
from headrace.serial.boundary import FAIL, Boundary, DeadLetter, OnError, letter_of
from headrace.serial.context import Context
from headrace.serial.contract import Operator
from headrace.serial.places import InputPlaces, Places
from headrace.serial.signals import Signal
from headrace.serial.state import NodeState
from headrace.serial.table_rows import TableRows
from headrace.serial.timers import Timers
from headrace.serial.watermark import later
from headrace.signals import watermark_us

# The name under which a node's timers are kept in its state.
TIMERS = "_timers"


# A step, and the input of it that gets rows.
Inlet: TypeAlias = "tuple[str, str]"
# Takes rows of a step out of the chain.
Tap: TypeAlias = "Callable[[pa.RecordBatch], None]"


@dataclass(frozen=True, slots=True)
class Link:
    """From an output of one operator to an input of another."""

    source: str
    target: str
    source_port: str = DEFAULT_OUTPUT
    target_port: str = DEFAULT_INPUT


@dataclass(frozen=True, slots=True)
class Step:
    """An operator in a chain, under the id of its node."""

    node: str
    operator: Operator
    on_error: OnError = FAIL
    lag_us: int = 0
    """How much earlier than the watermark its rows may be, by what comes before it."""
    is_behind: bool = False
    """Whether other steps may have held its rows back: then they are late by the watermark before."""
    tables: Mapping[str, Callable[[], TableRows]] = field(default_factory=dict)
    """What it looks up, by its inputs."""

    @property
    def lag_behind_us(self) -> int:
        """The same for the steps behind it."""
        return self.lag_us + self.operator.lag_us


@dataclass(frozen=True, slots=True)
class Moment:
    """Which micro-batch this is: equal for all lanes, and when it is run again."""

    batch: int
    watermark_us: int | None = None
    now_us: int = 0
    limit_s: float | None = None
    """How long one call into an operator may take."""
    handed_us: int | None = None
    """Before the chain rows may be held back: those before this time came with this micro-batch, or earlier."""
    before_us: int | None = None
    """The watermark of the micro-batch before."""


@dataclass(slots=True)
class NodeReport:
    """What happened in one node during a micro-batch of one lane."""

    rows_in: int = 0
    rows_out: int = 0
    failed: int = 0
    copies: Copies = field(default_factory=Copies)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Running:
    boundary: Boundary
    operator: Operator
    timers: Timers
    context: Context
    report: NodeReport
    lag_us: int


class Chain:
    """One micro-batch of one lane: `open`, then `process` for all rows, `end_rows`, `signal` in order, then `finish`;
    `close` in any case.

    Rows of outputs that lead to no other step leave the chain, or go to the tap of their step. Steps are in topological
    order; links are known to fit. `entries` are, for each source of rows, the steps and inputs that get them; left out:
    one source, the first step.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        links: Sequence[Link] = (),
        *,
        entries: Sequence[Sequence[Inlet]] | None = None,
        taps: Mapping[str, Tap] | None = None,
    ) -> None:
        """`taps` get all rows of some steps, for whoever comes after this chain."""
        self._steps = tuple(steps)
        self._taps = taps or {}
        self._entries = entries or [[(self._steps[0].node, DEFAULT_INPUT)]]
        self._links: dict[tuple[str, str], list[Inlet]] = defaultdict(list)
        for link in links:
            self._links[link.source, link.source_port].append((link.target, link.target_port))
        self._input = InputPlaces()
        self._running: dict[str, _Running] = {}
        self._leaving: list[Batch] = []
        self.handled: dict[str, list[str]] = {}
        """Signal → nodes that handled it."""

    @classmethod
    def line(cls, steps: Sequence[Step]) -> Chain:
        """Each step leads to the next."""
        return cls(steps, [Link(before.node, after.node) for before, after in pairwise(steps)])

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of the steps, in order."""
        return tuple(step.node for step in self._steps)

    @property
    def source_count(self) -> int:
        """From how many sources rows come in."""
        return len(self._entries)

    def open(self, lane: int, moment: Moment, states: Mapping[str, NodeState]) -> None:
        """Opens every operator. Call `advance` next; or, where rows come that others held back, after those."""
        for step in self._steps:
            state = states[step.node]
            timers = Timers(state.value(TIMERS))
            watermark_us = _lagging(moment.before_us if step.is_behind else moment.watermark_us, step.lag_us)
            context = Context(
                step.node, lane, moment.batch, state, timers, watermark_us, moment.now_us, tables=step.tables
            )
            boundary = Boundary(
                step.node, lane, step.operator, step.on_error, limit_s=moment.limit_s, input_places=self._input
            )
            self._running[step.node] = _Running(boundary, step.operator, timers, context, NodeReport(), step.lag_us)
            boundary.call(step.operator.open, context)

    def advance(self, watermark_us: int | None, now_us: int) -> list[pa.RecordBatch]:
        """Calls the timers that are due at this watermark and time. Returns the rows that leave by that.

        Step after step: rows that one held back reach the next before its own time goes on.
        """
        for node, running in self._running.items():
            reached_us = _lagging(watermark_us, running.lag_us)
            running.context.watermark_us, running.context.now_us = reached_us, now_us
            for timer in running.timers.due(reached_us, now_us):
                self._pass_on(node, running.boundary.call(running.operator.on_timer, timer))
        return self._taken()

    def process(
        self, rows: pa.RecordBatch, *, private: bool = False, source: int = 0, places: Places | None = None
    ) -> list[pa.RecordBatch]:
        """Leads one batch of a source through the chain. Returns the rows that leave. Raises OperatorFailed."""
        self._input.current = places
        self._hand(Batch(rows, private=private, places=places), self._entries[source])
        self._input.current = None
        return self._taken()

    def end_rows(self) -> list[pa.RecordBatch]:
        """Called when all rows went through, and again where more may have come by timers or signals: what a step gives
        passes those after it before they have their own end. Returns the rows that leave by that."""
        for node, running in self._running.items():
            self._pass_on(node, running.boundary.call(running.operator.on_rows_end))
        return self._taken()

    def signal(self, signal: Signal) -> list[pa.RecordBatch]:
        """Every operator, or the one it is for, is offered the signal, in the order of the chain."""
        if signal.kind == "advance_watermark":
            return self._raise_watermark(signal)
        for node, running in self._running.items():
            made = running.boundary.offer(signal) if signal.target in (None, node) else None
            if made is not None:
                self.handled.setdefault(signal.id, []).append(node)
                self._pass_on(node, made)
        return self._taken()

    def _raise_watermark(self, signal: Signal) -> list[pa.RecordBatch]:
        self.handled[signal.id] = list(self._running)
        first = next(iter(self._running.values()))
        known_us = _lagging(first.context.watermark_us, -first.lag_us)
        return self.advance(later(known_us, watermark_us(signal.parameters)), first.context.now_us)

    def finish(self) -> dict[str, NodeReport]:
        """Called when all rows went through: the state is complete afterwards. Returns what happened in each node."""
        for running in self._running.values():
            running.timers.save()
            running.report.failed = running.boundary.failed_rows
            running.report.counts = dict(running.context.counts)
        return {node: running.report for node, running in self._running.items()}

    @property
    def next_event_us(self) -> int | None:
        """The earliest event time that an operator waits for."""
        waiting = [running.timers.next_event_us for running in self._running.values()]
        return min((at_us for at_us in waiting if at_us is not None), default=None)

    def dead_letters(self) -> list[DeadLetter]:
        """Rows that operators could not handle, and those that they set aside."""
        return [
            letter
            for running in self._running.values()
            for letter in (*running.boundary.dead_letters, *_aside(running))
        ]

    def close(self) -> None:
        for running in self._running.values():
            running.boundary.call(running.operator.close)
        self._running = {}

    def _deliver(self, node: str, port: str, batch: Batch) -> None:
        running = self._running[node]
        batch.port = port
        running.report.rows_in += batch.num_rows
        made = running.boundary.process(batch.handed_to(running.report.copies))
        self._pass_on(node, made)

    def _pass_on(self, node: str, made: Iterable[Batch]) -> None:
        report = self._running[node].report
        for batch in made:
            report.rows_out += batch.num_rows - batch.retracted
            inlets, tap = self._links.get((node, batch.port), ()), self._taps.get(node)
            if tap is not None and batch.num_rows:
                batch.share()
                tap(batch.rows)
            if inlets:
                self._hand(batch, inlets)
            elif tap is None:
                self._leaving.append(batch)

    def _hand(self, batch: Batch, inlets: Sequence[Inlet]) -> None:
        if len(inlets) > 1:
            batch.share()
        for node, port in inlets:
            self._deliver(node, port, batch)

    def _taken(self) -> list[pa.RecordBatch]:
        rows = [batch.rows for batch in self._leaving if batch.num_rows]
        self._leaving = []
        return rows


def _lagging(watermark_us: int | None, lag_us: int) -> int | None:
    return None if watermark_us is None else watermark_us - lag_us


def _aside(running: _Running) -> list[DeadLetter]:
    context = running.context
    return [letter_of(context.node, context.lane, row, reason) for row, reason in context.asides]

"""The chain: neighbouring operators as one piece, in one task. Batches go from one to the next by reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa

from headrace.serial.batch import DEFAULT_INPUT, DEFAULT_OUTPUT, Batch, Copies
from headrace.serial.boundary import FAIL, Boundary, DeadLetter, OnError
from headrace.serial.context import Context
from headrace.serial.contract import Operator
from headrace.serial.signals import Signal
from headrace.serial.state import NodeState
from headrace.serial.timers import Timers
from headrace.serial.watermark import later
from headrace.signals import watermark_us

# The name under which a node's timers are kept in its state.
TIMERS = "_timers"


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


@dataclass(frozen=True, slots=True)
class Moment:
    """Which micro-batch this is: equal for all lanes, and when it is run again."""

    batch: int
    watermark_us: int | None = None
    now_us: int = 0
    limit_s: float | None = None
    """How long one call into an operator may take."""


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


class Chain:
    """One micro-batch of one lane: `open`, then `process` and `signal` in order, then `finish`; `close` in any case.

    Rows of outputs that lead to no other step leave the chain. Steps are in topological order; links are known to fit.
    """

    def __init__(self, steps: Sequence[Step], links: Sequence[Link] = (), *, entry: str | None = None) -> None:
        self._steps = tuple(steps)
        self._entry = entry or self._steps[0].node
        self._links: dict[tuple[str, str], list[Link]] = defaultdict(list)
        for link in links:
            self._links[link.source, link.source_port].append(link)
        self._running: dict[str, _Running] = {}
        self._leaving: list[tuple[str, Batch]] = []
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

    def open(self, lane: int, moment: Moment, states: Mapping[str, NodeState]) -> list[pa.RecordBatch]:
        """Opens every operator, then calls the timers that are due. Returns the rows that leave by that."""
        for step in self._steps:
            state = states[step.node]
            timers = Timers(state.value(TIMERS))
            context = Context(step.node, lane, moment.batch, state, timers, moment.watermark_us, moment.now_us)
            boundary = Boundary(step.node, lane, step.operator, step.on_error, limit_s=moment.limit_s)
            self._running[step.node] = _Running(boundary, step.operator, timers, context, NodeReport())
            boundary.call(step.operator.open, context)
        return self.advance(moment.watermark_us, moment.now_us)

    def advance(self, watermark_us: int | None, now_us: int) -> list[pa.RecordBatch]:
        """Calls the timers that are due at this watermark and time. Returns the rows that leave by that."""
        for node, running in self._running.items():
            running.context.watermark_us, running.context.now_us = watermark_us, now_us
            for timer in running.timers.due(watermark_us, now_us):
                self._pass_on(node, running.boundary.call(running.operator.on_timer, timer))
        return self._taken()

    def process(self, rows: pa.RecordBatch, *, private: bool = False) -> list[pa.RecordBatch]:
        """Leads one batch through the chain. Returns the rows that leave, in order. Raises OperatorFailed."""
        self._deliver(self._entry, DEFAULT_INPUT, Batch(rows, private=private))
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
        context = next(iter(self._running.values())).context
        return self.advance(later(context.watermark_us, watermark_us(signal.parameters)), context.now_us)

    def finish(self) -> dict[str, NodeReport]:
        """Called when all rows went through: the state is complete afterwards. Returns what happened in each node."""
        for running in self._running.values():
            running.timers.save()
            running.report.failed = running.boundary.failed_rows
            running.report.counts = dict(running.context.counts)
        return {node: running.report for node, running in self._running.items()}

    def dead_letters(self) -> list[DeadLetter]:
        return [letter for running in self._running.values() for letter in running.boundary.dead_letters]

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
            report.rows_out += batch.num_rows
            links = self._links.get((node, batch.port), ())
            if not links:
                self._leaving.append((node, batch))
                continue
            batch.share(len(links) - 1)
            port = batch.port
            for link in links:
                self._deliver(link.target, link.target_port, batch)
                batch.port = port
                batch.release()

    def _taken(self) -> list[pa.RecordBatch]:
        rows = [batch.rows for _, batch in self._leaving if batch.num_rows]
        self._leaving = []
        return rows

"""One micro-batch of one lane, from the state before to the state after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.boundary import DeadLetter, OperatorFailed
from headrace.serial.chain import Chain, Moment, NodeReport
from headrace.serial.context import microseconds
from headrace.serial.keys import Integers
from headrace.serial.places import Places, origin_of
from headrace.serial.signals import Signal
from headrace.serial.state import NodeState
from headrace.serial.store import StateStore
from headrace.serial.versions import Version
from headrace.serial.watermark import END_OF_TIME_US

# Stands for no time at all.
_BEFORE_ALL_TIME_US = -(1 << 62)


@dataclass(slots=True)
class LaneResult:
    """What a micro-batch of a lane leaves for the commit: versions of its state, figures, rows set aside."""

    lane: int
    stage: int = 0
    """Of the chain, where its rows are brought to lanes more than once."""
    versions: dict[str, Version] = field(default_factory=dict)
    reports: dict[str, NodeReport] = field(default_factory=dict)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    latest_us: dict[int, int] = field(default_factory=dict)
    """The latest event time among the rows of each source partition."""
    handled: dict[str, list[str]] = field(default_factory=dict)
    """Signal → nodes that handled it in this lane."""
    next_event_us: int | None = None
    """The earliest event time that an operator waits for."""


@dataclass(frozen=True, slots=True)
class LaneInput:
    """Rows of one lane, in order, of one source, and where they are from.

    `origins` are the source partitions (see `places.origin_of`): of each row, or of all; else the lane's. `offsets` are
    those of the records, where they are known. `reached_us` are event times of rows that were left out before, by
    source partition. `private` says that nobody else holds the memory of the rows, and that it can be written: never so
    of a mapped file.
    """

    rows: pa.RecordBatch
    origins: Integers | None = None
    origin: int | None = None
    offsets: Integers | None = None
    source: int = 0
    reached_us: Mapping[int, int] = field(default_factory=dict)
    private: bool = False

    def places(self, lane: int) -> Places | None:
        if self.offsets is None:
            return None
        if self.origins is not None:
            return Places(self.origins, self.offsets)
        return Places(origin_of(self.source, lane) if self.origin is None else self.origin, self.offsets)


class LaneRun:
    """One micro-batch of one lane: its rows, then its signals. Iterate `rows`, all of it; then `result` is complete and
    its state on disk.

    Without a store the input is bounded: it begins with no state, and ends with every timer called.
    """

    def __init__(
        self,
        chain: Chain,
        store: StateStore | None,
        lane: int,
        moment: Moment,
        versions: Mapping[str, Version],
        *,
        event_times: Sequence[str | None],
        signals: Sequence[Signal] = (),
        stage: int = 0,
    ) -> None:
        """`event_times` are the columns of each source that hold its event time. In later stages rows come in that
        earlier ones held back: timers wait for them."""
        self._chain = chain
        self.signals = signals
        self._store = store
        self._moment = moment
        self._versions = versions
        self._event_times = event_times
        self.result = LaneResult(lane, stage)

    def rows(self, inputs: Iterable[LaneInput]) -> Iterator[pa.RecordBatch]:
        """The rows that leave the chain. Raises OperatorFailed; then nothing of the state is kept."""
        lane = self.result.lane
        states = {node: self._state(node) for node in self._chain.nodes}
        with _closing(self._chain):
            self._chain.open(lane, self._moment, states)
            if not self.result.stage:
                yield from self._due()
            for batch in inputs:
                self._see(batch)
                if batch.rows.num_rows:
                    places = batch.places(lane)
                    source, private = batch.source, batch.private
                    yield from self._chain.process(batch.rows, private=private, source=source, places=places)
            yield from self._chain.end_rows()
            if self.result.stage:
                yield from self._due()
            for signal in self.signals:
                yield from self._chain.signal(signal)
            if self._store is None:
                yield from self._ended()
            if self.result.stage or self.signals:
                yield from self._chain.end_rows()
            self.result.reports = self._chain.finish()
            self.result.dead_letters = self._chain.dead_letters()
            self.result.handled = self._chain.handled
            self.result.next_event_us = self._chain.next_event_us
        if self._store is not None:
            for node, state in states.items():
                self.result.versions[node] = self._written(self._store, node, state)

    def _written(self, store: StateStore, node: str, state: NodeState) -> Version:
        base = self._versions.get(node, Version())
        try:
            return store.write(node, self.result.lane, self._moment.batch, state, base)
        except InvalidInput as error:
            raise OperatorFailed(error.message, node=node, hint=error.hint) from error

    def _due(self) -> list[pa.RecordBatch]:
        return self._chain.advance(self._moment.watermark_us, self._moment.now_us)

    def _ended(self) -> Iterator[pa.RecordBatch]:
        """At the end of all time: what one step lets out then, those after it may hold back until they are told."""
        for _ in self._chain.nodes:
            yield from self._chain.advance(END_OF_TIME_US, self._moment.now_us)
            yield from self._chain.end_rows()
            if self._chain.next_event_us is None:
                return

    def _state(self, node: str) -> NodeState:
        if self._store is None:
            return NodeState()
        return self._store.load(node, self.result.lane, self._versions.get(node, Version()))

    def _see(self, batch: LaneInput) -> None:
        event_time = self._event_times[batch.source]
        if event_time is None:
            return
        for origin, reached_us in batch.reached_us.items():
            self._note(origin, reached_us)
        if not batch.rows.num_rows:
            return
        times = batch.rows.column(event_time)
        at_us = microseconds(times, missing=_BEFORE_ALL_TIME_US)
        if batch.origins is None:
            self._note(self.result.lane if batch.origin is None else batch.origin, int(at_us.max()))
            return
        origins, codes = np.unique(batch.origins, return_inverse=True)
        latest = np.full(len(origins), _BEFORE_ALL_TIME_US)
        np.maximum.at(latest, codes, at_us)
        for origin, reached_us in zip(origins.tolist(), latest.tolist(), strict=True):
            self._note(origin, reached_us)

    def _note(self, partition: int, at_us: int) -> None:
        if at_us > _BEFORE_ALL_TIME_US:
            self.result.latest_us[partition] = max(at_us, self.result.latest_us.get(partition, at_us))


@contextmanager
def _closing(chain: Chain) -> Iterator[None]:
    try:
        yield
    finally:
        chain.close()

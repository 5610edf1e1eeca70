"""Times at which an operator wants to be called: in event time, by the watermark, or in processing time, by ticks."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headrace.errors import InvalidInput
from headrace.serial.items import ValueState

# Times that may wait at once in one node and lane: times are asked for by window, not by row.
TIMERS_MAX = 100_000

Clock = Literal["event", "processing"]


@dataclass(frozen=True, slots=True, order=True)
class Timer:
    at_us: int
    clock: Clock


class Timers:
    """The times that a node waits for, each once however often it was asked for. Part of the node's state."""

    def __init__(self, state: ValueState) -> None:
        self._state = state
        saved = state.value or {}
        # A sorted list is a heap.
        self._heaps: dict[Clock, list[int]] = {clock: list(saved.get(clock, ())) for clock in ("event", "processing")}
        self._known = {clock: set(heap) for clock, heap in self._heaps.items()}
        self._changed = False

    def at_event_time(self, at_us: int) -> None:
        """`on_timer` is called when the watermark has reached this time; if it has, in the next micro-batch."""
        self._add("event", at_us)

    def at_processing_time(self, at_us: int) -> None:
        """`on_timer` is called in the first later micro-batch whose time is not before this."""
        self._add("processing", at_us)

    def due(self, watermark_us: int | None, now_us: int) -> Iterator[Timer]:
        """Called by the chain: takes out every timer that is due, the earliest first, also those added meanwhile."""
        while found := self._next(watermark_us, now_us):
            heapq.heappop(self._heaps[found.clock])
            self._known[found.clock].discard(found.at_us)
            self._changed = True
            yield found

    @property
    def next_event_us(self) -> int | None:
        """The earliest event time that is waited for."""
        return self._heaps["event"][0] if self._heaps["event"] else None

    def save(self) -> None:
        """Called by the chain at the end of a micro-batch."""
        if self._changed:
            self._state.value = {clock: sorted(heap) for clock, heap in self._heaps.items()}

    def _next(self, watermark_us: int | None, now_us: int) -> Timer | None:
        limits: tuple[tuple[Clock, int | None], ...] = (("event", watermark_us), ("processing", now_us))
        due = [
            Timer(self._heaps[clock][0], clock)
            for clock, limit in limits
            if limit is not None and self._heaps[clock] and self._heaps[clock][0] <= limit
        ]
        return min(due, default=None)

    def _add(self, clock: Clock, at_us: int) -> None:
        known = self._known[clock]
        if at_us in known:
            return
        if len(known) >= TIMERS_MAX:
            raise InvalidInput(f"more than {TIMERS_MAX} timers wait in one node", hint="ask by window, not by row")
        known.add(at_us)
        heapq.heappush(self._heaps[clock], at_us)
        self._changed = True

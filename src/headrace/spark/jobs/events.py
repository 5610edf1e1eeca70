"""What happens to pipelines, as events that many may follow at once."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

EventKind = Literal[
    "started",
    "stopped",
    "state_changed",
    "error",
    "progress",
    "end_of_stream",
    "draft_changed",
    "signal",
    "stalled",
    "system",
]

# Kept apart: reports that come every second must not push out when a job started or why it failed.
FREQUENT: Final = ("progress", "draft_changed")
FREQUENT_EVENTS_MAX = 300
HISTORY_EVENTS_MAX = 700
SUBSCRIBER_EVENTS_MAX = 1_000
SUBSCRIBERS_MAX = 100


@dataclass(frozen=True, slots=True)
class PipelineEvent:
    """`number` grows by one from event to event, so that a follower can resume and can see what it missed."""

    number: int
    time_ms: int
    pipeline: str
    kind: EventKind
    node: str | None = None
    details: dict[str, object] = field(default_factory=dict)


class Subscription:
    """Iterate to follow; ends when closed. One that is too slow loses the oldest events, and `missed` counts them."""

    def __init__(self, forget: Callable[[Subscription], None]) -> None:
        self._events: queue.Queue[PipelineEvent | None] = queue.Queue()
        self._forget = forget
        self._closed = False
        self.missed = 0

    def put(self, event: PipelineEvent) -> None:
        if self._events.qsize() >= SUBSCRIBER_EVENTS_MAX:
            self._events.get_nowait()
            self.missed += 1
        self._events.put(event)

    def next(self, timeout_s: float | None = None) -> PipelineEvent | None:
        """The next event; None when closed or when none came in time."""
        try:
            return self._events.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def __iter__(self) -> Iterator[PipelineEvent]:
        while not self._closed:
            event = self.next()
            if event is None:
                return
            yield event

    def close(self) -> None:
        self._closed = True
        self._forget(self)
        self._events.put(None)


class EventBus:
    """Publishing never waits for a follower. The newest events are kept for those who come later."""

    def __init__(self, clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._clock_ms = clock_ms
        self._lock = threading.Lock()
        self._number = 0
        self._history: deque[PipelineEvent] = deque(maxlen=HISTORY_EVENTS_MAX)
        self._frequent: deque[PipelineEvent] = deque(maxlen=FREQUENT_EVENTS_MAX)
        self._subscriptions: list[Subscription] = []

    def publish(
        self, pipeline: str, kind: EventKind, details: Mapping[str, object] | None = None, *, node: str | None = None
    ) -> PipelineEvent:
        with self._lock:
            self._number += 1
            event = PipelineEvent(self._number, self._clock_ms(), pipeline, kind, node, dict(details or {}))
            (self._frequent if kind in FREQUENT else self._history).append(event)
            for subscription in self._subscriptions:
                subscription.put(event)
        return event

    def follow(self, after: int | None = None) -> Subscription:
        """Events from now on, or all that are kept after a number. Raises RuntimeError beyond SUBSCRIBERS_MAX."""
        with self._lock:
            if len(self._subscriptions) >= SUBSCRIBERS_MAX:
                raise RuntimeError(f"more than {SUBSCRIBERS_MAX} followers")
            subscription = Subscription(self._remove)
            for event in self._kept() if after is not None else ():
                if event.number > (after or 0):
                    subscription.put(event)
            self._subscriptions.append(subscription)
        return subscription

    def history(self, pipeline: str | None = None) -> tuple[PipelineEvent, ...]:
        """In order; of frequent ones only the newest of all pipelines are kept."""
        with self._lock:
            return tuple(event for event in self._kept() if pipeline in (None, event.pipeline))

    def _kept(self) -> Iterable[PipelineEvent]:
        return heapq.merge(self._history, self._frequent, key=lambda event: event.number)

    def _remove(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

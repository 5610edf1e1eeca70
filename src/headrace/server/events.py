"""Events and figures as one stream of server-sent events: resumable, limited in number and in pace, ended with the
server.

Events go out at once, but for reports of progress: of those only the newest of each query goes out with the next tick.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from headrace.errors import Conflict
from headrace.server.event_names import METRICS
from headrace.server.models.jobs import MetricsTick
from headrace.spark.jobs.events import EventBus, PipelineEvent, Subscription

POLL_S: Final = 0.5


class EventStreams:
    """`life` names this run of the server: numbers of an earlier run mean nothing now, and its followers begin anew."""

    def __init__(
        self,
        bus: EventBus,
        *,
        life: str,
        streams_max: int,
        keep_alive_s: float,
        tick: Callable[[], MetricsTick] | None = None,
    ) -> None:
        self._bus = bus
        self._life = life
        self._streams_max = streams_max
        self.keep_alive_s = keep_alive_s
        self.tick = tick or (lambda: MetricsTick(time_ms=0, jobs={}, notices=[]))
        self._threads = CapacityLimiter(streams_max)
        self._lock = threading.Lock()
        self._open: set[Subscription] = set()
        self.is_closed = False

    def open(self, last_event_id: str | None, pipeline: str | None) -> EventStream:
        """Must be closed by the caller. Raises Conflict when there are too many streams."""
        with self._lock:
            if len(self._open) >= self._streams_max:
                raise Conflict(f"{self._streams_max} event streams are open, which is the limit", hint="close one")
            subscription = self._bus.follow(self._after(last_event_id))
            self._open.add(subscription)
        return EventStream(self, subscription, pipeline)

    @property
    def count(self) -> int:
        return len(self._open)

    def close(self) -> None:
        """Ends every stream within POLL_S."""
        self.is_closed = True

    def _after(self, last_event_id: str | None) -> int | None:
        """Without an id, events from now on; after a number of this run, the rest; else all that are kept."""
        if last_event_id is None:
            return None
        life, _, number = last_event_id.rpartition("-")
        return int(number) if life == self._life and number.isdecimal() else 0

    async def next(self, subscription: Subscription, timeout_s: float) -> PipelineEvent | None:
        """In one of the threads that are kept for streams."""
        return await to_thread.run_sync(subscription.next, timeout_s, limiter=self._threads)

    def release(self, subscription: Subscription) -> None:
        subscription.close()
        with self._lock:
            self._open.discard(subscription)

    def text(self, event: PipelineEvent) -> str:
        data = json.dumps(asdict(event), default=str)
        return f"id: {self._life}-{event.number}\nevent: {event.kind}\ndata: {data}\n\n"


class EventStream:
    """One follower: of all pipelines, or of one."""

    def __init__(self, streams: EventStreams, subscription: Subscription, pipeline: str | None) -> None:
        self._streams = streams
        self._subscription = subscription
        self._pipeline = pipeline
        self._held: dict[tuple[str, object], PipelineEvent] = {}
        self._missed = 0
        self._ticked_ms = 0
        self._tick_due_s = 0.0
        self._spoke_s = time.monotonic()

    async def texts(self) -> AsyncIterator[str]:
        """Ends when the server stops."""
        yield ": events follow\n\n"
        while not self._streams.is_closed:
            wait_s = min(POLL_S, max(0.0, self._tick_due_s - time.monotonic()))
            event = await self._streams.next(self._subscription, wait_s)
            text = "".join(self._written(event))
            if text:
                self._spoke_s = time.monotonic()
                yield text
            elif time.monotonic() - self._spoke_s > self._streams.keep_alive_s:
                self._spoke_s = time.monotonic()
                yield ": still here\n\n"

    def close(self) -> None:
        self._streams.release(self._subscription)

    def _written(self, event: PipelineEvent | None) -> Iterator[str]:
        """What is to be said now, in the order of the events' numbers."""
        if self._subscription.missed > self._missed:
            self._missed = self._subscription.missed
            yield f"event: missed\ndata: {json.dumps({'missed': self._missed})}\n\n"
        if event is not None and (event.kind == "system" or self._pipeline in (None, event.pipeline)):
            if event.kind == "progress":
                self._hold(event)
            else:
                yield from self._released()
                yield self._streams.text(event)
        if time.monotonic() >= self._tick_due_s:
            self._tick_due_s = time.monotonic() + POLL_S
            yield from self._released()
            yield from self._tick()

    def _hold(self, event: PipelineEvent) -> None:
        key = event.pipeline, event.details.get("query")
        self._held.pop(key, None)  # the newest goes to the end: numbers only ever grow
        self._held[key] = event

    def _released(self) -> Iterator[str]:
        held, self._held = self._held, {}
        yield from (self._streams.text(event) for event in held.values())

    def _tick(self) -> Iterator[str]:
        """The newest figures, unless they were sent already. Without an id: they are not resumed."""
        tick = self._streams.tick()
        if tick.time_ms == self._ticked_ms:
            return
        self._ticked_ms = tick.time_ms
        if self._pipeline is not None:
            jobs = {name: figures for name, figures in tick.jobs.items() if name == self._pipeline}
            tick = MetricsTick(time_ms=tick.time_ms, jobs=jobs, notices=tick.notices)
        yield f"event: {METRICS}\ndata: {tick.model_dump_json()}\n\n"


class EventStreamResponse(StreamingResponse):
    """Closes its stream however the response ends, also when it never began."""

    def __init__(self, stream: EventStream) -> None:
        super().__init__(stream.texts(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()

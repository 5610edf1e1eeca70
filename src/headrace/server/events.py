"""Pipeline events as server-sent events: resumable, limited in number, ended when the server stops."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from headrace.errors import Conflict
from headrace.spark.events import EventBus, PipelineEvent, Subscription

POLL_S: Final = 0.5


class EventStreams:
    """`life` names this run of the server: numbers of an earlier run mean nothing now, and its followers begin anew."""

    def __init__(self, bus: EventBus, *, life: str, streams_max: int, keep_alive_s: float) -> None:
        self._bus = bus
        self._life = life
        self._streams_max = streams_max
        self.keep_alive_s = keep_alive_s
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

    def close(self) -> None:
        """Ends every stream within POLL_S."""
        self.is_closed = True

    def _after(self, last_event_id: str | None) -> int | None:
        """Without an id, events from now on; after a number of this run, the rest; else all that are kept."""
        if last_event_id is None:
            return None
        life, _, number = last_event_id.rpartition("-")
        return int(number) if life == self._life and number.isdigit() else 0

    async def next(self, subscription: Subscription) -> PipelineEvent | None:
        """Within POLL_S, in one of the threads that are kept for streams."""
        return await to_thread.run_sync(subscription.next, POLL_S, limiter=self._threads)

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

    async def texts(self) -> AsyncIterator[str]:
        """Ends when the server stops."""
        missed, spoke_s = 0, time.monotonic()
        yield ": events follow\n\n"
        while not self._streams.is_closed:
            event = await self._streams.next(self._subscription)
            if self._subscription.missed > missed:
                missed = self._subscription.missed
                yield f"event: missed\ndata: {json.dumps({'missed': missed})}\n\n"
            if event is not None and self._pipeline in (None, event.pipeline):
                yield self._streams.text(event)
                spoke_s = time.monotonic()
            elif time.monotonic() - spoke_s > self._streams.keep_alive_s:
                yield ": still here\n\n"
                spoke_s = time.monotonic()

    def close(self) -> None:
        self._streams.release(self._subscription)


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

from __future__ import annotations

import asyncio
import json
from typing import Any

from headrace.server.events import EventStream, EventStreams
from headrace.spark import EventBus


def make(bus: EventBus, life: str = "life", streams_max: int = 5) -> EventStreams:
    return EventStreams(bus, life=life, streams_max=streams_max, keep_alive_s=60)


def read(streams: EventStreams, stream: EventStream, count: int) -> list[dict[str, Any]]:
    """The next events of a stream as {"id": …, "event": …, "data": …}."""

    async def collect() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        async for text in stream.texts():
            fields = dict(line.split(": ", 1) for line in text.strip().splitlines() if not line.startswith(":"))
            if fields:
                found.append({**fields, "data": json.loads(fields["data"])})
            if len(found) == count:
                break
        return found

    return asyncio.run(asyncio.wait_for(collect(), timeout=10))


def test_events_come_with_ids_and_kinds() -> None:
    bus = EventBus()
    streams = make(bus)
    stream = streams.open(None, None)
    bus.publish("drones", "started")
    bus.publish("drones", "progress", {"rows": 5})
    first, second = read(streams, stream, 2)
    assert (first["id"], first["event"]) == ("life-1", "started")
    assert second["data"]["details"] == {"rows": 5}


def test_follower_resumes_after_the_last_event_it_saw() -> None:
    bus = EventBus()
    streams = make(bus)
    for _ in range(5):
        bus.publish("drones", "progress")
    assert [event["id"] for event in read(streams, streams.open("life-3", None), 2)] == ["life-4", "life-5"]


def test_ids_of_an_earlier_run_bring_all_that_is_kept() -> None:
    bus = EventBus()
    streams = make(bus)
    bus.publish("drones", "started")
    for stale in ("other-900", "0", "garbage", "life-x"):
        assert [event["id"] for event in read(streams, streams.open(stale, None), 1)] == ["life-1"]


def test_one_pipeline_can_be_followed() -> None:
    bus = EventBus()
    streams = make(bus)
    stream = streams.open(None, "b")
    for pipeline in ("a", "b", "a", "b"):
        bus.publish(pipeline, "progress")
    assert [event["id"] for event in read(streams, stream, 2)] == ["life-2", "life-4"]


def test_slow_follower_is_told_what_it_missed() -> None:
    bus = EventBus()
    streams = make(bus)
    stream = streams.open(None, None)
    for _ in range(1_200):
        bus.publish("drones", "progress")
    first, second = read(streams, stream, 2)
    assert (first["event"], first["data"]) == ("missed", {"missed": 200})
    assert second["id"] == "life-201"


def test_streams_end_when_the_server_stops() -> None:
    streams = make(EventBus())
    stream = streams.open(None, None)
    streams.close()
    assert read(streams, stream, 1) == []

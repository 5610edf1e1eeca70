from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from headrace.errors import Conflict
from headrace.server.events import EventStream, EventStreams
from headrace.server.models.jobs import BatchFigures, JobFigures, MetricsTick
from headrace.spark import EventBus

NO_BATCHES = BatchFigures(count=0, last_ms=0, rows_per_second=0)
IDLE = JobFigures(state="running", paused_by=None, waits_for=None, error=None, nodes={}, edges=[], batches=NO_BATCHES)


def make(bus: EventBus, life: str = "life", streams_max: int = 5, tick: MetricsTick | None = None) -> EventStreams:
    chosen = tick or MetricsTick(time_ms=0, jobs={}, notices=[])
    return EventStreams(bus, life=life, streams_max=streams_max, keep_alive_s=60, tick=lambda: chosen)


def read(streams: EventStreams, stream: EventStream, count: int) -> list[dict[str, Any]]:
    """The next events of a stream as {"id": …, "event": …, "data": …}."""

    async def collect() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        async for chunk in stream.texts():
            for text in chunk.strip().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(":"))
                if fields:
                    found.append({**fields, "data": json.loads(fields["data"])})
            if len(found) >= count:
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
        bus.publish("drones", "state_changed")
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
        bus.publish(pipeline, "state_changed")
    assert [event["id"] for event in read(streams, stream, 2)] == ["life-2", "life-4"]


def test_slow_follower_is_told_what_it_missed() -> None:
    bus = EventBus()
    streams = make(bus)
    stream = streams.open(None, None)
    for _ in range(1_200):
        bus.publish("drones", "state_changed")
    first, second, *_ = read(streams, stream, 2)
    assert (first["event"], first["data"]) == ("missed", {"missed": 200})
    assert second["id"] == "life-201"


def test_streams_end_when_the_server_stops() -> None:
    streams = make(EventBus())
    stream = streams.open(None, None)
    streams.close()
    assert read(streams, stream, 1) == []


def test_of_progress_only_the_newest_of_each_query_is_told() -> None:
    bus = EventBus()
    streams = make(bus)
    stream = streams.open(None, None)
    for batch in range(50):
        bus.publish("drones", "progress", {"query": "a", "batch": batch})
        bus.publish("drones", "progress", {"query": "b", "batch": batch})
    bus.publish("drones", "stopped")
    *reports, last = read(streams, stream, 3)
    assert last["event"] == "stopped", "what was held goes out before what comes after it"
    assert [(r["data"]["details"]["query"], r["id"]) for r in reports][-2:] == [("a", "life-99"), ("b", "life-100")]
    numbers = [int(event["id"].split("-")[1]) for event in (*reports, last)]
    assert numbers == sorted(numbers)
    assert len(reports) < 10


def test_figures_come_as_ticks_that_are_not_resumed() -> None:
    tick = MetricsTick(time_ms=7, jobs={"drones": IDLE, "other": IDLE}, notices=[])
    streams = make(EventBus(), tick=tick)
    (everything,) = read(streams, streams.open(None, None), 1)
    assert everything["event"] == "metrics"
    assert "id" not in everything
    assert sorted(everything["data"]["jobs"]) == ["drones", "other"]
    (one,) = read(streams, streams.open(None, "other"), 1)
    assert list(one["data"]["jobs"]) == ["other"]


def test_more_streams_than_allowed_are_refused() -> None:
    streams = make(EventBus(), streams_max=1)
    first = streams.open(None, None)
    with pytest.raises(Conflict, match="limit"):
        streams.open(None, None)
    first.close()
    streams.open(None, None).close()

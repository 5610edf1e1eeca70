from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from headrace.demo.check import expect
from headrace.demo.fleet import CLOSING_DRONE, DISORDER_MS, EPOCH, Event, Fleet
from headrace.demo.pipelines import WATERMARK_S, WINDOW_S


def first(fleet: Fleet, count: int) -> list[Event]:
    return list(islice(fleet.events(), count))


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_same_seed_same_events(seed: int, drone_count: int) -> None:
    events = first(Fleet(seed, drone_count), 100)
    assert events == first(Fleet(seed, drone_count), 100)
    assert events != first(Fleet(seed + 1, drone_count), 100)
    assert len({event.id for event in events}) == len(events)


@given(st.integers(0, 2**32))
def test_no_event_is_later_than_the_watermark_allows(seed: int) -> None:
    newest = EPOCH
    for event in first(Fleet(seed), 500):
        assert event.ts >= newest - timedelta(milliseconds=DISORDER_MS)
        newest = max(newest, event.ts)
    assert timedelta(seconds=WATERMARK_S) >= timedelta(milliseconds=DISORDER_MS)


def test_events_are_out_of_order() -> None:
    times = [event.ts for event in first(Fleet(7), 200)]
    assert times != sorted(times)


def test_short_run_exercises_every_output() -> None:
    expected = expect(first(Fleet(1), 1_000))
    assert len(expected.alerts) > 10
    assert len(expected.heights) > 10
    assert len({start for _, start in expected.averages}) >= 2


def test_json_is_read_back() -> None:
    event = first(Fleet(3), 1)[0]
    fields = json.loads(event.to_json())
    assert fields["drone"] == event.drone
    assert datetime.fromisoformat(fields["ts"]) == event.ts
    assert fields["ts"].endswith("Z")


def test_closing_events_are_beyond_every_window_and_leave_no_rows() -> None:
    fleet, count = Fleet(3), 1_000
    closing = fleet.closing_event(0, count)
    assert closing.drone == CLOSING_DRONE
    newest = max(event.ts for event in first(fleet, count))
    assert closing.ts - timedelta(seconds=WATERMARK_S) > newest + timedelta(seconds=WINDOW_S)
    assert closing.ts == fleet.closing_event(1, count).ts
    alone = expect([closing])
    assert not alone.alerts
    assert not alone.heights

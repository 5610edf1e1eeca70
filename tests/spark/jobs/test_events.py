"""Many may follow; nobody waits for a slow one, and what it missed is counted."""

from __future__ import annotations

import pytest

from headrace.spark.jobs.events import (
    FREQUENT_EVENTS_MAX,
    HISTORY_EVENTS_MAX,
    SUBSCRIBER_EVENTS_MAX,
    SUBSCRIBERS_MAX,
    EventBus,
)


def test_every_follower_gets_every_event_in_order() -> None:
    bus = EventBus(clock_ms=lambda: 7)
    followers = [bus.follow() for _ in range(3)]
    for batch in range(5):
        bus.publish("drones", "progress", {"batch": batch})
    for follower in followers:
        seen = [follower.next(0.0) for _ in range(5)]
        assert [event.details["batch"] for event in seen if event] == [0, 1, 2, 3, 4]
        assert [event.number for event in seen if event] == [1, 2, 3, 4, 5]


def test_a_follower_resumes_after_a_number() -> None:
    bus = EventBus()
    for _ in range(4):
        bus.publish("drones", "started")
    resumed = bus.follow(after=2)
    assert [event.number for event in (resumed.next(0.0), resumed.next(0.0)) if event] == [3, 4]
    assert resumed.next(0.0) is None


def test_a_slow_follower_loses_the_oldest_and_knows() -> None:
    bus = EventBus()
    follower = bus.follow()
    for _ in range(SUBSCRIBER_EVENTS_MAX + 10):
        bus.publish("drones", "progress")
    first = follower.next(0.0)
    assert first is not None
    assert first.number == 11
    assert follower.missed == 10
    assert len(bus.history()) == FREQUENT_EVENTS_MAX


def test_reports_of_progress_do_not_push_out_what_matters() -> None:
    bus = EventBus()
    bus.publish("drones", "started")
    for _ in range(5 * HISTORY_EVENTS_MAX):
        bus.publish("drones", "progress")
    bus.publish("drones", "stopped")
    kept = bus.history("drones")
    assert (kept[0].kind, kept[-1].kind) == ("started", "stopped")
    assert [event.number for event in kept] == sorted(event.number for event in kept)
    assert len(kept) == FREQUENT_EVENTS_MAX + 2


def test_a_closed_subscription_ends_and_makes_room() -> None:
    bus = EventBus()
    followers = [bus.follow() for _ in range(SUBSCRIBERS_MAX)]
    with pytest.raises(RuntimeError, match=str(SUBSCRIBERS_MAX)):
        bus.follow()
    followers[0].close()
    assert list(followers[0]) == []
    bus.follow()

"""Event time goes on when a stream is quiet, and by rows that nobody wants: the last window closes."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from headrace.errors import InvalidGraph
from headrace.operators import Catalogue
from headrace.spark.sources.topic_source import Pace
from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

DEADLINE_S = 90.0


@pytest.mark.spark
@pytest.mark.parametrize(
    "window",
    [
        'tumbling-window 1s time=ts keys=k aggregates="count(*) AS n"',
        'time-window 1s time=ts keys=k aggregates="count(*) AS n"',
        'tumbling-window 1s time=ts keys=k aggregates="count(*) AS m"'
        ' ! time-window 1s time=_event_time keys=k aggregates="sum(m) AS n"',
    ],
)
def test_the_last_window_of_a_quiet_stream_closes(stack: Stack, window: str) -> None:
    moment = datetime.now(UTC).isoformat()
    source, target = stack.topic("in", [{"k": "a", "ts": moment}] * 3), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, ts TIMESTAMP" event_time=ts idle_timeout=500ms as rows'
        f" ! {window} ! to-topic {target}"
    )
    stack.engine.start(document)
    deadline_s = time.monotonic() + DEADLINE_S
    while not (rows := stack.rows(target)) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.engine.stop(document.name)
    assert [(row["k"], row["n"]) for row in rows] == [("a", 3)]
    (query,) = stack.engine.status(document.name).queries
    assert {count.node: count.rows_out_total for count in query.nodes}["rows"] == 3


@pytest.mark.spark
@pytest.mark.parametrize("aggregate", ["count(*) AS n", "CAST(count(*) + 0 * approx_count_distinct(x) AS BIGINT) AS n"])
def test_events_of_the_past_are_not_late_after_a_quiet_time(stack: Stack, aggregate: str) -> None:
    """In a chain and in Spark's plan: event time goes on at the pace of the clock, and not to what it shows."""
    source, target = stack.topic("in", partitions=1), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, x DOUBLE, ts TIMESTAMP" event_time=ts idle_timeout=500ms as rows'
        f' ! tumbling-window 1s time=ts keys=k aggregates="{aggregate}" ! to-topic {target}'
    )
    stack.engine.start(document)
    for seconds in (1, 331):
        moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds + 0.9)
        stack.produce(source, [{"k": "a", "x": 1.5, "ts": moment.isoformat()}])
        # The window of the row closes although no other row comes.
        wanted, deadline_s = len(stack.rows(target)) + 1, time.monotonic() + DEADLINE_S
        while len(stack.rows(target)) < wanted and time.monotonic() < deadline_s:
            time.sleep(0.2)
        assert len(stack.rows(target)) == wanted, seconds
    stack.engine.stop(document.name)
    assert [row["n"] for row in stack.rows(target)] == [1, 1]


@pytest.mark.spark
def test_rows_of_a_partition_that_comes_later_are_not_late(stack: Stack) -> None:
    source, target = stack.topic("in", partitions=2), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, ts TIMESTAMP" event_time=ts as rows'
        f' ! tumbling-window 10s time=ts keys=k aggregates="count(*) AS n" as counts ! to-topic {target}'
    )
    stack.engine.start(document)
    for partition, last in ((0, 61), (1, 59)):
        producer = Producer({"bootstrap.servers": stack.bootstrap, "log_level": 0})
        for seconds in range(last + 1):
            row = {"k": "a", "ts": (datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat()}
            producer.produce(source, json.dumps(row), partition=partition)
        assert producer.flush(30) == 0
        assert stack.engine.wait_idle(document.name, DEADLINE_S)
    stack.engine.stop(document.name)
    assert [row["n"] for row in stack.rows(target)] == [20] * 5


def test_event_time_of_a_quiet_stream_keeps_the_pace_of_the_clock() -> None:
    """In milliseconds: the stream becomes idle when the clock shows 1,000,500."""
    pace = Pace(1_000_500)
    assert pace.reached_ms(31_000, 1_000_500, 500) == 31_000
    assert pace.reached_ms(31_000, 1_002_500, 500) == 33_000
    # Spark has seen the row that told it, or not yet: the time is counted once.
    assert pace.reached_ms(33_000, 1_003_500, 500) == 34_000
    assert pace.reached_ms(33_000, 1_003_600, 500) == 34_100


def test_rows_that_have_their_time_from_the_clock_are_not_passed() -> None:
    """They were read two seconds after their micro-batch began."""
    pace = Pace(1_000_500)
    assert pace.reached_ms(1_002_000, 1_003_000, 500) == 1_002_500
    assert pace.reached_ms(1_002_000, 1_004_000, 500) == 1_003_500


@pytest.mark.spark
def test_windows_by_the_clock_close_on_a_quiet_stream(stack: Stack) -> None:
    source, target = stack.topic("in", [{"k": "a"}, {"k": "b"}, {"k": "a"}]), stack.name("out")
    sql = f"""CREATE STREAM rows (k STRING) WITH (topic = '{source}');
    CREATE STREAM counts WITH (topic = '{target}') AS
    SELECT upper(k) AS u, count(*) AS n, _window_start AS began FROM rows WHERE k = 'a' GROUP BY upper(k)
    WINDOW TUMBLING(PROCTIME(), 1 SECOND);"""
    began = datetime.now(UTC)
    document = parse(sql, source)
    stack.engine.start(document)
    deadline_s = time.monotonic() + DEADLINE_S
    while not (rows := stack.rows(target)) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.engine.stop(document.name)
    assert [(row["u"], row["n"]) for row in rows] == [("A", 2)]
    assert datetime.fromisoformat(rows[0]["began"]) > began - timedelta(seconds=1)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("bad_rows", "condition", "window"),
    [
        ("drop", "k = 'a1'", "tumbling-window 1s"),
        ("fail", "upper(k) = 'A1'", "tumbling-window 1s"),
        ("fail", "k = 'a1'", "time-window 1s"),
        ("drop", "upper(k) = 'A1'", "time-window 1s partitioned=as_topic"),
        ("fail", "k = 'a1'", "time-window 1s partitioned=custom partitioner=headrace.operators.samples:by_last_digit"),
    ],
)
def test_rows_that_a_filter_rules_out_close_windows_too(
    stack: Stack, bad_rows: str, condition: str, window: str
) -> None:
    start = datetime.now(UTC).replace(microsecond=0)
    rows = [{"k": "a1", "ts": start.isoformat()}, {"k": "b2", "ts": (start + timedelta(minutes=1)).isoformat()}]
    source, target = stack.topic("in", rows, partitions=1), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, ts TIMESTAMP" event_time=ts bad_rows={bad_rows} as rows'
        f' ! filter "{condition}" as kept ! {window} time=ts keys=k aggregates="count(*) AS n" ! to-topic {target}'
    )
    stack.engine.start(document)
    deadline_s = time.monotonic() + DEADLINE_S
    while not (found := stack.rows(target)) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.engine.stop(document.name)
    assert [(row["k"], row["n"]) for row in found] == [("a1", 1)]
    (query,) = stack.engine.status(document.name).queries
    counts = {count.node: count.rows_out_total for count in query.nodes}
    assert (counts["rows"], counts["kept"]) == (2, 1)


@pytest.mark.spark
def test_a_row_of_which_none_are_made_closes_windows_too(stack: Stack) -> None:
    start = datetime.now(UTC).replace(microsecond=0)
    later = (start + timedelta(minutes=1)).isoformat()
    rows = [{"k": "a", "ts": start.isoformat(), "tags": ["x", None, "y"]}, {"k": "b", "ts": later, "tags": []}]
    source, target = stack.topic("in", rows, partitions=1), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, ts TIMESTAMP, tags ARRAY<STRING>" event_time=ts'
        f' ! select k ts "explode(tags) AS tag" as tags'
        f' ! time-window 1s time=ts keys=k aggregates=["count(*) AS n", "count(tag) AS m"] ! to-topic {target}'
    )
    stack.engine.start(document)
    deadline_s = time.monotonic() + DEADLINE_S
    while not (found := stack.rows(target)) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.engine.stop(document.name)
    assert [(row["k"], row["n"], row["m"]) for row in found] == [("a", 3, 2)]
    (query,) = stack.engine.status(document.name).queries
    assert {count.node: count.rows_out_total for count in query.nodes}["tags"] == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"idle_timeout": "1s"}, "idle_timeout is set without event_time"),
        ({"idle_timeout": "0s", "event_time": "ts"}, "idle_timeout has no length"),
    ],
)
def test_a_timeout_needs_event_time_and_a_length(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get("topic").configure({"topic": "a", "schema": "ts TIMESTAMP", **settings})

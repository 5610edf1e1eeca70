"""Rows that come when their window is closed, from SQL to the topic for them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

DEADLINE_S = 600.0


@pytest.mark.spark
def test_late_rows_are_kept_in_the_topic_that_their_stream_names(stack: Stack) -> None:
    start = datetime.now(UTC).replace(microsecond=0)
    first = [{"k": "a", "ts": start.isoformat()}, {"k": "b", "ts": (start + timedelta(hours=1)).isoformat()}]
    source, target, late = stack.topic("in", first, partitions=1), stack.name("out"), stack.name("late")
    document = parse(
        f"CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{source}', "
        f"'late.policy' = 'dead_letter', 'dead_letter.topic' = '{late}');"
        f"CREATE STREAM s WITH (topic = '{target}') AS SELECT k, count(*) AS n FROM t GROUP BY k WINDOW TUMBLING(1m);",
        stack.name("pipeline"),
    )
    stack.engine.start(document)
    deadline_s = time.monotonic() + DEADLINE_S
    while not stack.rows(target) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.produce(source, [{"k": "c", "ts": start.isoformat()}])
    while not (letters := stack.rows(late)) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    stack.engine.stop(document.name)
    assert [(row["k"], row["n"]) for row in stack.rows(target)] == [("a", 1)]
    assert [(json.loads(letter["row"])["k"], letter["node"]) for letter in letters] == [("c", "s_window")]
    assert letters[0]["reason"] == "late: 3600000 ms behind the watermark, and its window is closed"


@pytest.mark.spark
@pytest.mark.slow
def test_late_rows_of_a_join_are_kept_wanted_or_not(stack: Stack) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def row(key: str, second: int, more: str = "more") -> dict[str, str]:
        return {"k": key, more: f"{key}{second}", "ts": (start + timedelta(seconds=second)).isoformat()}

    left, right, target, late = (
        *(stack.topic(name, partitions=1) for name in "lr"),
        stack.name("out"),
        stack.name("late"),
    )
    columns = "k STRING, {} STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts"
    options = f"'late.policy' = 'dead_letter', 'dead_letter.topic' = '{late}'"
    document = parse(
        f"CREATE STREAM l ({columns.format('more')}) WITH (topic = '{left}', {options});"
        f"CREATE STREAM r ({columns.format('other')}) WITH (topic = '{right}');"
        f"CREATE STREAM s WITH (topic = '{target}') AS SELECT l.k FROM l JOIN r ON l.k = r.k WITHIN 5 SECONDS"
        " WHERE l.k <> 'b';",
        stack.name("pipeline"),
    )
    stack.engine.start(document)
    for topic, rows in [
        (left, [row("a", 100)]),
        (right, [row("a", 100, "other")]),
        (left, [row("a", 3), row("b", 3), row("a", 101)]),
        (right, [row("b", 4, "other"), row("b", 101, "other")]),
    ]:
        stack.produce(topic, rows)
        assert stack.engine.wait_idle(document.name, DEADLINE_S)
    (query,) = stack.engine.status(document.name).queries
    stack.engine.stop(document.name)
    letters = stack.rows(late)
    kept = [json.loads(letter["row"]) for letter in letters]
    assert sorted(letter.get("more") or letter["other"] for letter in kept) == ["a3", "b3", "b4"]
    assert {letter["node"] for letter in letters} == {"s_join"}
    assert {count.node: count.late_total for count in query.nodes if count.late_total} == {"s_join": 3}
    assert [found["k"] for found in stack.rows(target)] == ["a", "a"]

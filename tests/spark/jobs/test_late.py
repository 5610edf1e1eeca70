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

DEADLINE_S = 90.0


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

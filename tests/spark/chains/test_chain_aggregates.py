"""Aggregates of topics that run in a chain: through restarts, beside what Spark's plan comes to."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

SCHEMA = "k STRING, who BIGINT, price BIGINT, ts TIMESTAMP"
TIMED = f'schema="{SCHEMA}" event_time=ts watermark="30 seconds" max_rows_per_batch=40'
START = datetime(2026, 1, 1, tzinfo=UTC)
ITEMS = (
    '["count(*) AS c", "sum(price) AS total", "count(DISTINCT who) AS people",'
    ' "count(DISTINCT who) FILTER (WHERE price > 50) AS rich", "max(upper(k)) AS name"]'
)


def bids(seed: int, count: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "k": chance.choice(["a", "b", "c", None]),
            "who": chance.randrange(12),
            "price": chance.randrange(100),
            "ts": (START + timedelta(seconds=number - chance.randrange(4))).isoformat(),
        }
        for number in range(count)
    ]


def summed(rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    people = {row["who"] for row in rows}
    rich = {row["who"] for row in rows if row["price"] > 50}
    name = None if rows[0]["k"] is None else rows[0]["k"].upper()
    return len(rows), sum(row["price"] for row in rows), len(people), len(rich), name


def expected(rows: list[dict[str, Any]]) -> dict[Any, tuple[Any, ...]]:
    return {key: summed([row for row in rows if row["k"] == key]) for key in {row["k"] for row in rows}}


def found(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("c", "total", "people", "rich", "name"))


def test_groups_go_on_through_restarts_with_other_lanes(stack: Stack) -> None:
    rows = bids(3, 200)
    source, target = stack.topic("bids"), stack.name("totals")
    document = stack.pipeline(f"topic {source} {TIMED} ! aggregate keys=k aggregates={ITEMS} as it ! to-topic {target}")
    assert stack.query(document).plan.in_chain == {"it"}
    stack.run_in_pieces(document, source, rows)
    told = stack.rows(target)
    assert {row["k"]: found(row) for row in told} == expected(rows)
    # Each micro-batch tells a key at most once: its count only grows.
    assert max(Counter((row["k"], row["c"]) for row in told).values()) == 1


def test_a_batch_comes_to_the_same(stack: Stack) -> None:
    rows = bids(4, 100)
    source, target = stack.topic("bids", rows), stack.name("totals")
    stack.engine.run_batch(
        stack.pipeline(f"topic {source} {TIMED} ! aggregate keys=k aggregates={ITEMS} ! to-topic {target}")
    )
    assert {row["k"]: found(row) for row in stack.rows(target)} == expected(rows)


def test_windows_tell_their_changes(stack: Stack) -> None:
    rows = bids(5, 150)
    source, target = stack.topic("bids", rows), stack.name("totals")
    document = stack.pipeline(
        f'topic {source} {TIMED} ! filter "price < 90" ! tumbling-window 1m time=ts keys=k aggregates={ITEMS}'
        f" emit=changes as it ! to-topic {target}"
    )
    assert stack.query(document).plan.in_chain == {"it"}
    stack.run(document)
    kept = [row for row in rows if row["price"] < 90]
    minutes = {(row["k"], row["ts"][:16]) for row in kept}
    wanted = {
        (key, minute): summed([row for row in kept if (row["k"], row["ts"][:16]) == (key, minute)])
        for key, minute in minutes
    }
    assert {(row["k"], row["_window_start"][:16]): found(row) for row in stack.rows(target)} == wanted

"""Joins of topics that run in a chain: of one topic or two, through restarts, beside what Spark's plan comes to."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

SCHEMA = "kind STRING, k STRING, id BIGINT, ts TIMESTAMP"
TIMED = f'schema="{SCHEMA}" event_time=ts watermark="30 seconds" max_rows_per_batch=40'
START = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE, AFTER = timedelta(seconds=5), timedelta(seconds=10)


def events(seed: int, count: int) -> list[dict[str, Any]]:
    """About one a second, out of order by less than the watermark allows."""
    chance = random.Random(seed)
    return [
        {
            "kind": chance.choice(["order", "payment", "noise"]),
            "k": chance.choice(["a", "b", "c", None]),
            "id": number,
            "ts": (START + timedelta(seconds=number - chance.randrange(4))).isoformat(),
        }
        for number in range(count)
    ]


def pairs(rows: list[dict[str, Any]]) -> set[tuple[int, int]]:
    """Orders and payments of one key that are close enough; of orders only those from the tenth event on."""
    times = {row["id"]: datetime.fromisoformat(row["ts"]) for row in rows}
    orders = [row for row in rows if row["kind"] == "order" and row["k"] is not None and row["id"] >= 10]
    payments = [row for row in rows if row["kind"] == "payment"]
    return {
        (order["id"], payment["id"])
        for order in orders
        for payment in payments
        if order["k"] == payment["k"] and -BEFORE <= times[payment["id"]] - times[order["id"]] <= AFTER
    }


def joined(source: str, target: str) -> str:
    """Two ways of one topic into the join, and a filter behind it that is about one side."""
    return f"""topic {source} {TIMED} as events ! filter "kind = 'order'" ! select k id ts as orders ! @both.left
        @events ! filter "kind = 'payment'" ! select "k AS payer" "id AS paid" "ts AS at" as payments ! @both.right
        join "left.k = right.payer" before="5 seconds" after="10 seconds" as both
        ! filter "id >= 10" as late_orders ! select id paid ! to-topic {target}"""


def test_every_pair_comes_once_through_restarts_with_other_lanes(stack: Stack) -> None:
    rows = events(7, 200)
    source, target = stack.topic("events"), stack.name("pairs")
    document = stack.pipeline(joined(source, target))
    query = stack.query(document)
    assert query.plan.in_chain == {"both"}
    assert query.placement is not None
    assert query.placement.way_in == "packets"
    stack.run_in_pieces(document, source, rows)
    found = [(row["id"], row["paid"]) for row in stack.rows(target)]
    assert len(found) == len(set(found))
    assert set(found) == pairs(rows)


def test_each_node_says_what_passed_it(stack: Stack) -> None:
    rows = events(8, 120)
    source, target = stack.topic("events", rows), stack.name("pairs")
    document = stack.pipeline(joined(source, target))
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, 90)
    (query,) = stack.engine.stop(document.name).queries
    counts = {count.node: count.rows_out_total for count in query.nodes}
    kinds = {kind: sum(row["kind"] == kind for row in rows) for kind in ("order", "payment")}
    assert counts["events"] == len(rows)
    assert (counts["orders"], counts["payments"]) == (kinds["order"], kinds["payment"])
    assert counts["late_orders"] == len(pairs(rows))


def test_a_batch_comes_to_the_same(stack: Stack) -> None:
    rows = events(9, 100)
    source, target = stack.topic("events", rows), stack.name("pairs")
    stack.engine.run_batch(stack.pipeline(joined(source, target)))
    assert {(row["id"], row["paid"]) for row in stack.rows(target)} == pairs(rows)


def test_a_filter_behind_a_join_takes_no_rows_from_a_window_beside_it(stack: Stack) -> None:
    """One topic feeds both: what is left out of a side of the join still counts in the window."""
    rows = events(10, 120)
    source, target = stack.topic("events", rows), stack.name("pairs")
    document = stack.pipeline(
        f"""topic {source} {TIMED} as events ! @both.left
        @events ! tumbling-window 10s time=ts keys=k aggregates=["count(*) AS n"] as window ! @both.right
        join "left.k = right.k" after="10 seconds" as both ! filter "id >= 65" ! select id n ! to-topic {target}"""
    )
    assert stack.query(document).plan.in_chain == {"window", "both"}
    stack.engine.run_batch(document)
    counts = Counter((row["k"], row["ts"][:18]) for row in rows)
    wanted = {row["id"]: counts[row["k"], row["ts"][:18]] for row in rows if row["id"] >= 65 and row["k"] is not None}
    assert {row["id"]: row["n"] for row in stack.rows(target)} == wanted


@pytest.mark.parametrize(
    ("settings", "is_chained"),
    [
        ('"left.k = right.payer" before="1 second"', True),
        ('"left.k = right.payer AND left.id < right.paid" before="1 second"', True),
        ('"left.k = right.payer" window="1 minute"', True),
        ('"left.k = right.payer" kind=left before="1 second"', True),
        ('"left.k = right.payer" kind=full window="1 minute" every="20 seconds"', True),
        ('"left.k = right.payer AND soundex(left.k) = soundex(right.payer)" before="1 second"', False),
    ],
)
def test_what_is_not_surely_the_same_stays_in_sparks_plan(stack: Stack, settings: str, is_chained: bool) -> None:
    document = stack.pipeline(
        f"""topic a {TIMED} ! @both.left
        topic b {TIMED} ! select "k AS payer" "id AS paid" "ts AS at" ! @both.right
        join {settings} as both ! preview"""
    )
    assert bool(stack.query(document).plan.in_chain) is is_chained

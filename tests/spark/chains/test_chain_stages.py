"""Chains whose nodes need their rows in different lanes: brought together anew between them, in one query."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

    from headrace.graph.document import Document
    from headrace.operators.serial_chain import ChainPlan

pytestmark = pytest.mark.spark

SCHEMA = "kind STRING, k STRING, id BIGINT, ts TIMESTAMP"
TIMED = f'schema="{SCHEMA}" event_time=ts watermark="30 seconds" max_rows_per_batch=40'
START = datetime(2026, 1, 1, tzinfo=UTC)


def events(seed: int, count: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "kind": chance.choice(["order", "payment"]),
            "k": chance.choice(["a", "b", "c", "d"]),
            "id": number % 50,
            "ts": (START + timedelta(seconds=number)).isoformat(),
        }
        for number in range(count)
    ]


def joined(source: str, target: str) -> str:
    """Orders with their payments by id, then the newest of each id counted by key: other lanes than the join's."""
    return f"""topic {source} {TIMED} as events ! filter "kind = 'order'" ! select k id ts as orders ! @both.left
        @events ! filter "kind = 'payment'" ! select "id AS paid" "k AS payer" "ts AS at" ! @both.right
        join "left.id = right.paid" before="1 hour" after="1 hour" as both
        ! filter "k != 'd'" ! select k id payer as chosen
        ! aggregate-latest id keys=k aggregates=["count(*) AS n", "max(id) AS last"] as counted
        ! to-topic {target}"""


def expected(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    paid = {row["id"] for row in rows if row["kind"] == "payment"}
    ids: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        if row["kind"] == "order" and row["id"] in paid and row["k"] != "d":
            ids[row["k"]].add(row["id"])
    return {key: (len(found), max(found)) for key, found in ids.items()}


def chain(stack: Stack, document: Document) -> ChainPlan:
    found = stack.query(document).chain
    assert found is not None
    return found


def test_two_stages_through_restarts_with_other_lanes(stack: Stack) -> None:
    rows = events(1, 240)
    source, target = stack.topic("events"), stack.name("counted")
    document = stack.pipeline(joined(source, target))
    stages = chain(stack, document).stages(stack.engine.catalogue)
    assert [str(stage.partitioning) for stage in stages] == ["id", "k"]
    stack.run_in_pieces(document, source, rows)
    newest = {row["k"]: (row["n"], row["last"]) for row in stack.rows(target)}
    assert newest == expected(rows)


def test_a_batch_comes_to_the_same(stack: Stack) -> None:
    rows = events(2, 200)
    source, target = stack.topic("events", rows), stack.name("counted")
    stack.engine.run_batch(stack.pipeline(joined(source, target)))
    assert {row["k"]: (row["n"], row["last"]) for row in stack.rows(target)} == expected(rows)


def test_each_node_of_every_stage_says_what_passed_it(stack: Stack) -> None:
    rows = events(3, 160)
    source, target = stack.topic("events", rows), stack.name("counted")
    document = stack.pipeline(joined(source, target))
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, 90)
    (query,) = stack.engine.stop(document.name).queries
    counts = {count.node: count.rows_out_total for count in query.nodes}
    paid = [row["id"] for row in rows if row["kind"] == "payment"]
    orders = [row for row in rows if row["kind"] == "order"]
    assert counts["events"] == len(rows)
    assert counts["orders"] == len(orders)
    assert counts["both"] == sum(paid.count(row["id"]) for row in orders)
    assert counts["chosen"] == sum(paid.count(row["id"]) for row in orders if row["k"] != "d")
    assert counts["counted"] == len(stack.rows(target))


def test_rows_that_the_first_stage_sets_aside_are_dead_letters(stack: Stack) -> None:
    early = [{"kind": "order", "k": k, "id": 1, "ts": START.isoformat()} for k in "abcdefgh"]
    ends = [{**row, "ts": (START + timedelta(hours=1)).isoformat()} for row in early]
    source, target, letters = stack.topic("events"), stack.name("counted"), stack.name("letters")
    late = f"late=dead_letter dead_letter={letters}"
    document = stack.pipeline(
        f"""topic {source} {TIMED}
        ! time-window "10 seconds" time=ts keys=k aggregates=["count(*) AS n"] {late} as window
        ! length-window 100 keys=n aggregates=["count(*) AS alike"] as alike ! to-topic {target}"""
    )
    assert len(chain(stack, document).stages(stack.engine.catalogue)) == 2
    for rows in (early, ends, [{**row, "id": 2} for row in early]):
        stack.produce(source, rows)
        stack.run(document)
    assert sorted(row["alike"] for row in stack.rows(target)) == list(range(1, len(early) + 1))
    assert sorted(json.loads(letter["row"])["k"] for letter in stack.rows(letters)) == [row["k"] for row in early]

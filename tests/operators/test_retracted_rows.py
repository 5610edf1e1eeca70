"""Nodes that also emit rows which hold no longer: what they retract is bit for bit what they emitted, and what is left
is what a batch gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from tests.operators.serial_cases import CATALOGUE

from headrace.graph import Node, Schema
from headrace.graph.schema import WEIGHT
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.serial_chain import ChainPlan
from headrace.testing import ChainTester, Crash, CrashPoint, cut

SCHEMA = Schema.parse("k STRING, n BIGINT, ts TIMESTAMP")
TIMED = Schema(SCHEMA.columns, event_time="ts")
AGGREGATES = ["count(*) AS c", "sum(n) AS s", "max(n) AS m", "count(DISTINCT n) AS d"]
WINDOW = {"time": "ts", "keys": ["k"], "aggregates": AGGREGATES, "emit": "changes"}
NODES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "aggregate": ({"keys": ["k"], "aggregates": AGGREGATES}, ("k",)),
    "tumbling-window": ({**WINDOW, "size": "10 seconds"}, ("k", "_window_start")),
    "sliding-window": ({**WINDOW, "size": "10 seconds", "every": "5 seconds"}, ("k", "_window_start")),
    "cumulate-window": ({**WINDOW, "size": "10 seconds", "step": "5 seconds"}, ("k", "_window_end")),
}
ROUNDS = 25


def rows(chance: random.Random, count: int) -> pa.RecordBatch:
    made = [
        {"k": chance.choice(["a", "b", None]), "n": chance.choice([None, 1, 2, 7]), "ts": chance.randrange(40) * 10**6}
        for _ in range(count)
    ]
    return pa.RecordBatch.from_pylist(made, schema=arrow_schema(SCHEMA))


def emitted(
    chance: random.Random, operator: str, config: dict[str, Any], rows: pa.RecordBatch, *, dies: bool
) -> Iterator[dict[str, Any]]:
    plan = ChainPlan.line([Node("n", operator, {**config, "retract": True})], TIMED)
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_time="ts", delay_us=10**9)
    for piece in cut(rows, [chance.randrange(rows.num_rows) for _ in range(chance.randint(1, 4))]):
        if dies:
            with suppress(Crash):
                tester.run(piece, crash=CrashPoint(while_writing=True))
            tester.sweep()
        tester.run(piece)
    yield from (row for batch in tester.rows for row in batch.to_pylist())


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("operator", NODES)
def test_a_group_is_retracted_as_it_was_emitted(operator: str, dies: bool, seed: int) -> None:
    config, names = NODES[operator]
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        all_rows, left = rows(chance, 30), dict[Any, dict[str, Any]]()
        for row in emitted(chance, operator, config, all_rows, dies=dies):
            key, weight = tuple(row[name] for name in names), row.pop(WEIGHT)
            assert left.pop(key, None) == (row if weight < 0 else None)
            if weight > 0:
                left[key] = row
        whole = [row for row in emitted(chance, operator, config, all_rows, dies=False) if row.pop(WEIGHT) > 0]
        assert left == {tuple(row[name] for name in names): row for row in whole}


@pytest.mark.parametrize("dies", [False, True])
def test_a_ranking_retracts_the_rows_that_it_had(dies: bool, seed: int) -> None:
    chance = random.Random(seed)
    config = {"n": 2, "by": ["n DESC", "ts"], "keys": ["k"], "rank": "place"}
    for _ in range(ROUNDS):
        numbered, left = rows(chance, 30), list[dict[str, Any]]()
        for row in emitted(chance, "top-n", config, numbered, dies=dies):
            if row.pop(WEIGHT) < 0:
                left.remove(row)
            else:
                left.append(row)
        ranked: dict[Any, list[dict[str, Any]]] = {}
        for row in sorted(numbered.to_pylist(), key=lambda row: (-(row["n"] or -1), row["ts"])):
            ranked.setdefault(row["k"], []).append(row)
        best = [{**row, "place": at} for of_key in ranked.values() for at, row in enumerate(of_key[:2], 1)]
        assert sorted(map(str, left)) == sorted(map(str, best))


def test_what_is_retracted_is_no_row_of_the_figures() -> None:
    plan = ChainPlan.line([Node("n", "aggregate", {**NODES["aggregate"][0], "retract": True})], SCHEMA)
    tester = ChainTester(lambda: plan.chain(CATALOGUE))
    for n in (1, 2):
        tester.run(pa.RecordBatch.from_pylist([{"k": "a", "n": n}], schema=arrow_schema(SCHEMA)))
    assert [batch.num_rows for batch in tester.rows] == [1, 2]
    assert tester.reports["n"].rows_out == 1

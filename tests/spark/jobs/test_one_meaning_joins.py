"""One meaning of joins: of one log every kind emits what the oracle says, whatever else stands in the query.

A partition of each topic is 40 s behind, and some rows are late. Each query recorded its own cuts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.oracle.clock import QueryClock, StreamClock
from tests.oracle.cuts import Cut, Row, committed, recorded_cuts
from tests.oracle.joins import Joined, Spans, in_windows, stream_join, within
from tests.spark.jobs.test_one_meaning import _microseconds, produce, second, wait

from headrace.sql import parse
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

PARTITIONS = 2
BEHIND_S = 40
S = 1_000_000
BOUND_US = S
TIME = "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
NEAR = within(2 * S, 3 * S)
SELECT = "SELECT a.n AS one, b.n AS two FROM"
ON = "b ON a.k = b.k WITHIN (2 SECONDS, 3 SECONDS)"


@dataclass(frozen=True)
class Query:
    text: str
    outer: tuple[str, ...] = ()
    spans: Spans = NEAR
    more: str = ""


QUERIES: Mapping[str, Query] = {
    "inner": Query(f"{SELECT} l a JOIN r {ON}"),
    "left": Query(f"{SELECT} l a LEFT JOIN r {ON}", ("l",)),
    "right": Query(f"{SELECT} l a RIGHT JOIN r {ON}", ("r",)),
    "full": Query(f"{SELECT} l a FULL JOIN r {ON}", ("l", "r")),
    "nested": Query(f"{SELECT} nested_l a LEFT JOIN r {ON}", ("l",)),
    "computed": Query(f"{SELECT} l a LEFT JOIN r {ON.replace('a.k = b.k', 'lower(a.k) = b.k AND a.d = b.i')}", ("l",)),
    "overlapping": Query(
        f"{SELECT} l a WINDOW SLIDING(6s, 4s) LEFT JOIN r b WINDOW SLIDING(6s, 4s) ON a.k = b.k",
        ("l",),
        in_windows(6 * S, 4 * S),
    ),
}


@dataclass(frozen=True)
class Ran:
    rows: list[dict[str, Any]]
    late: int
    cuts: list[Cut]
    beside: list[dict[str, Any]]
    """What another sink of the same query took."""


def piece(side: str, first: int, last: int, partition: int) -> list[dict[str, Any]]:
    """A row a second of each key; the left has no key d, the right no key c and no rows in every fifth second."""
    behind = BEHIND_S if partition else 0
    return [
        {"k": key, "d": 1.0, "i": 1, "n": f"{side}{partition}-{key}{number}", "ts": second(number - behind)}
        for number in range(first, last)
        for key in ("abc" if side == "l" else "abd")
        if side == "l" or number % 5
    ]


def send(client: Client, topics: Mapping[str, str], first: int, last: int, *, late_s: int | None = None) -> None:
    for side, topic in topics.items():
        rows = {partition: piece(side, first, last, partition) for partition in range(PARTITIONS)}
        if late_s is not None:
            rows[0] = [*rows[0], *({**row, "n": f"late-{row['n']}"} for row in piece(side, late_s, late_s + 3, 0))]
        produce(client, topic, rows)


@pytest.fixture(scope="module")
def ran(stack: Stack) -> tuple[list[Row], dict[str, Ran]]:
    topics = {side: stack.topic(side, partitions=PARTITIONS) for side in ("l", "r")}
    name = stack.name("joining")
    targets = {query: (stack.name(query), stack.name(f"{query}-beside")) for query in QUERIES}
    columns = "k STRING, d DOUBLE, i INT, n STRING, ts TIMESTAMP"
    statements = [
        *(f"CREATE STREAM {side} ({columns}, {TIME}) WITH (topic = '{topic}')" for side, topic in topics.items()),
        f"CREATE STREAM nested_l ({columns}, more STRUCT<a: INT>, {TIME}) WITH (topic = '{topics['l']}')",
    ]
    for query, one in QUERIES.items():
        target, beside = targets[query]
        statements.append(f"CREATE STREAM of_{query} WITH (topic = '{target}') AS {one.text}")
        if query == "left":
            statements.append(f"CREATE STREAM {query}_beside WITH (topic = '{beside}') AS SELECT * FROM of_{query}")
    with Client(stack.bootstrap) as client:
        send(client, topics, 0, 30)
        stack.engine.start(parse("; ".join(statements) + ";", name))
        for first, last, late_s in ((30, 60, None), (60, 95, None), (95, 130, 0)):
            wait(stack, name)
            send(client, topics, first, last, late_s=late_s)
        for first in (3601, 7201):
            wait(stack, name)
            send(client, topics, first, first + 1)
        wait(stack, name)
        queries = stack.engine.status(name).queries
        stack.engine.stop(name)
        made = {}
        for query in QUERIES:
            status = next(one for one in queries if one.name.split("_join")[0] == f"of_{query}")
            late = sum(node.late_total for node in status.nodes)
            cuts = recorded_cuts(client, f"{name}.{status.name}", {**topics, "nested_l": topics["l"]})
            others = stack.rows(targets[query][1]) if query == "left" else []
            made[query] = Ran(stack.rows(targets[query][0]), late, cuts, others)
        log = [
            Row((side, number), offset, _microseconds(json.loads(value)["ts"]), json.loads(value))
            for side, topic in topics.items()
            for number in range(PARTITIONS)
            for offset, value in committed(client, topic, number)
        ]
    names = {topic: side for side, topic in topics.items()}
    return log, {query: _by_side(one, names) for query, one in made.items()}


def _by_side(one: Ran, names: Mapping[str, str]) -> Ran:
    """With cuts by side, not by topic."""
    cuts = [
        Cut(cut.batch, cut.now_us, {(names[topic], number): end for (topic, number), end in cut.ends.items()})
        for cut in one.cuts
    ]
    return Ran(one.rows, one.late, cuts, one.beside)


def expected(query: Query, log: list[Row], cuts: list[Cut]) -> Joined:
    origins = {side: frozenset((side, number) for number in range(PARTITIONS)) for side in ("l", "r")}
    clock = QueryClock(tuple(StreamClock(BOUND_US, one) for one in origins.values()))
    return stream_join(log, cuts, clock, ("l", "r"), query.spans, lambda row: (row.values["k"],), outer=query.outer)


def pairs(rows: list[dict[str, Any]]) -> Counter[tuple[Any, Any]]:
    return Counter((row.get("one"), row.get("two")) for row in rows)


@pytest.mark.parametrize("query", list(QUERIES))
def test_a_join_emits_what_the_oracle_says(ran: tuple[list[Row], dict[str, Ran]], query: str) -> None:
    log, made = ran
    joined = expected(QUERIES[query], log, made[query].cuts)
    wanted = Counter((left.values["n"], right.values["n"]) for left, right in joined.pairs)
    wanted.update((row.values["n"], None) if row.origin[0] == "l" else (None, row.values["n"]) for row in joined.alone)
    assert joined.pairs
    assert bool(joined.alone) is bool(QUERIES[query].outer)
    assert pairs(made[query].rows) == wanted
    assert made[query].late == len(joined.late) > 0


def test_the_pairs_of_a_left_join_are_those_of_the_inner_join(ran: tuple[list[Row], dict[str, Ran]]) -> None:
    """Late rows aside, of which each query may have others by its cuts: they are those that both found late."""
    _, made = ran
    left = Counter({pair: count for pair, count in pairs(made["left"].rows).items() if None not in pair})
    assert left == pairs(made["inner"].rows)
    assert pairs(made["left"].beside) == pairs(made["left"].rows)

"""Joins of every kind in lanes against the oracle: late rows, slow partitions, random cuts, restarts, several lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.lane_runs import Lanes, at, cuts_of
from tests.oracle.clock import QueryClock, StreamClock
from tests.oracle.cuts import Cut, Origin, Row
from tests.oracle.joins import Joined, Spans, in_windows, stream_join, within
from tests.oracle.windows import Key

from headrace.graph import Edge, Json, Node, Schema
from headrace.operators.serial_chain import ChainInput, ChainPlan

S = 1_000_000
SIDES = ("l", "r")
PARTITIONS = 2
BOUND_US = 2 * S
LEFT = replace(Schema.parse("k STRING, n BIGINT, ts TIMESTAMP"), event_time="ts")
RIGHT = replace(Schema.parse("k2 STRING, m BIGINT, at TIMESTAMP"), event_time="at")
ORIGINS: list[Origin] = [(side, partition) for side in SIDES for partition in range(PARTITIONS)]
OUTER = {"inner": (), "left": ("l",), "right": ("r",), "full": SIDES}
BOUNDS: dict[str, tuple[dict[str, Json], Spans]] = {
    "interval": ({"before": "3s", "after": "5s"}, within(3 * S, 5 * S)),
    "later only": ({"after": "4s"}, within(0, 4 * S)),
    "window": ({"window": "10s"}, in_windows(10 * S)),
    "overlapping": ({"window": "10s", "every": "4s"}, in_windows(10 * S, 4 * S)),
}

# Side and partition, key, number, how much event time goes on, how far back a row is: later than the watermark, too.
steps = st.lists(
    st.tuples(
        st.sampled_from(ORIGINS),
        st.sampled_from(["a", "b", "c", None]),
        st.integers(0, 3),
        st.sampled_from([0, 0, 1, 1, 2, 9]),
        st.sampled_from([0, 0, 1, 2, 7, 20]),
    ),
    max_size=40,
)
places = st.lists(st.fixed_dictionaries({origin: st.integers(0, 20) for origin in ORIGINS}), max_size=6)
restarts = st.lists(st.sampled_from([None, None, 1, 2, 7]), max_size=8)


def log_of(made: Sequence[tuple[Origin, str | None, int, int, int]]) -> list[Row]:
    """Event time goes on for all partitions together. Two hours later everything is closed."""
    rows: list[Row] = []
    offsets = dict.fromkeys(ORIGINS, 0)
    now = 1_000
    everywhere = [(origin, "end", 0, 7_200, 0) for origin in ORIGINS]
    for origin, key, number, step, back in [*made, *everywhere]:
        now += step
        second = now - back
        names = ("k", "n", "ts") if origin[0] == "l" else ("k2", "m", "at")
        values: dict[str, Any] = dict(zip(names, (key, number, at(second * S)), strict=True))
        rows.append(Row(origin, offsets[origin], second * S, values))
        offsets[origin] += 1
    return rows


def ended(cuts: list[Cut]) -> list[Cut]:
    """Two more micro-batches without rows: what waits for the watermark is told."""
    last = cuts[-1]
    return [*cuts, *(Cut(last.batch + more, last.now_us + more * S, last.ends) for more in (1, 2))]


def clock() -> QueryClock:
    return QueryClock(
        tuple(StreamClock(BOUND_US, frozenset(origin for origin in ORIGINS if origin[0] == side)) for side in SIDES)
    )


def key(row: Row) -> Key:
    return (row.values["k" if row.origin[0] == "l" else "k2"],)


def smaller(left: Row, right: Row) -> bool:
    return bool(left.values["n"] <= right.values["m"])


def lanes(config: dict[str, Json], count: int, *behind: Node) -> Lanes:
    nodes = [Node("it", "join", config), *behind]
    edges = [Edge("l", "it", target_port="left"), Edge("r", "it", target_port="right")]
    edges += [Edge(one.id, two.id) for one, two in zip(nodes, behind, strict=False)]
    plan = ChainPlan(tuple(nodes), (ChainInput("l", LEFT), ChainInput("r", RIGHT)), tuple(edges))
    return Lanes(plan, count, BOUND_US, PARTITIONS)


def expected(joined: Joined) -> list[dict[str, Any]]:
    nothing = dict.fromkeys(("k", "n", "ts", "k2", "m", "at"))
    rows = [{**one.values, **two.values} for one, two in joined.pairs]
    return rows + [{**nothing, **one.values} for one in joined.alone]


def _comparable(row: dict[str, Any]) -> Any:
    return tuple((name, row[name]) for name in ("k", "n", "ts", "k2", "m", "at"))


@pytest.mark.parametrize("bound", list(BOUNDS))
@pytest.mark.parametrize("kind", list(OUTER))
@settings(max_examples=10, deadline=None)
@given(made=steps, places=places, restarts=restarts, count=st.sampled_from([1, 2, 7]), says_more=st.booleans())
def test_lanes_emit_what_the_oracle_says(
    kind: str, bound: str, made: Sequence[Any], places: Any, restarts: list[int | None], count: int, says_more: bool
) -> None:
    config, spans = BOUNDS[bound]
    log = log_of(made)
    counts = Counter(row.origin for row in log)
    cuts = ended(cuts_of(counts, places))
    also = smaller if says_more else (lambda left, right: True)
    joined = stream_join(log, cuts, clock(), SIDES, spans, key, outer=OUTER[kind], also=also)
    on = "left.k = right.k2 AND left.n <= right.m" if says_more else "left.k = right.k2"
    run = lanes({"on": on, "kind": kind, **config}, count)
    run.run(log, cuts, lambda number: restarts[number] if number < len(restarts) else None)
    assert Counter(map(_comparable, run.emitted)) == Counter(map(_comparable, expected(joined)))
    assert run.late == len(joined.late)


@pytest.mark.parametrize(("kind", "time", "by"), [("inner", "ts", "k"), ("left", "ts", "k"), ("right", "at", "k2")])
@settings(max_examples=20, deadline=None)
@given(made=steps, places=places, restarts=restarts, count=st.sampled_from([1, 2, 7]))
def test_a_window_behind_a_join_loses_no_row(
    kind: str, time: str, by: str, made: Sequence[Any], places: Any, restarts: list[int | None], count: int
) -> None:
    """Rows without a partner are emitted when the watermark has passed them: the window waits for them."""
    config, spans = BOUNDS["interval"]
    log = log_of(made)
    cuts = ended(cuts_of(Counter(row.origin for row in log), places))
    joined = stream_join(log, cuts, clock(), SIDES, spans, key, outer=OUTER[kind])
    counted: dict[str, Json] = {"size": "10s", "time": time, "keys": [by], "aggregates": ["count(*) AS c"]}
    window = Node("w", "tumbling-window", counted)
    run = lanes({"on": "left.k = right.k2", "kind": kind, **config}, count, window)
    run.run(log, cuts, lambda number: restarts[number] if number < len(restarts) else None)
    wanted = Counter((row[by], int(row[time].timestamp()) // 10 * 10) for row in expected(joined))
    found = {(row[by], int(row["_window_start"].timestamp())): row["c"] for row in run.emitted}
    assert found == {window: count for window, count in wanted.items() if window[0] != "end"}
    assert run.late == len(joined.late)


FIRST_BEHIND = [("left", "ts", "k"), ("right", "at", "k2")]


@pytest.mark.parametrize(("first", "time", "by"), FIRST_BEHIND)
@settings(max_examples=25, deadline=None)
@given(made=steps, places=places, restarts=restarts, second=st.sampled_from(list(OUTER)), count=st.sampled_from([1, 3]))
def test_a_join_behind_an_outer_join_misses_nobody(
    first: str,
    time: str,
    by: str,
    made: Sequence[Any],
    places: Any,
    restarts: list[int | None],
    second: str,
    count: int,
) -> None:
    """Rows without a partner come to the second join when the watermark has passed them. Topics have none late."""
    log = log_of([(*one[:4], min(one[4], 2)) for one in made])
    cuts = ended(ended(cuts_of(Counter(row.origin for row in log), places)))
    columns: list[Json] = ["k AS k3", "n AS n3", "ts AS ts3"]
    next_on = {"on": f"left.{by} = right.k3", "kind": second, "before": "1s", "after": "2s"}
    nodes = (
        Node("it", "join", {"on": "left.k = right.k2", "kind": first, "before": "3s", "after": "5s"}),
        Node("others", "select", {"columns": columns}),
        Node("next", "join", dict(next_on)),
    )
    edges = (
        *(Edge("l", "it", target_port="left"), Edge("r", "it", target_port="right"), Edge("l", "others")),
        *(Edge("it", "next", target_port="left"), Edge("others", "next", target_port="right")),
    )
    run = Lanes(ChainPlan(nodes, (ChainInput("l", LEFT), ChainInput("r", RIGHT)), edges), count, BOUND_US, PARTITIONS)
    run.run(log, cuts, lambda number: restarts[number] if number < len(restarts) else None)
    _, spans = BOUNDS["interval"]
    left = expected(stream_join(log, cuts, clock(), SIDES, spans, key, outer=OUTER[first]))
    right = [{f"{name}3": value for name, value in row.values.items()} for row in log if row.origin[0] == "l"]
    found = [row for row in run.emitted if "end" not in (row["k"], row["k2"], row["k3"])]
    assert Counter(map(_whole, found)) == Counter(map(_whole, at_once(left, right, by, time, second)))
    assert run.late == 0


def at_once(
    left: list[dict[str, Any]], right: list[dict[str, Any]], by: str, time: str, kind: str
) -> list[dict[str, Any]]:
    """The second join of all rows, without those that end everything."""

    def are_pair(one: dict[str, Any], two: dict[str, Any]) -> bool:
        apart_s = (two["ts3"] - one[time]).total_seconds()
        return one[by] is not None and one[by] == two["k3"] and -1 <= apart_s <= 2

    left = [row for row in left if "end" not in (row["k"], row["k2"])]
    right = [row for row in right if row["k3"] != "end"]
    rows = [{**one, **two} for one in left for two in right if are_pair(one, two)]
    if kind in ("left", "full"):
        rows += [one for one in left if not any(are_pair(one, two) for two in right)]
    if kind in ("right", "full"):
        rows += [two for two in right if not any(are_pair(one, two) for one in left)]
    return rows


def _whole(row: dict[str, Any]) -> Any:
    return tuple(row.get(name) for name in ("k", "n", "ts", "k2", "m", "at", "k3", "n3", "ts3"))

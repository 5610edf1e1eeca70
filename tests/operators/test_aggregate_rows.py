"""Aggregates and windows in a chain: beside what Spark's own plan gives for the same rows, as stream with random cuts,
late rows and crashes."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.serial_cases import CATALOGUE, DELAY_US, Case, Row, as_batch, at, ordered, output, plans

from headrace.graph import Json, Node, Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import OperatorFailed, Signal
from headrace.testing import ChainTester, cut

if TYPE_CHECKING:
    from headrace.operators.testing import Trial

TYPES = replace(
    Schema.parse(
        "k STRING, b BOOLEAN, i INT, n BIGINT, f FLOAT, x DOUBLE, d DATE, s STRING, t TIMESTAMP, ts TIMESTAMP"
    ),
    event_time="ts",
)
# Sums of these are exact in any order.
REALS = [0.5, -1.5, 2.0, 100.25, float("nan"), float("inf"), -float("inf"), None]
VALUES: list[list[Any]] = [
    ["a", "b", "", "ä", None],
    [True, False, None],
    [0, 1, -7, 2**31 - 1, None],
    [0, 5, -5, 2**45, None],
    [0.5, -1.5, float("nan"), None],
    REALS,
    [date(2026, 1, 1), date(1969, 12, 31), None],
    ["", "a", "z", "é", "\U0001f600", "\uffff", None],
    [None, *map(at, range(-100, 100))],
    [at(second) for second in range(-30, 60)],
]


ITEMS: list[Json] = [
    "count(*) AS c", "count(x) AS cx", "count(1) AS c1", "count(*) FILTER (WHERE i > 0) AS c_filtered",
    "sum(i) AS si", "sum(n) AS sn", "sum(x) AS sx", "sum(f) AS sf", "sum(n - 1) AS sn1",
    "avg(i) AS ai", "avg(n) AS an", "avg(x) AS ax", "avg(f) AS af", "avg(x) FILTER (WHERE b) AS ax_filtered",
    "min(i) AS li", "max(n) AS hn", "min(x) AS lx", "max(x) AS hx", "min(f) AS lf", "max(f) AS hf",
    "min(b) AS lb", "max(b) AS hb", "min(d) AS ld", "max(d) AS hd", "min(s) AS ls", "max(s) AS hs",
    "min(t) AS lt", "max(t) AS ht", "max(upper(s)) AS hus", "max(date_format(t, 'HH:mm')) AS minute",
    "count(DISTINCT i) AS di", "count(DISTINCT s) AS ds", "count(DISTINCT s) FILTER (WHERE x < 1) AS ds_filtered",
    "count(DISTINCT s) FILTER (WHERE i % 2 = 1) AS ds_odd", "count(DISTINCT b) AS db", "count(DISTINCT d) AS dd",
    "count(DISTINCT t) AS dt", "count(DISTINCT i % 3) AS d3", "sum(i) FILTER (WHERE s = 'a' OR b) AS si_filtered",
]  # fmt: skip


def typed_batch(chance: random.Random, count: int) -> pa.RecordBatch:
    fields = arrow_schema(TYPES)
    columns = [[chance.choice(values) for _ in range(count)] for values in VALUES]
    arrays: list[Any] = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.record_batch(arrays, schema=fields)


@dataclass(frozen=True)
class Beside:
    """One relational operator, in a chain and in Spark's plan."""

    operator: str
    config: dict[str, Json]

    def in_chain(self, rows: pa.RecordBatch, places: Sequence[int]) -> list[tuple[Any, ...]]:
        """In several micro-batches, each in two pieces; of changes the last ones."""
        plan = ChainPlan.line((Node("it", self.operator, self.config),), TYPES)
        # Nothing is late here.
        tester = ChainTester(lambda: plan.chain(CATALOGUE), event_time="ts", delay_us=10**9)
        for piece in cut(rows, places):
            tester.run(*cut(piece, [piece.num_rows // 2]))
        tester.end()
        made = output(tester)
        if self.config.get("emit") == "final" or self.operator == "gap-window":
            return made
        keys = len(cast("list[str]", self.config["keys"])) + (0 if self.operator == "aggregate" else 2)
        return list({row[:keys]: row for row in made}.values())

    def in_plan(self, rows: pa.RecordBatch, trial: Trial) -> list[tuple[Any, ...]]:
        operator = CATALOGUE.get(self.operator)
        config = operator.configure(self.config)
        frame = trial.spark.createDataFrame(pa.Table.from_batches([rows]))
        made = operator.compile(config, {"in": frame}, cast("Any", None)).toArrow()
        return [tuple(row.values()) for row in made.to_pylist()]


CASES: list[tuple[str, dict[str, Json]]] = [
    ("aggregate", {"keys": ["k", "b"]}),
    ("aggregate", {"keys": ["i"]}),
    ("tumbling-window", {"size": "10s", "keys": ["k"], "emit": "final"}),
    ("tumbling-window", {"size": "7s", "keys": ["d", "k"], "emit": "changes"}),
    ("sliding-window", {"size": "10s", "every": "4s", "keys": ["k"], "emit": "final"}),
    ("cumulate-window", {"size": "12s", "step": "4s", "keys": ["s"], "emit": "final"}),
    ("gap-window", {"gap": "3s", "keys": ["k"]}),
    ("gap-window", {"gap": "1s", "keys": ["b", "s"]}),
]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("operator", "config"),
    [pytest.param(*case, marks=() if number in (0, 4, 6) else pytest.mark.slow) for number, case in enumerate(CASES)],
)
def test_as_in_sparks_plan(trial: Trial, operator: str, config: dict[str, Json]) -> None:
    chance = random.Random(f"{operator} {config}")
    rows = typed_batch(chance, 300)
    time: dict[str, Json] = {} if operator == "aggregate" else {"time": "ts"}
    # Sessions that become one do not know their distinct values.
    items = [item for item in ITEMS if operator != "gap-window" or "DISTINCT" not in str(item)]
    beside = Beside(operator, {"aggregates": items, **time, **config})
    places = [chance.randrange(300) for _ in range(3)]
    # As texts: NaN is not equal to itself.
    made, wanted = beside.in_chain(rows, places), beside.in_plan(rows, trial)
    assert sorted(map(repr, made)) == sorted(map(repr, wanted))


# Counted by hand, in the schema of `serial_cases`: late rows, state through crashes.

SIMPLE: list[Json] = [
    "count(*) AS c", "sum(n) AS s", "min(x) AS lo", "count(DISTINCT n) AS d",
    "count(DISTINCT n) FILTER (WHERE x > 0) AS dp",
]  # fmt: skip


def simple(rows: Sequence[Row]) -> tuple[Any, ...]:
    numbers = [row[1] for row in rows if row[1] is not None]
    values = [row[2] for row in rows if row[2] is not None]
    positive = {row[1] for row in rows if row[1] is not None and row[2] is not None and row[2] > 0}
    total = sum(numbers) if numbers else None
    return len(rows), total, min(values, default=None), len(set(numbers)), len(positive)


def windows_of(second: int, size: int, every: int) -> list[int]:
    """The starts of the windows that a second lies in."""
    return list(range(second - second % every, second - size, -every))


def sliding(**config: Json) -> Case:
    wanted: dict[str, Json] = {"size": "10s", "every": "4s", "time": "ts", "keys": ["k"], "aggregates": SIMPLE}
    return Case("sliding-window", {**wanted, **config})


# Times go back and forth much further than the watermark waits.
wild_rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.one_of(st.none(), st.integers(-3, 3).map(float)),
        st.integers(0, 60),
    ),
    max_size=40,
)


def in_time(rows: Sequence[Row], places: Sequence[int], size: int, every: int) -> tuple[dict[Any, list[Row]], int]:
    """Rows by window and key, without windows that are closed when a row comes; and how many rows had no other."""
    windows: dict[Any, list[Row]] = defaultdict(list)
    late, seen = 0, list[int]()
    bounds = sorted({0, len(rows), *(place for place in places if place < len(rows))})
    for start, stop in pairwise(bounds):
        watermark = max(seen) - DELAY_US // 1_000_000 if seen else -(10**9)
        for row in rows[start:stop]:
            open_ = [begin for begin in windows_of(row[3], size, every) if begin + size > watermark]
            late += not open_
            for begin in open_:
                windows[begin, row[0]].append(row)
        seen += [row[3] for row in rows[start:stop]]
    return windows, late


@settings(max_examples=60, deadline=None)
@given(wild_rows, st.lists(st.integers(1, 40), max_size=5))
def test_late_rows_count_in_the_windows_that_are_open(rows: list[Row], places: list[int]) -> None:
    tester, late = sliding().tester(), 0
    for piece in cut(as_batch(rows), places) if rows else []:
        tester.run(*cut(piece, [piece.num_rows // 2]))
        late += tester.reports["it"].counts.get("late", 0)
    tester.end()
    windows, expected_late = in_time(rows, places, 10, 4)
    expected = [
        (at(start), at(start + 10), key, *simple(found), at(start + 10) - timedelta(microseconds=1))
        for (start, key), found in windows.items()
    ]
    assert ordered(output(tester)) == ordered(expected)
    assert late == expected_late


@settings(max_examples=60, deadline=None)
@given(wild_rows, plans)
def test_state_survives_crashes(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    """A group is told again by every micro-batch that has rows of it, and the last time says all."""
    made = Case("aggregate", {"keys": ["k"], "aggregates": SIMPLE}).stream(rows, plan)
    by_key = {key: [row for row in rows if row[0] == key] for key in {row[0] for row in rows}}
    last = {row[0]: row for row in made}
    assert ordered(list(last.values())) == ordered([(key, *simple(found)) for key, found in by_key.items()])


@settings(max_examples=60, deadline=None)
@given(wild_rows, plans)
def test_windows_survive_crashes(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    windows, _ = in_time(rows, [place for place, _ in plan], 10, 4)
    made = [row[:-1] for row in sliding().stream(rows, plan)]
    expected = [(at(start), at(start + 10), key, *simple(found)) for (start, key), found in windows.items()]
    assert ordered(made) == ordered(expected)


def test_a_group_is_told_once_for_each_micro_batch_in_the_order_of_its_key() -> None:
    tester = Case("aggregate", {"keys": ["k"], "aggregates": ["count(*) AS c"]}).tester()
    rows: list[Row] = [(key, None, None, 0) for key in ("b", "a", None, "b", "a", "c")]
    told = tester.run(*cut(as_batch(rows), [1, 3, 4]))
    assert told is not None
    assert told.to_pylist() == [{"k": "a", "c": 2}, {"k": "b", "c": 2}, {"k": "c", "c": 1}, {"k": None, "c": 1}]
    told = tester.run(as_batch(rows[:1]))
    assert told is not None
    assert told.to_pylist() == [{"k": "b", "c": 3}]


def test_a_window_that_changes_is_told_once_for_each_micro_batch() -> None:
    tester = Case(
        "tumbling-window",
        {"size": "10s", "time": "ts", "keys": ["k"], "aggregates": ["count(*) AS c"], "emit": "changes"},
    ).tester()
    rows: list[Row] = [("b", None, None, 11), ("a", None, None, 12), ("a", None, None, 3)]
    told = tester.run(*cut(as_batch(rows), [1, 2]))
    assert told is not None
    assert [tuple(row.values()) for row in told.to_pylist()] == [
        (at(0), at(10), "a", 1),
        (at(10), at(20), "a", 1),
        (at(10), at(20), "b", 1),
    ]
    assert tester.end() is None


def test_what_is_told_passes_the_nodes_behind() -> None:
    nodes = (
        Node("first", "aggregate", {"keys": ["k"], "aggregates": ["count(*) AS c"]}),
        Node("second", "aggregate", {"keys": ["k"], "aggregates": ["max(c) AS most", "count(*) AS times"]}),
    )
    plan = ChainPlan.line(nodes, Case("aggregate", {}).schema)
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_time="ts")
    rows: list[Row] = [("a", None, None, 0)] * 3
    told = [tester.run(*cut(as_batch(rows), [1, 2])) for _ in range(2)]
    assert [table.to_pylist() for table in told if table is not None] == [
        [{"k": "a", "most": 3, "times": 1}],
        [{"k": "a", "most": 6, "times": 2}],
    ]


def test_values_go_with_their_windows() -> None:
    tester = sliding().tester()
    for second in range(0, 400, 20):
        tester.run(as_batch([("a", n, 1.0, second) for n in range(20)]))
    state = tester._store.load("it", 0, tester.versions["it"]).claim_all()  # as the next micro-batch finds it
    assert state["windows"].size <= 6
    assert state["distinct0"].size <= 6 * 20
    tester.end()
    state = tester._store.load("it", 0, tester.versions["it"]).claim_all()
    assert (state["windows"].size, state["distinct0"].size) == (0, 0)


def test_rows_without_a_time_are_counted() -> None:
    rows = as_batch([("a", 1, 1.0, 0), ("a", 2, 1.0, 0)])
    times: Any = pa.array([None, at(3)], rows.schema.field("ts").type)
    tester = sliding().tester()
    tester.run(rows.set_column(3, "ts", times))
    assert tester.reports["it"].counts == {"without_time": 1}


LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    "batches",
    [[[LARGEST, 1]], [[LARGEST], [1]], [[-LARGEST, -2]], [[-LARGEST], [-2]], [[2**62] * 4], [[2**62], [2**62]]],
)
@pytest.mark.parametrize("operator", ["aggregate", "tumbling-window"])
def test_a_sum_that_does_not_fit_fails(operator: str, batches: list[list[int]]) -> None:
    config: dict[str, Json] = {"keys": ["k"], "aggregates": ["sum(n) AS total"]}
    if operator != "aggregate":
        config |= {"size": "10s", "time": "ts"}
    tester = Case(operator, config).tester()
    *before, last = (as_batch([("a", number, None, 0) for number in numbers]) for numbers in batches)
    for rows in before:
        tester.run(rows)
    with pytest.raises(OperatorFailed, match="the sum 'total' does not fit its type, BIGINT"):
        tester.run(last)


def test_a_sum_that_just_fits() -> None:
    tester = Case("aggregate", {"keys": ["k"], "aggregates": ["sum(n) AS total", "avg(n) AS mean"]}).tester()
    tester.run(as_batch([("a", LARGEST - 1, None, 0), ("b", -LARGEST, None, 0)]))
    made = tester.run(as_batch([("a", 1, None, 0), ("b", -1, None, 0)]))
    assert made is not None
    assert made.to_pylist() == [
        {"k": "a", "total": LARGEST, "mean": 2.0**62},
        {"k": "b", "total": -LARGEST - 1, "mean": -(2.0**62)},
    ]


@pytest.mark.parametrize("emit", ["final", "changes"])
def test_a_signal_closes_windows_and_what_comes_later_begins_anew(emit: str) -> None:
    config: dict[str, Json] = {"aggregates": ["count(*) AS c", "count(DISTINCT n) AS d"], "emit": emit}
    tester = sliding(**config, size="8s").tester()
    close = [Signal("one", "close_window")]
    rows: list[Row] = [("a", 1, 1.0, 4), ("a", 1, 1.0, 5), ("a", 2, 1.0, 9)]
    expected = [(at(0), at(8), "a", 2, 1), (at(4), at(12), "a", 3, 2), (at(8), at(16), "a", 1, 1)]
    for _ in range(2):
        told = tester.run(as_batch(rows), signals=close)
        assert told is not None
        assert [tuple(row.values())[:5] for row in told.to_pylist()] == expected
        assert tester.handled == {"one": ["it"]}
    assert tester.run(signals=[Signal("other", "custom")]) is None
    assert tester.handled == {}
    state = tester._store.load("it", 0, tester.versions["it"]).claim_all()  # as the next micro-batch finds it
    assert (state["windows"].size, state["distinct0"].size) == (0, 0)
    assert tester.end() is None

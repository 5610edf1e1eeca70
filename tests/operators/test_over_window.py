"""Aggregates over the rows before each row, against a slow and obvious reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.over_cases import AGGREGATES, aggregated
from tests.operators.serial_cases import Case, Row, as_batch, at, plans, rows_strategy, same_both_ways

from headrace.errors import InvalidGraph
from headrace.graph import Json
from headrace.operators import Catalogue
from headrace.serial import OperatorFailed


def case(**config: Json) -> Case:
    return Case("over-window", {"time": "ts", "keys": ["k"], "aggregates": AGGREGATES, **config})


def over_rows(rows: Sequence[Row], count: int) -> list[tuple[Any, ...]]:
    ordered = sorted(rows, key=lambda row: row[3])
    out = []
    for place, row in enumerate(ordered):
        before = [other for other in ordered[: place + 1] if other[0] == row[0]]
        out.append((*row[:3], at(row[3]), *aggregated(before[-count - 1 :])))
    return out


def over_range(rows: Sequence[Row], seconds: int) -> list[tuple[Any, ...]]:
    ordered = sorted(rows, key=lambda row: row[3])
    out = []
    for row in ordered:
        near = [other for other in ordered if other[0] == row[0] and row[3] - seconds <= other[3] <= row[3]]
        out.append((*row[:3], at(row[3]), *aggregated(near)))
    return out


@settings(max_examples=50, deadline=None)
@given(rows_strategy(), plans)
def test_over_the_rows_before(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(case(rows=2), lambda given: over_rows(given, 2), rows, plan)
    assert case(rows=2).stream(rows, plan) == over_rows(rows, 2)  # in order


@settings(max_examples=50, deadline=None)
@given(rows_strategy(), plans)
def test_over_the_time_before(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(case(within="6s"), lambda given: over_range(given, 6), rows, plan)


def test_without_keys_and_rows_a_row_looks_at_itself() -> None:
    rows: list[Row] = [("a", 1, None, 2), ("b", 2, None, 1)]
    found = case(keys=[], rows=0, aggregates=["sum(n) AS s"]).batch(rows)
    assert [(row[0], row[-1]) for row in found] == [("b", 2), ("a", 1)]


def fractions(values: Sequence[float], functions: list[Json], count: int) -> list[tuple[Any, ...]]:
    rows: list[Row] = [("a", None, value, 100 + place) for place, value in enumerate(values)]
    rows += [("b", None, 1.0, 100 + len(values))]
    found = case(rows=count, aggregates=functions).stream(rows, [(2, ""), (4, "")])
    return [row[4:] for row in found]


def test_sums_of_fractions_are_added_one_after_the_other() -> None:
    values = [0.1, 0.2, 0.3, 1e17, 0.7, -1e17, 0.1, 0.2]
    frames = [values[max(0, place - 2) : place + 1] for place in range(len(values))]
    assert fractions(values, ["sum(x) AS s"], 2) == [(0.0 + sum(frame),) for frame in frames] + [(1.0,)]


def test_what_is_no_number_stays_in_its_frames() -> None:
    found = fractions([float("nan"), 5.0, float("inf"), 7.0], ["min(x) AS lo", "max(x) AS hi", "sum(x) AS s"], 1)
    assert [[str(value) for value in row] for row in found] == [
        ["nan", "nan", "nan"],
        ["5.0", "nan", "nan"],
        ["5.0", "inf", "inf"],
        ["7.0", "inf", "inf"],
        ["1.0", "1.0", "1.0"],
    ]


def test_a_sum_that_does_not_fit_is_refused() -> None:
    rows: list[Row] = [("a", (1 << 63) - 1, None, 100), ("b", 1, None, 101), ("a", 1, None, 102)]
    assert case(rows=0, aggregates=["sum(n) AS s"]).batch(rows)[-1][-1] == 1
    with pytest.raises(OperatorFailed, match="does not fit its type, BIGINT"):
        case(rows=1, aggregates=["sum(n) AS s"]).batch(rows)


def test_late_rows_are_left_out_and_counted() -> None:
    tester = case(rows=1).tester()
    tester.run(as_batch([("a", 1, None, 100)]))
    tester.run(as_batch([("a", 2, None, 94), ("a", 3, None, 95)]))
    assert tester.reports["it"].counts == {"without_time": 0, "late": 1}


@pytest.mark.parametrize("config", [{}, {"rows": 1, "within": "1s"}])
def test_a_window_reaches_back_in_one_way(config: dict[str, Json]) -> None:
    with pytest.raises(InvalidGraph, match="either rows or within"):
        Catalogue().get("over-window").configure({"time": "ts", "aggregates": ["count(*) AS c"], **config})

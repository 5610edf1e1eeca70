"""The first, the last or all rows of every so many, or of every span of time, against an obvious reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.serial_cases import SCHEMA, Case, Row, at, plans, rows_strategy, same_both_ways

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Json, Schema
from headrace.operators import Catalogue

COUNT, SPAN_S = 3, 10
Pick = Callable[[Sequence[Row]], Sequence[Row]]
PICKS: dict[str, Pick] = {
    "first": lambda rows: rows[:1],
    "last": lambda rows: rows[-1:],
    "all": lambda rows: rows,
}


def by_key(rows: Sequence[Row]) -> dict[str | None, list[Row]]:
    found: dict[str | None, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found


def of_rows(rows: Sequence[Row], which: str) -> list[tuple[Any, ...]]:
    chosen: list[Row] = []
    for own in by_key(rows).values():
        for start in range(0, len(own), COUNT):
            part = own[start : start + COUNT]
            if which == "first" or len(part) == COUNT:
                chosen += PICKS[which](part)
    return [(*row[:3], at(row[3])) for row in chosen]


def of_time(rows: Sequence[Row], which: str) -> list[tuple[Any, ...]]:
    chosen: list[Row] = []
    for own in by_key(rows).values():
        ordered = sorted(own, key=lambda row: row[3])
        for _, part in groupby(ordered, key=lambda row: row[3] // SPAN_S):
            chosen += PICKS[which](list(part))
    return [(*row[:3], at(row[3])) for row in chosen]


@pytest.mark.parametrize("which", PICKS)
@settings(max_examples=30, deadline=None)
@given(rows_strategy(), plans)
def test_of_so_many_rows(which: str, rows: list[Row], plan: list[tuple[int, str]]) -> None:
    case = Case("output-rate", {"which": which, "rows": COUNT, "keys": ["k"]})
    same_both_ways(case, lambda given: of_rows(given, which), rows, plan)


@pytest.mark.parametrize("which", PICKS)
@settings(max_examples=30, deadline=None)
@given(rows_strategy(), plans)
def test_of_a_span_of_time(which: str, rows: list[Row], plan: list[tuple[int, str]]) -> None:
    case = Case("output-rate", {"which": which, "every": f"{SPAN_S} seconds", "keys": ["k"]})
    same_both_ways(case, lambda given: of_time(given, which), rows, plan)


def snapshots(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    latest: dict[str | None, Row] = {}
    found: list[Row] = []
    for _, part in groupby(sorted(rows, key=lambda row: row[3]), key=lambda row: row[3] // SPAN_S):
        latest.update({row[0]: row for row in part})
        found += latest.values()
    return [(*row[:3], at(row[3])) for row in found]


@settings(max_examples=30, deadline=None)
@given(rows_strategy(), plans)
def test_snapshots_of_all_keys(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    case = Case("output-rate", {"which": "snapshot", "every": f"{SPAN_S} seconds", "keys": ["k"]})
    same_both_ways(case, snapshots, rows, plan)


def test_the_rows_of_a_snapshot_have_no_event_time() -> None:
    operator = Catalogue().get("output-rate")
    config = operator.configure({"which": "snapshot", "every": "5s"})
    assert operator.output_schema(config, {"in": SCHEMA}).event_time is None


def test_without_keys_all_rows_count() -> None:
    rows: list[Row] = [("a", 1, None, 100), ("b", 2, None, 101), ("a", 3, None, 102), ("b", 4, None, 103)]
    assert [row[1] for row in Case("output-rate", {"which": "last", "rows": 2}).batch(rows)] == [2, 4]
    assert [row[1] for row in Case("output-rate", {"which": "first", "every": "1 minute"}).batch(rows)] == [1]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"which": "first"}, "either rows or every"),
        ({"which": "first", "rows": 5, "every": "5s"}, "either rows or every"),
        ({"which": "last", "every": "0s"}, "every has no length"),
        ({"which": "snapshot", "rows": 5}, "a snapshot is taken of all keys together"),
        ({"which": "snapshot", "every": "5s", "partitioned": "as_topic"}, "a snapshot is taken of all keys together"),
    ],
)
def test_what_is_no_rate(config: dict[str, Json], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get("output-rate").configure(config)


def test_spans_need_an_event_time() -> None:
    operator = Catalogue().get("output-rate")
    config = operator.configure({"which": "last", "every": "5s"})
    with pytest.raises(InvalidInput, match="the rows have none"):
        operator.output_schema(config, {"in": Schema(SCHEMA.columns)})

"""Windows in the chain against slow and obvious references: as batch, as a stream cut anywhere, and through crashes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.serial_cases import (
    SCHEMA,
    Case,
    Row,
    as_batch,
    at,
    ordered,
    output,
    plans,
    rows_strategy,
    same_both_ways,
)

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Json
from headrace.operators import Catalogue

AGGREGATES: list[Json] = [
    "count(*) AS c", "count(x) AS cx", "sum(n) AS s", "avg(x) AS a", "min(n) AS lo", "max(x) AS hi",
]  # fmt: skip


def aggregated(rows: Sequence[Row]) -> tuple[Any, ...]:
    numbers = [row[1] for row in rows if row[1] is not None]
    values = [row[2] for row in rows if row[2] is not None]
    return (
        len(rows),
        len(values),
        sum(numbers) if numbers else None,
        sum(values) / len(values) if values else None,
        min(numbers, default=None),
        max(values, default=None),
    )


def length_reference(rows: Sequence[Row], length: int) -> list[tuple[Any, ...]]:
    seen: dict[str | None, list[Row]] = defaultdict(list)
    out = []
    for row in rows:
        seen[row[0]].append(row)
        last = aggregated(seen[row[0]][-length:])
        out.append((*row[:3], at(row[3]), last[0], last[2], last[3]))
    return out


@settings(max_examples=50, deadline=None)
@given(rows_strategy(60), plans)
def test_length_window(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    settings_: dict[str, Json] = {
        "length": 3,
        "keys": ["k"],
        "aggregates": ["count(*) AS c", "sum(n) AS s", "avg(x) AS a"],
    }
    case = Case("length-window", settings_)
    same_both_ways(case, lambda given: length_reference(given, 3), rows, plan)
    assert case.batch(rows) == length_reference(rows, 3)  # in order


def test_a_length_window_does_not_drift() -> None:
    case = Case("length-window", {"length": 2, "keys": ["k"], "aggregates": ["sum(x) AS s"]})
    rows: list[Row] = [("a", None, x, 0) for x in (1e16, 1.0, 1.0, 1.0, 1.0)]
    assert case.batch(rows)[-1][-1] == 2.0


def time_reference(rows: Sequence[Row], size: int, every: int) -> list[tuple[Any, ...]]:
    windows: dict[tuple[int, str | None], list[Row]] = defaultdict(list)
    for row in rows:
        for start in range(row[3] - row[3] % every, row[3] - size, -every):
            windows[start, row[0]].append(row)
    return [(at(start), at(start + size), key, *aggregated(found)) for (start, key), found in windows.items()]


def cumulate_reference(rows: Sequence[Row], size: int, step: int) -> list[tuple[Any, ...]]:
    windows: dict[tuple[int, int, str | None], list[Row]] = defaultdict(list)
    for row in rows:
        start = row[3] - row[3] % size
        for end in range(start + step, start + size + 1, step):
            if end > row[3]:
                windows[start, end, row[0]].append(row)
    return [(at(start), at(end), key, *aggregated(found)) for (start, end, key), found in windows.items()]


def time_case(**config: Json) -> Case:
    return Case("time-window", {"time": "ts", "keys": ["k"], "aggregates": AGGREGATES, **config})


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_tumbling_time_window(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(time_case(size="10s"), lambda given: time_reference(given, 10, 10), rows, plan)


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_hopping_time_window(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(time_case(size="12s", every="4s"), lambda given: time_reference(given, 12, 4), rows, plan)


@settings(max_examples=40, deadline=None)
@given(rows_strategy(), plans)
def test_time_window_that_grows(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(time_case(size="12s", step="4s"), lambda given: cumulate_reference(given, 12, 4), rows, plan)


@settings(max_examples=40, deadline=None)
@given(rows_strategy(), plans)
def test_changes_of_a_time_window_end_with_what_is_final(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    changes = time_case(size="10s", emit="changes").stream(rows, plan)
    last = {change[:3]: change for change in changes}
    assert ordered(list(last.values())) == ordered(time_reference(rows, 10, 10))


def session_reference(rows: Sequence[Row], gap: int) -> list[tuple[Any, ...]]:
    out = []
    for key in {row[0] for row in rows}:
        session: list[Row] = []
        for row in [*sorted((row for row in rows if row[0] == key), key=lambda row: row[3]), None]:
            if session and (row is None or row[3] >= session[-1][3] + gap):
                out.append((at(session[0][3]), at(session[-1][3] + gap), key, *aggregated(session)))
                session = []
            if row is not None:
                session.append(row)
    return out


def session_case(**config: Json) -> Case:
    return Case("session-window", {"gap": "4s", "time": "ts", "keys": ["k"], "aggregates": AGGREGATES, **config})


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_session_window(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(session_case(), lambda given: session_reference(given, 4), rows, plan)


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_changes_of_sessions_end_with_what_is_final(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    changes = session_case(emit="changes").stream(rows, plan)
    last = {(change[0], change[2]): change for change in changes}
    there = [change for change in last.values() if change[3] is not None]
    assert ordered(there) == ordered(session_reference(rows, 4))


def test_late_rows_are_left_out_and_counted() -> None:
    tester = time_case(size="10s").tester()
    tester.run(as_batch([("a", 1, None, 100)]), as_batch([("a", 1, None, 130)]))
    tester.run(as_batch([("a", 1, None, 105), ("a", 1, None, 126)]))
    assert tester.reports["it"].counts == {"without_time": 0, "late": 1}
    tester.end()
    assert [(row[0], row[3]) for row in output(tester)] == [(at(100), 1), (at(120), 1), (at(130), 1)]


def test_without_keys_there_is_one_window() -> None:
    case = Case("time-window", {"size": "10s", "time": "ts", "aggregates": ["count(*) AS c"]})
    assert case.batch([("a", 1, None, 100), ("b", 1, None, 101)]) == [(at(100), at(110), 2)]


@pytest.mark.parametrize(
    ("operator", "config", "message"),
    [
        ("length-window", {"length": 2, "aggregates": ["min(n) AS m"]}, "is no aggregate of a column"),
        ("length-window", {"length": 2, "aggregates": ["sum(k) AS m"]}, "k is STRING"),
        ("length-window", {"length": 2, "aggregates": ["sum(n)"]}, "has no name"),
        ("length-window", {"length": 2, "keys": ["x"], "aggregates": ["sum(n) AS s"]}, "the key 'x' is DOUBLE"),
        ("length-window", {"length": 2, "aggregates": ["sum(n) AS n"]}, "comes out twice"),
        ("time-window", {"size": "1s", "time": "n", "aggregates": ["count(*) AS c"]}, "not the event time"),
        ("session-window", {"gap": "1s", "time": "ts", "aggregates": ["sum(m) AS c"]}, "unknown column 'm'"),
    ],
)
def test_settings_that_do_not_fit_the_rows(operator: str, config: dict[str, Json], message: str) -> None:
    found = Catalogue().get(operator)
    with pytest.raises(InvalidInput, match=message):
        found.output_schema(found.configure(config), {"in": SCHEMA})


@pytest.mark.parametrize("config", [{"size": "0s"}, {"size": "10s", "every": "3s"}, {"size": "10s", "every": "0s"}])
def test_windows_that_do_not_fit_together(config: dict[str, Json]) -> None:
    with pytest.raises(InvalidGraph):
        Catalogue().get("time-window").configure({"time": "ts", "aggregates": ["count(*) AS c"], **config})

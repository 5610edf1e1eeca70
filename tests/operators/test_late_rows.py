"""Rows that come when their windows are closed: whatever becomes of them, none vanishes uncounted."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.serial_cases import SCHEMA, Case, Row, as_batch, at, ordered, output, plans
from tests.operators.test_serial_windows import cumulate_reference, session_reference, time_reference

from headrace.errors import InvalidGraph
from headrace.graph import Json
from headrace.operators import Catalogue

POLICIES: dict[str, dict[str, Json]] = {
    "drop": {},
    "dead_letter": {"dead_letter": "late"},
    "include_in_next_window": {},
    "update_previous": {"late_for": "10s"},
}
# The second micro-batch begins with a watermark of 30 s: 35 without the delay.
EARLY: list[Row] = [("a", 1, None, 3), ("a", 2, None, 35)]
LATE: list[Row] = [("a", 4, None, 4), ("a", 8, None, 25), ("a", 16, None, 36)]


def case(late: str, **config: Json) -> Case:
    settings: dict[str, Json] = {
        "size": "10s",
        "time": "ts",
        "keys": ["k"],
        "aggregates": ["sum(n) AS s"],
        "late": late,
    }
    return Case("time-window", {**settings, **POLICIES[late], **config})


def told(late: str) -> tuple[list[tuple[object, object]], dict[str, int], list[dict[str, str]]]:
    """(start, sum) of all windows in the order in which they came, what was counted, and the dead letters."""
    tester = case(late).tester()
    counts: Counter[str] = Counter()
    for rows in (EARLY, LATE):
        tester.run(as_batch(rows))
        counts += Counter(tester.reports["it"].counts)
    tester.end()
    letters = [json.loads(letter.to_json()) for letter in tester.dead_letters]
    return [(row[0], row[-1]) for row in output(tester)], dict(counts), letters


def test_dropped_rows_are_counted() -> None:
    assert told("drop") == ([(at(0), 1), (at(30), 18)], {"late": 2}, [])


def test_dead_letters_tell_the_row_and_how_late_it_is() -> None:
    rows, counts, letters = told("dead_letter")
    assert (rows, counts) == ([(at(0), 1), (at(30), 18)], {"late": 2})
    assert [json.loads(letter["row"])["n"] for letter in letters] == [4, 8]
    assert letters[0]["reason"] == "late: 26000 ms behind the watermark, and its window is closed"


def test_late_rows_go_into_the_window_that_is_open() -> None:
    assert told("include_in_next_window") == ([(at(0), 1), (at(30), 30)], {"late_taken_in": 2}, [])


def test_a_closed_window_comes_out_once_more() -> None:
    """The window of 25 is kept until 40 and told at once; that of 4 is gone: kept until 20."""
    assert told("update_previous") == ([(at(0), 1), (at(20), 8), (at(30), 18)], {"late": 1}, [])


def test_a_window_that_was_told_is_told_anew_with_all_its_rows() -> None:
    tester = case("update_previous").tester()
    for rows in ([("a", 1, None, 25), ("a", 2, None, 36)], [("a", 4, None, 26)], [("a", 8, None, 27)]):
        tester.run(as_batch(rows))
    tester.end()
    assert [(row[0], row[-1]) for row in output(tester)] == [(at(20), 1), (at(20), 5), (at(20), 13), (at(30), 2)]


@pytest.mark.parametrize("late", POLICIES)
@pytest.mark.parametrize(
    "window",
    [{"every": "10s"}, {"every": "5s"}, {"step": "5s"}, {"gap": "3s"}],
    ids=" ".join,
)
def test_rows_in_are_rows_out_and_those_that_were_counted(late: str, window: dict[str, Json]) -> None:
    config: dict[str, Json] = {"time": "ts", "aggregates": ["count(*) AS c"], "late": late, **POLICIES[late]}
    name = "session-window" if "gap" in window else "time-window"
    tester = Case(name, {**config, **window, **({} if "gap" in window else {"size": "10s"})}).tester()
    chance = random.Random(f"{late} {window}")
    counts: Counter[str] = Counter()
    rows_in = 0
    for step in range(30):
        rows: list[Row] = [("a", None, None, max(0, 100 + 8 * step - chance.randrange(60))) for _ in range(3)]
        rows_in += len(rows)
        tester.run(as_batch(rows))
        counts += Counter(tester.reports["it"].counts)
    tester.end()
    assert counts["late"] + counts["late_taken_in"] > 0
    if window.get("every") == "10s" or (name == "session-window" and late == "update_previous"):
        last = {row[0]: row[-1] or 0 for row in output(tester)}
        assert sum(last.values()) + counts["late"] == rows_in
    if name == "session-window" and late != "update_previous":
        assert sum(row[-1] for row in output(tester)) + counts["late"] == rows_in
    assert len(tester.dead_letters) == (counts["late"] if late == "dead_letter" else 0)


AGGREGATES: list[Json] = [
    "count(*) AS c", "count(x) AS cx", "sum(n) AS s", "avg(x) AS a", "min(n) AS lo", "max(x) AS hi",
]  # fmt: skip
KEPT_S = 20


def disordered(made: list[tuple[Any, Any, Any, int, int]]) -> list[Row]:
    """Times go forward, some rows come up to what is kept behind the watermark: 5 s of delay, and `late_for`."""
    now, rows = 100, list[Row]()
    for key, number, value, step, back in made:
        now += step
        rows.append((key, number, value, now - back))
    return rows


late_rows = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.one_of(st.none(), st.integers(-50, 50)),
        st.one_of(st.none(), st.integers(-50, 50).map(float)),
        st.integers(0, 7),
        st.integers(0, 5 + KEPT_S),
    ),
    max_size=30,
).map(disordered)


def last_told(changes: Sequence[tuple[Any, ...]], identity: slice) -> list[tuple[Any, ...]]:
    """The last row of each window, without those that are no more; the key stands at place 2."""
    last = {(change[identity], change[2]): change for change in changes}
    return ordered([change for change in last.values() if change[3] is not None])


def updating(operator: str, emit: str, **config: Json) -> Case:
    common: dict[str, Json] = {"time": "ts", "keys": ["k"], "aggregates": AGGREGATES, "emit": emit}
    return Case(operator, {**common, "late": "update_previous", "late_for": f"{KEPT_S}s", **config})


@pytest.mark.parametrize("emit", ["final", "changes"])
@settings(max_examples=25, deadline=None)
@given(rows=late_rows, plan=plans)
def test_what_was_told_last_is_what_all_rows_give(emit: str, rows: list[Row], plan: list[tuple[int, str]]) -> None:
    """However late rows within `late_for` come: windows and sessions are those of a batch over all of them."""
    hopping = updating("time-window", emit, size="12s", every="4s").stream(rows, plan)
    assert last_told(hopping, slice(0, 2)) == ordered(time_reference(rows, 12, 4))
    growing = updating("time-window", emit, size="12s", step="4s").stream(rows, plan)
    assert last_told(growing, slice(0, 2)) == ordered(cumulate_reference(rows, 12, 4))
    sessions = updating("session-window", emit, gap="4s").stream(rows, plan)
    assert last_told(sessions, slice(0, 1)) == ordered(session_reference(rows, 4))


def test_a_late_row_joins_sessions_that_were_told() -> None:
    case = updating("session-window", "final", gap="4s", aggregates=["sum(n) AS s"])
    tester = case.tester()
    for rows in (
        [("a", 1, None, 20), ("a", 2, None, 26), ("a", 4, None, 40)],
        [("b", 0, None, 41)],
        [("a", 8, None, 23)],
    ):
        tester.run(as_batch(rows))
    told = [(row[0], row[1], row[-1]) for row in output(tester)]
    assert told == [(at(20), at(24), 1), (at(26), at(30), 2), (at(26), at(30), None), (at(20), at(30), 11)]


def test_a_late_row_counts_in_a_session_as_if_it_came_just_now() -> None:
    """The watermark of the second micro-batch is 35 s: there a session begins, and the row of 37 s extends it."""
    config: dict[str, Json] = {"gap": "4s", "time": "ts", "keys": ["k"], "aggregates": ["sum(n) AS s"]}
    tester = Case("session-window", {**config, "late": "include_in_next_window"}).tester()
    for rows in ([("a", 1, None, 20), ("a", 2, None, 40)], [("a", 4, None, 10), ("a", 8, None, 37)]):
        tester.run(as_batch(rows))
    tester.end()
    assert [(row[0], row[1], row[-1]) for row in output(tester)] == [(at(20), at(24), 1), (at(35), at(44), 14)]


PASSED: dict[str, dict[str, Json]] = {
    "over-window": {"rows": 2, "time": "ts", "keys": ["k"], "aggregates": ["sum(n) AS s"]},
    "over-running": {"time": "ts", "keys": ["k"], "functions": ["sum(n) AS s"]},
    "output-rate": {"which": "all", "every": "10s"},
}


@pytest.mark.parametrize("operator", PASSED)
def test_operators_that_wait_for_the_watermark_keep_what_comes_behind_it(operator: str) -> None:
    tester = Case(operator, {**PASSED[operator], "late": "dead_letter", "dead_letter": "late"}).tester()
    for rows in (EARLY, LATE):
        tester.run(as_batch(rows))
    tester.end()
    letters = [json.loads(letter.to_json()) for letter in tester.dead_letters]
    assert [(json.loads(letter["row"])["n"], letter["reason"]) for letter in letters] == [
        (4, "late: 26000 ms behind the watermark"),
        (8, "late: 5000 ms behind the watermark"),
    ]
    assert sorted(row[1] for row in output(tester)) == [1, 2, 16]


@pytest.mark.parametrize(
    ("operator", "config"),
    [
        ("time-window", {"size": "10s", "time": "ts", "aggregates": ["count(*) AS c"]}),
        ("session-window", {"gap": "10s", "time": "ts", "aggregates": ["count(*) AS c"]}),
        *PASSED.items(),
    ],
)
def test_dead_letters_hold_the_whole_row(operator: str, config: dict[str, Json]) -> None:
    """Columns that nothing else reads are read for them."""
    found = Catalogue().get(operator)
    for settings_, columns in (({}, False), ({"late": "dead_letter", "dead_letter": "late"}, True)):
        configured = found.configure({**config, **settings_})
        read = found.used_columns(configured, frozenset(), {"in": SCHEMA})["in"]
        assert (read >= set(SCHEMA.names)) == columns


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"late": "dead_letter"}, "go together"),
        ({"dead_letter": "late"}, "go together"),
        ({"late": "update_previous"}, "go together"),
        ({"late_for": "10s"}, "go together"),
        ({"late": "later"}, "cannot be 'later'"),
        ({"every": "5s", "step": "5s"}, "begins every so often or grows"),
        ({"step": "3s"}, "a multiple of"),
        ({"step": "0s"}, "step has no length"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, Json], message: str) -> None:
    whole: dict[str, Json] = {"size": "10s", "time": "ts", "aggregates": ["count(*) AS c"], **settings}
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get("time-window").configure(whole)


def test_rows_that_are_counted_are_never_late() -> None:
    with pytest.raises(InvalidGraph, match="never late"):
        Catalogue().get("output-rate").configure({"which": "all", "rows": 5, "late": "dead_letter", "dead_letter": "x"})

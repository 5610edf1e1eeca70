"""Rows that come when their windows are closed: whatever becomes of them, none vanishes uncounted."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from tests.operators.serial_cases import Case, Row, as_batch, at, output

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
@pytest.mark.parametrize("every", ["10s", "5s"])
def test_rows_in_are_rows_out_and_those_that_were_counted(late: str, every: str) -> None:
    tester = case(late, every=every, aggregates=["count(*) AS c"]).tester()
    chance = random.Random(f"{late} {every}")
    counts: Counter[str] = Counter()
    rows_in = 0
    for step in range(30):
        rows: list[Row] = [("a", None, None, max(0, 100 + 4 * step - chance.randrange(60))) for _ in range(5)]
        rows_in += len(rows)
        tester.run(as_batch(rows))
        counts += Counter(tester.reports["it"].counts)
    tester.end()
    last = {row[:3]: row[-1] for row in output(tester)}
    assert counts["late"] + counts["late_taken_in"] > 0
    if every == "10s":
        assert sum(last.values()) + counts["late"] == rows_in
    assert len(tester.dead_letters) == (counts["late"] if late == "dead_letter" else 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"late": "dead_letter"}, "go together"),
        ({"dead_letter": "late"}, "go together"),
        ({"late": "update_previous"}, "go together"),
        ({"late_for": "10s"}, "go together"),
        ({"late": "later"}, "cannot be 'later'"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, Json], message: str) -> None:
    whole: dict[str, Json] = {"size": "10s", "time": "ts", "aggregates": ["count(*) AS c"], **settings}
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get("time-window").configure(whole)

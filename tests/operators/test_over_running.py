"""Functions of each row and all of its key before it, against a slow and obvious reference, and against Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.over_cases import AGGREGATES, aggregated
from tests.operators.serial_cases import SCHEMA, Case, Row, as_batch, at, plans, rows_strategy, same_both_ways

from headrace.errors import InvalidInput
from headrace.graph import Json
from headrace.operators import Catalogue
from headrace.serial import OperatorFailed

NUMBERS: list[Json] = [
    "row_number() AS r", "rank() AS k1", "dense_rank() AS k2", "lag(n) AS b", "lag(x, 3, -1) AS b3",
    "lag(k, 2, 'none') AS bk",
]  # fmt: skip


def case(functions: list[Json], **config: Json) -> Case:
    return Case("over-running", {"time": "ts", "keys": ["k"], "functions": functions, **config})


Reference = Callable[[Sequence[Row]], list[tuple[Any, ...]]]


def over(is_seen: Callable[[int, int], bool]) -> Reference:
    """`is_seen` compares the second of a row that came before in the order, or is of the same time, with a row's."""

    def reference(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
        in_order = sorted(rows, key=lambda row: row[3])
        made = []
        for place, row in enumerate(in_order):
            before = [
                other
                for other_place, other in enumerate(in_order)
                if other[0] == row[0] and (other_place <= place or is_seen(other[3], row[3]))
            ]
            made.append((*row[:3], at(row[3]), *aggregated(before)))
        return made

    return reference


def numbered(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    made, seen = [], dict[str | None, list[Row]]()
    for row in sorted(rows, key=lambda row: row[3]):
        before = seen.setdefault(row[0], [])
        earlier = [other[3] for other in before if other[3] < row[3]]
        lagged = [before[-offset] if len(before) >= offset else None for offset in (1, 3, 2)]
        values = [None if one is None else one[column] for one, column in zip(lagged, (1, 2, 0), strict=True)]
        values[1] = -1.0 if lagged[1] is None else values[1]
        values[2] = "none" if lagged[2] is None else values[2]
        made.append((*row[:3], at(row[3]), len(before) + 1, len(earlier) + 1, len(set(earlier)) + 1, *values))
        before.append(row)
    return made


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_rows_of_the_same_time_are_taken_in_together(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(case(AGGREGATES), over(lambda other, own: other == own), rows, plan)


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_row_by_row(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    reference = over(lambda other, own: False)
    same_both_ways(case(AGGREGATES, frame="rows"), reference, rows, plan)
    assert case(AGGREGATES, frame="rows").stream(rows, plan) == reference(rows)  # in order


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_numbers_and_values_of_rows_before(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    same_both_ways(case(NUMBERS), numbered, rows, plan)
    assert case(NUMBERS).stream(rows, plan) == numbered(rows)  # in order


@settings(max_examples=20, deadline=None)
@given(rows_strategy(), plans)
def test_without_keys_all_rows_are_one(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    alone = case(["count(*) AS c", "lag(n) AS b"], keys=[], frame="rows")
    found = [row[-2:] for row in alone.stream(rows, plan)]
    numbers = [row[1] for row in sorted(rows, key=lambda row: row[3])]
    assert found == [(place + 1, numbers[place - 1] if place else None) for place in range(len(numbers))]


def test_sums_of_fractions_are_rounded_as_if_added_one_after_the_other() -> None:
    values = [0.1, 0.2, 0.3, 1e17, 0.7, -1e17]
    rows: list[Row] = [("a", 1, value, 100 + place) for place, value in enumerate(values)]
    total, expected = 0.0, []
    for value in values:
        total += value
        expected.append(total)
    assert [row[-1] for row in case(["sum(x) AS s"]).stream(rows, [(2, ""), (4, "")])] == expected


def test_what_is_no_number_is_the_greatest() -> None:
    values = [float("nan"), 5.0, float("inf"), 7.0]
    rows: list[Row] = [("a", 1, value, 100 + place) for place, value in enumerate(values)]
    found = [row[-2:] for row in case(["min(x) AS lo", "max(x) AS hi"]).stream(rows, [(1, "")])]
    assert [low for low, _ in found[1:]] == [5.0, 5.0, 5.0]
    assert all(str(one) == "nan" for one in [found[0][0], *(high for _, high in found)])


def test_a_sum_that_does_not_fit_is_refused() -> None:
    rows: list[Row] = [("a", (1 << 63) - 1, None, 100), ("b", 1, None, 101), ("a", 1, None, 102)]
    with pytest.raises(OperatorFailed, match="does not fit its type, BIGINT"):
        case(["sum(n) AS s"]).batch(rows)


def test_late_rows_are_left_out_and_counted() -> None:
    tester = case(["count(*) AS c"]).tester()
    tester.run(as_batch([("a", 1, None, 100)]))
    tester.run(as_batch([("a", 2, None, 94), ("a", 3, None, 95)]))
    assert tester.reports["it"].counts == {"without_time": 0, "late": 1}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("lag(missing) AS p", "unknown column 'missing'"),
        ("lag(n, 0) AS p", "from 1 to"),
        ("lag(n, x) AS p", "from 1 to"),
        ("lag(n, 1, 'none') AS p", "is no value of n, which is BIGINT"),
        ("lag(n, 1, 1.5) AS p", "is no value of n, which is BIGINT"),
        ("lag(n) IGNORE NULLS AS p", "cannot leave out nulls"),
        ("lag(n + 1) AS p", "takes a column"),
        ("lag(n)", "has no name"),
        ("sum(k) AS s", "k is STRING"),
        ("count(n, x) AS c", "takes one column"),
        ("lead(n) AS p", "is no aggregate of a column"),
        ("rank() AS k", "'k'"),
    ],
)
def test_functions_that_do_not_fit_are_refused(function: str, message: str) -> None:
    operator = Catalogue().get("over-running")
    with pytest.raises(InvalidInput, match=message):
        operator.output_schema(operator.configure(case([function]).config), {"in": SCHEMA})


def test_state_of_a_key_does_not_grow_with_its_rows() -> None:
    tester = case(["sum(n) AS s", "lag(n, 2) AS b"]).tester()
    for start in range(100, 400, 50):
        tester.run(as_batch([(key, 1, None, start + second) for second in range(50) for key in ("a", "b")]))
    state = tester._store.load("it", 0, tester.versions["it"]).claim_all()  # as the next micro-batch finds it
    assert (state["keys"].size, state["lag1"].size) == (2, 4)

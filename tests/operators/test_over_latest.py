"""Aggregates over the rows before each row, where rows take the place of others, against an obvious reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.serial_cases import SCHEMA, Case, Row, at, ordered, plans, rows_strategy

from headrace.errors import InvalidInput
from headrace.graph import Json
from headrace.operators import Catalogue, over_latest

AGGREGATES: list[Json] = ["count(*) AS c", "count(x) AS cx", "sum(x) AS s", "avg(x) AS a", "min(x) AS lo"]


def case(**config: Json) -> Case:
    whole: dict[str, Json] = {"ids": ["n"], "by": ["ts"], "rows": 2, "keys": ["k"], "aggregates": AGGREGATES}
    return Case("over-latest", {**whole, **config})


def place(row: Row) -> tuple[int, bool, int]:
    return row[3], row[1] is not None, row[1] or 0


def reference(rows: Sequence[Row], count: int) -> list[tuple[Any, ...]]:
    latest = list({row[:2]: row for row in rows}.values())
    made = []
    for row in latest:
        before = sorted((other for other in latest if other[0] == row[0] and place(other) <= place(row)), key=place)
        made.append((*row[:3], at(row[3]), *aggregated(before[-count - 1 :])))
    return made


def aggregated(rows: Sequence[Row]) -> tuple[Any, ...]:
    known = [row[2] for row in rows if row[2] is not None]
    if not known:
        return (len(rows), 0, None, None, None)
    return (len(rows), len(known), sum(known), sum(known) / len(known), min(known))


@pytest.mark.parametrize("replaced_rows_max", [0, over_latest.REPLACED_ROWS_MAX])
def test_the_last_of_each_id_is_what_the_reference_gives(
    monkeypatch: pytest.MonkeyPatch, replaced_rows_max: int
) -> None:
    monkeypatch.setattr(over_latest, "REPLACED_ROWS_MAX", replaced_rows_max)

    @settings(max_examples=50, deadline=None)
    @given(rows_strategy(), plans)
    def check(rows: list[Row], plan: list[tuple[int, str]]) -> None:
        for found in (case().batch(rows), case().stream(rows, plan)):
            last = {row[:2]: row for row in found}
            assert ordered(list(last.values())) == ordered(reference(rows, 2))

    check()


def test_only_rows_that_came_or_changed_are_told() -> None:
    rows: list[Row] = [("a", n, float(n), n) for n in range(1, 7)]
    moved: Row = ("a", 2, 7.0, 5)
    found = case(rows=1, aggregates=["sum(x) AS s"]).stream([*rows, ("b", 9, 9.0, 9), moved], [(7, "")])
    # 2 now stands before 5: 3 lost it, 5 found it.
    assert [(row[1], row[-1]) for row in found[7:]] == [(3, 4.0), (2, 11.0), (5, 12.0)]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"ids": ["missing"]}, "unknown column 'missing'"),
        ({"by": ["missing"]}, "unknown column 'missing'"),
        ({"aggregates": ["count(*) AS k"]}, "'k'"),
        ({"aggregates": ["sum(k) AS s"]}, "k is STRING"),
    ],
)
def test_columns_that_do_not_fit_are_refused(config: dict[str, Json], message: str) -> None:
    operator = Catalogue().get("over-latest")
    with pytest.raises(InvalidInput, match=message):
        operator.output_schema(operator.configure(case(**config).config), {"in": SCHEMA})

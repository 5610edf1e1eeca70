"""Aggregates over the latest row of each id, against a slow and obvious reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from tests.operators.serial_cases import SCHEMA, Case, Row, ordered, plans, rows_strategy

from headrace.errors import InvalidInput
from headrace.graph import Json
from headrace.operators import Catalogue

AGGREGATES: list[Json] = [
    "count(*) AS c",
    "count(x) AS cx",
    "sum(x) AS s",
    "avg(x) AS a",
    "min(x) AS lo",
    "max(ts) AS t",
]


def case(**config: Json) -> Case:
    return Case("aggregate-latest", {"ids": ["n"], "keys": ["k"], "aggregates": AGGREGATES, **config})


def reference(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    latest = {(key, id_): (x, second) for key, id_, x, second in rows}
    groups: dict[str | None, list[tuple[float | None, int]]] = defaultdict(list)
    for (key, _), value in latest.items():
        groups[key].append(value)
    return [(key, *aggregated(values)) for key, values in groups.items()]


def aggregated(values: Sequence[tuple[float | None, int]]) -> tuple[Any, ...]:
    known = [x for x, _ in values if x is not None]
    last = max(second for _, second in values)
    if not known:
        return (len(values), 0, None, None, None, last)
    return (len(values), len(known), sum(known), sum(known) / len(known), min(known), last)


@settings(max_examples=60, deadline=None)
@given(rows_strategy(), plans)
def test_the_last_rows_are_the_aggregates_over_the_latest_of_each_id(
    rows: list[Row], plan: list[tuple[int, str]]
) -> None:
    for found in (case().batch(rows), case().stream(rows, plan)):
        last = {row[0]: (*row[:-1], round(row[-1].timestamp())) for row in found}
        assert ordered(list(last.values())) == ordered(reference(rows))


def test_without_keys_all_rows_are_one_group() -> None:
    rows: list[Row] = [("a", 1, 2.0, 0), ("b", 2, 4.0, 0), ("c", 1, 8.0, 0)]
    assert case(keys=[], aggregates=["sum(x) AS s"]).stream(rows, [(1, ""), (2, "")]) == [(2.0,), (6.0,), (12.0,)]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"ids": ["x"]}, "the key 'x' is DOUBLE"),
        ({"ids": ["missing"]}, "unknown column 'missing'"),
        ({"aggregates": ["count(*) AS k"]}, "'k'"),
        ({"aggregates": ["sum(k) AS s"]}, "k is STRING"),
    ],
)
def test_columns_that_do_not_fit_are_refused(config: dict[str, Json], message: str) -> None:
    operator = Catalogue().get("aggregate-latest")
    whole: dict[str, Json] = {"ids": ["n"], "keys": ["k"], "aggregates": ["sum(x) AS s"], **config}
    with pytest.raises(InvalidInput, match=message):
        operator.output_schema(operator.configure(whole), {"in": SCHEMA})

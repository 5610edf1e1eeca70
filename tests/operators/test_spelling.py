"""Expressions without their spelling."""

from __future__ import annotations

import pytest

from headrace.operators import Catalogue
from headrace.operators.spelling import unspelled, unspelled_expression


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("count(*) AS n", "COUNT( * ) as n"),
        ("x<50", "x < 50"),
        ("X < 50", "x < 50"),
        ("`x` <> 1", "x != 1"),
        ("a  AND\n b", "a and b"),
        ("sum(v) FILTER (WHERE v>1) AS s", "SUM(v) filter (where v > 1) AS s"),
        ("left.k=right.k", "left.k = right.k"),
    ],
)
def test_what_means_the_same_is_one_text(one: str, other: str) -> None:
    assert unspelled_expression(one) == unspelled_expression(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("count(*) AS n", "count(*) AS N"),
        ("count(*) AS n", "count(x) AS n"),
        ("x < 50", "x <= 50"),
        ("s = 'a'", "s = 'A'"),
        ("a AND b OR c", "a AND (b OR c)"),
        ("v", "V"),
        ("min(v) AS m", "max(v) AS m"),
        ("count(DISTINCT v) AS n", "count(v) AS n"),
        ("v / 2 AS h", "v div 2 AS h"),
    ],
)
def test_what_means_something_else_is_not(one: str, other: str) -> None:
    assert unspelled_expression(one) != unspelled_expression(other)


def test_only_expressions_are_taken_so() -> None:
    catalogue = Catalogue()
    topic = catalogue.get("topic")
    assert unspelled({"topic": "Orders", "schema": "k STRING"}, topic)["topic"] == "Orders"
    aggregate = catalogue.get("aggregate")
    one, other = (
        unspelled({"aggregates": [text], "keys": ["k"]}, aggregate) for text in ("sum(v) AS n", "SUM(v) AS n")
    )
    assert one == other
    assert unspelled({"nonsense": 1}, aggregate) == {"nonsense": 1}

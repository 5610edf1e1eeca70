"""A column behind the name of a stream is that stream's, in every clause; else it is unknown."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.sql import parse

DECLARED = """
CREATE STREAM a (id INT, x INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM b (id INT, y INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE TABLE l (id INT PRIMARY KEY, z INT);
"""
BOTH = "FROM a JOIN b WITHIN 1 MINUTE ON a.id = b.id"


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        (f"SELECT b.x, a.y {BOTH}", "b.x"),
        (f"SELECT a.x {BOTH} WHERE b.x > 1", "b.x"),
        (f"SELECT b.id, sum(b.x) AS s {BOTH} GROUP BY b.id", "b.x"),
        (f"SELECT a.x, count(*) AS n {BOTH} GROUP BY a.x, a.y", "a.y"),
        (f"SELECT a.x, l.z {BOTH} JOIN l ON b.x = l.id", "b.x"),
        (f"SELECT a.x, l.z {BOTH} JOIN l ON b.y = l.id WHERE l.y > 1", "l.y"),
        ("SELECT a.z FROM a JOIN l ON a.id = l.id", "a.z"),
        ("SELECT l.x FROM a LEFT JOIN l ON a.id = l.id", "l.x"),
        ("SELECT b.x FROM a ASOF JOIN b ON a.id = b.id", "b.x"),
        ("SELECT a.x FROM a ASOF JOIN b ON a.id = b.id WHERE a.y > 1", "a.y"),
        ("SELECT a.x FROM a ASOF JOIN b ON a.y = b.id", "a.y"),
        ("SELECT a.x FROM a ASOF JOIN b ON a.id = b.x", "b.x"),
        ("SELECT a.x FROM a WHERE EXISTS (SELECT 1 FROM l WHERE l.id = a.id AND l.x > 2)", "l.x"),
        ("SELECT a.x FROM a WHERE a.id IN (SELECT l.x FROM l)", "l.x"),
    ],
)
def test_a_column_of_another_side_is_unknown(query: str, unknown: str) -> None:
    with pytest.raises(InvalidSyntax, match=f"unknown column '{unknown}'"):
        parse(f"{DECLARED} CREATE STREAM o AS {query}")


def test_the_side_that_has_it_is_named() -> None:
    with pytest.raises(InvalidSyntax) as refused:
        parse(f"{DECLARED} CREATE STREAM o AS SELECT b.x {BOTH}")
    assert refused.value.hint == "x is a column of a: write a.x"
    assert refused.value.valid == ("b.id", "b.y", "b.ts")


def test_columns_of_their_own_side_are_known() -> None:
    parse(f"{DECLARED} CREATE STREAM o AS SELECT a.x, b.y, a.ts, b.ts AS other, b.id {BOTH} WHERE a.ts < b.ts")
    parse(f"{DECLARED} CREATE STREAM o AS SELECT q.x, l.z FROM (SELECT a.x, b.y {BOTH}) q JOIN l ON q.y = l.id")

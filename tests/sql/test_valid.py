"""What is valid SQL and was refused with another reason than the true one."""

from __future__ import annotations

import pytest

from headrace.sql import parse

DECLARED = """
CREATE STREAM a (id INT, x INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM b (id INT, y INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
"""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.id, b.id AS other FROM a JOIN b WITHIN 1 MINUTE ON abs(a.id) = abs(b.id)",
        "SELECT (x + id) AS k, count(*) AS n FROM a GROUP BY x + id",
        "SELECT x + id AS k, count(*) AS n FROM a GROUP BY (x + id)",
    ],
)
def test_it_is_taken(query: str) -> None:
    parse(f"{DECLARED} CREATE STREAM o AS {query}")


def test_keys_that_are_computed_stay_apart() -> None:
    document = parse(f"{DECLARED} CREATE STREAM o AS SELECT a.id, b.id AS other FROM a JOIN b WITHIN 1 MINUTE "
                     "ON abs(a.id) = abs(b.id)")  # fmt: skip
    columns = [node.config["columns"] for node in document.nodes if node.operator == "select"]
    assert ["id", "b_id AS other"] in columns

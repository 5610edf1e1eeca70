"""What cannot be compared between a batch and a stream is known before anything runs."""

from __future__ import annotations

import pytest

from headrace.cases.streamed import latest_by, needs_end, stream_hindrance
from headrace.graph.validation import validate
from headrace.operators.catalogue import Catalogue
from headrace.sql import parse

CATALOGUE = Catalogue()
HEAD = "CREATE STREAM t (k STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts); CREATE STREAM s AS "


@pytest.mark.parametrize(
    ("query", "reason", "ends"),
    [
        ("SELECT k FROM t WHERE v > 1", None, False),
        ("SELECT count(*) AS n FROM t WINDOW TUMBLING(1m)", None, True),
        ("SELECT count(*) AS n FROM t WINDOW TUMBLING(1m) HAVING count(*) > 1", None, True),
        ("SELECT count(*) AS n FROM t WINDOW TUMBLING(1m) EMIT CHANGES", "EMIT CHANGES", False),
        (
            "SELECT k, sum(v) AS n, _window_start, _window_end FROM t GROUP BY k WINDOW TUMBLING(1m) EMIT CHANGES",
            None,
            False,
        ),
        ("SELECT k, count(*) AS n FROM t WHERE v > 1 GROUP BY k", None, False),
        ("SELECT count(*) AS n FROM t GROUP BY k", "no columns tell", False),
        ("SELECT k AS who, count(*) AS n FROM t GROUP BY k", None, False),
        ("SELECT upper(k) AS k, count(*) AS n FROM t GROUP BY k", "no columns tell", False),
        (
            "WITH g AS (SELECT k AS a, v AS b, count(*) AS n FROM t GROUP BY k, v) SELECT a AS b, b AS a FROM g",
            None,
            False,
        ),
        (
            "WITH g AS (SELECT k, v, count(*) AS n FROM t GROUP BY k, v) SELECT k, n AS v FROM g",
            "no columns tell",
            False,
        ),
        ("SELECT count(*) AS n FROM t WHERE v > 1 WINDOW TUMBLING(1m)", None, True),
        ("SELECT k, avg(v) AS m FROM t WHERE v > 1 GROUP BY k WINDOW LENGTH(5)", None, False),
    ],
)
def test_hindrances(query: str, reason: str | None, ends: bool) -> None:
    validated = validate(parse(HEAD + query), CATALOGUE)
    found = stream_hindrance(validated, CATALOGUE, "s")
    assert (found is None) if reason is None else (found is not None and reason in found)
    assert needs_end(validated, CATALOGUE, "s") is ends


def test_keys_are_told_by_the_names_that_rows_come_out_with() -> None:
    query = "WITH g AS (SELECT k AS a, v AS b, count(*) AS n FROM t GROUP BY k, v) SELECT a AS b, b AS a FROM g"
    assert latest_by(validate(parse(HEAD + query), CATALOGUE), CATALOGUE, "s") == ("b", "a")

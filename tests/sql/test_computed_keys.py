"""What GROUP BY computes can be named again as it is written; bounds of a window can be computed with."""

from __future__ import annotations

import pytest

from headrace.pipeline import Pipeline

STREAMS = """
CREATE STREAM t (s STRING, x INT, y INT) WITH (topic = 't');
CREATE STREAM u (s STRING, z INT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND) WITH (topic = 'u');
"""


@pytest.mark.parametrize(
    ("query", "node", "setting", "expected"),
    [
        (
            "SELECT abs(x) AS k, count(*) AS n FROM t GROUP BY abs(x) HAVING abs(x) > 2 AND sum(abs(x)) > 1",
            "o_having",
            "condition",
            "k > 2 AND sum_abs_x > 1",
        ),
        (
            "SELECT abs(t.x) AS k, count(*) AS n FROM t GROUP BY abs(x) HAVING abs(t.x) > 2",
            "o",
            "condition",
            "k > 2",
        ),
        (
            "SELECT abs(a.x) + 1 AS k, count(*) AS n FROM t AS a GROUP BY abs(x) EMIT CHANGES",
            "o",
            "columns",
            ["abs_x + 1 AS k", "n"],
        ),
        (
            "SELECT abs(x) + 1 AS k, count(*) AS n FROM t GROUP BY abs(x) EMIT CHANGES",
            "o",
            "columns",
            ["abs_x + 1 AS k", "n"],
        ),
        (
            "SELECT count(*) * unix_millis(_window_end) AS n, max(z) AS m FROM u WINDOW TUMBLING(10s)",
            "o",
            "columns",
            ["count * unix_millis(_window_end) AS n", "m"],
        ),
    ],
)
def test_is_computed_behind_the_groups(query: str, node: str, setting: str, expected: object) -> None:
    pipeline = Pipeline.from_sql(f"{STREAMS}CREATE STREAM o AS {query};")
    assert pipeline.validate().document.node(node).config[setting] == expected
    assert Pipeline.from_sql(pipeline.to_sql()).document() == pipeline.document()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("s, s", ["s"]), ("s, x, t.s", ["s", "x"]), ("abs(x), s, abs(t.x)", ["abs_x", "s"])],
)
def test_a_key_that_is_written_twice_counts_once(keys: str, expected: list[str]) -> None:
    script = f"{STREAMS}CREATE STREAM o AS SELECT count(*) AS n, s FROM t GROUP BY {keys} EMIT CHANGES;"
    document = Pipeline.from_sql(script).validate().document
    (node,) = (node for node in document.nodes if node.operator == "aggregate")
    assert node.config["keys"] == expected

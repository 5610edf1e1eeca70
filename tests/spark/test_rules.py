"""What EXPLAIN says of a pipeline's queries: each rule by an example in which it fires."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headrace.graph import validate
from headrace.operators import Catalogue
from headrace.spark.rules import rules_of
from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

DECLARED = """CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);
"""
DIRECT = "direct: the reader of a filters, computes, encodes and stages; no row passes Spark's plan"


def rules(sql: str) -> list[str]:
    catalogue = Catalogue()
    return [
        line.strip() for line in rules_of(validate(parse(DECLARED + sql, catalogue=catalogue), catalogue), catalogue)
    ]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "CREATE STREAM o AS SELECT k, n FROM a WHERE n > 3",
            [
                "query a: a → into_o",
                DIRECT,
                "fields: 3 of 4 columns of a are decoded",
                "filter at the reader: of a only rows that may fulfil n > 3",
            ],
        ),
        ("CREATE STREAM o AS SELECT *, initcap(k) AS u FROM a", ["query a: a → into_o"]),
        (
            "CREATE STREAM o AS SELECT * FROM a WHERE n > 3; CREATE STREAM p AS SELECT * FROM a WHERE n < 1",
            [
                "query a: a → into_o, into_p",
                "one scan: 2 sinks share one pass over a",
                DIRECT,
                "filter at the reader: of a only rows that may fulfil n > 3 or n < 1",
            ],
        ),
        (
            "CREATE STREAM o AS SELECT k, count(*) AS c FROM a GROUP BY k WINDOW TUMBLING(1m)",
            [
                "query o_window: a → into_o",
                "fields: 2 of 4 columns of a are decoded",
                "partial aggregation: o_window sums up the rows of a task before they are moved",
            ],
        ),
        (
            "CREATE STREAM o AS SELECT a.*, v FROM a JOIN l ON a.k = l.k",
            ["query o_join: a → into_o", "broadcast: every task of o_join gets the table"],
        ),
        (
            "CREATE STREAM o AS SELECT a.*, b.y FROM a JOIN b ON a.k = b.k WITHIN (0 SECONDS, 1 MINUTE)",
            ["query o_join: a, b → into_o", "bounded state: o_join keeps rows for 0 seconds before and 1 minute after"],
        ),
        (
            "CREATE STREAM o AS SELECT *, avg(x) AS usual FROM a GROUP BY k WINDOW LENGTH(3)",
            [
                "query o: a → into_o",
                "chain: o, in by packets (lanes are by k), out by rows (Spark writes the text for to-topic)",
            ],
        ),
        (
            "CREATE STREAM o AS SELECT * FROM `length-window`(TABLE a, length => 3, keys => ARRAY['k'],"
            " aggregates => ARRAY['avg(x) AS usual'], partitioned => 'as_topic')",
            [
                "query o: a → into_o",
                "chain: o, in by reader (lanes are the topic's partitions),"
                " out by rows (Spark writes the text for to-topic)",
                "no shuffle: the topic is partitioned by the key",
            ],
        ),
    ],
)
def test_rules_that_fired(sql: str, expected: list[str]) -> None:
    assert rules(sql) == expected


@pytest.mark.spark
def test_the_plan_of_spark(stack: Stack) -> None:
    source, target = stack.topic("rows", [{"k": "a", "n": 1}]), stack.name("sums")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, n INT" ! aggregate "sum(n) AS s" keys=k as sums ! to-topic {target}'
    )
    plans = stack.engine.spark_plans(document)
    assert list(plans) == ["sums"]
    assert "HashAggregate" in plans["sums"]

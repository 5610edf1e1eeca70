"""Rankings of topics that run in a chain: through restarts with other lanes, and beside what Spark's plan comes to."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as spark_functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

SCHEMA = "k STRING, bidder STRING, price BIGINT, note STRING"


def bids(seed: int, count: int) -> list[dict[str, Any]]:
    """Prices often tie."""
    chance = random.Random(seed)
    return [
        {
            "k": chance.choice(["a", "b", "c", "d", None]),
            "bidder": f"bidder {number}",
            "price": chance.choice([None, *range(8)]),
            "note": chance.choice(["", "x", None]),
        }
        for number in range(count)
    ]


def ranked(source: str, target: str, by: str = '["price DESC"]') -> str:
    return f"""topic {source} schema="{SCHEMA}" max_rows_per_batch=40 ! filter "bidder <> 'nobody'"
        ! top-n 3 by={by} keys=k rank=place as best ! to-topic {target}"""


def last_told(rows: list[dict[str, Any]]) -> dict[tuple[Any, int], dict[str, Any]]:
    """What holds in the end: the last row of each key and rank."""
    return {(row["k"], row["place"]): row for row in rows}


def of_sparks_plan(spark: SparkSession, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same by SQL of Spark over the rows."""
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    taken = "max_by(struct(*), struct(price, xxhash64(k, bidder, price, note)), 3)"
    best = (
        frame.groupBy("k").agg(spark_functions.expr(taken).alias("best")).selectExpr("posexplode(best) AS (place, row)")
    )
    return [row.asDict() for row in best.selectExpr("row.*", "place + 1 AS place").collect()]


def test_the_last_ranking_is_that_of_sparks_plan_through_restarts_with_other_lanes(
    stack: Stack, spark: SparkSession
) -> None:
    rows = bids(7, 200)
    source, target = stack.topic("bids"), stack.name("best")
    document = stack.pipeline(ranked(source, target))
    query = stack.query(document)
    assert query.plan.in_chain == {"best"}
    assert query.placement is not None
    assert query.placement.way_in == "packets"
    stack.run_in_pieces(document, source, rows)
    assert last_told(stack.rows(target)) == last_told(of_sparks_plan(spark, rows))


def test_a_batch_comes_to_the_same(stack: Stack, spark: SparkSession) -> None:
    rows = bids(8, 150)
    source, target = stack.topic("bids", rows), stack.name("best")
    stack.engine.run_batch(stack.pipeline(ranked(source, target)))
    found = stack.rows(target)
    assert len(found) == len(last_told(found))
    assert last_told(found) == last_told(of_sparks_plan(spark, rows))


@pytest.mark.parametrize(
    ("settings", "is_chained"),
    [
        ('top-n 1 by="price DESC" keys=k', True),
        ('top-n 9 by=["note", "price"] keys=["k", "bidder"]', True),
        ('top-n 1 by="price DESC"', True),
        ('top-n 1 by="_offset DESC" keys=k', False),
    ],
)
def test_what_is_not_surely_the_same_stays_in_sparks_plan(stack: Stack, settings: str, is_chained: bool) -> None:
    document = stack.pipeline(f'topic a schema="{SCHEMA}" ! {settings} ! preview')
    assert bool(stack.query(document).plan.in_chain) is is_chained

"""Spark and Python bring a key to the same lane: state that one wrote is found by the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark import TaskContext

from headrace.graph import Schema
from headrace.operators.serial_operator import check_keys
from headrace.serial import Partitioning, lane_of
from headrace.spark.chains.frames import by_lane, lane_column, with_lane
from headrace.spark.chains.packets import LANE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LANES = 997
SCHEMA = Schema.parse("s STRING, l BIGINT, i INT, b BOOLEAN, d DATE, t TIMESTAMP, x BINARY")
ROWS = [
    ("", 0, 0, False, date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC), b""),
    ("äö\u2028", -(1 << 63), -1, True, date(2026, 12, 31), datetime(2026, 1, 1, 1, 2, 3, 4500, UTC), b"\xff\x00\x1f"),
    ("key-1", 12345678901, 7, True, date(1900, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), "ü".encode()),
    (None,) * 7,
]


def test_adaptive_execution_leaves_every_lane_alone(spark: SparkSession) -> None:
    """However little there is in the lanes, each is a task of its own."""
    adaptive = {"spark.sql.adaptive.enabled": "true", "spark.sql.adaptive.coalescePartitions.enabled": "true"}
    before = {name: spark.conf.get(name) for name in adaptive}
    try:
        for name, value in adaptive.items():
            spark.conf.set(name, value)
        frame = spark.createDataFrame(ROWS, str(SCHEMA))
        brought = by_lane(frame, SCHEMA, Partitioning("by_key", ("s",)), 7)
        assert [row[0] for row in brought.mapInArrow(_numbered, "number INT").collect()] == list(range(7))
    finally:
        for name, was in before.items():
            spark.conf.set(name, was or "false")


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield pa.record_batch({"number": pa.array([_task_number()], pa.int32())})


def _task_number() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def test_all_types_of_keys(spark: SparkSession) -> None:
    assert len(check_keys(list(SCHEMA.names), SCHEMA)) == len(SCHEMA)
    choices = [*((name,) for name in SCHEMA.names), ("s", "t", "x"), ()]
    frame = spark.createDataFrame(ROWS, str(SCHEMA)).coalesce(1)
    lanes = [lane_column(SCHEMA, keys, LANES).alias(f"lane{n}") for n, keys in enumerate(choices)]
    table = frame.select("*", *lanes).toArrow().combine_chunks()
    for number, keys in enumerate(choices):
        columns = [table[key].combine_chunks() for key in keys]
        expected = lane_of(columns, LANES).tolist() if keys else [0] * len(ROWS)
        assert table[f"lane{number}"].to_pylist() == expected, keys


@pytest.mark.spark
def test_keys_that_arrow_alone_can_place(spark: SparkSession) -> None:
    """Both zeros are one key; Spark and Arrow write such numbers in two ways."""
    schema, keys = Schema.parse("d DOUBLE, m DECIMAL(10,2)"), Partitioning("by_key", ("d", "m"))
    values = "(0.0D, 1.5), (-0.0D, 1.5), (1e21D, 2)"
    frame = spark.sql(f"SELECT d, CAST(m AS DECIMAL(10,2)) AS m FROM VALUES {values} AS t(d, m)")
    found = [row[LANE] for row in with_lane(frame, schema, keys, 7).collect()]
    rows = frame.toArrow().combine_chunks().to_batches()[0]
    assert found == keys.lanes(rows, 0, 7).tolist()
    assert found[0] == found[1]

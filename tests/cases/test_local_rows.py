"""Rows that stand in a plan are those that Spark would read from a file of JSON lines, and those that a chain made."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headrace.cases.local_rows import frame_of_arrow, frame_of_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
COLUMNS = (
    "s STRING, i INT, l BIGINT, f FLOAT, d DOUBLE, b BOOLEAN, n DECIMAL(20, 4), t TIMESTAMP, y DATE, x BINARY, "
    "xs ARRAY<INT>, m MAP<STRING, DOUBLE>, r STRUCT<a: INT, b: STRUCT<c: STRING>>"
)
ROWS: list[dict[str, Any]] = [
    {"s": "a 'quoted' \\ \"text\" ü\n", "i": 1, "l": 2**62, "f": 0.1, "d": 1e-300, "b": True, "n": 12345678901.5},
    {"t": "2026-01-01T00:00:00.123456Z", "y": "2026-01-01", "x": "aGk=", "xs": [1, None], "m": {"a": 0.5, "b": None}},
    {"r": {"a": 1, "b": {"c": "x"}}, "d": "NaN", "f": 7, "l": -1},
    {"r": None, "s": None, "xs": [], "m": {}},
    {"i": "no number", "s": 5, "y": "no date", "d": 2},
    {},
]


def test_rows_are_read_as_from_a_file(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    from_file, local = spark.read.schema(COLUMNS).json(str(path)), frame_of_json(spark, ROWS, COLUMNS)
    assert local.schema == from_file.schema
    assert [str(row) for row in local.collect()] == [str(row) for row in from_file.collect()]
    assert frame_of_json(spark, [], COLUMNS).collect() == []


def test_rows_of_a_chain_keep_their_types(spark: SparkSession) -> None:
    moment = datetime(2026, 1, 1, 0, 0, 5, 250, tzinfo=UTC)
    rows = pa.table({
        "t": pa.array([moment, None], pa.timestamp("us", "UTC")),
        "n": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "m": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        "r": pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())])),
    })  # fmt: skip
    frame = frame_of_arrow(spark, rows, "t TIMESTAMP, n DECIMAL(10, 2), m MAP<STRING, BIGINT>, r STRUCT<a: INT>")
    assert frame.toArrow().to_pylist() == rows.to_pylist()
    assert frame_of_arrow(spark, None, "a INT").collect() == []

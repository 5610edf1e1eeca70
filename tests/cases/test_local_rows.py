"""Rows that stand in a plan are those that a reader or a chain made."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from headrace.cases.local_rows import frame_of_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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

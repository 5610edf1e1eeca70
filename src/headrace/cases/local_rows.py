"""Rows of a case as frames that Spark keeps in its plan: to read them is no job, and what goes row by row is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of_arrow(spark: SparkSession, rows: pa.Table | None, columns: str) -> DataFrame:
    """Rows that a reader or a chain made; None stands for none."""
    make: Any = spark.createDataFrame  # its stubs want no text beside a table
    frame: DataFrame = make([] if rows is None else rows, columns)
    return frame

"""Rows of a case as frames that Spark keeps in its plan: to read them is no job, and what goes row by row is none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LINE: Final = "line"


def frame_of_json(spark: SparkSession, rows: Iterable[Mapping[str, object]], columns: str) -> DataFrame:
    """Rows as JSON has them, read as Spark reads JSON."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark costs half a second: only where used

    lines = pa.table({_LINE: pa.array([json.dumps(row) for row in rows], pa.string())})
    row = functions.from_json(functions.col(_LINE), columns).alias("row")
    return spark.createDataFrame(lines).select(row).select("row.*")


def frame_of_arrow(spark: SparkSession, rows: pa.Table | None, columns: str) -> DataFrame:
    """Rows that a chain made; None stands for none."""
    make: Any = spark.createDataFrame  # its stubs want no text beside a table
    frame: DataFrame = make([] if rows is None else rows, columns)
    return frame

"""A little of each kind of work that pipelines give to Spark, so that Java loads the classes that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS = 100


def rehearse(spark: SparkSession, directory: Path) -> None:
    """Streams with a state, with joins and with Python tasks, then a batch; files are left below `directory`."""
    from pyspark.sql import functions as sql  # noqa: PLC0415  (only where it is used)

    given = str(directory / "rows")
    spark.range(_ROWS).select("id", sql.timestamp_seconds("id").alias("ts"), sql.lit("a").alias("k")).write.parquet(
        given
    )

    def stream() -> DataFrame:
        return (
            spark.readStream.schema("id BIGINT, ts TIMESTAMP, k STRING").parquet(given).withWatermark("ts", "1 second")
        )

    joined = (
        stream()
        .alias("a")
        .join(stream().alias("b"), sql.expr("a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 9 SECONDS"))
    )
    streams = (
        stream().mapInArrow(_unchanged, "id BIGINT, ts TIMESTAMP, k STRING"),
        stream().groupBy(sql.window("ts", "5 seconds"), "k").agg(sql.count("*"), sql.avg("id"), sql.max("id")),
        joined.selectExpr("a.id", "CAST(b.id AS DECIMAL(20, 2)) AS d", "upper(a.k) AS k"),
    )
    for number, frame in enumerate(streams):
        checkpoint = str(directory / f"checkpoint-{number}")
        writer = frame.writeStream.foreachBatch(_count).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
    spark.read.parquet(given).groupBy("k").count().toArrow()


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _count(frame: DataFrame, number: int) -> None:
    frame.mapInArrow(_unchanged, frame.schema).collect()

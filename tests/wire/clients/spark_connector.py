"""Spark's own Kafka connector, in a process of its own: batch, streaming and real-time mode. Prints one JSON object.

Arguments: bootstrap, a directory for checkpoints, Spark settings as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession

BOOTSTRAP, DIRECTORY, SETTINGS = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
DEADLINE_S = 60.0


def topic(name: str, **options: str) -> dict[str, str]:
    return {"kafka.bootstrap.servers": BOOTSTRAP, name: "spark-in" if name == "subscribe" else "spark-out", **options}


def values(rows: DataFrame) -> list[str]:
    return sorted(row["text"] for row in rows.selectExpr("cast(value as string) as text").collect())


def read(spark: SparkSession, name: str) -> list[str]:
    options = topic("subscribe") | {"subscribe": name}
    return values(spark.read.format("kafka").options(**options).load())


def stream(spark: SparkSession, target: str, **trigger: Any) -> Any:
    rows = spark.readStream.format("kafka").options(**topic("subscribe", startingOffsets="earliest")).load()
    kept = rows.where("cast(value as string) >= '5'").select("key", "value")
    writer = kept.writeStream.format("kafka").options(**topic("topic") | {"topic": target})
    return writer.option("checkpointLocation", f"{DIRECTORY}/{target}").outputMode("update").trigger(**trigger).start()


def real_time(spark: SparkSession) -> list[str] | str:
    """What came out, or why it does not run."""
    try:
        query = stream(spark, "spark-real-time", realTime="10 seconds")
        ends_at = time.monotonic() + DEADLINE_S
        seen: list[str] = []
        while len(seen) < 5 and time.monotonic() < ends_at and query.isActive:
            time.sleep(0.5)
            seen = read(spark, "spark-real-time")
        failure = query.exception()
        query.stop()
        return seen if failure is None else str(failure).splitlines()[0]
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def main() -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.range(10).selectExpr("cast(id as string) as key", "cast(id as string) as value").write.format(
        "kafka"
    ).options(**topic("topic") | {"topic": "spark-in"}).save()
    told: dict[str, Any] = {"batch": read(spark, "spark-in")}
    stream(spark, "spark-out", availableNow=True).awaitTermination()
    told["streaming"] = read(spark, "spark-out")
    told["real_time"] = real_time(spark)
    print(json.dumps(told))
    spark.stop()


main()

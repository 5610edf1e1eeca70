"""Spark's own Kafka connector, in a process of its own: batch, streaming and real-time mode. Prints one JSON object.

Arguments: bootstrap, a directory for checkpoints, Spark settings as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

BOOTSTRAP, DIRECTORY, SETTINGS = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
DEADLINE_S = 60.0
LATE = 20


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


def real_time(spark: SparkSession) -> dict[str, Any]:
    """Rows that were there, and rows sent while one micro-batch runs, which does not end before them."""
    query = stream(spark, "spark-real-time", realTime="5 minutes")
    awaited(spark, query, 5)
    producer = Producer({"bootstrap.servers": BOOTSTRAP})
    for number in range(LATE):
        producer.produce("spark-in", f"7 late {number}".encode())
        producer.flush()
    seen = awaited(spark, query, 5 + LATE)
    ended = query.lastProgress is not None
    query.stop()
    return {"values": seen, "batch_ended": ended, "delay_ms": median(delays_ms(spark))}


def awaited(spark: SparkSession, query: Any, count: int) -> list[str]:
    ends_at = time.monotonic() + DEADLINE_S
    seen: list[str] = []
    while len(seen) < count and time.monotonic() < ends_at and query.isActive:
        seen = read(spark, "spark-real-time")
    if query.exception() is not None:
        raise SystemExit(str(query.exception()))
    return seen


def delays_ms(spark: SparkSession) -> list[float]:
    """From the time that the first producer gave a late row until the one that Spark's gave it."""
    times: list[dict[str, float]] = []
    for name in ("spark-in", "spark-real-time"):
        rows = spark.read.format("kafka").options(**topic("subscribe") | {"subscribe": name}).load()
        late = rows.selectExpr("cast(value as string) as text", "timestamp").where("text like '7 late%'").collect()
        times.append({row["text"]: row["timestamp"].timestamp() for row in late})
    sent, came = times
    return [1000 * (came[text] - sent[text]) for text in came]


def main() -> None:
    # In real-time mode every partition holds a slot all the time; the rest is for looking.
    builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
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

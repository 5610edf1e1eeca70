"""PySpark as one writes it by hand, without Headrace: what our figures are compared with.

`python -m headrace.bench.peer CONF` is a process of its own, so that no setting of ours reaches it. CONF is a JSON
object of Spark settings. It reads one JSON command a line and answers with one JSON object a line, the first when it is
ready.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (the name everybody gives it)
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

MASTER: Final = "local[2]"
BATCH_TIMEOUT_S: Final = 300.0

Command = dict[str, Any]


def main() -> None:
    builder = SparkSession.builder.master(MASTER).appName("peer")
    for name, value in json.loads(sys.argv[1]).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    _answer({"ready": True})
    runs: dict[str, Callable[[SparkSession, Command], object]] = {
        "rate": run_rate,
        "latency": run_latency,
        "chain": run_chain,
        "brc": run_brc,
        "nexmark": run_nexmark,
        "nexmark-reference": run_nexmark_reference,
    }
    for line in sys.stdin:
        command = json.loads(line)
        try:
            _answer({"result": runs[command["run"]](spark, command)})
        except Exception as error:
            _answer({"error": str(error).split("\n", 1)[0]})
    spark.stop()


def run_rate(spark: SparkSession, command: Command) -> float:
    """Seconds from the start of a query until it has worked through all that is there."""
    rows = {"filter": filtered, "window": windowed}[command["work"]](_source(spark, command))
    writer = _sink(rows, command).trigger(availableNow=True)
    began_s = time.monotonic()
    query = writer.start()
    query.awaitTermination()
    return time.monotonic() - began_s


def run_chain(spark: SparkSession, command: Command) -> float:
    from headrace.bench.chain_peer import run_chain_work  # noqa: PLC0415  (needs pandas, which no other run does)

    return run_chain_work(spark, command)


def run_nexmark(spark: SparkSession, command: Command) -> float:
    from headrace.bench.nexmark_peer import run_query  # noqa: PLC0415  (one suite's queries)

    return run_query(spark, command)


def run_nexmark_reference(spark: SparkSession, command: Command) -> bool:
    from headrace.bench.nexmark_peer import run_reference  # noqa: PLC0415

    return run_reference(spark, command)


def run_latency(spark: SparkSession, command: Command) -> list[float]:
    """Milliseconds of each micro-batch with rows, of the first so many, while somebody else feeds the topic."""
    durations = _Durations()
    spark.streams.addListener(durations)
    query = _sink(filtered(_source(spark, command)), command).start()
    try:
        deadline_s = time.monotonic() + BATCH_TIMEOUT_S
        while len(durations.batches_ms) < command["batches"] and time.monotonic() < deadline_s:
            query.awaitTermination(0.1)
    finally:
        query.stop()
        spark.streams.removeListener(durations)
    return durations.batches_ms[: command["batches"]]


def run_brc(spark: SparkSession, command: Command) -> dict[str, Any]:
    """Seconds of the aggregation over files, and its rows."""
    began_s = time.monotonic()
    rows = spark.read.csv(command["path"], "station STRING, temperature DOUBLE", sep=";")
    column = F.col("temperature")
    found = rows.groupBy("station").agg(F.min(column), F.avg(column), F.max(column)).collect()
    return {"seconds": time.monotonic() - began_s, "rows": [list(row) for row in found]}


def filtered(rows: DataFrame) -> DataFrame:
    return rows.where("battery < 10")


def windowed(rows: DataFrame) -> DataFrame:
    grouped = rows.withWatermark("ts", "5 seconds").groupBy(F.window("ts", "10 seconds"), "drone")
    counted = grouped.agg(F.avg("battery").alias("battery"), F.count("*").alias("reports"))
    return counted.select(F.col("window.start").alias("start"), "drone", "battery", "reports")


def _source(spark: SparkSession, command: Command) -> DataFrame:
    if command["from"] == "files":
        reader = spark.readStream.schema(command["schema"]).option("maxFilesPerTrigger", command["files_per_batch"])
        return reader.json(command["path"])
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", command["bootstrap"])
    reader = reader.option("subscribe", command["topic"]).option("startingOffsets", command["start"])
    records = reader.option("maxOffsetsPerTrigger", command["rows_per_batch"]).load()
    return records.select(F.from_json(F.col("value").cast("string"), command["schema"]).alias("row")).select("row.*")


def _sink(rows: DataFrame, command: Command) -> Any:
    writer = rows.writeStream
    if command["from"] == "kafka":
        records = rows.select(F.col("drone").alias("key"), F.to_json(F.struct("*")).alias("value"))
        writer = records.writeStream.format("kafka").option("kafka.bootstrap.servers", command["bootstrap"])
        writer = writer.option("topic", command["output"])
    else:
        writer = writer.format("json").option("path", command["output"])
    return writer.outputMode("append").option("checkpointLocation", command["checkpoint"])


class _Durations(StreamingQueryListener):
    def __init__(self) -> None:
        super().__init__()
        self.batches_ms: list[float] = []

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  (Spark's name)
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        if event.progress.numInputRows:
            self.batches_ms.append(float(event.progress.durationMs["triggerExecution"]))

    def onQueryIdle(self, event: object) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass


def _answer(fields: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

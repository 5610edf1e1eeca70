"""Nexmark's queries as one writes them by hand in PySpark, and what is right, as one batch over all rows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (the name everybody gives it)

WATERMARK: Final = "4 seconds"
_RANGES: Final = ("price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")

Command = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Streams:
    """Views of the events, a folder of JSON files, as many files a micro-batch as the command says."""

    spark: SparkSession
    command: Command

    @property
    def bid(self) -> DataFrame:
        return self._view("bid")

    @property
    def auction(self) -> DataFrame:
        return self._view("auction")

    @property
    def person(self) -> DataFrame:
        return self._view("person")

    @property
    def side_input(self) -> DataFrame:
        """A table: it is read as it is."""
        reader = self.spark.read.schema(self.command["side_input"])
        return reader.json(os.path.join(self.command["path"], "side_input"))

    def _view(self, name: str) -> DataFrame:
        reader = self.spark.readStream.schema(self.command["events"])
        files = reader.option("maxFilesPerTrigger", self.command["files_per_batch"])
        events = files.json(os.path.join(self.command["path"], "events")).withWatermark("dateTime", WATERMARK)
        columns, condition = self.command["views"][name]
        return events.where(condition).select(*columns.split(", "))


def run_reference(spark: SparkSession, command: Command) -> bool:
    """The rows that are right are in `output` afterwards, as JSON; without those at or after `until`, if given."""
    events = spark.read.schema(command["events"]).json(os.path.join(command["path"], "events"))
    if command["until"] is not None:
        events = events.where(F.col("dateTime") < F.timestamp_millis(F.lit(command["until"])))
    for name, (columns, condition) in command["views"].items():
        events.where(condition).select(*columns.split(", ")).createOrReplaceTempView(name)
    side = spark.read.schema(command["side_input"]).json(os.path.join(command["path"], "side_input"))
    side.createOrReplaceTempView("side_input")
    spark.sql(command["sql"]).write.json(command["output"])
    return True


def run_query(spark: SparkSession, command: Command) -> float:
    """Seconds from the start of a query until it has worked through all that is there."""
    rows = BY_HAND[command["query"]](Streams(spark, command))
    writer = rows.writeStream.option("checkpointLocation", command["checkpoint"]).trigger(availableNow=True)
    if command["changes"]:
        writer = writer.outputMode("update").foreachBatch(_appending_to(command["output"]))
    else:
        writer = writer.outputMode("append").format("json").option("path", command["output"])
    began_s = time.monotonic()
    writer.start().awaitTermination()
    return time.monotonic() - began_s


def _appending_to(output: str) -> Callable[[DataFrame, int], None]:
    def write(rows: DataFrame, batch: int) -> None:
        rows.write.json(os.path.join(output, f"batch-{batch:06d}"))

    return write


def q3(streams: Streams) -> DataFrame:
    auctions = streams.auction.where("category = 10").select("id", "seller")
    people = streams.person.where("state IN ('OR', 'ID', 'CA')").select("name", "city", "state", F.col("id").alias("p"))
    return auctions.join(people, F.expr("seller = p")).select("name", "city", "state", "id")


def q5(streams: Streams) -> DataFrame:
    window = F.window("dateTime", "10 seconds", "2 seconds")
    counts = streams.bid.groupBy(window, "auction").agg(F.count("*").alias("num"))
    hot = counts.groupBy(F.window(F.window_time("window"), "2 seconds")).agg(
        F.max("num").alias("most"), F.collect_list(F.struct("auction", "num")).alias("counted")
    )
    found = "explode(transform(filter(counted, c -> c.num = most), c -> c.auction)) AS auction"
    return hot.selectExpr("most AS num", "window.end AS until", found)


def q7(streams: Streams) -> DataFrame:
    highest = streams.bid.groupBy(F.window("dateTime", "10 seconds")).agg(F.max("price").alias("highest"))
    ends = highest.select("highest", F.window_time("window").alias("end"))
    near = "price = highest AND end BETWEEN dateTime AND dateTime + INTERVAL 10 SECONDS"
    return streams.bid.join(ends, F.expr(near)).select("auction", "price", "bidder", "dateTime", "extra")


def q8(streams: Streams) -> DataFrame:
    window = F.window("dateTime", "10 seconds").alias("w")
    people = streams.person.groupBy(window, "id", "name").agg(F.count("*"))
    sellers = streams.auction.groupBy(window, "seller").agg(F.count("*"))
    left = people.select("id", "name", F.col("w").alias("w1"))
    right = sellers.select("seller", F.col("w").alias("w2"))
    joined = left.join(right, F.expr("id = seller AND w1 = w2"))
    return joined.select("id", "name", F.col("w1.start").alias("since"))


def q11(streams: Streams) -> DataFrame:
    return _counted(streams, F.session_window("dateTime", "10 seconds").alias("w"))


def q12(streams: Streams) -> DataFrame:
    return _counted(streams, F.window("dateTime", "10 seconds").alias("w"))


def _counted(streams: Streams, window: Column) -> DataFrame:
    counted = streams.bid.groupBy(window, "bidder").agg(F.count("*").alias("bids"))
    return counted.selectExpr("bidder", "bids", "w.start AS since", "w.end AS until")


def q13(streams: Streams) -> DataFrame:
    bids = streams.bid.join(F.broadcast(streams.side_input), F.expr("auction % 10000 = key"))
    return bids.select("auction", "bidder", "price", "dateTime", "value")


def q14(streams: Streams) -> DataFrame:
    hour = F.hour("dateTime")
    kind = F.when(hour.between(8, 18), "dayTime").when((hour <= 6) | (hour >= 20), "nightTime").otherwise("otherTime")
    letters = F.expr("length(extra) - length(replace(extra, 'c', ''))")
    rows = streams.bid.where("0.908 * price > 1000000 AND 0.908 * price < 50000000")
    return rows.select(
        "auction", "bidder", F.expr("0.908 * price AS price"), kind.alias("bidTimeType"), "dateTime", "extra",
        letters.alias("c_counts"),
    )  # fmt: skip


def q15(streams: Streams) -> DataFrame:
    return _by_day(streams).groupBy("day").agg(*_statistics())


def q16(streams: Streams) -> DataFrame:
    minute = F.max(F.date_format("dateTime", "HH:mm")).alias("minute")
    return _by_day(streams).groupBy("channel", "day").agg(minute, *_statistics())


def q17(streams: Streams) -> DataFrame:
    prices = [getattr(F, name)("price").alias(f"{name}_price") for name in ("min", "max", "avg", "sum")]
    return _by_day(streams).groupBy("auction", "day").agg(*_ranked("bids", _bids), *prices)


def _by_day(streams: Streams) -> DataFrame:
    return streams.bid.withColumn("day", F.date_format("dateTime", "yyyy-MM-dd"))


def _statistics() -> list[Column]:
    """Distinct counts by sets: a stream refuses count(DISTINCT …)."""
    return [
        *_ranked("bids", _bids),
        *_ranked("bidders", _different("bidder")),
        *_ranked("auctions", _different("auction")),
    ]


def _ranked(name: str, made: Callable[[str], Column]) -> list[Column]:
    parts = [made(where).alias(f"rank{number}_{name}") for number, where in enumerate(_RANGES, 1)]
    return [made("true").alias(f"total_{name}"), *parts]


def _bids(where: str) -> Column:
    return F.count_if(F.expr(where))


def _different(column: str) -> Callable[[str], Column]:
    return lambda where: F.size(F.collect_set(F.when(F.expr(where), F.col(column))))


def q9(streams: Streams) -> DataFrame:
    auctions = _renamed(streams.auction, "auction").withColumnRenamed("auction_time", "opened")
    pairs = auctions.join(_renamed(streams.bid, "bid"), F.expr("id = auction AND bid_time BETWEEN opened AND expires"))
    row = F.struct(*(column for column in pairs.columns if column not in ("id", "channel", "url")))
    order = F.struct("price", F.negative(F.unix_micros("bid_time")), "bid_extra")
    return pairs.groupBy("id").agg(F.max_by(row, order).alias("row")).select("id", "row.*")


def q18(streams: Streams) -> DataFrame:
    row = F.struct("price", "channel", "url", "dateTime", "extra")
    order = F.struct("dateTime", "price", "extra", "url")
    return (
        streams.bid.groupBy("bidder", "auction")
        .agg(F.max_by(row, order).alias("row"))
        .select("bidder", "auction", "row.*")
    )


def q19(streams: Streams) -> DataFrame:
    row = "struct(price, dateTime, extra, url, bidder, channel)"
    first = streams.bid.groupBy("auction").agg(F.expr(f"max_by({row}, {row}, 10)").alias("rows"))
    return first.select("auction", F.posexplode("rows").alias("place", "row")).selectExpr(
        "auction", "place + 1 AS place", "row.*"
    )


def q20(streams: Streams) -> DataFrame:
    auctions = _renamed(streams.auction.where("category = 10"), "auction")
    return _renamed(streams.bid, "bid").join(auctions, F.expr("auction = id")).drop("id")


def q21(streams: Streams) -> DataFrame:
    name = F.lower("channel")
    in_url = F.regexp_extract("url", "(&|^)channel_id=([^&]*)", 2)
    known = F.when(name == "apple", "0").when(name == "google", "1").when(name == "facebook", "2")
    channel_id = known.when(name == "baidu", "3").otherwise(in_url).alias("channel_id")
    rows = streams.bid.where((in_url != "") | name.isin("apple", "google", "facebook", "baidu"))
    return rows.select("auction", "bidder", "price", "channel", channel_id)


def q22(streams: Streams) -> DataFrame:
    parts = [F.get(F.split("url", "/"), F.lit(place)).alias(f"dir{place - 2}") for place in (3, 4, 5)]
    return streams.bid.select("auction", "bidder", "price", "channel", *parts)


def q23(streams: Streams) -> DataFrame:
    people = streams.person.withColumnsRenamed({"id": "person_id", "extra": "person_extra"}).drop("dateTime")
    auctions = _renamed(streams.auction, "auction").drop("id")
    bids = _renamed(streams.bid, "bid").drop("bid_time", "auction")
    return bids.join(people, F.expr("person_id = bidder")).join(auctions, F.expr("seller = bidder"))


def _renamed(rows: DataFrame, stream: str) -> DataFrame:
    return rows.withColumnsRenamed({"dateTime": f"{stream}_time", "extra": f"{stream}_extra"})


def _rows(*items: str, where: str = "true") -> Callable[[Streams], DataFrame]:
    return lambda streams: streams.bid.where(where).selectExpr(*items)


_TIMES: Final = ("date_format(dateTime, 'yyyy-MM-dd') AS day", "date_format(dateTime, 'HH:mm') AS minute")
BY_HAND: Final[dict[str, Callable[[Streams], DataFrame]]] = {
    "q0": _rows("auction", "bidder", "price", "dateTime", "extra"),
    "q1": _rows("auction", "bidder", "0.908 * price AS price", "dateTime", "extra"),
    "q2": _rows("auction", "price", where="auction % 123 = 0"),
    "q3": q3,
    "q5": q5,
    "q7": q7,
    "q8": q8,
    "q9": q9,
    "q10": _rows("auction", "bidder", "price", "dateTime", "extra", *_TIMES),
    "q11": q11,
    "q12": q12,
    "q13": q13,
    "q14": q14,
    "q15": q15,
    "q16": q16,
    "q17": q17,
    "q18": q18,
    "q19": q19,
    "q20": q20,
    "q21": q21,
    "q22": q22,
    "q23": q23,
}

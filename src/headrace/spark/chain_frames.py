"""The frames of a chain: what Spark is told for each placement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from headrace.graph.schema import Schema, backquoted
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial.key_hash import KEY_SEPARATOR, NULL_KEY
from headrace.spark.chain import current_orders, inputs_of, lane_task
from headrace.spark.packets import LANE, ReadCounts, unpacked
from headrace.spark.specs import CHAIN_COLUMN, LETTER_COLUMN, MESSAGE_COLUMN, RECORD_ORIGIN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def columns_behind(chain: ChainPlan, catalogue: Catalogue, *, stages: bool) -> str:
    """The columns of a frame behind a chain: its rows with dead letters and results beside them, or messages."""
    if stages:
        return f"{MESSAGE_COLUMN} BINARY"
    output = chain.output_schema(catalogue)
    return ", ".join([str(output), f"{LETTER_COLUMN} STRING", f"{CHAIN_COLUMN} BINARY"])


def behind_packets(
    packets: DataFrame, chain: ChainPlan, catalogue: Catalogue, lane_count: int, *, stages: bool
) -> DataFrame:
    """Packets that the sources' readers made, brought to their lanes."""
    columns = [one.schema for one in chain.inputs]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        orders, lane = current_orders(columns)
        counts: dict[int, ReadCounts] = {}
        yield from lane_task(orders, lane, unpacked(batches, counts), stages=stages, read=counts)

    brought = packets.repartitionById(lane_count, LANE)
    return brought.mapInArrow(run, columns_behind(chain, catalogue, stages=stages))


def behind_rows(
    frame: DataFrame, chain: ChainPlan, catalogue: Catalogue, lane_count: int, *, stages: bool
) -> DataFrame:
    """Rows that Spark hands over; brought together by key where the chain has keys."""
    keys = chain.keys(catalogue)
    if keys is not None:
        frame = by_lane(frame, chain.schema, keys, lane_count)
    task = _task(chain.schema, shuffled=keys is not None, stages=stages)
    return frame.mapInArrow(task, columns_behind(chain, catalogue, stages=stages))


def lanes_of(chain: ChainPlan, catalogue: Catalogue, wanted: int) -> int | None:
    """How many lanes rows are spread over; None where lanes are the source's partitions."""
    keys = chain.keys(catalogue)
    if keys is None:
        return None
    return wanted if keys else 1


def by_lane(frame: DataFrame, schema: Schema, keys: tuple[str, ...], lane_count: int) -> DataFrame:
    """Rows brought together by key; each knows the record, or at least the task of Spark, that it is from."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    marked = frame if RECORD_ORIGIN in frame.columns else frame.withColumn(RECORD_ORIGIN, spark.spark_partition_id())
    return marked.repartitionById(lane_count, lane_column(schema, keys, lane_count))


def lane_column(schema: Schema, keys: tuple[str, ...], lane_count: int) -> Column:
    """The lane of a row: what `lane_of` says, in Spark's words."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    if not keys:
        return spark.lit(0)
    return spark.pmod(spark.crc32(_key_text(schema, keys)), spark.lit(lane_count)).cast("int")


def _key_text(schema: Schema, keys: tuple[str, ...]) -> Column:
    """The same text that `lane_of` makes of a key."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    texts = [_column_text(schema, key) for key in keys]
    filled = [spark.coalesce(text, spark.lit(NULL_KEY.decode())) for text in texts]
    return spark.concat_ws(KEY_SEPARATOR.decode(), *filled)


def _column_text(schema: Schema, key: str) -> Column:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    column = spark.col(backquoted(key))
    return (spark.unix_micros(column) if schema.require(key).type == "TIMESTAMP" else column).cast("string")


def _task(columns: Schema, *, shuffled: bool, stages: bool) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        orders, lane = current_orders([columns])
        yield from lane_task(orders, lane, inputs_of(batches, shuffled=shuffled), stages=stages)

    return run

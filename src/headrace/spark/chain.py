"""A chain inside a Spark task: reads its orders, runs its lane, hands rows on and its result beside them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema, backquoted
from headrace.operators import Catalogue, load_catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.plugin_folder import folder_signature
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneInput, LaneResult, LaneRun, LocalFiles, StateStore
from headrace.serial.lanes import KEY_SEPARATOR, NULL_KEY
from headrace.spark.orders import ORDERS_PROPERTY, Orders
from headrace.spark.specs import CHAIN_COLUMN, LETTER_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Which task of the source a row is from, when it is brought to its lane.
ORIGIN_COLUMN = "_origin"
# Rows that were put in order go on in pieces of this size.
ROWS_PER_PIECE = 65_536

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def chained(frame: DataFrame, plan: ChainPlan, catalogue: Catalogue, lane_count: int) -> DataFrame:
    """The frame behind a chain: its rows, and beside them dead letters and one result for each lane."""
    keys = plan.keys(catalogue)
    if keys is not None:
        frame = _by_lane(frame, keys, lane_count)
    output = plan.output_schema(catalogue)
    columns = ", ".join([str(output), f"{LETTER_COLUMN} STRING", f"{CHAIN_COLUMN} BINARY"])
    return frame.mapInArrow(_task(plan.schema, arrow_schema(output)), columns)


def lanes_of(plan: ChainPlan, catalogue: Catalogue, wanted: int) -> int | None:
    """How many lanes rows are spread over; None where lanes are the source's partitions."""
    keys = plan.keys(catalogue)
    if keys is None:
        return None
    return wanted if keys else 1


def _by_lane(frame: DataFrame, keys: tuple[str, ...], lane_count: int) -> DataFrame:
    """Rows brought together by key; each knows where it is from."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    marked = frame.withColumn(ORIGIN_COLUMN, spark.spark_partition_id())
    lane = spark.pmod(spark.crc32(_key_text(keys)), spark.lit(lane_count)).cast("int") if keys else spark.lit(0)
    return marked.repartitionById(lane_count, lane)


def _key_text(keys: tuple[str, ...]) -> Column:
    """The same text that `lane_of` makes of a key."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    texts = [spark.coalesce(spark.col(backquoted(key)).cast("string"), spark.lit(NULL_KEY)) for key in keys]
    return spark.concat_ws(KEY_SEPARATOR, *texts)


def _task(columns: Schema, output: pa.Schema) -> Task:
    """What Spark sends to its workers: it holds the columns that come in and out, and nothing of the operators."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext  # noqa: PLC0415

        context = TaskContext.get()
        text = None if context is None else context.getLocalProperty(ORDERS_PROPERTY)
        if context is None or not text:
            raise InvalidInput("a chain was run without orders")
        orders = Orders.from_json(text)
        orders = replace(orders, plan=replace(orders.plan, schema=columns))
        yield from run_lane(orders, context.partitionId(), batches, output)

    return run


def run_lane(
    orders: Orders, lane: int, batches: Iterable[pa.RecordBatch], output: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """One micro-batch of one lane: rows, then dead letters, then the result. Raises OperatorFailed."""
    store = None if orders.directory is None else _store(orders.directory)
    chain = orders.plan.chain(_catalogue())
    event_time = orders.plan.schema.event_time
    run = LaneRun(chain, store, lane, orders.moment, orders.versions(lane), event_time=event_time)
    for rows in run.rows(_inputs(batches), private=True):
        yield _with_asides(rows.cast(output) if rows.schema != output else rows)
    letters = [letter.to_json() for letter in run.result.dead_letters]
    run.result.dead_letters = []
    yield _aside(output, letters, pickle.dumps(run.result))


def results_of(messages: Iterable[bytes]) -> list[LaneResult]:
    """Results that tasks sent. Our own workers wrote them, over Spark's authenticated channel."""
    return [pickle.loads(message) for message in messages]  # noqa: S301


def _catalogue() -> Catalogue:
    """As of now: files of the plugin folder may have changed since the last micro-batch."""
    return _catalogue_as_of(folder_signature())


@lru_cache(maxsize=1)
def _catalogue_as_of(signature: object) -> Catalogue:
    return load_catalogue()


@lru_cache(maxsize=16)
def _store(directory: str) -> StateStore:
    """One for each query and worker process: it keeps lanes in memory from one micro-batch to the next."""
    return StateStore(LocalFiles(Path(directory)))


def _inputs(batches: Iterable[pa.RecordBatch]) -> Iterator[LaneInput]:
    """The lane's rows; after a shuffle in the order of their origins, so that every attempt sees the same.

    Rows of one origin arrive in order, but origins arrive in any: all rows of the micro-batch are needed to sort them.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if ORIGIN_COLUMN in batch.schema.names:
            waiting.append(batch)
        else:
            yield LaneInput(batch)
    if waiting:
        yield from _in_order(pa.Table.from_batches(waiting))


def _in_order(rows: pa.Table) -> Iterator[LaneInput]:
    origins = rows.column(ORIGIN_COLUMN).to_numpy().astype(np.int64)
    rows = rows.drop_columns([ORIGIN_COLUMN])
    if np.any(np.diff(origins) < 0):
        order = np.argsort(origins.astype(np.uint16), kind="stable")
        rows, origins = rows.take(order), origins[order]
    position = 0
    for piece in rows.combine_chunks().to_batches(max_chunksize=ROWS_PER_PIECE):
        yield LaneInput(piece, origins[position : position + piece.num_rows])
        position += piece.num_rows


def _with_asides(rows: pa.RecordBatch) -> pa.RecordBatch:
    nulls = [pa.nulls(rows.num_rows, pa.string()), pa.nulls(rows.num_rows, pa.binary())]
    return pa.record_batch([*rows.columns, *nulls], names=[*rows.schema.names, LETTER_COLUMN, CHAIN_COLUMN])


def _aside(output: pa.Schema, letters: list[str], result: bytes) -> pa.RecordBatch:
    """Rows without data: the dead letters, and one for the lane's result."""
    count = len(letters) + 1
    nothing: list[Any] = [pa.nulls(count, field.type) for field in output]
    texts = pa.array([*letters, None], pa.string())
    results = pa.array([*([None] * len(letters)), result], pa.binary())
    return pa.record_batch([*nothing, texts, results], names=[*output.names, LETTER_COLUMN, CHAIN_COLUMN])

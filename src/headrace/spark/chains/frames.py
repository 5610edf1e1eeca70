"""The frames of a chain: what Spark is told for each placement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from headrace.graph.schema import UNKNOWN, Schema, backquoted, parse_type
from headrace.operators import Catalogue
from headrace.operators.imports import load_object
from headrace.operators.plugin_folder import plugin_folder, use_plugin_folder
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import Partitioning
from headrace.serial.key_hash import KEY_SEPARATOR, NULL_KEY
from headrace.serial.places import origin_of
from headrace.spark.chains.inputs import in_one_frame, inputs_apart
from headrace.spark.chains.packets import LANE, PACKET_COLUMNS, Arrived, unpacked
from headrace.spark.chains.planned import planned_stage
from headrace.spark.chains.record_rows import are_rows
from headrace.spark.chains.stage import stage_task
from headrace.spark.chains.task import current_catalogue, current_orders, inputs_of, lane_task
from headrace.spark.specs import CHAIN_COLUMN, LETTER_COLUMN, MESSAGE_COLUMN, RECORD_COLUMNS, RECORD_ORIGIN
from headrace.spark.writing.staging import current_sink

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def columns_behind(chain: ChainPlan, catalogue: Catalogue, *, stages: bool) -> str:
    """The columns of a frame behind a chain: its rows with dead letters and results beside them, or messages."""
    if stages:
        return f"{MESSAGE_COLUMN} BINARY"
    output = chain.output_schema(catalogue).carried
    return ", ".join([str(output), f"{LETTER_COLUMN} STRING", f"{CHAIN_COLUMN} BINARY"])


def behind_packets(
    packets: DataFrame, chain: ChainPlan, catalogue: Catalogue, lane_count: int, *, stages: bool
) -> DataFrame:
    """Packets that the sources' readers made, brought to their lanes, once for each stage of the chain."""
    columns = [one.schema for one in chain.inputs]
    last = len(chain.stages(catalogue)) - 1

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        orders, lane = current_orders(columns)
        stage = planned_stage(orders.plan, last, current_catalogue())
        arrived = Arrived(stage.inputs)
        sink = current_sink() if stages else None
        inputs = unpacked(batches, arrived)
        yield from lane_task(
            orders, lane, inputs, sink=sink, read=arrived.counts, stage=stage, before=arrived.results
        )  # fmt: skip

    for number in range(last):
        packets = packets.repartitionById(lane_count, LANE).mapInArrow(
            _stage(columns, number, lane_count), PACKET_COLUMNS
        )
    brought = packets.repartitionById(lane_count, LANE)
    return brought.mapInArrow(run, columns_behind(chain, catalogue, stages=stages))


def _stage(columns: Sequence[Schema], number: int, lane_count: int) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        orders, lane = current_orders(columns)
        yield from stage_task(orders, number, lane, batches, lane_count)

    return run


def behind_rows(
    frames: Sequence[DataFrame], chain: ChainPlan, catalogue: Catalogue, lane_count: int, *, stages: bool
) -> DataFrame:
    """Rows that Spark hands over, of each input of the chain; brought to the lanes that the chain wants."""
    partitioning = chain.partitioning(catalogue)
    columns = columns_behind(chain, catalogue, stages=stages)
    if len(frames) > 1:
        brought = _several_by_lane(frames, chain, catalogue, lane_count)
        return brought.mapInArrow(_task_of_several(chain, stages=stages), columns)
    (frame,) = frames
    if partitioning is not None:
        frame = by_lane(frame, chain.schema, partitioning, lane_count)
    return frame.mapInArrow(_task(chain.schema, shuffled=partitioning is not None, stages=stages), columns)


def handed_over(schema: Schema, frame: DataFrame) -> Schema:
    """The columns that a chain gets of a frame. Those that nobody uses were not read; event time comes along where it
    can only be named; types that only Spark can tell it has told by now.

    Raises InvalidInput for a type that we do not have.
    """
    kept = schema.keep(frame.columns)
    columns = (*kept.columns, *(column for column in kept.hidden if column.name == kept.event_time))
    told = {field.name.lower(): field.dataType.simpleString() for field in frame.schema}
    known = [
        replace(column, type=parse_type(told[column.name.lower()])) if column.type == UNKNOWN else column
        for column in columns
    ]
    return Schema(tuple(known), event_time=kept.event_time)


def with_records(frame: DataFrame, schema: Schema) -> DataFrame:
    """These columns, and beside them which record each row is, where that is known."""
    beside = [name for name in RECORD_COLUMNS if name in frame.columns]
    return frame.select(*(backquoted(name) for name in schema.names), *beside)


def lanes_of(chain: ChainPlan, catalogue: Catalogue, wanted: int) -> int | None:
    """How many lanes rows are spread over; None where lanes are the source's partitions."""
    wants = [stage.partitioning for stage in chain.stages(catalogue)]
    return max((one.lane_count(wanted) for one in wants if one is not None), default=None)


def by_lane(frame: DataFrame, schema: Schema, partitioning: Partitioning, lane_count: int) -> DataFrame:
    """Rows brought to their lanes; each knows the record, or at least the task of Spark, that it is from."""
    marked = _marked(frame)
    if _spark_knows_lanes(schema, partitioning):
        return marked.repartitionById(lane_count, lane_column(schema, partitioning.keys, lane_count))
    return with_lane(marked, schema, partitioning, lane_count).repartitionById(lane_count, LANE).drop(LANE)


def _several_by_lane(frames: Sequence[DataFrame], chain: ChainPlan, catalogue: Catalogue, lane_count: int) -> DataFrame:
    """The same for rows of several inputs, in one frame."""
    schemas = [one.schema for one in chain.inputs]
    pairs = zip(frames, schemas, strict=True)
    marked = [
        with_lane(_marked(frame, number), schema, chain.input_lanes(number, catalogue) or Partitioning(), lane_count)
        for number, (frame, schema) in enumerate(pairs)
    ]
    return in_one_frame(marked, schemas).repartitionById(lane_count, LANE).drop(LANE)


def _marked(frame: DataFrame, number: int = 0) -> DataFrame:
    """Rows that say where they are from; where their records are not known, by the task that has them."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    if RECORD_ORIGIN in frame.columns:
        return frame
    return frame.withColumn(RECORD_ORIGIN, spark.spark_partition_id() + origin_of(number, 0))


def with_lane(frame: DataFrame, schema: Schema, partitioning: Partitioning, lane_count: int) -> DataFrame:
    if _spark_knows_lanes(schema, partitioning):
        return frame.withColumn(LANE, lane_column(schema, partitioning.keys, lane_count))
    return _with_chosen_lane(frame, schema, partitioning, lane_count)


def _spark_knows_lanes(schema: Schema, partitioning: Partitioning) -> bool:
    """Not of keys that Spark and Arrow may write in two ways: Arrow alone says their lanes."""
    types = [schema.require(key).type for key in partitioning.keys]
    is_other = any(type_ in ("FLOAT", "DOUBLE") or type_.startswith("DECIMAL") for type_ in types)
    return partitioning.strategy == "by_key" and not is_other


def _with_chosen_lane(frame: DataFrame, schema: Schema, partitioning: Partitioning, lane_count: int) -> DataFrame:
    """For rows whose lanes only Python can tell: it does so task by task, before Spark moves them.

    Rows that tell a time are none of its business: they go to the first lane."""
    from pyspark.sql.types import IntegerType, StructField, StructType  # noqa: PLC0415

    names, plugins = list(schema.names), plugin_folder()

    def choose(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_plugin_folder(plugins)
        function = None if partitioning.function is None else load_object(partitioning.function)
        first_row = 0
        for batch in batches:
            is_row, lanes = are_rows(batch), np.zeros(batch.num_rows, np.int32)
            rows = batch.select(names).filter(pa.array(is_row))
            lanes[is_row] = partitioning.lanes(rows, first_row, lane_count, function)
            yield batch.append_column(LANE, pa.array(lanes))
            first_row += rows.num_rows

    return frame.mapInArrow(choose, StructType([*frame.schema.fields, StructField(LANE, IntegerType())]))


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
        sink = current_sink() if stages else None
        yield from lane_task(orders, lane, inputs_of(batches, shuffled=shuffled), sink=sink)

    return run


def _task_of_several(chain: ChainPlan, *, stages: bool) -> Task:
    columns = [one.schema for one in chain.inputs]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        orders, lane = current_orders(columns)
        sink = current_sink() if stages else None
        yield from lane_task(orders, lane, inputs_apart(batches), sink=sink)

    return run

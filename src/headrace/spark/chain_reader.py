"""What a topic's reader does for the chain right behind it: runs it, or packs the rows for the lanes they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial import LaneInput
from headrace.spark.chain import current_orders, lane_task
from headrace.spark.packets import ReadCounts, packed
from headrace.spark.pieces import pieces_of
from headrace.spark.reading import read_columns
from headrace.spark.specs import BAD_COLUMN, ChainReading, SourceSpec


def read_chained(
    spec: SourceSpec, reading: ChainReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Runs in a task, also for a range without records: timers may be due."""
    columns = Schema.parse(reading.columns)
    counts = ReadCounts()
    rows = _good(read_columns(spec, _with_bad(arrow_schema(columns)), partition, start, end), counts)
    if reading.keys is not None:
        return packed(rows, partition, reading.keys, reading.lane_count, counts)
    orders, _ = current_orders(columns)
    inputs = (LaneInput(piece) for piece in pieces_of(rows))
    return lane_task(orders, partition, inputs, stages=reading.stages, source=(spec.node, counts))


def _with_bad(columns: pa.Schema) -> pa.Schema:
    return columns.append(pa.field(BAD_COLUMN, pa.string()))


def _good(batches: Iterable[pa.RecordBatch], counts: ReadCounts) -> Iterator[pa.RecordBatch]:
    """Rows without what travels beside them, which is counted. A batch holds rows or bad records, never both."""
    for batch in batches:
        bad = batch.num_rows - batch.column(BAD_COLUMN).null_count
        counts.bad += bad
        if not bad:
            counts.rows += batch.num_rows
            yield batch.drop_columns([BAD_COLUMN])

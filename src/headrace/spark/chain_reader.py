"""What a topic's reader does for the chain right behind it: runs it, or packs the rows for the lanes they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial import Partitioning
from headrace.serial.places import origin_of
from headrace.spark.chain import current_orders, lane_task
from headrace.spark.packets import ReadCounts, packed
from headrace.spark.pieces import pieces_of
from headrace.spark.reading import read_columns, with_columns_beside
from headrace.spark.record_rows import without_offsets
from headrace.spark.specs import BAD_COLUMN, RECORD_OFFSET, ChainReading, SourceSpec
from headrace.spark.staging import current_sink


def read_chained(
    spec: SourceSpec, reading: ChainReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Runs in a task, also for a range without records: timers may be due."""
    columns = [Schema.parse(text) for text in reading.columns]
    counts = ReadCounts()
    wanted = arrow_schema(columns[reading.number])
    read = with_columns_beside(wanted, "_offset", BAD_COLUMN)
    rows = _good(read_columns(spec, read, partition, start, end), wanted.names, counts)
    origin = origin_of(reading.number, partition)
    if reading.strategy is not None:
        partitioning = Partitioning(reading.strategy, reading.keys, reading.function)  # type: ignore[arg-type]
        return packed(rows, origin, partitioning, reading.lane_count, counts)
    orders, _ = current_orders(columns)
    inputs = (without_offsets(piece, source=reading.number) for piece in pieces_of(rows))
    sink = current_sink() if reading.stages else None
    return lane_task(orders, origin, inputs, sink=sink, read={reading.number: counts})


def _good(batches: Iterable[pa.RecordBatch], names: list[str], counts: ReadCounts) -> Iterator[pa.RecordBatch]:
    """Rows with the offsets of their records; what travels beside them is counted. A batch holds rows or bad records,
    never both."""
    for batch in batches:
        bad = batch.num_rows - batch.column(BAD_COLUMN).null_count
        counts.bad += bad
        if not bad:
            counts.rows += batch.num_rows
            columns = [*(batch.column(name) for name in names), batch.column("_offset")]
            yield pa.record_batch(columns, names=[*names, RECORD_OFFSET])

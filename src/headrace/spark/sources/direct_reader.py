"""What a topic's reader does for a query whose rows need not pass through Spark: it stages what sinks take of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial import LaneResult, NodeReport
from headrace.spark.reading.ranges import read_columns, with_columns_beside
from headrace.spark.specs import BAD_COLUMN, CHAIN_COLUMN, SKIPPED_COLUMN, SourceSpec
from headrace.spark.writing.shaping import Shaper
from headrace.spark.writing.staging import current_sink, message_of


def read_direct(spec: SourceSpec, columns: str, partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """Runs in a task: the commit message of all rows of one range. Raises InvalidInput where it was told of no sink."""
    sink = current_sink()
    beside = with_columns_beside(arrow_schema(Schema.parse(columns)), BAD_COLUMN, SKIPPED_COLUMN)
    batches = read_columns(spec, beside, partition, start, end)
    yield message_of(sink, _outgoing(spec, Shaper(sink.shaping), batches, partition))


def _outgoing(
    spec: SourceSpec, shaper: Shaper, batches: Iterator[pa.RecordBatch], partition: int
) -> Iterator[pa.RecordBatch]:
    """Rows with what says who keeps them, bad records on their own, at last what was counted."""
    source = NodeReport()
    for batch in batches:
        bad, skipped = batch.column(BAD_COLUMN), batch.column(SKIPPED_COLUMN)
        if bad.null_count < len(bad):
            source.failed += len(bad)
            yield pa.record_batch({BAD_COLUMN: bad})
        elif skipped.null_count < len(skipped):
            source.rows_out += int((skipped.to_numpy(zero_copy_only=False) + 1).sum())
        else:
            source.rows_out += batch.num_rows
            yield shaper.shaped(batch.drop_columns([BAD_COLUMN, SKIPPED_COLUMN]))
    result = LaneResult(partition, reports={spec.node: source, **shaper.reports})
    yield pa.record_batch({CHAIN_COLUMN: pa.array([pickle.dumps(result)], pa.binary())})

"""What a topic's reader does for a query whose rows need not pass through Spark: it filters and counts them, computes
what sinks take of them, and stages that."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.columnar.values import Made, Values
from headrace.serial import LaneResult, NodeReport
from headrace.spark.reading import read_columns, with_columns_beside
from headrace.spark.specs import (
    BAD_COLUMN,
    CHAIN_COLUMN,
    SKIPPED_COLUMN,
    DirectReading,
    SourceSpec,
)
from headrace.spark.staging import current_sink, message_of

# With fewer rows wanted than this share, it pays to copy them before anything is computed of them.
FEW_ROWS_SHARE = 0.5


def read_direct(
    spec: SourceSpec, reading: DirectReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Runs in a task: the commit message of all rows of one range. Raises InvalidInput where it was told of no sink."""
    yield message_of(current_sink(), _outgoing(spec, reading, partition, start, end))


def _outgoing(
    spec: SourceSpec, reading: DirectReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Rows with what says who keeps them, bad records on their own, at last what was counted."""
    reports = {node: NodeReport() for node in (spec.node, *reading.counted)}
    source = reports[spec.node]
    made = Made(reading.made)
    columns = with_columns_beside(arrow_schema(Schema.parse(reading.columns)), BAD_COLUMN, SKIPPED_COLUMN)
    for batch in read_columns(spec, columns, partition, start, end):
        bad, skipped = batch.column(BAD_COLUMN), batch.column(SKIPPED_COLUMN)
        if bad.null_count < len(bad):
            source.failed += len(bad)
            yield pa.record_batch({BAD_COLUMN: bad})
        elif skipped.null_count < len(skipped):
            source.rows_out += int((skipped.to_numpy(zero_copy_only=False) + 1).sum())
        else:
            rows = batch.drop_columns([BAD_COLUMN, SKIPPED_COLUMN])
            values = Values(rows, made)
            source.rows_out += rows.num_rows
            for node, keep in reading.counted.items():
                reports[node].rows_out += rows.num_rows if keep is None else values.named(keep).true_count
            yield _with_added(reading, values)
    yield pa.record_batch({CHAIN_COLUMN: pa.array([pickle.dumps(LaneResult(partition, reports=reports))], pa.binary())})


def _with_added(reading: DirectReading, values: Values) -> pa.RecordBatch:
    """The rows that some output takes, with what was computed for them."""
    keeps = [values.named(name) for name in reading.keeps if name is not None]
    if keeps and None not in reading.keeps:
        wanted = reduce(pc.or_, keeps)
        if wanted.true_count < values.rows.num_rows * FEW_ROWS_SHARE:
            values = values.only(wanted)
    rows = values.rows
    for name in reading.added:
        rows = rows.append_column(name, values.named(name))
    return rows

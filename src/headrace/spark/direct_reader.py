"""What a topic's reader does for a query whose rows need not pass through Spark: filters, counts and stages them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial import LaneResult, NodeReport
from headrace.spark.prefilter import may_hold
from headrace.spark.reading import read_columns, with_columns_beside
from headrace.spark.specs import (
    BAD_COLUMN,
    CHAIN_COLUMN,
    SKIPPED_COLUMN,
    DirectReading,
    SourceSpec,
)
from headrace.spark.staging import current_sink, message_of


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
            kept = {name: may_hold(rows, condition) for name, condition in reading.keeps.items()}
            source.rows_out += rows.num_rows
            for node, keep in reading.counted.items():
                reports[node].rows_out += rows.num_rows if keep is None else int(kept[keep].sum())
            yield _with_columns(rows, kept)
    yield pa.record_batch({CHAIN_COLUMN: pa.array([pickle.dumps(LaneResult(partition, reports=reports))], pa.binary())})


def _with_columns(rows: pa.RecordBatch, added: Mapping[str, NDArray[np.bool_]]) -> pa.RecordBatch:
    for name, values in added.items():
        rows = rows.append_column(name, pa.array(values))
    return rows

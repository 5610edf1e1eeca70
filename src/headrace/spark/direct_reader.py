"""What a topic's reader does for a query whose rows need not pass through Spark: filters, counts and stages them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial import LaneResult, NodeReport
from headrace.spark.prefilter import may_hold
from headrace.spark.reading import read_columns
from headrace.spark.specs import (
    BAD_COLUMN,
    CHAIN_COLUMN,
    SINK_PROPERTY,
    SKIPPED_COLUMN,
    DirectReading,
    SinkSpec,
    SourceSpec,
)
from headrace.spark.staging import message_of


def read_direct(
    spec: SourceSpec, reading: DirectReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Runs in a task: the commit message of all rows of one range. Raises InvalidInput where it was told of no sink."""
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    text = None if context is None else context.getLocalProperty(SINK_PROPERTY)
    if not text:
        raise InvalidInput("a reader that stages its rows was told of no sink")
    yield message_of(SinkSpec.from_json(text), _outgoing(spec, reading, partition, start, end))


def _outgoing(
    spec: SourceSpec, reading: DirectReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Rows with what says who keeps them, bad records on their own, at last what was counted."""
    reports = {node: NodeReport() for node in (spec.node, *reading.counted)}
    source = reports[spec.node]
    for batch in read_columns(spec, _with_asides(arrow_schema(Schema.parse(reading.columns))), partition, start, end):
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


def _with_asides(columns: pa.Schema) -> pa.Schema:
    return columns.append(pa.field(BAD_COLUMN, pa.string())).append(pa.field(SKIPPED_COLUMN, pa.int64()))


def _with_columns(rows: pa.RecordBatch, added: Mapping[str, NDArray[np.bool_]]) -> pa.RecordBatch:
    for name, values in added.items():
        rows = rows.append_column(name, pa.array(values))
    return rows

"""Rows of several inputs of a chain on their way through Spark: in one frame, where each row says of which input it is.

A row has a struct for each input, and all but its own are null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema, backquoted
from headrace.serial import LaneInput
from headrace.spark.chains.packets import LANE
from headrace.spark.chains.pieces import ROWS_PER_PIECE
from headrace.spark.chains.record_rows import input_of
from headrace.spark.specs import RECORD_COLUMNS, RECORD_ORIGIN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

INPUT = "_input"


def in_one_frame(frames: Sequence[DataFrame], schemas: Sequence[Schema]) -> DataFrame:
    """Rows of all inputs, with what travels beside them. All frames have the same columns beyond their schemas."""
    from pyspark.sql import functions as spark  # noqa: PLC0415 - pyspark costs half a second: only where used

    own = [[backquoted(name) for name in schema.names] for schema in schemas]
    types = [frame.select(*names).schema for frame, names in zip(frames, own, strict=True)]

    def widened(number: int) -> DataFrame:
        structs = [
            (spark.struct(*own[number]) if other == number else spark.lit(None).cast(type_)).alias(_row(other))
            for other, type_ in enumerate(types)
        ]
        beside = [name for name in (LANE, *RECORD_COLUMNS) if name in frames[number].columns]
        return frames[number].select(*beside, spark.lit(number).alias(INPUT), *structs)

    return reduce(lambda one, other: one.union(other), map(widened, range(len(frames))))


def inputs_apart(batches: Iterable[pa.RecordBatch]) -> Iterator[LaneInput]:
    """The rows of a lane after a shuffle: input by input, each in the order of its origins, however they arrived."""
    waiting = [batch for batch in batches if batch.num_rows]
    if not waiting:
        return
    rows = pa.Table.from_batches(waiting)
    numbers, origins = (rows.column(name).to_numpy() for name in (INPUT, RECORD_ORIGIN))
    ordered = rows.take(np.lexsort((origins, numbers)))
    for number in np.unique(numbers).tolist():
        mine = ordered.filter(pa.array(np.sort(numbers) == number)).combine_chunks()
        for batch in mine.to_batches(max_chunksize=ROWS_PER_PIECE):
            yield _input_of(batch, number)


def _input_of(batch: pa.RecordBatch, number: int) -> LaneInput:
    rows = pa.RecordBatch.from_struct_array(cast("pa.StructArray", batch.column(_row(number))))
    for name in (name for name in RECORD_COLUMNS if name in batch.schema.names):
        rows = rows.append_column(name, batch.column(name))
    return replace(input_of(rows), source=number)


def _row(number: int) -> str:
    return f"_row_{number}"

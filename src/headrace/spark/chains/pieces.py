"""Batches in pieces of a good size: operators that work by column are at their best with many rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

# Rows that a chain gets at once, if there are so many.
ROWS_PER_PIECE = 65_536


def pieces_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return in_pieces(batches, ROWS_PER_PIECE)


def in_pieces(batches: Iterable[pa.RecordBatch], rows_wanted: int) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order; small batches are put together, large ones stay as they are."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows_wanted:
            yield joined(waiting)
            waiting, count = [], 0
    if count:
        yield joined(waiting)


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows as one batch."""
    if len(batches) == 1:
        return batches[0]
    columns: list[pa.Array[Any]] = [
        pa.concat_arrays([batch.column(index) for batch in batches]) for index in range(batches[0].num_columns)
    ]
    return pa.record_batch(columns, schema=batches[0].schema)

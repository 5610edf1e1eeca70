"""What a decoder gives: rows, and the records that could not be read.

Every decoder is strict: a record is either one row, or *bad* with a reason. Nothing is skipped, nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

# A reason is for people; a parser's message may quote the whole record.
REASON_CHARACTERS_MAX = 300


@dataclass(frozen=True, slots=True)
class Bad:
    """One record that could not be read; `index` is its place among the values given."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """Rows of the good records, in order; `indices` says which value each came from (None: all good, one row each)."""

    rows: pa.RecordBatch
    indices: pa.Array[Any] | None
    bad: tuple[Bad, ...] = ()


class Decoder(Protocol):
    def __call__(self, values: pa.BinaryArray) -> Decoded:
        """Called with the values of neighbouring records, in order. Null values are bad records."""


class RowDecoder:
    """Formats with one row a record: parse all at once; where that fails, halve the block until the bad are found."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        pieces: list[pa.RecordBatch] = []
        bad: list[Bad] = []
        self._halve(values, 0, pieces, bad)
        if not bad:
            return Decoded(combine(pieces, self.schema), None)
        lost = {record.index for record in bad}
        kept = pa.array([index for index in range(len(values)) if index not in lost], pa.int64())
        return Decoded(combine(pieces, self.schema), kept, tuple(bad))

    def _halve(self, values: pa.BinaryArray, first: int, pieces: list[pa.RecordBatch], bad: list[Bad]) -> None:
        if not len(values):
            return
        try:
            pieces.append(self.parse(values))
        except (pa.ArrowException, ValueError) as error:
            if len(values) == 1:
                bad.append(Bad(first, str(error)[:REASON_CHARACTERS_MAX]))
                return
            middle = len(values) // 2
            self._halve(values[:middle], first, pieces, bad)
            self._halve(values[middle:], first + middle, pieces, bad)

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        """Exactly one row for each value, or ValueError / ArrowException."""
        raise NotImplementedError


def combine(pieces: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    if len(pieces) == 1:
        return pieces[0]
    columns = [one_array(column) for column in pa.Table.from_batches(pieces, schema).columns]
    return pa.record_batch(columns, schema=schema)


def one_array(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    chunks: list[pa.Array[Any]] = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.nulls(0, column.type)])

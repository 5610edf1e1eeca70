"""What a decoder gives: rows, and the records that could not be read.

Every decoder is strict: a record is either one row, or *bad* with a reason. Nothing is skipped, nothing is guessed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

# A reason is for people; a parser's message may quote the whole record.
REASON_CHARACTERS_MAX = 300

NO_VALUE: Final = "a record without a value"
# What parsers raise for bytes that they cannot make sense of; the boundary takes what else there is.
UNREADABLE: Final = (
    pa.ArrowException,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OverflowError,
    OSError,
    RecursionError,
)


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


class RowDecoder(ABC):
    """Formats with one row a record: parse all at once; where that fails, halve the block until the bad are found."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        pieces, bad = parse_halving(values, self.parse)
        return decoded(combine(pieces, self.schema), len(values), bad)

    @abstractmethod
    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        """Exactly one row for each value, or ValueError / ArrowException."""


class RecordDecoder(ABC):
    """Formats that are read record by record, and turned into columns together."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        records: list[Any] = []
        indices: list[int] = []
        bad: list[Bad] = []
        for index, value in enumerate(values.to_pylist()):
            try:
                if value is None:
                    raise ValueError(NO_VALUE)
                records.append(self.read(value))
                indices.append(index)
            except UNREADABLE as error:
                bad.append(Bad(index, reason(error)))
        pieces, unfit = parse_halving(records, self.rows)
        bad += [Bad(indices[record.index], record.reason) for record in unfit]
        return decoded(combine(pieces, self.schema), len(values), sorted(bad, key=lambda record: record.index))

    @abstractmethod
    def read(self, value: bytes) -> Any:
        """One record, as `rows` takes it. Raises one of UNREADABLE."""

    @abstractmethod
    def rows(self, records: Sequence[Any]) -> pa.RecordBatch:
        """One row for each record, or one of UNREADABLE where a value does not fit its column."""


Items = TypeVar("Items", bound=Sequence[Any] | pa.BinaryArray)


def parse_halving(items: Items, parse: Callable[[Items], pa.RecordBatch]) -> tuple[list[pa.RecordBatch], list[Bad]]:
    """Parses all at once; where that fails, halves until the bad ones are found. Their index is that in `items`."""
    pieces: list[pa.RecordBatch] = []
    bad: list[Bad] = []
    # Each failure adds two halves: at most two for each level of halving are waiting.
    waiting: list[tuple[int, Any]] = [(0, items)] if len(items) else []
    while waiting:
        first, part = waiting.pop()
        try:
            pieces.append(parse(part))
        except UNREADABLE as error:
            if len(part) == 1:
                bad.append(Bad(first, reason(error)))
                continue
            middle = len(part) // 2
            waiting += [(first + middle, part[middle:]), (first, part[:middle])]
    return pieces, bad


def decoded(rows: pa.RecordBatch, count: int, bad: Sequence[Bad]) -> Decoded:
    """The rows of `count` values, of which some were bad."""
    if not bad:
        return Decoded(rows, None)
    lost = {record.index for record in bad}
    kept = pa.array([index for index in range(count) if index not in lost], pa.int64())
    return Decoded(rows, kept, tuple(bad))


def in_order(parts: Sequence[Decoded], schema: pa.Schema) -> Decoded:
    """Parts of one block, each with the indices of its rows and its bad records in the whole block, as one."""
    rows = combine([part.rows for part in parts], schema)
    found = [part.indices for part in parts if part.indices is not None]
    indices = pa.concat_arrays(found) if found else pa.array([], pa.int64())
    if len(parts) > 1:
        order = pc.sort_indices(indices)
        rows, indices = rows.take(order), indices.take(order)
    bad = sorted((one for part in parts for one in part.bad), key=lambda record: record.index)
    return Decoded(rows, indices, tuple(bad))


def at_places(decoded_: Decoded, places: Sequence[int]) -> Decoded:
    """What was decoded of some values of a block, with the places that these have in it."""
    kept = None if decoded_.indices is None else cast("list[int]", decoded_.indices.to_pylist())
    indices = places if kept is None else [places[index] for index in kept]
    bad = tuple(Bad(places[record.index], record.reason) for record in decoded_.bad)
    return Decoded(decoded_.rows, pa.array(indices, pa.int64()), bad)


def reason(error: BaseException) -> str:
    """For people: what it was, also where the error's own text is only a name or a number."""
    if isinstance(error, RecursionError):
        return "the value is nested too deeply"
    said = str(error)
    if not said or not isinstance(error, pa.ArrowException | ValueError):
        said = f"the value cannot be read ({type(error).__name__}{said and f': {said}'})"
    return said[:REASON_CHARACTERS_MAX]


def combine(pieces: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    if len(pieces) == 1:
        return pieces[0]
    columns = [one_array(column) for column in pa.Table.from_batches(pieces, schema).columns]
    return pa.record_batch(columns, schema=schema)


def one_array(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    chunks: list[pa.Array[Any]] = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.nulls(0, column.type)])

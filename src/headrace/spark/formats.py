"""Record values → Arrow columns, one decoder per format, and which records could not be read.

Every decoder is strict: a record is either one row, or *bad* with a reason. Nothing is skipped, nothing is guessed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from headrace.errors import InvalidConfig

# A reason is for people; a parser's message may quote the whole record.
REASON_CHARACTERS_MAX = 300

_NEWLINE = ord("\n")

_TIMESTAMP = pa.timestamp("us", tz="UTC")


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


def decoder(format_: str, schema: pa.Schema) -> Decoder:
    """The decoder of a format for the columns wanted; other fields in the values are not parsed."""
    makers: dict[str, Callable[[pa.Schema], Decoder]] = {
        "json": JsonDecoder,
        "csv": CsvDecoder,
        "arrow": ArrowDecoder,
        "raw": RawDecoder,
    }
    maker = makers.get(format_)
    if maker is None:
        raise InvalidConfig(f"unknown format {format_!r}", valid=tuple(makers))
    return maker(schema)


class _RowDecoder:
    """Formats with one row a record: parse all at once; where that fails, halve the block until the bad are found."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        pieces: list[pa.RecordBatch] = []
        bad: list[Bad] = []
        self._halve(values, 0, pieces, bad)
        if not bad:
            return Decoded(_combine(pieces, self.schema), None)
        lost = {record.index for record in bad}
        kept = pa.array([index for index in range(len(values)) if index not in lost], pa.int64())
        return Decoded(_combine(pieces, self.schema), kept, tuple(bad))

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


class JsonDecoder(_RowDecoder):
    """One JSON object a record. Timestamps are ISO 8601 strings or epoch milliseconds."""

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__(schema)
        self._times = [field.name for field in schema if field.type == _TIMESTAMP]
        # Arrow casts a column of strings to timestamps 30 times faster than its JSON reader parses them.
        self._options = {kind: self._options_with(type_) for kind, type_ in _TIME_READERS.items()}
        self._time_kind = "iso"

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        text = _joined_objects(values)
        try:
            return self._parse(text, len(values), self._time_kind)
        except pa.ArrowException as error:
            if not self._times:
                raise
            other = "epoch" if self._time_kind == "iso" else "iso"
            try:
                rows = self._parse(text, len(values), other)
            except pa.ArrowException:
                raise error from None
        self._time_kind = other
        return rows

    def _parse(self, text: pa.Buffer, count: int, time_kind: str) -> pa.RecordBatch:
        read = pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1)
        table = pa.json.read_json(cast("Any", pa.BufferReader(text)), read, self._options[time_kind])
        if table.num_rows != count:
            raise ValueError("more or less than one JSON object in a record")
        columns = [
            _as_time(table[field.name]) if field.name in self._times else table[field.name] for field in self.schema
        ]
        return pa.record_batch([_one_array(column) for column in columns], schema=self.schema)

    def _options_with(self, time_type: pa.DataType) -> pa.json.ParseOptions:
        fields = [pa.field(field.name, time_type if field.name in self._times else field.type) for field in self.schema]
        return pa.json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")


_TIME_READERS: dict[str, pa.DataType] = {"iso": pa.string(), "epoch": pa.int64()}
# How a time may be written, the likeliest first: with a zone or without one, and finer than microseconds.
_WRITTEN_TIMES: tuple[pa.DataType, ...] = (_TIMESTAMP, pa.timestamp("us"), pa.timestamp("ns", tz="UTC"))


def _as_time(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Text or epoch milliseconds as timestamps; UTC is meant where no zone is written. Raises ArrowInvalid."""
    if column.type == pa.int64():
        return column.cast(pa.timestamp("ms", tz="UTC")).cast(_TIMESTAMP)
    for written in _WRITTEN_TIMES:
        try:
            return column.cast(written).cast(_TIMESTAMP, safe=False)
        except pa.ArrowInvalid:
            continue
    return column.cast(pa.timestamp("ns")).cast(_TIMESTAMP, safe=False)


def _joined_objects(values: pa.BinaryArray) -> pa.Buffer:
    """The values as lines. Each must look like one object: then, joined by newlines, none can bleed into the next."""
    if values.null_count:
        raise ValueError("a record without a value")
    # The cast checks that it is UTF-8, which the parser does not.
    text = cast("pa.StringArray", values.cast(pa.string()))
    if not _look_like_objects(text):
        text = pc.ascii_trim_whitespace(text)
        if not _look_like_objects(text):
            raise ValueError("not a JSON object")
    if _has_newline(text):
        text = pc.replace_substring(text, "\n", " ")
    whole = pa.ListArray.from_arrays(pa.array([0, len(text)], pa.int32()), text)
    joined = cast("pa.StringArray", pc.binary_join(whole, "\n"))
    return joined[0].as_buffer()


def _has_newline(text: pa.StringArray) -> bool:
    """Looks at the bytes of all values at once, which costs a tenth of a search in each."""
    offsets, data = text.buffers()[1:]
    if data is None or offsets is None:
        return False
    borders = np.frombuffer(cast("Any", offsets), np.int32)[text.offset : text.offset + len(text) + 1]
    return bool((np.frombuffer(cast("Any", data), np.uint8)[borders[0] : borders[-1]] == _NEWLINE).any())


def _look_like_objects(text: pa.StringArray) -> bool:
    braced = pc.and_(pc.starts_with(text, "{"), pc.ends_with(text, "}"))
    return bool(pc.all(braced, min_count=0).as_py())


class CsvDecoder(_RowDecoder):
    """One line a record, columns in the order of the declared schema."""

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        if values.null_count:
            raise ValueError("a record without a value")
        cells = [self._cells(value) for value in cast("list[bytes]", values.to_pylist())]
        columns = [self._column([row[index] for row in cells], field.type) for index, field in enumerate(self.schema)]
        return pa.record_batch(columns, schema=self.schema)

    def _cells(self, value: bytes) -> list[str | None]:
        rows = list(csv.reader(io.StringIO(value.decode())))
        if len(rows) != 1 or len(rows[0]) != len(self.schema):
            raise ValueError(f"not one line of {len(self.schema)} values")
        return [cell if cell else None for cell in rows[0]]

    @staticmethod
    def _column(cells: list[str | None], type_: pa.DataType) -> pa.Array[Any]:
        text = pa.array(cells, pa.string())
        return _as_time(pa.chunked_array([text])).combine_chunks() if type_ == _TIMESTAMP else text.cast(type_)


class ArrowDecoder:
    """An Arrow IPC stream a record: many rows, nothing parsed, columns taken from the log's memory as they are."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        pieces: list[pa.RecordBatch] = []
        indices: list[pa.Array[Any]] = []
        bad: list[Bad] = []
        for index, value in enumerate(values):
            try:
                batches = list(self._batches(value))
            except (pa.ArrowException, ValueError, KeyError) as error:
                bad.append(Bad(index, str(error)[:REASON_CHARACTERS_MAX]))
                continue
            pieces += batches
            indices += [pa.repeat(pa.scalar(index, pa.int64()), batch.num_rows) for batch in batches]
        origin = pa.concat_arrays(indices) if indices else pa.array([], pa.int64())
        return Decoded(_combine(pieces, self.schema), origin, tuple(bad))

    def _batches(self, value: pa.BinaryScalar) -> Iterator[pa.RecordBatch]:
        if not value.is_valid:
            raise ValueError("a record without a value")
        for batch in pa.ipc.open_stream(value.as_buffer()):
            missing = set(self.schema.names) - set(batch.schema.names)
            if missing:
                raise ValueError(f"the Arrow batch lacks the columns {', '.join(sorted(missing))}")
            columns = [batch.column(field.name) for field in self.schema]
            cast = [c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, self.schema, strict=True)]
            yield pa.record_batch(cast, schema=self.schema)


class RawDecoder(_RowDecoder):
    """The value itself, as one BINARY or STRING column."""

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        if len(self.schema) > 1:
            raise ValueError("the raw format has one column: the value")
        return pa.record_batch([values.cast(field.type) for field in self.schema], schema=self.schema)


def _combine(pieces: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    if len(pieces) == 1:
        return pieces[0]
    columns = [_one_array(column) for column in pa.Table.from_batches(pieces, schema).columns]
    return pa.record_batch(columns, schema=schema)


def _one_array(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    chunks: list[pa.Array[Any]] = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.nulls(0, column.type)])

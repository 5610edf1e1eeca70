"""JSON: one object a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from numpy.typing import NDArray

from headrace.formats.decoding import UNREADABLE, Decoded, RowDecoder, at_places, in_order, one_array
from headrace.formats.json_objects import has_reals, object_column, read_objects, refuse_misfits, takes_objects
from headrace.formats.json_plain import Plain, PlainScanner, can_scan
from headrace.formats.times import TIMESTAMP, as_time

_NEWLINE = ord("\n")
_TIME_READERS: dict[str, pa.DataType] = {"iso": pa.string(), "epoch": pa.int64()}
_DATE_READERS: dict[str, pa.DataType] = {"iso": pa.string(), "epoch": pa.date32()}
# Which of these rows are wanted.
RowFilter: TypeAlias = Callable[[pa.RecordBatch], NDArray[np.bool_]]


class JsonDecoder:
    """One JSON object a record. Timestamps are ISO 8601 strings or epoch milliseconds.

    Plain objects are read by the scanner where it is loaded, which costs a fifth; the others are parsed, and so are all
    where it is not, or does not know a column's type.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._parser = JsonParser(schema)
        self._scan = _scanner(schema)

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        plain = None if self._scan is None else self._scan(values)
        return self._parser(values) if plain is None else self._decoded(values, plain, np.flatnonzero(plain.are_plain))

    def sifted(self, values: pa.BinaryArray, names: Sequence[str], keeps: RowFilter) -> tuple[Decoded, int]:
        """As a call, but without rows that can be ruled out before they are made, and how many these are.

        `keeps` is called at most once, with these columns of rows that it may rule out.
        """
        scan = self._scan or _scanner(pa.schema([self.schema.field(name) for name in names]))
        plain = None if scan is None else scan(values)
        if plain is None:
            return self._parser(values), 0
        indices = np.flatnonzero(plain.are_plain)
        is_kept = keeps(plain.rows(indices, names))
        left_out = len(indices) - int(is_kept.sum())
        if self._scan is not None:
            return self._decoded(values, plain, indices[is_kept]), left_out
        rest = np.delete(np.arange(len(values)), indices[~is_kept])
        return at_places(self._parser(values.take(rest)), rest.tolist()), left_out

    def _decoded(self, values: pa.BinaryArray, plain: Plain, kept: NDArray[np.int64]) -> Decoded:
        rows = plain.rows(kept)
        if len(kept) == len(values):
            return Decoded(rows, None)
        found = Decoded(rows, pa.array(kept))
        others = np.flatnonzero(~plain.are_plain)
        if not len(others):
            return found
        if len(others) == len(values):
            return self._parser(values)
        if plain.time_kind is not None:
            self._parser.time_kind = plain.time_kind
        parsed = self._parser(values.take(others))
        return in_order([found, at_places(parsed, others.tolist())], self.schema)


class JsonParser(RowDecoder):
    """The same for every type: with Arrow's parser, but for columns that it cannot read.

    `time_kind` and `date_kind` are how times and dates are thought to be written. A record of which that is not true
    costs more; one that cannot be read at all is bad for what was wrong under this assumption.
    """

    def __init__(self, schema: pa.Schema, is_odd: Callable[[pa.DataType], bool] = takes_objects) -> None:
        """`is_odd` tells the types whose columns are not left to Arrow's parser."""
        super().__init__(schema)
        self._times = [field.name for field in schema if field.type == TIMESTAMP]
        self._dates = [field.name for field in schema if pa.types.is_date32(field.type)]
        self._odd = [field for field in schema if is_odd(field.type)]
        # For single records, in which a number may be none; it is not there in the parser that this is itself.
        has_more = any(has_reals(field.type) and field not in self._odd for field in schema)
        self._with_reals = JsonParser(schema, lambda type_: is_odd(type_) or has_reals(type_)) if has_more else None
        self.time_kind = "iso"
        self.date_kind = "iso"
        # Arrow casts a column of strings to timestamps 30 times faster than its JSON reader parses them.
        self._options = {
            (time_kind, date_kind): self._options_with(_TIME_READERS[time_kind], _DATE_READERS[date_kind])
            for time_kind, date_kind in self._kinds()
        }

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        text = _joined_objects(values)
        failure: pa.ArrowException | None = None
        for time_kind, date_kind in self._kinds():
            try:
                columns = self._parse(text, len(values), time_kind, date_kind)
            except pa.ArrowException as error:
                failure = failure or error
                continue
            self.time_kind, self.date_kind = time_kind, date_kind
            objects = read_objects(values) if self._odd else []
            columns |= {field.name: object_column(objects, field) for field in self._odd}
            return pa.record_batch([columns[field.name] for field in self.schema], schema=self.schema)
        if len(values) == 1 and self._with_reals is not None:
            with suppress(*UNREADABLE):
                return self._with_reals.parse(values)
        if len(values) == 1:
            refuse_misfits(values, self.schema)
        raise failure or AssertionError("there is one way to read at least")

    def _kinds(self) -> list[tuple[str, str]]:
        """How times and dates may be written, the likeliest first."""
        times = sorted(_TIME_READERS, key=self.time_kind.__ne__) if self._times else [self.time_kind]
        dates = sorted(_DATE_READERS, key=self.date_kind.__ne__) if self._dates else [self.date_kind]
        return [(time_kind, date_kind) for date_kind in dates for time_kind in times]

    def _parse(self, text: pa.Buffer, count: int, time_kind: str, date_kind: str) -> dict[str, pa.Array[Any]]:
        """All columns but the odd ones."""
        read = pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1)
        options = self._options[time_kind, date_kind]
        table = pa.json.read_json(cast("Any", pa.BufferReader(text)), read, options)
        if table.num_rows != count:
            raise ValueError("more or less than one JSON object in a record")
        return {name: one_array(self._typed(name, table[name])) for name in table.column_names}

    def _typed(self, name: str, column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
        if name in self._times:
            return as_time(column)
        return column.cast(pa.date32()) if name in self._dates else column

    def _options_with(self, time_type: pa.DataType, date_type: pa.DataType) -> pa.json.ParseOptions:
        read_as = dict.fromkeys(self._times, time_type) | dict.fromkeys(self._dates, date_type)
        plain = [field for field in self.schema if field not in self._odd]
        fields = [pa.field(field.name, read_as.get(field.name, field.type)) for field in plain]
        return pa.json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")


def _scanner(schema: pa.Schema) -> PlainScanner | None:
    return PlainScanner(schema) if can_scan(schema) else None


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

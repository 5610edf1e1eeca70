"""Avro: one binary record a value, without a header; the schema that wrote it is known."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fastavro import schemaless_reader, schemaless_writer
from fastavro.schema import UnknownType, parse_schema

from headrace.errors import InvalidInput
from headrace.formats.avro_columns import flat_fields, read_columns
from headrace.formats.avro_schema import AvroSchema, arrow_fields, parse_avro, plain, refuse_nothing
from headrace.formats.decoding import Decoded, RecordDecoder, at_places, in_order
from headrace.formats.fitting import fit, fit_column, reading_type
from headrace.formats.times import without_times


def check_avro_reading(schema: AvroSchema, columns: pa.Schema, *, narrows: bool = False) -> dict[str, pa.DataType]:
    """What each column is read as. Raises InvalidInput for one that is no field, or of a type that does not fit."""
    found = arrow_fields(schema)
    for column in columns:
        if column.name not in found:
            raise InvalidInput(f"the Avro record {schema['name']!r} has no field {column.name!r}", valid=tuple(found))
    return {c.name: reading_type(found[c.name], c.type, f"the Avro field {c.name!r}", narrows=narrows) for c in columns}


def check_avro_writing(schema: AvroSchema, columns: pa.Schema) -> dict[str, pa.DataType]:
    """What each column is written as. Raises InvalidInput where rows of these columns are no such records."""
    found = arrow_fields(schema)
    for column in columns:
        if column.name not in found:
            raise InvalidInput(f"the Avro record {schema['name']!r} has no field {column.name!r}", valid=tuple(found))
    for field in schema["fields"]:
        if field["name"] not in columns.names and "default" not in field:
            raise InvalidInput(f"the Avro field {field['name']!r} has no default, and there is no such column")
    targets = {column.name: found[column.name] or column.type for column in columns}
    for column in columns:
        reading_type(column.type, targets[column.name], f"the column {column.name!r}")
    return targets


class AvroDecoder(RecordDecoder):
    """Fields that nobody wants are skipped where they stand.

    With `missing_is_null` the schema may be older or newer than the columns: what it has not is null, and numbers that
    it widened are taken where they fit.
    """

    def __init__(self, schema: pa.Schema, writer: AvroSchema, *, missing_is_null: bool = False) -> None:
        super().__init__(schema)
        fields = {field["name"] for field in writer["fields"]}
        here = pa.schema([f for f in schema if f.name in fields]) if missing_is_null else schema
        self._read_as = check_avro_reading(writer, here, narrows=missing_is_null)
        refuse_nothing(writer)
        self._writer: AvroSchema = parse_schema(plain(writer), named_schemas={})  # type: ignore[assignment]
        self._reader = self._projected(fields)
        self._flat = flat_fields(self._writer)

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        """Flat records all at once; one after the other those that do not come out even."""
        if self._flat is None or values.null_count or not len(values):
            return super().__call__(values)
        try:
            columns, is_even = read_columns(values, self._flat, self._read_as)
            if is_even.all():
                return Decoded(self._fitted(columns, len(values)), None)
            kept = {name: column.filter(pa.array(is_even)) for name, column in columns.items()}
            good = Decoded(self._fitted(kept, int(is_even.sum())), pa.array(np.flatnonzero(is_even)))
        except pa.ArrowException:
            return super().__call__(values)
        rest = super().__call__(values.filter(pa.array(~is_even)))
        return in_order([good, at_places(rest, np.flatnonzero(~is_even).tolist())], self.schema)

    def _fitted(self, columns: dict[str, pa.Array[Any]], count: int) -> pa.RecordBatch:
        made = [
            fit_column(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
            for field in self.schema
        ]
        return pa.record_batch(made, schema=self.schema)

    def read(self, value: bytes) -> dict[str, Any]:
        stream = BytesIO(value)
        try:
            row: dict[str, Any] = schemaless_reader(stream, self._writer, self._reader)  # type: ignore[assignment]
        except EOFError:
            raise ValueError("the value ends before the record does") from None
        if stream.tell() != len(value):
            raise ValueError(f"{len(value) - stream.tell()} bytes follow the record")
        return row

    def rows(self, records: Sequence[dict[str, Any]]) -> pa.RecordBatch:
        columns = [
            fit(field.name, [record[field.name] for record in records], self._read_as[field.name], field.type)
            if field.name in self._read_as
            else pa.nulls(len(records), field.type)
            for field in self.schema
        ]
        return pa.record_batch(columns, schema=self.schema)

    def _projected(self, fields: set[str]) -> AvroSchema | None:
        """The schema of the wanted fields alone; None to read all."""
        if fields == set(self._read_as):
            return None
        kept = [field for field in plain(self._writer)["fields"] if field["name"] in self._read_as]
        try:
            return parse_schema({**plain(self._writer), "fields": kept}, named_schemas={})  # type: ignore[return-value]
        except UnknownType:
            return None  # a wanted field uses a type that an unwanted one defines


class AvroEncoder:
    """One record for each row."""

    def __init__(self, columns: pa.Schema, text: str) -> None:
        schema = parse_avro(text)
        self._write_as = check_avro_writing(schema, columns)
        self._schema = parse_schema(plain(schema), named_schemas={})

    def __call__(self, rows: pa.RecordBatch) -> pa.BinaryArray:
        """Raises InvalidInput for a null where the schema wants a value."""
        columns = [_numbers(rows.column(name), type_) for name, type_ in self._write_as.items()]
        plain_rows = pa.record_batch(columns, names=list(self._write_as)).to_pylist(maps_as_pydicts="strict")
        return pa.array([self._written(row) for row in plain_rows], pa.binary())

    def _written(self, row: dict[str, Any]) -> bytes:
        stream = BytesIO()
        try:
            schemaless_writer(stream, self._schema, row)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise InvalidInput(f"a row is no such Avro record: {error}") from error
        return stream.getvalue()


def _numbers(column: pa.Array[Any], type_: pa.DataType) -> pa.Array[Any]:
    """The column in the units of the schema, with times as the numbers that Avro writes."""
    options = pc.CastOptions(type_, allow_time_truncate=True)
    return without_times(pc.cast(column, options=options))  # type: ignore[call-overload]

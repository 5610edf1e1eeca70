"""Columns as pipelines name them → Arrow's types, and back."""

from __future__ import annotations

import re

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema

TIMESTAMP = pa.timestamp("us", tz="UTC")
_SIMPLE: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": TIMESTAMP,
}
_NAMES = {type_: name for name, type_ in _SIMPLE.items()}


def arrow_schema(schema: Schema) -> pa.Schema:
    """Raises InvalidInput for a column whose type is not known before Spark runs."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in schema])


def arrow_type(type_: str) -> pa.DataType:
    if type_ in _SIMPLE:
        return _SIMPLE[type_]
    if decimal := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if type_.startswith("ARRAY<"):
        return pa.list_(arrow_type(type_[6:-1]))
    raise InvalidInput(f"a serial operator cannot take a column of type {type_}", hint="cast it in a select before")


def schema_from_arrow(schema: pa.Schema) -> Schema:
    """Columns of an Arrow schema. Raises InvalidInput for a type that pipelines have no name for."""
    return Schema(tuple(Column(field.name, _name(field.type)) for field in schema))


def _name(type_: pa.DataType) -> str:
    if type_ in _NAMES:
        return _NAMES[type_]
    if isinstance(type_, pa.ListType):
        return f"ARRAY<{_name(type_.value_type)}>"
    raise InvalidInput(f"no column type for Arrow's {type_}", valid=tuple(_SIMPLE))

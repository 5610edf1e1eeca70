"""Columns as pipelines name them → Arrow's types, and back."""

from __future__ import annotations

import re

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import UNKNOWN, Column, Schema

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
    """The types that serial operators can take."""
    if "MAP<" in type_ or "STRUCT<" in type_ or type_ == UNKNOWN:
        raise InvalidInput(f"a serial operator cannot take a column of type {type_}", hint="cast it in a select before")
    return _any_type(type_)


def column_types(schema: Schema) -> pa.Schema:
    """All columns, also those that only Spark and formats know to handle."""
    return pa.schema([pa.field(column.name, _any_type(column.type)) for column in schema])


def _any_type(type_: str) -> pa.DataType:
    if type_ in _SIMPLE:
        return _SIMPLE[type_]
    if decimal := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if type_.startswith("ARRAY<"):
        return pa.list_(_any_type(type_[6:-1]))
    if type_.startswith("MAP<"):
        key, value = _parts(type_[4:-1])
        return pa.map_(_any_type(key), _any_type(value))
    if type_.startswith("STRUCT<"):
        named = [_named(part) for part in _parts(type_[7:-1])]
        return pa.struct([pa.field(name, _any_type(inner)) for name, inner in named])
    raise InvalidInput(f"the type {type_} has no form in Arrow")


def _parts(inside: str) -> list[str]:
    """What commas part, outside of brackets and quotes."""
    parts, depth, is_quoted = [""], 0, False
    for character in inside:
        is_quoted ^= character == "`"
        if not is_quoted:
            depth += (character in "<(") - (character in ">)")
        if character == "," and not depth and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _named(field: str) -> tuple[str, str]:
    """`name:TYPE` or `` `a name`:TYPE ``."""
    end = field.index("`", 1) + 1 if field.startswith("`") else field.index(":")
    return field[:end].strip("`"), field[end + 1 :]


def schema_from_arrow(schema: pa.Schema) -> Schema:
    """Columns of an Arrow schema. Raises InvalidInput for a type that pipelines have no name for."""
    return Schema(tuple(Column(field.name, type_name(field.type)) for field in schema))


def type_name(type_: pa.DataType) -> str:
    """Raises InvalidInput for a type that pipelines have no name for."""
    if type_ in _NAMES:
        return _NAMES[type_]
    if isinstance(type_, pa.ListType):
        return f"ARRAY<{type_name(type_.value_type)}>"
    raise InvalidInput(f"no column type for Arrow's {type_}", valid=tuple(_SIMPLE))

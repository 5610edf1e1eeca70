"""The JSON schema of rows, as Spark writes them."""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"


def json_schema_of(columns: pa.Schema, title: str = "Row") -> str:
    """All columns may be null; what is not a column may be there as well."""
    properties = {field.name: _nullable(field.type) for field in columns}
    return json.dumps({"$schema": _DRAFT, "title": title, "type": "object", "properties": properties})


def _nullable(type_: pa.DataType) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, _schema(type_)]}


def _schema(type_: pa.DataType) -> dict[str, Any]:
    if isinstance(type_, pa.ListType):
        return {"type": "array", "items": _nullable(type_.value_type)}
    if isinstance(type_, pa.MapType):
        return {"type": "object", "additionalProperties": _nullable(type_.item_type)}
    if isinstance(type_, pa.StructType):
        return {"type": "object", "properties": {field.name: _nullable(field.type) for field in type_}}
    if pa.types.is_timestamp(type_):
        return {"type": "string", "format": "date-time"}
    if pa.types.is_date(type_):
        return {"type": "string", "format": "date"}
    if pa.types.is_boolean(type_):
        return {"type": "boolean"}
    if pa.types.is_integer(type_):
        return {"type": "integer"}
    is_number = pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    return {"type": "number" if is_number else "string"}

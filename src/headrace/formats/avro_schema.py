"""Avro schemas: read from JSON, made from columns, and the Arrow types of their fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

import pyarrow as pa
from fastavro.schema import parse_schema

from headrace.errors import InvalidInput

AvroSchema: TypeAlias = dict[str, Any]
Named: TypeAlias = Mapping[str, Any]

SCHEMA_CHARACTERS_MAX: Final = 1_000_000
ROW_NAME: Final = "Row"
DECIMAL_DIGITS_MAX: Final = 38  # Spark's own limit

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PRIMITIVES: Final[dict[str, pa.DataType]] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "enum": pa.string(),
    "fixed": pa.binary(),
}
_LOGICAL: Final[dict[tuple[str, str], pa.DataType]] = {
    ("int", "date"): pa.date32(),
    ("long", "timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", tz="UTC"),
    ("long", "timestamp-nanos"): pa.timestamp("ns", tz="UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    ("long", "local-timestamp-micros"): pa.timestamp("us", tz="UTC"),
    ("long", "local-timestamp-nanos"): pa.timestamp("ns", tz="UTC"),
}
_WRITTEN: Final[dict[pa.DataType, Any]] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.timestamp("us", tz="UTC"): {"type": "long", "logicalType": "timestamp-micros"},
}


@lru_cache(maxsize=256)
def parse_avro(text: str) -> AvroSchema:
    """A record schema, checked. Raises InvalidInput that says what is wrong with it."""
    if len(text) > SCHEMA_CHARACTERS_MAX:
        raise InvalidInput(f"the Avro schema is longer than {SCHEMA_CHARACTERS_MAX} characters")
    try:
        parsed = parse_schema(json.loads(text), named_schemas={})
    except RecursionError:
        raise InvalidInput("the Avro schema is nested too deeply") from None
    except Exception as error:  # the library raises what its dictionaries raise
        raise InvalidInput(f"this is no Avro schema: {type(error).__name__}: {error}") from error
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        raise InvalidInput("the Avro schema of a row is a record", hint='{"type": "record", "name": …, "fields": […]}')
    return cast("AvroSchema", parsed)


def avro_of(columns: pa.Schema, name: str = ROW_NAME) -> str:
    """The schema of rows with these columns, all of which may be null. Raises InvalidInput for what Avro cannot say."""
    return json.dumps(_record([(field.name, field.type) for field in columns], name))


def arrow_fields(schema: AvroSchema) -> dict[str, pa.DataType | None]:
    """The type of each field; None for a union of several, which only values can tell."""
    named = _named(schema)
    return {field["name"]: _arrow(field["type"], named, ()) for field in schema["fields"]}


def plain(schema: Any) -> Any:
    """The schema without logical types, so that numbers stay numbers; decimals alone are read by the library."""
    if isinstance(schema, list):
        return [plain(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = () if schema.get("logicalType") == "decimal" else ("logicalType",)
    kept = {key: value for key, value in schema.items() if key not in (*left_out, "__fastavro_parsed__")}
    for key in ("type", "items", "values"):
        if key in kept:
            kept[key] = plain(kept[key])
    if "fields" in kept:
        kept["fields"] = [plain(field) for field in kept["fields"]]
    return kept


def refuse_nothing(schema: AvroSchema) -> None:
    """Raises InvalidInput for an array of values without bytes: a few bytes could claim any number of them."""
    named = _named(schema)
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if part.get("type") == "array" and _is_nothing(part["items"], named, ()):
                raise InvalidInput("an Avro array whose items have no bytes is not read", hint="items of type null")
            waiting += [part[key] for key in ("type", "items", "values", "fields") if key in part]


def _is_nothing(schema: Any, named: Named, inside: tuple[str, ...]) -> bool:
    """Whether values of the schema take no bytes at all."""
    if isinstance(schema, str):
        is_known = schema in named and schema not in inside
        return schema == "null" or (is_known and _is_nothing(named[schema], named, (*inside, schema)))
    if isinstance(schema, list):
        return False
    if schema["type"] in ("record", "error"):
        return all(_is_nothing(field["type"], named, (*inside, schema["name"])) for field in schema["fields"])
    is_empty: bool = schema["type"] == "fixed" and schema["size"] == 0
    return is_empty or bool(schema["type"] == "null")


def _record(fields: list[tuple[str, pa.DataType]], name: str) -> AvroSchema:
    for field, _ in fields:
        if not _NAME.fullmatch(field):
            raise InvalidInput(f"{field!r} is no name in Avro", hint="letters, digits and '_'; rename it in a select")
    made = [
        {"name": field, "type": ["null", _written(type_, f"{name}_{field}")], "default": None}
        for field, type_ in fields
    ]
    return {"type": "record", "name": name, "fields": made}


def _written(type_: pa.DataType, name: str) -> Any:
    if type_ in _WRITTEN:
        return _WRITTEN[type_]
    if isinstance(type_, pa.Decimal128Type):
        return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
    if isinstance(type_, pa.ListType):
        return {"type": "array", "items": ["null", _written(type_.value_type, name)]}
    if isinstance(type_, pa.MapType):
        if type_.key_type != pa.string():
            raise InvalidInput(f"a map in Avro has STRING keys, and those of {name!r} are {type_.key_type}")
        return {"type": "map", "values": ["null", _written(type_.item_type, name)]}
    if isinstance(type_, pa.StructType):
        return _record([(field.name, field.type) for field in type_], name)
    raise InvalidInput(f"Avro has no type for {name!r}: {type_}")


def _named(schema: Any) -> dict[str, Any]:
    """Records, enums and fixed types by their full names, as the parser wrote them."""
    found: dict[str, Any] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if "name" in part and part.get("type") in ("record", "error", "enum", "fixed"):
                found[part["name"]] = part
            waiting += [part[key] for key in ("type", "items", "values", "fields") if key in part]
    return found


def _arrow(schema: Any, named: Named, inside: tuple[str, ...]) -> pa.DataType | None:
    """None where only values can tell. `inside` are the records around this place."""
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        return _arrow(branches[0], named, inside) if len(branches) == 1 else None
    if isinstance(schema, str):
        # A record that holds itself has no columns of its own.
        is_recursive = schema in inside
        return _PRIMITIVES.get(schema) or (None if is_recursive else _arrow(named[schema], named, inside))
    if schema["type"] in ("array", "map"):
        return _collection(schema, named, inside)
    if schema["type"] in ("record", "error"):
        return _struct(schema, named, (*inside, schema["name"]))
    return _annotated(schema) or _arrow(schema["type"], named, inside)


def _annotated(schema: Any) -> pa.DataType | None:
    """The type of a primitive with a logical type, an enum or a fixed; None for what is only wrapped."""
    kind, logical = schema["type"], schema.get("logicalType", "")
    if logical == "decimal":
        return pa.decimal128(min(schema["precision"], DECIMAL_DIGITS_MAX), schema.get("scale", 0))
    return None if isinstance(kind, dict | list) else _LOGICAL.get((kind, logical)) or _PRIMITIVES.get(kind)


def _collection(schema: Any, named: Named, inside: tuple[str, ...]) -> pa.DataType | None:
    items = _arrow(schema.get("items", schema.get("values")), named, inside)
    if items is None:
        return None
    return pa.list_(items) if schema["type"] == "array" else pa.map_(pa.string(), items)


def _struct(schema: Any, named: Named, inside: tuple[str, ...]) -> pa.DataType | None:
    fields = [(field["name"], _arrow(field["type"], named, inside)) for field in schema["fields"]]
    if any(type_ is None for _, type_ in fields):
        return None
    return pa.struct(cast("list[tuple[str, pa.DataType]]", fields))

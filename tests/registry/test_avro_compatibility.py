"""One schema reads another's values by the rules exactly when Avro's library can read them."""

from __future__ import annotations

import copy
import json
from io import BytesIO
from typing import Any

import fastavro
import pytest
from fastavro.utils import generate_many
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.registry.avro_schemas import avro_problems, parse_with

VALUES_COUNT = 12
PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "string", "bytes"]
primitives = st.sampled_from(PRIMITIVES)
enums = st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True).map(
    lambda symbols: {"type": "enum", "name": "E", "symbols": symbols}
)
fixed = st.integers(1, 3).map(lambda size: {"type": "fixed", "name": "F", "size": size})


def extended(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = inner.map(lambda items: {"type": "array", "items": items})
    maps = inner.map(lambda values: {"type": "map", "values": values})
    unions = st.lists(primitives, min_size=1, max_size=3, unique=True)
    return arrays | maps | unions


types = st.recursive(primitives | enums | fixed, extended, max_leaves=3)
# A default must fit its type; null first in a union is the one that always does.
fields = st.tuples(st.sampled_from("abcd"), types, st.booleans())


def record(drawn: list[tuple[str, Any, bool]]) -> dict[str, Any]:
    made = []
    for name, type_, has_default in drawn:
        if has_default:
            branches = type_ if isinstance(type_, list) else [type_]
            nullable = ["null", *(branch for branch in branches if branch != "null")]
            made.append({"name": name, "type": nullable, "default": None})
        else:
            made.append({"name": name, "type": copy.deepcopy(type_)})
    return {"type": "record", "name": "R", "fields": made}


def is_defined_once(schema: dict[str, Any]) -> bool:
    try:
        fastavro.parse_schema(copy.deepcopy(schema), named_schemas={})
    except fastavro.schema.SchemaParseException:
        return False
    return True


records = st.lists(fields, max_size=3, unique_by=lambda field: field[0]).map(record).filter(is_defined_once)


def can_read(writer: dict[str, Any], reader: dict[str, Any]) -> bool:
    """What the library says to values of all kinds that the writer may write."""
    parsed_writer = fastavro.parse_schema(copy.deepcopy(writer), named_schemas={})
    parsed_reader = fastavro.parse_schema(copy.deepcopy(reader), named_schemas={})
    for value in [*generate_many(parsed_writer, VALUES_COUNT), *every_branch(writer)]:
        stream = BytesIO()
        fastavro.schemaless_writer(stream, parsed_writer, value)
        stream.seek(0)
        try:
            fastavro.schemaless_reader(stream, parsed_writer, parsed_reader)
        except UnicodeDecodeError:
            continue  # the rules let bytes be read as text; that these bytes are none is a fault of the value
        except (fastavro.schema.SchemaParseException, fastavro.read.SchemaResolutionError, ValueError, KeyError):
            return False
    return True


def every_branch(schema: dict[str, Any]) -> list[Any]:
    """Records that hold each branch of each union and each symbol of each enum, inside lists and maps as well."""
    values = {field["name"]: samples(field["type"]) for field in schema["fields"]}
    rows = []
    for name, choices in values.items():
        rows += [{**{other: found[0] for other, found in values.items()}, name: choice} for choice in choices]
    return rows


def samples(type_: Any) -> list[Any]:
    plain = {"null": None, "boolean": True, "int": 1, "long": 2, "float": 0.5, "double": 0.25, "string": "s"}
    if isinstance(type_, list):
        return [value for branch in type_ for value in samples(branch)]
    if isinstance(type_, str):
        return [plain.get(type_, b"b")]
    match type_["type"]:
        case "array":
            return [[value] for value in samples(type_["items"])]
        case "map":
            return [{"k": value} for value in samples(type_["values"])]
        case "enum":
            return list(type_["symbols"])
        case _:
            return [b"x" * type_["size"]]


def problems(reader: dict[str, Any], writer: dict[str, Any]) -> list[str]:
    return avro_problems(parse_with(json.dumps(reader), ()), parse_with(json.dumps(writer), ()))


@settings(deadline=None, max_examples=300)
@given(records, records)
def test_the_rules_say_what_the_library_does(writer: dict[str, Any], reader: dict[str, Any]) -> None:
    assert (not problems(reader, writer)) == can_read(writer, reader)


@settings(deadline=None, max_examples=50)
@given(records)
def test_every_schema_reads_its_own_values(schema: dict[str, Any]) -> None:
    assert problems(schema, schema) == []


def of(*fields_: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields_), **more}


NODE = of({"name": "next", "type": ["null", "R"], "default": None}, {"name": "v", "type": "int"})
WIDER = of({"name": "next", "type": ["null", "R"], "default": None}, {"name": "v", "type": "long"})


@pytest.mark.parametrize(
    ("writer", "reader", "words"),
    [
        (of(), of({"name": "a", "type": "int"}), "a: the reader has a field without a default"),
        (of({"name": "a", "type": "long"}), of({"name": "a", "type": "int"}), "a: long is not read as int"),
        (of(), {**of(), "name": "S"}, "the name 'R' is not 'S'"),
        (NODE, WIDER, None),
        (WIDER, NODE, "v: long is not read as int"),
        (of(), {**of(), "name": "S", "aliases": ["R"]}, None),
        (of({"name": "a", "type": "int"}), of({"name": "b", "type": "int", "aliases": ["a"]}), None),
        (of(namespace="x"), of(namespace="y"), None),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    writer: dict[str, Any], reader: dict[str, Any], words: str | None
) -> None:
    found = problems(reader, writer)
    assert found == [] if words is None else any(words in said for said in found)

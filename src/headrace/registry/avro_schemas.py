"""Avro schemas with the types that they take from others, and whether one reads what another wrote.

The rules are those of the Avro specification, "Schema Resolution".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from fastavro.schema import parse_schema

from headrace.errors import InvalidInput

_PROMOTED: Final[dict[str, frozenset[str]]] = {
    "int": frozenset({"long", "float", "double"}),
    "long": frozenset({"float", "double"}),
    "float": frozenset({"double"}),
    "string": frozenset({"bytes"}),
    "bytes": frozenset({"string"}),
}
_NAMED: Final = ("record", "error", "enum", "fixed")
_INNER: Final = ("type", "items", "values")


class ParsedAvro:
    """A schema with all its named types at hand."""

    def __init__(self, schema: Any, named: dict[str, Any]) -> None:
        self.schema = schema
        self.named = named

    def resolved(self, schema: Any) -> Any:
        """A name as what it stands for; a type in a box of its own as itself."""
        if isinstance(schema, str):
            return self.named.get(schema, {"type": schema})
        if isinstance(schema, dict) and isinstance(schema["type"], dict | list):
            return self.resolved(schema["type"])
        if isinstance(schema, dict) and schema["type"] in self.named:
            return self.named[schema["type"]]
        return schema


def parse_with(text: str, others: Sequence[str]) -> ParsedAvro:
    """Raises InvalidInput for what is no Avro schema."""
    named: dict[str, Any] = {}
    try:
        for other in others:
            parse_schema(json.loads(other), named_schemas=named)
        parsed = ParsedAvro(parse_schema(json.loads(text), named_schemas=named), named)
        _refuse_doubles(parsed.schema)
        return parsed
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput("the Avro schema is nested too deeply") from None
    except Exception as error:  # the library raises what its dictionaries raise
        raise InvalidInput(f"this is no Avro schema: {type(error).__name__}: {error}") from error


def _refuse_doubles(schema: Any) -> None:
    """The library takes two fields of one name, and two symbols."""
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            names = [field["name"] for field in part.get("fields", ())] + list(part.get("symbols", ()))
            double = next((name for index, name in enumerate(names) if name in names[:index]), None)
            if double is not None:
                raise InvalidInput(f"this is no Avro schema: {part.get('name')!r} has {double!r} twice")
            waiting += [part[key] for key in (*_INNER, "fields") if key in part]


def whole_record(parsed: ParsedAvro) -> dict[str, Any]:
    """As `whole`. Raises InvalidInput if it is no record."""
    found = whole(parsed)
    if not isinstance(found, dict) or found.get("type") != "record":
        raise InvalidInput("the Avro schema of a row is a record")
    return found


def whole(parsed: ParsedAvro) -> Any:
    """The schema with the types of others written out where they are first used."""
    known: set[str] = set()

    def written(part: Any) -> Any:
        if isinstance(part, str):
            if part not in parsed.named or part in known:
                return part
            return written(parsed.named[part])
        if isinstance(part, list):
            return [written(branch) for branch in part]
        if part.get("type") in _NAMED:
            known.add(part["name"])
        return {key: written(value) if key in _INNER else _fields(key, value) for key, value in part.items()}

    def _fields(key: str, value: Any) -> Any:
        return [{**field, "type": written(field["type"])} for field in value] if key == "fields" else value

    return written(parsed.schema)


def avro_problems(reader: ParsedAvro, writer: ParsedAvro) -> list[str]:
    """Why the reader cannot read all that the writer may write; nothing where it can."""
    return _Resolution(reader, writer).problems(reader.schema, writer.schema, "")


class _Resolution:
    def __init__(self, reader: ParsedAvro, writer: ParsedAvro) -> None:
        self._reader = reader
        self._writer = writer
        # Pairs of records that are being compared: a type that holds itself is taken to fit there.
        self._open: set[tuple[str, str]] = set()

    def problems(self, reader: Any, writer: Any, place: str) -> list[str]:
        reader, writer = self._reader.resolved(reader), self._writer.resolved(writer)
        if isinstance(writer, list):
            return [problem for branch in writer for problem in self.problems(reader, branch, place)]
        if isinstance(reader, list):
            if any(not self.problems(branch, writer, place) for branch in reader):
                return []
            return [f"{place or 'the schema'}: no branch of the reader's union takes {writer['type']}"]
        if reader["type"] != writer["type"]:
            is_promoted = reader["type"] in _PROMOTED.get(writer["type"], frozenset())
            said = f"{place or 'the schema'}: {writer['type']} is not read as {reader['type']}"
            return [] if is_promoted else [said]
        return self._same_kind(reader, writer, place)

    def _same_kind(self, reader: Any, writer: Any, place: str) -> list[str]:
        kind = reader["type"]
        if kind in _NAMED and not _is_same_name(reader, writer):
            return [f"{place or 'the schema'}: the name {writer['name']!r} is not {reader['name']!r}"]
        if kind in ("record", "error"):
            return self._records(reader, writer, place)
        if kind == "array":
            return self.problems(reader["items"], writer["items"], f"{place}[]")
        if kind == "map":
            return self.problems(reader["values"], writer["values"], f"{place}{{}}")
        if kind == "enum" and "default" not in reader:
            missing = [symbol for symbol in writer["symbols"] if symbol not in reader["symbols"]]
            return [f"{place or 'the schema'}: the reader has no symbol {symbol!r}" for symbol in missing]
        if kind == "fixed" and reader["size"] != writer["size"]:
            return [f"{place or 'the schema'}: {writer['size']} bytes are not {reader['size']}"]
        return []

    def _records(self, reader: Any, writer: Any, place: str) -> list[str]:
        pair = (reader["name"], writer["name"])
        if pair in self._open:
            return []
        self._open.add(pair)
        written = {field["name"]: field for field in writer["fields"]}
        found: list[str] = []
        for field in reader["fields"]:
            names = (field["name"], *field.get("aliases", ()))
            match = next((written[name] for name in names if name in written), None)
            inner = f"{place}.{field['name']}".lstrip(".")
            if match is not None:
                found += self.problems(field["type"], match["type"], inner)
            elif "default" not in field:
                found.append(f"{inner}: the reader has a field without a default that the writer does not write")
        self._open.discard(pair)
        return found


def _is_same_name(reader: Any, writer: Any) -> bool:
    """Without their namespaces; the reader may know the writer's as an alias."""
    last = writer["name"].rpartition(".")[2]
    known = [reader["name"], *reader.get("aliases", ())]
    return any(name.rpartition(".")[2] == last for name in known)

"""JSON schemas: only their outer form is looked at, in which a slip of the pen shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from headrace.errors import InvalidInput

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
# Where other schemas stand: one, a list of them, or by name.
_ONE: Final = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED: Final = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


def parse_json_schema(text: str) -> Any:
    """Raises InvalidInput, with the place, for what is no JSON schema."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is no JSON schema: {error}") from error
    waiting: list[tuple[str, Any]] = [("#", found)]
    while waiting:
        place, schema = waiting.pop()
        _check(place, schema)
        if isinstance(schema, dict):
            waiting += _inner(place, schema)
    return found


def _check(place: str, schema: Any) -> None:
    if not isinstance(schema, dict | bool):
        raise InvalidInput(f"{place}: a JSON schema is an object or a truth value")
    if isinstance(schema, dict) and "type" in schema:
        given = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        unknown = [one for one in given if one not in TYPES]
        if unknown or not given:
            raise InvalidInput(
                f"{place}: a JSON schema has no type {json.dumps(unknown[0]) if unknown else '[]'}", valid=TYPES
            )
    if isinstance(schema, dict) and not isinstance(schema.get("required", []), list | bool):
        raise InvalidInput(f"{place}: required is a list of names")


def _inner(place: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _ONE:
        if key in schema and not isinstance(schema[key], list):
            yield f"{place}/{key}", schema[key]
    for key in _LISTS:
        if isinstance(schema.get(key), list):
            yield from ((f"{place}/{key}/{index}", one) for index, one in enumerate(schema[key]))
    for key in _NAMED:
        if key in schema and not isinstance(schema[key], dict):
            raise InvalidInput(f"{place}: {key} is an object of schemas by name")
        yield from ((f"{place}/{key}/{name}", one) for name, one in schema.get(key, {}).items())

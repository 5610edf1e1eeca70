"""JSON schemas: whether a text is one, by what the metaschema of its draft says of every keyword.

Which patterns are regular expressions and which texts are URIs is not looked at: those differ by language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headrace.errors import InvalidInput

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
# Schemas inside schemas.
DEPTH_MAX: Final = 200
_SHOWN_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a keyword may hold; `inner` finds the schemas in it, each with its place below the keyword."""

    words: str
    fits: Callable[[Any], bool]
    inner: Callable[[Any], Iterator[tuple[str, Any]]] = lambda value: iter(())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value % 1 == 0


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value) and len(set(value)) == len(value)


def _is_types(value: Any) -> bool:
    return value in TYPES if isinstance(value, str) else _is_texts(value) and bool(value) and set(value) <= set(TYPES)


def _is_named_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_texts, value.values()))


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_text(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None


def _in_place(value: Any) -> Iterator[tuple[str, Any]]:
    yield "", value


def _in_list(value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield from ((f"/{index}", one) for index, one in enumerate(value))


def _by_name(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Lists among them are names, not schemas."""
    named = ((name.replace("~", "~0").replace("/", "~1"), one) for name, one in value.items())
    yield from ((f"/{name}", one) for name, one in named if not isinstance(one, list))


def _either(first: _Shape, second: _Shape) -> _Shape:
    return _Shape(
        f"{first.words}, or {second.words}",
        lambda value: first.fits(value) or second.fits(value),
        lambda value: (first if first.fits(value) else second).inner(value),
    )


_FLAG: Final = _Shape("true or false", lambda value: isinstance(value, bool))
_TEXT: Final = _Shape("a text", lambda value: isinstance(value, str))
_NUMBER: Final = _Shape("a number", _is_number)
_ABOVE_ZERO: Final = _Shape("a number above 0", lambda value: _is_number(value) and value > 0)
_SIZE: Final = _Shape("a whole number from 0 on", _is_size)
_LIST: Final = _Shape("a list", lambda value: isinstance(value, list))
_FILLED_LIST: Final = _Shape("a list that is not empty", lambda value: isinstance(value, list) and bool(value))
_TEXTS: Final = _Shape("a list of names, each once", _is_texts)
_FILLED_TEXTS: Final = _Shape("a list of names, each once, that is not empty", lambda v: _is_texts(v) and bool(v))
_NAMED_TEXTS: Final = _Shape("an object of lists of names, each once", _is_named_texts)
_TYPES: Final = _Shape(f"one of {', '.join(TYPES)}, or a list of them, each once", _is_types)
_SCHEMA: Final = _Shape("a schema (an object, true or false)", _is_schema, _in_place)
_SCHEMAS: Final = _Shape("a list of schemas that is not empty", _is_schemas, _in_list)
_ITEMS: Final = _either(_SCHEMA, _SCHEMAS)
_NAMED: Final = _Shape(
    "an object of schemas by name", lambda v: isinstance(v, dict) and all(map(_is_schema, v.values())), _by_name
)
_DEPENDENCIES: Final = _Shape(
    "an object of schemas, or lists of names, by name",
    lambda value: isinstance(value, dict) and all(_is_schema(one) or _is_texts(one) for one in value.values()),
    _by_name,
)
_FLAGS: Final = _Shape(
    "an object of true or false by name",
    lambda value: isinstance(value, dict) and all(isinstance(one, bool) for one in value.values()),
)
_ID: Final = _Shape("a URI without a fragment", _is_text("[^#]*#?"))


def _all(names: str, shape: _Shape) -> dict[str, _Shape]:
    return dict.fromkeys(names.split(), shape)


_DRAFT_4: Final[dict[str, _Shape]] = {
    **_all("id $schema title description pattern format", _TEXT),
    **_all("maxLength minLength maxItems minItems maxProperties minProperties", _SIZE),
    **_all("maximum minimum", _NUMBER),
    **_all("exclusiveMaximum exclusiveMinimum uniqueItems", _FLAG),
    **_all("additionalItems additionalProperties", _either(_FLAG, _SCHEMA)),
    "not": _SCHEMA,
    **_all("allOf anyOf oneOf", _SCHEMAS),
    **_all("definitions properties patternProperties", _NAMED),
    "multipleOf": _ABOVE_ZERO,
    "items": _ITEMS,
    "dependencies": _DEPENDENCIES,
    "required": _FILLED_TEXTS,
    "enum": _FILLED_LIST,
    "type": _TYPES,
}
_DRAFT_6: Final[dict[str, _Shape]] = {
    **{keyword: shape for keyword, shape in _DRAFT_4.items() if keyword != "id"},
    **_all("$id $ref", _TEXT),
    **_all("exclusiveMaximum exclusiveMinimum", _NUMBER),
    **_all("contains propertyNames", _SCHEMA),
    **_all("examples enum", _LIST),
    "required": _TEXTS,
}
_DRAFT_7: Final[dict[str, _Shape]] = {
    **_DRAFT_6,
    **_all("if then else", _SCHEMA),
    **_all("$comment contentMediaType contentEncoding", _TEXT),
    "readOnly": _FLAG,
}
_DRAFT_2019: Final[dict[str, _Shape]] = {
    **_DRAFT_7,
    **_all("unevaluatedItems unevaluatedProperties contentSchema", _SCHEMA),
    **_all("$defs dependentSchemas", _NAMED),
    **_all("maxContains minContains", _SIZE),
    **_all("deprecated writeOnly $recursiveAnchor", _FLAG),
    "$id": _ID,
    "$anchor": _Shape("a name that begins with a letter", _is_text("[A-Za-z][-A-Za-z0-9.:_]*")),
    "$recursiveRef": _TEXT,
    "$vocabulary": _FLAGS,
    "dependentRequired": _NAMED_TEXTS,
}
_ANCHOR: Final = _Shape("a name that begins with a letter or _", _is_text("[A-Za-z_][-A-Za-z0-9._]*"))
_DRAFT_2020: Final[dict[str, _Shape]] = {
    **{keyword: shape for keyword, shape in _DRAFT_2019.items() if keyword != "additionalItems"},
    **_all("$anchor $dynamicAnchor $recursiveAnchor", _ANCHOR),
    "$dynamicRef": _TEXT,
    "prefixItems": _SCHEMAS,
    "items": _SCHEMA,
}
# What names no draft, or one that is not known here, is held to what any of them allows; draft 3 has required: true.
_ANY_DRAFT: Final[dict[str, _Shape]] = {
    **_DRAFT_2020,
    **_all("exclusiveMaximum exclusiveMinimum", _either(_NUMBER, _FLAG)),
    **_all("$anchor $recursiveAnchor", _either(_TEXT, _FLAG)),
    "$id": _TEXT,
    "additionalItems": _SCHEMA,
    "items": _ITEMS,
    "required": _either(_TEXTS, _FLAG),
}
_DRAFTS: Final[dict[str, Mapping[str, _Shape]]] = {
    "json-schema.org/draft-04/schema": _DRAFT_4,
    "json-schema.org/draft-06/schema": _DRAFT_6,
    "json-schema.org/draft-07/schema": _DRAFT_7,
    "json-schema.org/draft/2019-09/schema": _DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": _DRAFT_2020,
}


def parse_json_schema(text: str) -> Any:
    """Raises InvalidInput, with the place, for what is no JSON schema."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is no JSON schema: {error}") from error
    draft = _draft_of(found)
    waiting: list[tuple[str, int, Any]] = [("#", 0, found)]
    while waiting:
        place, depth, schema = waiting.pop()
        if not _is_schema(schema) or (draft is _DRAFT_4 and isinstance(schema, bool)):
            words = "an object" if draft is _DRAFT_4 else "an object, true or false"
            raise InvalidInput(f"{place} must be a schema ({words}); it is {_shown(schema)}")
        if depth > DEPTH_MAX:
            raise InvalidInput(f"{place[:_SHOWN_MAX]} …: schemas are nested more than {DEPTH_MAX} deep")
        if isinstance(schema, dict):
            waiting += [(where, depth + 1, one) for where, one in _checked(place, schema, draft)]
    return found


def _draft_of(schema: Any) -> Mapping[str, _Shape]:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(named, str):
        return _ANY_DRAFT
    return _DRAFTS.get(named.removeprefix("https://").removeprefix("http://").removesuffix("#"), _ANY_DRAFT)


def _checked(place: str, schema: dict[str, Any], draft: Mapping[str, _Shape]) -> Iterator[tuple[str, Any]]:
    """The schemas inside this one, with their places. Raises InvalidInput for a keyword with a wrong value."""
    for keyword, value in schema.items():
        shape = draft.get(keyword)
        if shape is None:
            continue  # a word of somebody's own, which every draft allows
        if not shape.fits(value):
            valid = TYPES if keyword == "type" else ()
            raise InvalidInput(f"{place}/{keyword} must be {shape.words}; it is {_shown(value)}", valid=valid)
        yield from ((f"{place}/{keyword}{below}", one) for below, one in shape.inner(value))


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]} …"

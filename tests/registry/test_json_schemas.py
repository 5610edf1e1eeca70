"""What is a JSON schema is decided as the metaschemas of the drafts decide it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.errors import InvalidInput
from headrace.registry import json_schemas
from headrace.registry.json_schemas import DEPTH_MAX, TYPES, parse_json_schema

DRAFTS: dict[str, Any] = {
    "http://json-schema.org/draft-04/schema#": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}
KEYWORDS = sorted({*json_schemas._ANY_DRAFT, *json_schemas._DRAFT_4} - {"$schema"})

texts = st.lists(st.sampled_from(("a", "b", "c/~")), max_size=3)
plain = (
    st.none()
    | st.booleans()
    | st.sampled_from((0, 1, -1, 2.0, 2.5, 0.0))
    | st.sampled_from(("", "a", "_a", "9", "a#", "a#b", *TYPES))
    | texts
    | st.lists(st.sampled_from(TYPES), max_size=2)
)


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from(("a", "b", "c/~", "additionalItems")), inner, max_size=2)
    values = inner | named | st.lists(inner, max_size=2) | plain
    return st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=3)


documents = st.recursive(st.booleans() | plain | schemas(plain), schemas, max_leaves=6)


def is_taken(schema: Any) -> bool:
    try:
        parse_json_schema(json.dumps(schema))
    except InvalidInput:
        return False
    return True


def has_doubles(schema: Any) -> bool:
    """Drafts 4 and 6 want the values of an enum to differ, which no registry looks at."""
    if isinstance(schema, list):
        return any(map(has_doubles, schema))
    if not isinstance(schema, dict):
        return False
    enum = schema.get("enum")
    doubled = isinstance(enum, list) and any(one in enum[:index] for index, one in enumerate(enum))
    return doubled or any(map(has_doubles, schema.values()))


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_draft_that_is_named_decides_as_its_metaschema(draft: str) -> None:
    @settings(deadline=None, max_examples=200)
    @given(documents.filter(lambda drawn: isinstance(drawn, dict) and not has_doubles(drawn)))
    @example({"properties": {"additionalItems": True}})
    @example({"exclusiveMinimum": True, "minimum": 1})
    @example({"additionalProperties": {"type": "bad-object"}})
    @example({"dependencies": {"a": ["b"], "c": {"type": "bad"}}})
    def decided(drawn: dict[str, Any]) -> None:
        schema = {"$schema": draft, **drawn}
        # Draft 4 ties these to another keyword, and its validators take them without: so does Confluent's.
        lonely = draft.endswith("draft-04/schema#") and "exclusiveM" in json.dumps(drawn)
        if lonely and is_taken(schema):
            return
        assert is_taken(schema) == is_of(DRAFTS[draft], schema)

    decided()


def is_of(validator: Any, schema: Any) -> bool:
    try:
        validator.check_schema(schema)
    except jsonschema.SchemaError:
        return False
    return True


def names_in(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(names_in, schema))
    return {*schema, *names_in(list(schema.values()))} if isinstance(schema, dict) else set()


@settings(deadline=None, max_examples=300)
@given(documents.filter(lambda drawn: not has_doubles(drawn)))
@example({"exclusiveMinimum": True, "minimum": 1})
@example({"items": [{}], "additionalItems": False})
def test_without_a_draft_what_one_of_them_knows_and_takes_is_taken(drawn: Any) -> None:
    named = names_in(drawn) & set(KEYWORDS)
    for uri, known in json_schemas._DRAFTS.items():
        validator = next(found for draft, found in DRAFTS.items() if uri in draft)
        if named <= set(known) and is_of(validator, drawn):
            assert is_taken(drawn)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "bad-object"}, '#/type must be one of array, boolean, .*; it is "bad-object"'),
        ({"properties": {"a": {"type": ["string", 3]}}}, "#/properties/a/type must be one of"),
        ({"properties": []}, r"#/properties must be an object of schemas by name; it is \[\]"),
        ({"items": [{"type": "integer"}, 5]}, "#/items must be a schema"),
        ({"properties": {"a/b": {"minLength": -1}}}, "#/properties/a~1b/minLength must be a whole number from 0 on"),
        ({"required": "a"}, "#/required must be a list of names, each once"),
        ({"maximum": "9"}, "#/maximum must be a number"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMinimum": True}, "must be a number; it is"),
        ({"$schema": "http://json-schema.org/draft-04/schema", "not": True}, r"#/not must be a schema \(an object\)"),
        (5, "# must be a schema"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(schema: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        parse_json_schema(json.dumps(schema))


def test_how_deep_schemas_may_be_nested() -> None:
    def nested(depth: int) -> str:
        return '{"not":' * depth + "{}" + "}" * depth

    parse_json_schema(nested(DEPTH_MAX))
    with pytest.raises(InvalidInput, match=f"nested more than {DEPTH_MAX} deep"):
        parse_json_schema(nested(DEPTH_MAX + 1))


@pytest.mark.parametrize("schema", [{"own": 5}, {"$schema": "urn:mine", "type": "object"}, {"required": True}, True])
def test_what_no_draft_forbids_is_taken(schema: Any) -> None:
    assert is_taken(schema)

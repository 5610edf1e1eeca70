"""Names and values survive being printed and read, whatever they hold."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidSyntax
from headrace.graph.document import Json, canonical_json
from headrace.sql.language.annotations import print_annotation, read_annotations
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.script import read_script
from headrace.sql.language.values import print_exact, print_name, print_value, read_value

_CONTROL: tuple[Literal["Cc"]] = ("Cc",)
texts = st.text(st.characters(codec="utf-8"))
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)


def value(written: str) -> Json:
    script = read_script(written)
    cursor = Cursor(script, 0, len(script.tokens))
    read, _ = read_value(cursor)
    assert cursor.done()
    return read


@given(values)
def test_values_read_back(given_value: Json) -> None:
    for printed in (print_value(given_value), print_exact(given_value)):
        assert canonical_json(value(printed)) == canonical_json(given_value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("'it''s'", "it's"), ('"double"', "double"), ("''", ""), ("''''", "'"), ("-5", -5), ("1.5", 1.5), ("true", True),
     ("NULL", None), ("ARRAY['a', 'b']", ["a", "b"]), ("ARRAY[]", []), ("JSON '{\"a\": [1]}'", {"a": [1]})],
)  # fmt: skip
def test_spellings_of_values(written: str, meant: Json) -> None:
    assert value(written) == meant


@pytest.mark.parametrize(
    "written", ["JSON 'NaN'", "JSON '1e999'", "1e999", "JSON 5", "x", "10s", "- -5", "ARRAY['a' 'b']"]
)
def test_what_is_no_value_is_refused(written: str) -> None:
    with pytest.raises(InvalidSyntax):
        value(written)


@given(st.text(st.characters(codec="utf-8", exclude_categories=_CONTROL), min_size=1))
def test_names_read_back(name: str) -> None:
    script = read_script(print_name(name))
    cursor = Cursor(script, 0, len(script.tokens))
    assert cursor.name("a name").text == name
    assert cursor.done()


@pytest.mark.parametrize(
    "word", ["select", "FROM", "case", "emit", "window", "true", "null", "a-b", "1a", "ü", "current_date"]
)
def test_words_that_mean_something_are_quoted(word: str) -> None:
    assert print_name(word) == f"`{word}`"


@pytest.mark.parametrize(
    "word", ["drone", "_window_start", "timestamp", "value", "key", "date", "time", "count", "name"]
)
def test_other_words_are_not(word: str) -> None:
    assert print_name(word) == word


@given(texts)
def test_annotations_read_back(text: str) -> None:
    assert read_annotations(print_annotation("name", text) + "\nCREATE STREAM x;") == {"name": text}


def test_annotations_stand_above_the_first_statement() -> None:
    sql = "\n-- @name  over sea \n-- @description What it does\n-- @metric ignored\nCREATE STREAM x;\n-- @name late"
    assert read_annotations(sql) == {"name": "over sea", "description": "What it does"}

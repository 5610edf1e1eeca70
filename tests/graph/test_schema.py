from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from headrace.errors import InvalidInput
from headrace.graph import Column, Schema
from headrace.graph.schema import parse_type
from headrace.graph.testing import schemas


@given(schemas())
def test_printed_columns_read_back(schema: Schema) -> None:
    assert Schema.parse(str(schema)) == schema


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("integer", "INT"),
        ("decimal( 10 , 2 )", "DECIMAL(10,2)"),
        ("numeric", "DECIMAL(10,0)"),
        ("array< map<string, long> >", "ARRAY<MAP<STRING,BIGINT>>"),
        ("struct<a: int, `b c` text>", "STRUCT<a:INT,`b c`:STRING>"),
    ],
)
def test_types_have_one_spelling(written: str, canonical: str) -> None:
    assert parse_type(written) == canonical


@pytest.mark.parametrize(
    ("ddl", "message"),
    [
        ("a", "end too early"),
        ("a FOO", "unknown type 'FOO'"),
        ("a INT b INT", "expected ',' but found 'b'"),
        ("a INT, A STRING", "defined twice"),
        ("5 INT", "expected a column name but found '5'"),
        ("a DECIMAL(x)", "expected a number but found 'x'"),
        ("a DECIMAL(39)", "1 to 38 digits"),
        ("a DECIMAL(2,3)", "1 to 38 digits"),
        ("a ARRAY<INT", "end too early"),
        ("a INT ?", "expected ','|unexpected"),
        ("a " + "ARRAY<" * 1000, "nested deeper than 32"),
    ],
)
def test_wrong_columns_are_refused(ddl: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Schema.parse(ddl)


def test_a_mistyped_type_has_a_hint() -> None:
    with pytest.raises(InvalidInput) as caught:
        Schema.parse("a DUOBLE")
    assert caught.value.hint == "did you mean DOUBLE?"


def test_columns_are_found_in_any_case_and_hidden_ones_too() -> None:
    schema = replace(Schema.parse("Drone STRING, b INT"), hidden=(Column("_key", "BINARY"),))
    assert schema.require("dRONE") == Column("Drone", "STRING")
    assert schema.find("_KEY") == Column("_key", "BINARY")
    assert schema.names == ("Drone", "b")
    assert schema == Schema.parse("Drone STRING, b INT")
    with pytest.raises(InvalidInput, match="unknown column 'drne'") as caught:
        schema.require("drne")
    assert caught.value.valid == ("Drone", "b")


def test_keep_holds_the_order_and_what_is_hidden() -> None:
    schema = replace(Schema.parse("a INT, b INT, c INT"), hidden=(Column("_key", "BINARY"),), event_time="c")
    kept = schema.keep(("C", "a", "_key"))
    assert (kept.names, kept.hidden, kept.event_time) == (("a", "c"), schema.hidden, "c")
    assert schema.keep(("a",)).hidden == ()

"""Avro schemas that others wrote: which columns they become, and which they cannot."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.formats import ValueFormat, check_reading, check_writing, decoder, encoder

THEIRS = {
    "type": "record",
    "name": "Trade",
    "namespace": "org.example",
    "fields": [
        {"name": "side", "type": {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "count", "type": "int"},
        {"name": "party", "type": {"type": "record", "name": "Party", "fields": [{"name": "id", "type": "string"}]}},
        {"name": "other", "type": ["null", "Party"]},
        {"name": "mixed", "type": ["null", "int", "string"]},
        {"name": "since", "type": "long"},
    ],
}
ROW = {"side": "SELL", "at": 1, "count": 3, "party": {"id": "p"}, "other": {"id": "q"}, "mixed": "m", "since": 2}


def format_of(schema: object) -> ValueFormat:
    return ValueFormat("avro", schema=json.dumps(schema))


def value_of(row: dict[str, Any]) -> bytes:
    stream = BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(THEIRS, named_schemas={}), row)
    return stream.getvalue()


def decode(columns: pa.Schema, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    values = pa.array([value_of(row) for row in rows], pa.binary())
    decoded = decoder(format_of(THEIRS), columns)(values)
    return decoded.rows.to_pylist()


def test_fields_become_wider_columns_and_times_of_any_unit_a_timestamp() -> None:
    moment = pa.timestamp("us", tz="UTC")
    columns: dict[str, pa.DataType] = {"since": moment, "side": pa.string(), "at": moment, "count": pa.int64()}
    (row,) = decode(pa.schema(columns), ROW)
    assert (row["side"], row["count"]) == ("SELL", 3)
    assert row["at"].timestamp() == 0.001
    assert row["since"].timestamp() == 0.002


def test_a_type_may_be_defined_in_a_field_that_nobody_wants() -> None:
    columns = pa.schema([("other", pa.struct([("id", pa.string())]))])
    assert decode(columns, ROW, {**ROW, "other": None}) == [{"other": {"id": "q"}}, {"other": None}]


def test_a_value_of_the_wrong_branch_of_a_union_is_a_bad_record() -> None:
    values = pa.array([value_of({**ROW, "mixed": mixed}) for mixed in ("a", 1, None)], pa.binary())
    decoded = decoder(format_of(THEIRS), pa.schema([("mixed", pa.string())]))(values)
    assert decoded.rows.column(0).to_pylist() == ["a", None]
    assert [record.index for record in decoded.bad] == [1]


def test_bytes_that_follow_a_record_make_it_bad() -> None:
    decoded = decoder(format_of(THEIRS), pa.schema([("count", pa.int32())]))(
        pa.array([value_of(ROW) + b"x"], pa.binary())
    )
    assert "1 bytes follow" in decoded.bad[0].reason


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"nothing": pa.int32()}, "no field 'nothing'"),
        ({"count": pa.string()}, "'count' is int32 and the column is string"),
        ({"side": pa.int32()}, "'side' is string and the column is int32"),
        ({"party": pa.struct([("id", pa.int64())])}, r"'party'.id is string and the column is int64"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(columns: dict[str, pa.DataType], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_reading(format_of(THEIRS), pa.schema(columns))


def test_an_array_of_nothing_is_refused() -> None:
    items = {"type": "record", "name": "Empty", "fields": [{"name": "n", "type": "null"}]}
    fields = [{"name": "a", "type": {"type": "array", "items": items}}]
    columns = pa.schema([("a", pa.list_(pa.struct([("n", pa.null())])))])
    with pytest.raises(InvalidInput, match="items have no bytes"):
        check_reading(format_of({"type": "record", "name": "R", "fields": fields}), columns)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("nonsense", "no Avro schema"),
        ({"type": "record"}, "no Avro schema"),
        ({"type": "array", "items": "int"}, "is a record"),
        ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "thing"}]}, "no Avro schema"),
    ],
)
def test_a_schema_that_is_none_is_refused(schema: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_reading(format_of(schema), pa.schema([("a", pa.int32())]))


def test_writing_wants_all_fields_without_a_default() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}]}
    with pytest.raises(InvalidInput, match="'b' has no default"):
        check_writing(format_of(schema), pa.schema([("a", pa.int32())]))
    with pytest.raises(InvalidInput, match="no field 'c'"):
        check_writing(format_of(schema), pa.schema([("c", pa.int32())]))


def test_a_null_and_a_number_too_large_are_refused_and_never_changed() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
    columns = pa.schema([("a", pa.int64())])
    encode = encoder(format_of(schema), columns)
    with pytest.raises(InvalidInput, match="no such Avro record"):
        encode(pa.record_batch([pa.array([None], pa.int64())], schema=columns))
    with pytest.raises(pa.ArrowInvalid, match="2147483648"):
        encode(pa.record_batch([pa.array([2**31], pa.int64())], schema=columns))


@pytest.mark.parametrize(
    ("name", "type_", "words"),
    [("a b", pa.int32(), "no name in Avro"), ("m", pa.map_(pa.int32(), pa.int32()), "STRING keys")],
)
def test_what_avro_cannot_say_is_refused(name: str, type_: pa.DataType, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_writing(ValueFormat("avro"), pa.schema([(name, type_)]))

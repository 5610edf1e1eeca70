"""Texts of .proto files that others wrote: what they mean, which columns they become, and how they are refused."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput
from headrace.formats import ValueFormat, check_reading, check_writing, decoder, encoder
from headrace.formats.proto_schema import message_of
from headrace.formats.proto_text import parse_proto

THEIRS = """
// A file as people write it.
syntax = "proto3";
package org.example;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
option java_package = "org.example";

/* Sides
   of a trade */
enum Side { option allow_alias = true; NONE = 0; BUY = 1; SELL = 0x2; BID = 1; }

message Trade {
  reserved 50 to 60, 99; reserved "old";
  string symbol = 1 [json_name = "sym", (some.option) = { a: 1 }];
  optional double price = 2;
  Side side = 3;
  repeated int32 sizes = 4 [packed = false];
  map<string, Party> parties = 5;
  oneof kind { bool limit = 6; string note = 7; }
  google.protobuf.Timestamp at = 8;
  google.protobuf.Int64Value count = 9;
  uint64 serial = 10;
  message Party { string id = 1; Trade.Side2 inner = 2; }
  enum Side2 { ZERO = 0; }
}
message Other { .org.example.Trade trade = 1; }
service Trades { rpc Get (Trade) returns (Other) { option deprecated = true; } }
"""
PROTO = ValueFormat("protobuf", schema=THEIRS)


def trade(**fields: Any) -> bytes:
    return GetMessageClass(message_of(THEIRS))(**fields).SerializeToString()


def decode(columns: dict[str, pa.DataType], *values: bytes) -> list[dict[str, Any]]:
    decoded = decoder(PROTO, pa.schema(columns))(pa.array(values, pa.binary()))
    assert not decoded.bad
    return decoded.rows.to_pylist(maps_as_pydicts="strict")


def test_presence_enums_oneofs_wrappers_and_maps_become_columns() -> None:
    columns: dict[str, pa.DataType] = {
        "symbol": pa.string(),
        "price": pa.float64(),
        "side": pa.string(),
        "sizes": pa.list_(pa.int64()),
        "parties": pa.map_(pa.string(), pa.struct([("id", pa.string())])),
        "limit": pa.bool_(),
        "note": pa.string(),
        "at": pa.timestamp("us", tz="UTC"),
        "count": pa.int64(),
    }
    full = trade(
        symbol="A",
        price=1.5,
        side="SELL",
        sizes=[1, 2],
        parties={"x": {"id": "i"}},
        note="n",
        at={"seconds": 1, "nanos": 5_000},
        count={"value": 4},
    )
    first, second = decode(columns, full, trade())
    assert first["at"].timestamp() == 1.000005
    assert {name: first[name] for name in columns if name != "at"} == {
        "symbol": "A",
        "price": 1.5,
        "side": "SELL",
        "sizes": [1, 2],
        "parties": {"x": {"id": "i"}},
        "limit": None,
        "note": "n",
        "count": 4,
    }
    assert second == {
        **{"symbol": "", "price": None, "side": "NONE", "sizes": [], "parties": {}},
        **{"limit": None, "note": None, "at": None, "count": None},
    }


def test_an_enum_may_be_its_number_and_one_without_a_name_is_its_number_as_text() -> None:
    value = trade(side=7)
    assert decode({"side": pa.int32()}, value) == [{"side": 7}]
    assert decode({"side": pa.string()}, value, trade()) == [{"side": "7"}, {"side": "NONE"}]
    rows = pa.RecordBatch.from_pylist([{"side": "7"}, {"side": "SELL"}])
    values: list[Any] = encoder(PROTO, rows.schema)(rows).to_pylist()
    assert decode({"side": pa.string()}, *values) == rows.to_pylist()


def test_an_unsigned_number_beyond_the_column_is_a_bad_record() -> None:
    values = pa.array([trade(serial=5), trade(serial=2**63)], pa.binary())
    decoded = decoder(PROTO, pa.schema([("serial", pa.int64())]))(values)
    assert decoded.rows.column(0).to_pylist() == [5]
    assert [record.index for record in decoded.bad] == [1]


def test_a_message_can_be_named_and_a_descriptor_can_stand_for_the_text() -> None:
    assert message_of(THEIRS, "Trade.Party").full_name == "org.example.Trade.Party"
    assert message_of(THEIRS, "org.example.Other").full_name == "org.example.Other"
    described = base64.b64encode(parse_proto(THEIRS, "any.proto").SerializeToString()).decode()
    assert message_of(described).full_name == "org.example.Trade"
    with pytest.raises(InvalidInput, match="no message 'Nothing'") as refused:
        message_of(THEIRS, "Nothing")
    assert "org.example.Trade" in refused.value.valid


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("message A { string a = 1; }", "optional, required or repeated"),
        ('syntax = "proto3"; message A { string a 1; }', "expected '=' but found '1'"),
        ('syntax = "proto3"; message A { string a = x; }', "expected a number but found 'x'"),
        ('syntax = "proto3"; message A {', "ends too early"),
        ('syntax = "proto4";', "proto2 or proto3"),
        ('edition = "2023";', "expected syntax"),
        ('syntax = "proto3"; import "mine.proto"; message A {}', "'mine.proto' is not known"),
        ('syntax = "proto3"; message A { Thing a = 1; }', "not valid"),
        ('syntax = "proto3"; message A { string a = 1; string b = 1; }', "not valid"),
        ('syntax = "proto3"; enum E { A = 0; }', "no message"),
        ('syntax = "proto3"; message A { string a = 1; } §', "unexpected '§'"),
        ("message A { optional group B = 1 {} }", "groups are not understood"),
        ("message A {" * 40, "levels of nesting"),
        ("zzzz", "neither a .proto text nor a descriptor"),
    ],
)
def test_a_text_that_is_none_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        message_of(text)


def test_an_error_points_at_its_place() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_proto('syntax = "proto3";\nmessage A {\n  string a 1;\n}', "a.proto")
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == (3, 12)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"nothing": pa.int32()}, "no field 'nothing'"),
        ({"symbol": pa.int32()}, "is string and the column is int32"),
        ({"sizes": pa.int32()}, "is repeated and the column is int32"),
        ({"parties": pa.string()}, "is a map and the column is string"),
        ({"at": pa.string()}, "is timestamp.* and the column is string"),
        ({"parties": pa.map_(pa.string(), pa.struct([("no", pa.int32())]))}, "no field 'no'"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(columns: dict[str, pa.DataType], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_reading(PROTO, pa.schema(columns))


@pytest.mark.parametrize(
    ("name", "type_", "words"),
    [
        ("a b", pa.int32(), "no name in Protobuf"),
        ("lists", pa.list_(pa.list_(pa.int32())), "lists of lists"),
        ("m", pa.map_(pa.float64(), pa.int32()), "no keys of type double"),
    ],
)
def test_what_protobuf_cannot_say_is_refused(name: str, type_: pa.DataType, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_writing(ValueFormat("protobuf"), pa.schema([(name, type_)]))


def test_a_null_in_a_list_is_refused() -> None:
    columns = pa.schema([("sizes", pa.list_(pa.int32()))])
    with pytest.raises(InvalidInput, match="holds no null"):
        encoder(PROTO, columns)(pa.record_batch([pa.array([[1, None]], columns.field(0).type)], schema=columns))


names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
_SCALAR_TYPES = {FieldDescriptorProto.TYPE_STRING: "string", FieldDescriptorProto.TYPE_SINT64: "sint64"}


@given(
    st.lists(
        st.tuples(names, st.sampled_from(sorted(_SCALAR_TYPES)), st.booleans()), max_size=6, unique_by=lambda f: f[0]
    )
)
def test_the_parser_reads_the_descriptor_that_was_meant(fields: list[tuple[str, Any, bool]]) -> None:
    meant = FileDescriptorProto(name="x.proto", package="p.q", syntax="proto3")
    message = meant.message_type.add(name="M")
    lines = []
    for number, (name, type_, is_repeated) in enumerate(fields, 1):
        label = FieldDescriptorProto.LABEL_REPEATED if is_repeated else FieldDescriptorProto.LABEL_OPTIONAL
        message.field.add(name=name, number=number, type=type_, label=label)
        lines.append(f"{'repeated ' if is_repeated else ''}{_SCALAR_TYPES[type_]} {name}={number};// {name}")
    text = 'syntax="proto3";package p.q;message M{\n' + "\n".join(lines) + "\n}"
    assert parse_proto(text, "x.proto") == meant

"""Whatever stands in a topic: a record is rows or a bad record with a reason, and the records around it are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.errors import ExternalFailure
from headrace.formats import Decoded, ValueFormat, decoder, encoder, with_schema
from headrace.formats.boundary import SafeDecoder
from headrace.formats.framing import FramedDecoder, SchemaKey, prefix
from headrace.formats.proto_schema import message_of

FLAT_COLUMNS: dict[str, pa.DataType] = {
    "n": pa.int64(),
    "x": pa.float64(),
    "s": pa.string(),
    "t": pa.timestamp("us", tz="UTC"),
}
FLAT = pa.schema(FLAT_COLUMNS)
NESTED_COLUMNS: dict[str, pa.DataType] = {
    "m": pa.map_(pa.string(), pa.int32()),
    "l": pa.list_(pa.struct([("d", pa.date32()), ("b", pa.binary())])),
    "c": pa.decimal128(9, 2),
}
NESTED = pa.schema(NESTED_COLUMNS)
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
FLAT_ROW = {"n": 5, "x": 1.5, "s": "text, \u00e4", "t": MOMENT}
NESTED_ROW = {"m": [("k", 1)], "l": [{"d": date(2026, 1, 2), "b": b"\x00\xff"}], "c": Decimal("1.25")}
RAW = pa.schema({"value": pa.string()})
Case = tuple[Callable[[pa.BinaryArray], Decoded], bytes, list[dict[str, Any]]]


def stream(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def written(name: Any, columns: pa.Schema, row: dict[str, Any]) -> Case:
    format_ = with_schema(ValueFormat(name), columns)
    rows = pa.RecordBatch.from_pylist([row], schema=columns)
    value = stream(rows) if name == "arrow" else encoder(format_, columns)(rows)[0].as_py()
    return decoder(format_, columns), value, rows.to_pylist()


def json_case(columns: pa.Schema, text: str, row: dict[str, Any], **more: Any) -> Case:
    return decoder(ValueFormat("json", **more), columns), text.encode(), [row]


def framed() -> Case:
    def make(key: SchemaKey) -> Any:
        if key[0] != 1:
            raise RuntimeError("a parser's own bug")
        return decoder(ValueFormat("csv", columns=("n",)), pa.schema({"n": pa.int64()}))

    columns = pa.schema({"n": pa.int64()})
    return SafeDecoder(FramedDecoder(columns, make, has_path=True), columns), prefix(1, (0,)) + b"5", [{"n": 5}]


CASES: dict[str, Case] = {
    "json": json_case(FLAT, '{"n":5,"x":1.5,"s":"a","t":"2026-01-01T00:00:00Z"}', {**FLAT_ROW, "s": "a"}),
    "json_nested": json_case(
        NESTED, '{"m":{"k":1},"l":[{"d":"2026-01-02","b":"AP8="}],"c":1.25}', NESTED_ROW
    ),
    "json_timed": json_case(
        pa.schema({"t": FLAT.field("t").type}), '{"t":"01.01.2026"}', {"t": MOMENT},
        time_column="t", time_format="dd.MM.yyyy",
    ),
    "csv": written("csv", FLAT, FLAT_ROW),
    "arrow": written("arrow", FLAT, FLAT_ROW),
    "arrow_nested": written("arrow", NESTED, NESTED_ROW),
    "raw": written("raw", RAW, {"value": "text"}),
    "avro": written("avro", FLAT, FLAT_ROW),
    "avro_nested": written("avro", NESTED, NESTED_ROW),
    "protobuf": written("protobuf", FLAT, FLAT_ROW),
    "protobuf_nested": written("protobuf", NESTED, NESTED_ROW),
    "framed": framed(),
}  # fmt: skip


def nested(depth: int) -> list[bytes]:
    return [
        b'{"a":' * depth + b"1" + b"}" * depth,
        b'{"m":' + b"[" * depth + b"]" * depth + b"}",
        b'{"l":' + b'[{"d":' * depth,
        b"\x1a\x0a" * depth,
        b"\x00\x00\x00\x00\x01" + b"\x02" * depth,
    ]


@st.composite
def garbage(draw: st.DrawFn, good: bytes) -> bytes | None:
    """Nothing, random bytes, deep nesting, or the good value cut, doubled, or with some bytes changed."""
    kind = draw(st.sampled_from(["none", "random", "deep", "cut", "doubled", "changed", "moved"]))
    if kind == "none":
        return None
    if kind == "random":
        return draw(st.binary(max_size=200))
    if kind == "deep":
        return draw(st.sampled_from(nested(2_000)))
    at = draw(st.integers(0, len(good)))
    if kind == "cut":
        return good[:at]
    if kind == "doubled":
        return good + good[at:]
    if kind == "moved":
        return good[at:] + good[:at]
    changed = bytearray(good)
    for place in draw(st.lists(st.integers(0, len(good) - 1), min_size=1, max_size=4)):
        changed[place] = draw(st.integers(0, 255))
    return bytes(changed)


@pytest.mark.parametrize("name", CASES)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_garbage_is_told_from_good_records_by_every_decoder(name: str, data: st.DataObject) -> None:
    decode, good, rows = CASES[name]
    around = data.draw(st.lists(garbage(good), max_size=4))
    values = [good, *around, good]
    decoded = decode(pa.array(values, pa.binary()))
    decoded.rows.validate(full=True)
    origins: list[Any] = list(range(len(values))) if decoded.indices is None else decoded.indices.to_pylist()
    bad = {record.index for record in decoded.bad}
    assert all(record.reason for record in decoded.bad)
    assert bad.isdisjoint(origins)
    assert origins == sorted(origins)
    if not name.startswith("arrow"):
        assert sorted({*bad, *origins}) == list(range(len(values)))
    for place in (0, len(values) - 1):
        own = [row for row, origin in zip(decoded.rows.to_pylist(), origins, strict=True) if origin == place]
        assert own == rows


def test_a_value_nested_too_deeply_says_so() -> None:
    decode, good, _ = CASES["json_nested"]
    value = b'{"x":' + b"[" * 2_000 + b"]" * 2_000 + b"}"
    (bad,) = decode(pa.array([good, value], pa.binary())).bad
    assert (bad.index, bad.reason) == (1, "the value is nested too deeply")


@pytest.mark.parametrize("name", ["arrow", "arrow_nested"])
def test_an_arrow_stream_that_is_cut_short_is_bad(name: str) -> None:
    decode, good, _ = CASES[name]
    (bad,) = decode(pa.array([good, good[:-40], good], pa.binary())).bad
    assert bad.index == 1
    assert "OSError" in bad.reason


def test_all_arrow_streams_of_a_value_are_read() -> None:
    decode, good, rows = CASES["arrow"]
    decoded = decode(pa.array([good + good, good, good + b"rest"], pa.binary()))
    assert decoded.rows.to_pylist() == rows * 3
    assert decoded.indices is not None
    assert decoded.indices.to_pylist() == [0, 0, 1]
    assert [record.index for record in decoded.bad] == [2]


def test_an_arrow_decimal_beyond_all_measure_is_bad() -> None:
    """Arrow's own cast would end the process."""
    decimals = pa.array([None, 1], pa.decimal128(9, 2)).view(pa.decimal128(9, 16_777_218))
    value = stream(pa.record_batch([decimals], names=["c"]))
    decode = decoder(ValueFormat("arrow"), pa.schema({"c": pa.decimal128(9, 2)}))
    (bad,) = decode(pa.array([value], pa.binary())).bad
    assert bad.reason == "a decimal with the scale 16777218"


def test_a_registry_that_does_not_answer_makes_no_record_bad() -> None:
    def make(_: SchemaKey) -> Any:
        raise ExternalFailure("the schema registry does not answer")

    columns = pa.schema({"n": pa.int64()})
    decode = SafeDecoder(FramedDecoder(columns, make, has_path=False), columns)
    with pytest.raises(ExternalFailure):
        decode(pa.array([prefix(1) + b"5"], pa.binary()))


def union_value(value: object) -> bytes:
    sink = BytesIO()
    fastavro.schemaless_writer(sink, fastavro.parse_schema(UNION, named_schemas={}), {"u": value})
    return sink.getvalue()


UNION = {"type": "record", "name": "R", "fields": [{"name": "u", "type": ["null", "int", "string"]}]}
SIDE = 'syntax = "proto3"; message T { Side side = 1; string d = 2; } enum Side { NONE = 0; BUY = 1; }'


def test_reasons_name_the_column_and_the_cause() -> None:
    decode = decoder(ValueFormat("avro", schema=json.dumps(UNION)), pa.schema({"u": pa.string()}))
    decoded = decode(pa.array([union_value("a"), union_value(5)], pa.binary()))
    assert [record.reason for record in decoded.bad] == ["u: 5 is no string: Expected bytes, got a 'int' object"]
    columns = pa.schema({"n": pa.int32(), "t": FLAT.field("t").type})
    texts = ['{"t": "2026-02-30T00:00:00Z"}', '{"t": 5, "n": 3000000000}', '{"n": "x", "t": 5}']
    decoded = decoder(ValueFormat("json"), columns)(pa.array([text.encode() for text in texts], pa.binary()))
    first, second, third = [record.reason for record in decoded.bad]
    assert first == 't: "2026-02-30T00:00:00Z" is no time: day is out of range for month'
    assert second.startswith("n: Value 3000000000 too large")
    assert third == 'n: "x" is no whole number'
    message = GetMessageClass(message_of(SIDE))
    values = pa.array([message(d="1.5").SerializeToString(), message(d="much").SerializeToString()], pa.binary())
    decoded = decoder(ValueFormat("protobuf", schema=SIDE), pa.schema({"d": pa.decimal128(5, 2)}))(values)
    assert [record.reason for record in decoded.bad] == ["d: 'much' is no decimal number"]


def test_a_number_that_was_widened_is_taken_where_it_fits() -> None:
    from headrace.formats.avro_format import AvroDecoder

    schema = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "double"}]}
    values = []
    for number in (1.5, 0.1, float("inf"), 2.0):
        sink = BytesIO()
        fastavro.schemaless_writer(sink, fastavro.parse_schema(schema, named_schemas={}), {"x": number})
        values.append(sink.getvalue())
    block = pa.array(values, pa.binary())
    as_float = AvroDecoder(pa.schema({"x": pa.float32()}), schema, missing_is_null=True)(block)
    assert as_float.rows.column("x").to_pylist() == [1.5, float("inf"), 2.0]
    assert [(one.index, one.reason) for one in as_float.bad] == [
        (1, "x: 0.1 is no float: it has more digits than a FLOAT holds; declare the column as DOUBLE")
    ]
    as_whole = AvroDecoder(pa.schema({"x": pa.int32()}), schema, missing_is_null=True)(block)
    assert as_whole.rows.column("x").to_pylist() == [2]
    assert [one.index for one in as_whole.bad] == [0, 1, 2]

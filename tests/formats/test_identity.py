"""What is written in a format is what is read from it, for every type; the formats' own libraries agree."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any, cast

import fastavro
import pyarrow as pa
import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.formats import FormatName, ValueFormat, decoder, encoder, with_schema
from headrace.formats.avro_format import AvroDecoder
from headrace.formats.avro_schema import parse_avro
from headrace.formats.proto_schema import message_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
moments = st.integers(-(10**15), 10**16).map(lambda micros: EPOCH + timedelta(microseconds=micros))
days = st.dates(date(1600, 1, 1), date(3000, 1, 1))
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


PLAIN: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "flag": (pa.bool_(), st.booleans()),
    "tiny": (pa.int8(), integers(8)),
    "small": (pa.int16(), integers(16)),
    "number": (pa.int32(), integers(32)),
    "big": (pa.int64(), integers(64)),
    "single": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "real": (pa.float64(), st.floats(allow_nan=False)),
    "text": (pa.string(), texts),
    "day": (pa.date32(), days),
    "moment": (pa.timestamp("us", tz="UTC"), moments),
    "price": (pa.decimal128(12, 3), st.integers(-(10**11), 10**11).map(lambda n: Decimal(n).scaleb(-3))),
}
INNER = pa.struct([("x", pa.int32()), ("at", pa.timestamp("us", tz="UTC")), ("deep", pa.struct([("y", pa.string())]))])
inner = st.fixed_dictionaries(
    {
        "x": st.none() | integers(32),
        "at": st.none() | moments,
        "deep": st.none() | st.fixed_dictionaries({"y": st.none() | texts}),
    }
)
# A map has one entry at most: Protobuf keeps no order among them.
NESTED: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "data": (pa.binary(), st.binary(max_size=8)),
    "numbers": (pa.list_(pa.int64()), st.lists(integers(64), max_size=3)),
    "days": (pa.list_(pa.date32()), st.lists(days, max_size=3)),
    "counts": (pa.map_(pa.string(), pa.float64()), st.dictionaries(texts, st.floats(allow_nan=False), max_size=1)),
    "inner": (INNER, inner),
    "inners": (pa.list_(INNER), st.lists(inner, max_size=2)),
}
# Protobuf has no null for these: what is null comes back empty.
NEVER_NULL = ("numbers", "days", "counts", "inners")


def rows_of(types: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]], *, never_null: tuple[str, ...] = ()) -> Any:
    columns = pa.schema([(name, type_) for name, (type_, _) in types.items()])
    cells = {name: made if name in never_null else st.none() | made for name, (_, made) in types.items()}
    return st.lists(st.fixed_dictionaries(cells), max_size=6).map(
        lambda rows: pa.RecordBatch.from_pylist(rows, columns)
    )


CASES: dict[FormatName, Any] = {
    "csv": rows_of(PLAIN),
    "avro": rows_of({**PLAIN, **NESTED}),
    "protobuf": rows_of({**PLAIN, **NESTED}, never_null=NEVER_NULL),
}


@pytest.mark.parametrize("format_", CASES)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_what_is_written_is_what_is_read(format_: FormatName, data: st.DataObject) -> None:
    rows: pa.RecordBatch = data.draw(CASES[format_])
    described = with_schema(ValueFormat(format_), rows.schema)
    values = cast("pa.BinaryArray", encoder(described, rows.schema)(rows))
    whole = decoder(described, rows.schema)(values)
    assert not whole.bad
    assert whole.rows.equals(rows)
    wanted = pa.schema([rows.schema.field("moment"), rows.schema.field("text")])
    assert decoder(described, wanted)(values).rows.equals(rows.select(["moment", "text"]))


@settings(deadline=None, max_examples=40)
@given(rows_of({**PLAIN, **NESTED}))
def test_avro_values_are_those_of_its_library(rows: pa.RecordBatch) -> None:
    described = with_schema(ValueFormat("avro"), rows.schema)
    schema = fastavro.parse_schema(json.loads(described.schema or ""), named_schemas={})
    values = encoder(described, rows.schema)(rows).to_pylist()
    read = [fastavro.schemaless_reader(BytesIO(value or b""), schema, None) for value in values]
    assert read == rows.to_pylist(maps_as_pydicts="strict")
    written = []
    for row in rows.to_pylist(maps_as_pydicts="strict"):
        stream = BytesIO()
        fastavro.schemaless_writer(stream, schema, row)
        written.append(stream.getvalue())
    assert decoder(described, rows.schema)(pa.array(written, pa.binary())).rows.equals(rows)


@settings(deadline=None, max_examples=40)
@given(rows_of(PLAIN))
def test_protobuf_values_are_those_of_its_library(rows: pa.RecordBatch) -> None:
    described = with_schema(ValueFormat("protobuf"), rows.schema)
    message = GetMessageClass(message_of(described.schema or ""))
    for value, row in zip(encoder(described, rows.schema)(rows).to_pylist(), rows.to_pylist(), strict=True):
        said = MessageToDict(message.FromString(value or b""), preserving_proto_field_name=True)
        assert set(said) == {name for name, cell in row.items() if cell is not None}
        assert said.get("text") == row["text"]
        assert (int(said["big"]) if "big" in said else None) == row["big"]
        assert said.get("price") == (None if row["price"] is None else str(row["price"]))
        assert ("moment" not in said) == (row["moment"] is None)


@pytest.mark.parametrize("format_", CASES)
@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=20), max_size=10), st.data())
def test_garbage_is_bad_or_a_row_and_good_records_beside_it_stay(
    format_: FormatName, garbage: list[bytes], data: st.DataObject
) -> None:
    rows: pa.RecordBatch = data.draw(CASES[format_])
    described = with_schema(ValueFormat(format_), rows.schema)
    good = encoder(described, rows.schema)(rows).to_pylist()
    values = [*garbage, *good, None]
    decoded = decoder(described, rows.schema)(pa.array(values, pa.binary()))
    bad = {record.index for record in decoded.bad}
    assert len(values) - 1 in bad
    assert not bad & set(range(len(garbage), len(garbage) + len(good)))
    assert decoded.rows.num_rows == len(values) - len(bad)
    assert decoded.rows.slice(decoded.rows.num_rows - len(good)).equals(rows)


FLAT = {name: PLAIN[name] for name in PLAIN if name != "price"} | {"data": NESTED["data"]}
flat_cells = {**FLAT, "real": (pa.float64(), st.floats())}


@settings(deadline=None, max_examples=80)
@given(rows_of(flat_cells), st.lists(st.binary(max_size=12), max_size=6), st.data())
def test_flat_records_are_read_as_one_after_the_other(
    rows: pa.RecordBatch, garbage: list[bytes], data: st.DataObject
) -> None:
    described = with_schema(ValueFormat("avro"), rows.schema)
    good = cast("list[bytes]", encoder(described, rows.schema)(rows).to_pylist())
    cut = [value[: data.draw(st.integers(0, len(value)))] for value in good]
    values = pa.array(data.draw(st.permutations([*good, *garbage, *cut])), pa.binary())
    wanted = data.draw(
        st.sampled_from([rows.schema, pa.schema([rows.schema.field(n) for n in ("day", "text", "flag")])])
    )
    schema = parse_avro(described.schema or "")
    slow = AvroDecoder(wanted, schema)
    slow._flat = None
    fast = AvroDecoder(wanted, schema)
    assert fast._flat is not None
    expected, found = slow(values), fast(values)
    assert str(found.rows.to_pylist()) == str(expected.rows.to_pylist())
    assert found.bad == expected.bad
    if found.bad:
        assert found.indices == expected.indices

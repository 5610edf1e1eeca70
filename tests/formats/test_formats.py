"""Every record is one row or a bad record with a reason; nothing else."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.formats import Decoded, FormatName, ValueFormat, decoder

COLUMNS: dict[str, pa.DataType] = {
    "name": pa.string(),
    "size": pa.float64(),
    "ts": pa.timestamp("us", tz="UTC"),
}
SCHEMA = pa.schema(COLUMNS)


def decode(format_: FormatName, values: list[bytes | None], schema: pa.Schema = SCHEMA) -> Decoded:
    return decoder(ValueFormat(format_), schema)(pa.array(values, pa.binary()))


GOOD = b'{"name": "a", "size": 1.5, "ts": "2026-01-01T00:00:00Z", "other": [1, {"x": 2}]}'
BAD: list[bytes | None] = [
    None,
    b"",
    b" ",
    b"nonsense",
    b"[1]",
    b"{",
    b'{"name": 1}',
    b'{"size": "x"}',
    b'{"ts": "yesterday"}',
    b'{"name": "a"}{"name": "b"}',
    b'{"name": "a"} {"name": "b"}',
    b'{"name": "a"}\n{"name": "b"}',
    b'{"name": "unfinished}',
    b'{"}',
    b"\xff\xfe",
    b'{"name": "\xff"}',
]


@given(st.lists(st.sampled_from([GOOD, *BAD]), max_size=40))
def test_good_and_bad_are_told_apart_in_any_mixture(values: list[bytes | None]) -> None:
    decoded = decode("json", values)
    bad = [index for index, value in enumerate(values) if value != GOOD]
    assert [record.index for record in decoded.bad] == bad
    assert decoded.rows.num_rows == len(values) - len(bad)
    assert all(record.reason for record in decoded.bad)
    expected = {"name": "a", "size": 1.5, "ts": datetime(2026, 1, 1, tzinfo=UTC)}
    assert decoded.rows.to_pylist() == [expected] * decoded.rows.num_rows
    if bad:
        assert decoded.indices is not None
        assert decoded.indices.to_pylist() == [index for index in range(len(values)) if index not in bad]


objects = st.fixed_dictionaries(
    {},
    optional={
        "name": st.none() | st.text(),
        "size": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "more": st.lists(st.integers(-5, 5), max_size=3),
    },
)


@given(st.lists(objects, max_size=20), st.booleans())
def test_what_json_says_is_what_comes_out(rows: list[dict[str, object]], indented: bool) -> None:
    values: list[bytes | None] = [json.dumps(row, indent=2 if indented else None).encode() for row in rows]
    decoded = decode("json", values)
    assert not decoded.bad
    assert decoded.rows.to_pylist() == [{"name": r.get("name"), "size": r.get("size"), "ts": None} for r in rows]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"2026-01-01T00:00:00Z"', datetime(2026, 1, 1, tzinfo=UTC)),
        ('"2026-01-01T02:00:00+02:00"', datetime(2026, 1, 1, tzinfo=UTC)),
        ('"2026-01-01 00:00:00.250"', datetime(2026, 1, 1, microsecond=250_000, tzinfo=UTC)),
        ('"2026-01-01T00:00:00.123456789Z"', datetime(2026, 1, 1, microsecond=123_456, tzinfo=UTC)),
        ("1767225600000", datetime(2026, 1, 1, tzinfo=UTC)),
        ("null", None),
    ],
)
def test_timestamps_are_iso_or_epoch_milliseconds(written: str, meant: datetime | None) -> None:
    decoded = decode("json", [f'{{"ts": {written}}}'.encode()])
    assert not decoded.bad
    assert decoded.rows.column("ts").to_pylist() == [meant]


def test_both_kinds_of_timestamps_may_stand_in_one_topic() -> None:
    decoded = decode("json", [b'{"ts": 0}', b'{"ts": "1970-01-01T00:00:00Z"}', b'{"ts": 1.5}'])
    assert decoded.rows.column("ts").to_pylist() == [datetime(1970, 1, 1, tzinfo=UTC)] * 2
    assert [record.index for record in decoded.bad] == [2]


@given(st.lists(st.tuples(st.sampled_from(["iso", "epoch"]), st.sampled_from(["iso", "days", "null"])), max_size=8))
def test_dates_are_iso_or_days_beside_times_of_any_kind(kinds: list[tuple[str, str]]) -> None:
    times = {"iso": '"2026-01-02T00:00:00Z"', "epoch": "1767312000000"}
    dates = {"iso": '"2026-01-02"', "days": "20455", "null": "null"}
    values: list[bytes | None] = [f'{{"ts": {times[time]}, "day": {dates[day]}}}'.encode() for time, day in kinds]
    decoded = decode("json", values, pa.schema({"ts": COLUMNS["ts"], "day": pa.date32()}))
    assert not decoded.bad
    assert decoded.rows.column("day").to_pylist() == [None if day == "null" else date(2026, 1, 2) for _, day in kinds]
    assert decoded.rows.column("ts").to_pylist() == [datetime(2026, 1, 2, tzinfo=UTC)] * len(kinds)


def test_a_date_that_is_none_makes_a_bad_row() -> None:
    decoded = decode(
        "json", [b'{"day": "2026-02-30"}', b'{"day": "today"}', b'{"day": true}'], pa.schema({"day": pa.date32()})
    )
    assert [record.index for record in decoded.bad] == [0, 1, 2]


@given(st.lists(st.none() | st.dictionaries(st.text(), st.none() | st.integers(-(2**31), 2**31 - 1)), max_size=10))
def test_maps_are_json_objects(maps: list[dict[str, int | None] | None]) -> None:
    schema = pa.schema({"tags": pa.map_(pa.string(), pa.int32()), "name": pa.string()})
    values: list[bytes | None] = [json.dumps({"tags": one, "name": "a", "more": {"x": 1}}).encode() for one in maps]
    decoded = decode("json", values, schema)
    assert not decoded.bad
    expected = [{"tags": None if one is None else list(one.items()), "name": "a"} for one in maps]
    assert decoded.rows.to_pylist() == expected


@pytest.mark.parametrize("written", ["5", "[1]", '"a"', '{"a": 1.5}', '{"a": "1"}', '{"a": 3000000000}', '{"a": {}}'])
def test_what_does_not_fit_a_map_makes_a_bad_row(written: str) -> None:
    values: list[bytes | None] = [b'{"tags": {"a": 1}}', f'{{"tags": {written}}}'.encode(), b"{}"]
    decoded = decode("json", values, pa.schema({"tags": pa.map_(pa.string(), pa.int32())}))
    assert [record.index for record in decoded.bad] == [1]
    assert decoded.rows.to_pylist() == [{"tags": [("a", 1)]}, {"tags": None}]


def test_keys_and_values_of_maps_have_the_types_of_their_column() -> None:
    columns: dict[str, pa.DataType] = {
        "prices": pa.map_(pa.int32(), pa.decimal128(30, 20)),
        "at": pa.map_(pa.string(), COLUMNS["ts"]),
    }
    value = b'{"prices": {"7": 1.23456789012345678901}, "at": {"a": "2026-01-01T00:00:00Z"}}'
    decoded = decode("json", [value], pa.schema(columns))
    (row,) = decoded.rows.to_pylist()
    assert row["prices"] == [(7, Decimal("1.23456789012345678901"))]
    assert row["at"] == [("a", datetime(2026, 1, 1, tzinfo=UTC))]


def test_csv_has_its_columns_in_order() -> None:
    decoded = decode("csv", [b'"x,y",2,2026-01-01T00:00:00Z', b"a", b"a,b,c", b",,", b"a,1,\nb,2,", b"", None])
    assert decoded.rows.to_pylist() == [
        {"name": "x,y", "size": 2.0, "ts": datetime(2026, 1, 1, tzinfo=UTC)},
        {"name": None, "size": None, "ts": None},
    ]
    assert [record.index for record in decoded.bad] == [1, 2, 4, 5, 6]


def arrow_value(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return bytes(sink.getvalue().to_pybytes())


def test_an_arrow_record_holds_many_rows_and_extra_columns_are_left_alone() -> None:
    rows = pa.record_batch({"extra": [1, 2], "size": [1.0, None], "name": ["a", "b"]})
    value = arrow_value(rows)
    schema = pa.schema([SCHEMA.field("name"), SCHEMA.field("size")])
    decoded = decode("arrow", [value, b"nonsense", arrow_value(rows.select(["name"])), value], schema)
    assert decoded.rows.column("name").to_pylist() == ["a", "b", "a", "b"]
    assert decoded.indices is not None
    assert decoded.indices.to_pylist() == [0, 0, 3, 3]
    assert [record.index for record in decoded.bad] == [1, 2]


def test_raw_is_the_value_itself() -> None:
    decoded = decode("raw", [b"a", b"\xff"], pa.schema([("value", pa.binary())]))
    assert decoded.rows.column(0).to_pylist() == [b"a", b"\xff"]
    text = decode("raw", [b"a", b"\xff"], pa.schema([("value", pa.string())]))
    assert text.rows.column(0).to_pylist() == ["a"]
    assert [record.index for record in text.bad] == [1]


def test_csv_cells_may_hold_line_breaks_and_its_lines_may_end_in_one() -> None:
    columns: dict[str, pa.DataType] = {"name": pa.string(), "size": pa.int64()}
    decoded = decode("csv", [b'"a\nb",1', b"c,2\r\n", b'"d', b'e",3', b"f,4"], pa.schema(columns))
    assert decoded.rows.to_pylist() == [
        {"name": "a\nb", "size": 1},
        {"name": "c", "size": 2},
        {"name": 'e"', "size": 3},
        {"name": "f", "size": 4},
    ]
    assert [record.index for record in decoded.bad] == [2]


def test_csv_converts_only_the_columns_wanted() -> None:
    format_ = ValueFormat("csv", columns=("name", "size", "ts"), delimiter=";")
    values = pa.array([b"a;no number;never", b"b;2"], pa.binary())
    decoded = decoder(format_, pa.schema([SCHEMA.field("name")]))(values)
    assert decoded.rows.to_pylist() == [{"name": "a"}]
    assert [record.index for record in decoded.bad] == [1]

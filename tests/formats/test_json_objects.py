"""What JSON says of maps, bytes, dates and times at any depth, and of numbers that are none."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.formats.json_format import JsonDecoder
from headrace.operators.json_rows import frame_as_json

US = pa.timestamp("us", tz="UTC")
TAGS = pa.map_(pa.string(), pa.int32())
_TYPES: dict[str, pa.DataType] = {
    "b": pa.binary(),
    "days": pa.list_(pa.date32()),
    "s": pa.struct([("at", US), ("on", pa.date32()), ("raw", pa.binary()), ("tags", TAGS)]),
    "m": pa.map_(pa.int32(), pa.list_(pa.map_(pa.string(), US))),
    "n": pa.decimal128(30, 10),
    "d": pa.float64(),
    "t": US,
    "day": pa.date32(),
}
NESTED = pa.schema(_TYPES)
_REAL: dict[str, pa.DataType] = {"d": pa.float64(), "k": pa.string()}
REAL = pa.schema(_REAL)
TIME = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)


def rows_of(texts: list[bytes], schema: pa.Schema) -> list[dict[str, Any]]:
    decoded = JsonDecoder(schema)(pa.array(texts, pa.binary()))
    assert decoded.bad == ()
    return decoded.rows.to_pylist()


def reason_of(text: bytes, schema: pa.Schema) -> str:
    (bad,) = JsonDecoder(schema)(pa.array([text], pa.binary())).bad
    return bad.reason


@pytest.mark.spark
def test_what_is_written_is_read_again(spark: SparkSession) -> None:
    full = {
        "b": b"\x00\xffbytes",
        "days": [date(2026, 1, 2), None, date(1969, 12, 31)],
        "s": {"at": TIME, "on": date(2026, 1, 2), "raw": b"", "tags": [("a", 1), ("b", None)]},
        "m": [(1, [[("x", TIME), ("y", None)], None]), (-2, None), (3, [])],
        "n": Decimal("12345678901234567890.0123456789"),
        "d": math.inf,
        "t": TIME,
        "day": date(9999, 12, 31),
    }
    whole = {**full, "t": datetime(2026, 1, 2, tzinfo=UTC), "d": -math.inf}
    rows = [full, whole, dict.fromkeys(NESTED.names)]
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, NESTED))
    texts = [row[0].encode() for row in frame.select(frame_as_json(frame)).collect()]
    assert rows_of(texts, NESTED) == rows
    assert b'"t":"2026-01-02T03:04:05.678901Z"' in texts[0]
    assert b'"t":"2026-01-02T00:00:00.000Z"' in texts[1]


@given(st.lists(st.none() | st.binary(), max_size=10))
def test_bytes_are_base64(values: list[bytes | None]) -> None:
    texts = [None if one is None else base64.b64encode(one).decode() for one in values]
    found = rows_of([json.dumps({"b": text}).encode() for text in texts], pa.schema({"b": pa.binary()}))
    assert [row["b"] for row in found] == values


@given(st.lists(st.floats(width=64) | st.none(), max_size=10))
def test_numbers_that_are_none_stand_among_others(values: list[float | None]) -> None:
    names = {math.inf: "Infinity", -math.inf: "-Infinity"}
    written = [None if one is None else "NaN" if math.isnan(one) else names.get(one, one) for one in values]
    found = rows_of([json.dumps({"d": one, "k": "a"}).encode() for one in written], REAL)
    assert [repr(row["d"]) for row in found] == [repr(one) for one in values]


@pytest.mark.parametrize(
    ("columns", "text", "reason"),
    [
        ({"b": pa.binary()}, '{"b": "not base64!"}', "b: "),
        ({"b": pa.binary()}, '{"b": 5}', "b: 5 is no text"),
        (
            {"days": pa.list_(pa.date32())},
            '{"days": ["2026-02-30"]}',
            'days: "2026-02-30" is no date: day is out of range',
        ),
        ({"days": pa.list_(pa.date32())}, '{"days": [true]}', "days: true is no whole number"),
        ({"s": pa.struct([("at", US)])}, '{"s": {"at": "noon"}}', 's: at: "noon" is no time: Invalid isoformat'),
        ({"s": pa.struct([("at", US)])}, '{"s": [1]}', "s: [1] is no object"),
        ({"m": TAGS}, '{"m": {"a": 1, "a": 2}}', "twice"),
        ({"m": TAGS}, '{"m": {"a": 1.5}}', "m: 1.5 is no whole number"),
        ({"m": pa.map_(pa.int32(), pa.int32())}, '{"m": {"a": 1}}', "m: Failed to parse"),
        ({"m": pa.map_(pa.string(), pa.decimal128(4, 2))}, '{"m": {"a": 1.234}}', "m: "),
        (_REAL, '{"d": "nan", "k": "a"}', 'd: "nan" is no number'),
        (_REAL, '{"d": "NaN", "k": 1}', "k: 1 is no text"),
        ({"d": pa.float64(), "t": US}, '{"d": "NaN", "t": "2026-W01-1"}', "changed from number to string"),
    ],
)
def test_what_does_not_fit_is_a_bad_row_with_its_place(columns: dict[str, pa.DataType], text: str, reason: str) -> None:
    assert reason in reason_of(text.encode(), pa.schema(columns))

"""JSON made by column says the same as what Spark's plan writes."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession, functions

from headrace.formats.json_text import can_write, json_arrays, json_texts
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.json_rows import frame_as_json

SCHEMA = Schema.parse('`a "b` STRING, i INT, l BIGINT, d DOUBLE, f BOOLEAN, t TIMESTAMP')
ARROW = arrow_schema(SCHEMA)
NUMBERS = (0.0, -0.0, 1.0, 12.0, 9_999_999.0, 1e7, 12345678.9, 1e-3, 9.99e-4, 1e21, 1.7976931348623157e308, 0.1)
TEXTS = ("", "plain", 'a "quoted" \\ word', "tab\tline\nend", "\x00\x1f\x7f", "zürich \u2028 😀", "/")
TIMES = ("1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-02-28T12:30:01.001", "0001-01-01T00:00:00")

_values = st.fixed_dictionaries(
    {
        'a "b': st.none() | st.text(st.characters(codec="utf-8")),
        "i": st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
        "l": st.none() | st.integers(-(1 << 63), (1 << 63) - 1),
        "d": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "f": st.none() | st.booleans(),
        "t": st.none() | st.datetimes(timezones=st.just(UTC)),
    }
)


@given(st.lists(_values, max_size=20))
@settings(deadline=None)
def test_every_value_is_read_back(rows: list[dict[str, Any]]) -> None:
    texts = json_texts(pa.RecordBatch.from_pylist(rows, ARROW)).to_pylist()
    for text, row in zip(texts, rows, strict=True):
        read = json.loads(str(text))
        assert (None if read["t"] is None else datetime.fromisoformat(read["t"])) == row["t"]
        assert {**read, "t": None} == {**row, "t": None}
        assert list(read) == ARROW.names


@pytest.mark.spark
def test_the_bytes_are_those_of_spark(spark: SparkSession) -> None:
    count = max(len(NUMBERS), len(TEXTS), len(TIMES)) + 3
    numbers: list[float | None] = [*NUMBERS, math.nan, math.inf, None]
    rows = [
        {
            'a "b': None if n % 5 == 4 else TEXTS[n % len(TEXTS)],
            "i": None if n % 4 == 3 else n - 5,
            "l": n << 40,
            "d": numbers[n],
            "f": [True, False, None][n % 3],
            "t": None if n % 7 == 6 else datetime.fromisoformat(TIMES[n % len(TIMES)]).replace(tzinfo=UTC),
        }
        for n in range(count)
    ]
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, ARROW), str(SCHEMA))
    wanted = [row[0] for row in frame.select(frame_as_json(frame)).collect()]
    assert json_texts(pa.RecordBatch.from_pylist(rows, ARROW)).to_pylist() == wanted


@pytest.mark.spark
def test_decimals_are_written_as_spark_does(spark: SparkSession) -> None:
    texts = ("0", "1", "-1", "0.000001", "-0.0000001", "99999999.99999999", "-0.5", "1234567.00000001")
    rows = pa.record_batch(
        {
            f"d{scale}": pa.array([None, *(Decimal(text).quantize(Decimal(1).scaleb(-scale)) for text in texts)], type_)
            for scale in (0, 3, 6, 7, 8, 18)
            for type_ in [pa.decimal128(38, scale)]
        }
    )
    frame = spark.createDataFrame(pa.Table.from_batches([rows]))
    wanted = [row[0] for row in frame.select(frame_as_json(frame)).collect()]
    assert can_write(rows.schema)
    assert json_texts(rows).to_pylist() == wanted


@pytest.mark.spark
def test_arrays_of_texts_are_those_of_spark(spark: SparkSession) -> None:
    columns = {"a": [*TEXTS, None, "x"], "b": [*reversed(TEXTS), "y", None]}
    rows = pa.record_batch({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
    frame = spark.createDataFrame(pa.Table.from_batches([rows[: len(TEXTS)]]))
    wanted = [row[0] for row in frame.select(functions.to_json(functions.array("a", "b"))).collect()]
    assert json_arrays(rows.columns).to_pylist() == [*wanted, None, None]
    assert json_arrays(rows[1:3].columns).to_pylist() == wanted[1:3]
    assert json_arrays(rows[:0].columns).to_pylist() == []


def test_slices_and_no_rows_and_no_columns() -> None:
    rows = pa.record_batch({"s": ['"', "b", "c"], "d": [1.5, None, 2.0]})
    assert json_texts(rows[1:]).to_pylist() == ['{"s":"b","d":null}', '{"s":"c","d":2.0}']
    assert json_texts(rows[:0]).to_pylist() == []
    assert json_texts(pa.record_batch({"s": pa.array([], pa.string())})).to_pylist() == []
    assert can_write(rows.schema)
    assert not can_write(pa.schema({"list": pa.list_(pa.int64())}))

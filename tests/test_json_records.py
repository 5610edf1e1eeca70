"""Rows in every form that Python has them in: all of them, or none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.json_records import RECORD_BYTES_MAX, in_form, messages_of
from headrace.kafka import Record


@dataclass
class Place:
    x: int


@dataclass
class Reading:
    drone: str
    at: Place


class OtherFrame:
    """What polars and others are to Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __iter__(self) -> Any:
        return iter(self._table.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]


PLAIN: list[dict[str, Any]] = [{"k": "a", "n": 1}, {"k": "b", "n": None}]
FRAME = pd.DataFrame({"k": ["a", "b"], "n": pd.array([1, None], "Int64")}, index=[7, 9])


@pytest.mark.parametrize(
    "rows",
    [
        PLAIN,
        iter(PLAIN),
        pa.Table.from_pylist(PLAIN),
        pa.RecordBatch.from_pylist(PLAIN),
        FRAME,
        OtherFrame(pa.Table.from_pylist(PLAIN)),
    ],
    ids=["dicts", "iterator", "table", "batch", "pandas", "other frame"],
)
def test_rows_come_in_many_forms(rows: Any) -> None:
    made = messages_of(rows, "k")
    assert [json.loads(message.value or b"") for message in made] == PLAIN
    assert [message.key for message in made] == [b"a", b"b"]


def test_values_of_python_are_written() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    rows: list[Any] = [
        Reading("d1", Place(3)),
        {"t": moment, "d": Decimal("1.10"), "n": np.int64(3), "x": np.float32(0.5), "none": pd.NaT, "at": Place(4)},
        None,
        "text",
        b"\xff",
    ]
    values = [message.value for message in messages_of(rows, None)]
    assert [json.loads(value) for value in values[:2] if value] == [
        {"drone": "d1", "at": {"x": 3}},
        {"t": "2026-01-01T00:00:00+00:00", "d": "1.10", "n": 3, "x": 0.5, "none": None, "at": {"x": 4}},
    ]
    assert values[2:] == [None, b"text", b"\xff"]


def test_missing_values_of_a_frame_are_null() -> None:
    frame = pd.DataFrame({"x": [1.5, float("nan")], "t": [pd.Timestamp("2026-01-01", tz="UTC"), pd.NaT]})
    made = [json.loads(message.value or b"") for message in messages_of(frame, None)]
    assert made == [{"x": 1.5, "t": "2026-01-01T00:00:00+00:00"}, {"x": None, "t": None}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"k": "a"}, "put it into a list"),
        ("text", "put it into a list"),
        (Place(1), "put it into a list"),
        (7, "int is one value"),
        ([{"k": "a"}, {"k": object()}], "row 1: .*nothing that JSON can say"),
        ([{"k": "a"}, 7], "row 1: 7 is no row"),
        ([{"k": "a"}, {"n": 1}], "row 1: it has no field 'k'"),
        ([{"k": "a"}, {"k": "x" * RECORD_BYTES_MAX}], "row 1: a record may have at most"),
        (pd.DataFrame({"k": ["a", 1]}), "cannot be read as rows"),
        (pa.chunked_array([[1, 2]]), "cannot be read as rows"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(rows: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        messages_of(rows, "k")
    assert re.search(said, str(raised.value))


def records(*values: bytes | None) -> list[Record]:
    return [Record("t", 0, offset, 0, None, value) for offset, value in enumerate(values)]


def test_rows_are_read_as_tables_and_frames() -> None:
    found = records(b'{"k": "a"}', b'{"k": "b", "n": 2}', None)
    assert in_form(found, "dicts") == [{"k": "a"}, {"k": "b", "n": 2}, None]
    assert in_form(found, "arrow") == pa.table({"k": ["a", "b", None], "n": [None, 2, None]})
    assert in_form(found, "pandas")["k"].tolist() == ["a", "b", None]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([b"{"], "partition 0, offset 0 of 't' is no JSON"),
        ([b"7"], "the value 7 is no row"),
        ([b'{"x": 1}', b'{"x": "a"}'], "the field 'x' has values of several types"),
    ],
)
def test_what_is_no_table_is_refused(values: list[bytes], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        in_form(records(*values), "arrow")
    with pytest.raises(InvalidInput, match="no form 'csv'"):
        in_form([], "csv")  # type: ignore[arg-type]

"""What a glance is sure of, the parser must see just so."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headrace.formats import ValueFormat, decoder
from headrace.formats.json_glance import SCANNER, can_glance, glance, is_compiled

TYPES: dict[str, pa.DataType] = {
    "d": pa.float64(),
    "b": pa.int64(),
    "i": pa.int32(),
    "s": pa.string(),
    "f": pa.bool_(),
    "": pa.string(),
}
FIELDS = pa.schema(TYPES)


@pytest.fixture(scope="module", autouse=True)
def scanner() -> None:
    importlib.import_module(SCANNER)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from("db"), st.integers(), max_size=1),
)
NAMES = st.sampled_from(["d", "b", "i", "s", "f", "", "x", "dd", "ä"])
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=7)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Objects in many spellings; some broken in one place."""
    spelled = json.dumps(
        draw(OBJECTS),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")])),
    ).encode()
    if draw(st.integers(0, 3)):
        return spelled
    at = draw(st.integers(0, len(spelled)))
    cut = draw(st.integers(0, 2))
    return (
        spelled[:at]
        + draw(st.sampled_from([b"", b",", b'"', b"}", b"0", b"-", b".", b"e", b" ", b"\n"]))
        + spelled[at + cut :]
    )


def parsed(value: bytes) -> dict[str, Any] | None:
    """What the real decoder makes of one record; None where it is bad."""
    decoded = decoder(ValueFormat("json"), FIELDS)(pa.array([value], pa.binary()))
    return None if decoded.bad else decoded.rows.to_pylist()[0]


@given(st.lists(texts(), min_size=1, max_size=8))
@example(
    [b'{"d":1}', b'{"d":01}', b'{"d":1,}', b'{"d":1}}', b'{"d":1e5,"d":2}', b'{"d":-}', b'{"d":1.}', b"{}", b" { } "]
)
@example([b'{"i":2147483648}'])
@example([b'{"b":1.0}', b'{"b":1e2}'])
@example([b'{"s":"\xff"}'])
@example([b'{"f":tru}', b'{"f":true}', b'{"f":null}', b'{"f":falsey}'])
def test_what_it_is_sure_of_the_parser_sees_too(values: list[bytes]) -> None:
    looked = glance(pa.array(values, pa.binary()), list(FIELDS))
    if looked is None:
        return
    for value, row, sure in zip(values, looked.rows.to_pylist(), looked.sure, strict=True):
        if sure:
            assert parsed(value) == row, value


def test_ordinary_rows_need_no_parser() -> None:
    rows: list[dict[str, Any]] = [
        {"d": 1.5, "b": -7, "i": 3, "s": "Grüße", "f": True, "x": 2},
        {"s": "", "d": None},
        {},
    ]
    looked = glance(pa.array([json.dumps(row, ensure_ascii=False).encode() for row in rows]), list(FIELDS))
    assert looked is not None
    assert looked.sure.all()
    assert looked.rows.to_pylist() == [
        {**dict.fromkeys(FIELDS.names), **{k: v for k, v in row.items() if k != "x"}} for row in rows
    ]


def test_a_slice_is_read_where_it_is() -> None:
    values = pa.array([b'{"d":1}', b'{"d":2}', b'{"d":3}'], pa.binary())[1:2]
    looked = glance(values, [FIELDS.field("d")])
    assert looked is not None
    assert looked.rows.to_pylist() == [{"d": 2.0}]


def test_other_types_are_left_to_the_parser() -> None:
    assert can_glance(list(FIELDS))
    assert not can_glance([pa.field("t", pa.timestamp("us", "UTC"))])
    assert is_compiled()

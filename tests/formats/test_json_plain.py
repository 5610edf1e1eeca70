"""With the scanner and without it, the decoder of JSON gives the same rows and the same bad records."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.formats import Decoded
from headrace.formats.decoding import RowDecoder
from headrace.formats.json_format import JsonDecoder, JsonParser
from headrace.formats.json_plain import SCANNER, PlainScanner, can_scan, is_compiled
from headrace.formats.times import TIMESTAMP

TYPES: dict[str, pa.DataType] = {
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i": pa.int32(),
    "b": pa.int64(),
    "f": pa.float32(),
    "d": pa.float64(),
    "s": pa.string(),
    "": pa.string(),
    "o": pa.bool_(),
    "t": TIMESTAMP,
    "ü": TIMESTAMP,
}
COLUMNS = pa.schema(TYPES)
PLAIN_ROWS: list[dict[str, Any]] = [
    {"i8": -128, "i16": 32767, "i": 3, "b": -7, "f": 0.5, "d": 1.25e-7, "s": "Grüße", "o": True, "x": 2, "": "é"},
    {"t": "2026-01-01T00:00:00.000Z", "ü": "1969-02-28 23:59:59.5+23:59", "b": 9223372036854775807},
    {"t": "0001-01-01T00:00:00", "x": 'a "quoted" \\ word\n\u001f\u00e9', "o": False},
    {"t": "2024-02-29T12:00:00.123456789-00:30", "s": "x\n😀é\\" * 9, "x": {"t": [1, [], {}, {"a": [None, "]"]}]}},
    {"t": 1767225600123, "ü": -1, "s": None, "d": 12345678901234567890.0},
    {"s": "", "d": None, "x": [[[{"d": "}"}]]]},
    {"x": None},
    {},
]


@pytest.fixture(scope="module", autouse=True)
def scanner() -> None:
    importlib.import_module(SCANNER)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _mostly(usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 19).flatmap(lambda number: other if number == 7 else usual)  # 0 is drawn more often


TIME_TEXTS = st.builds(
    "{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}{}".format,
    st.sampled_from([2026, 2024, 1970, 1969, 1900, 2000, 1, 0, 9999, 1677, 1678, 2261, 2262, 2300]),
    _mostly(st.integers(1, 12), st.integers(0, 13)),
    _mostly(st.integers(1, 28), st.integers(0, 32)),
    _mostly(st.sampled_from("T "), st.just("t")),
    _mostly(st.integers(0, 23), st.just(24)),
    _mostly(st.integers(0, 59), st.just(60)),
    _mostly(st.integers(0, 59), st.just(60)),
    st.just("") | st.builds(lambda count: ".012345678901"[:count], st.integers(1, 11)),
    _mostly(
        st.sampled_from(["", "Z", "Z", "+01:00", "-23:59"]),
        st.sampled_from(["z", "+0130", "-01", "+24:00", "+01:60", " Z", "+1:00", "-01:0", "ZZ"]),
    ),
)
SHORT_TIMES = st.sampled_from(["2026-01-01", "2026-01-01T00", "2026-01-01T00:00", "2026-01-01T00:00Z", "26-01-01", ""])
ODD_TEXTS = st.sampled_from(
    [r"\u00e9", r"\ud83d\ude00", r"\ud800", r"\udc00", r"\"", r"\\", r"\x", r"\u12", r"a\/\n", "\\"]
)
ODD_NUMBERS = [
    "01",
    "-",
    "-0",
    "+1",
    "1.",
    ".5",
    "1e5",
    "1E+05",
    "1e400",
    "1e-400",
    "1.5e",
    "NaN",
    "Infinity",
    "-Infinity",
]
ODD_NUMBERS += [
    f"{sign}{number}{more}" for sign in ("", "-") for number in (127, 128, 129, 32768, 1 << 31) for more in ("", ".0")
]
ODD_NUMBERS += [f"{sign}{(1 << 63) + more}" for sign in ("", "-") for more in (-1, 0, 1)]
ODD_NUMBERS += ["9" * 19, "9" * 20, "1" * 400, "0." + "3" * 60, "-9223372036854775", "9223372036854776", "1e39", "0e0"]
NUMBERS = st.integers(-200, 200) | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = _mostly(
    st.builds(json.dumps, st.text(st.characters(codec="utf-8"), max_size=20), ensure_ascii=st.booleans()),
    st.text(max_size=20).map(json.dumps) | ODD_TEXTS.map(_quoted),
)
FLAT = st.one_of(
    st.sampled_from(["null", "true", "false", "nul", "falsey", "tru", "True", "", *ODD_NUMBERS]),
    NUMBERS.map(json.dumps),
    TEXTS,
    (TIME_TEXTS | SHORT_TIMES).map(_quoted),
)
SPACES = st.sampled_from(["", "", "", "", " ", "\t", "\n", "\r\n ", "\v", "\0"])


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    named = st.builds("{}{}:{}{}".format, TEXTS, SPACES, SPACES, inner)
    joined = _mostly(st.sampled_from([",", " ,\n"]), st.sampled_from([",,", ""]))
    lists = st.builds(lambda between, parts: f"[{between.join(parts)}]", joined, st.lists(inner, max_size=3))
    objects = st.builds(lambda between, parts: f"{{{between.join(parts)}}}", joined, st.lists(named, max_size=3))
    return lists | objects


NESTED = st.recursive(st.sampled_from(["1", "null", "true", '"]"']) | TEXTS, _nested, max_leaves=6)
ANY = FLAT | NESTED
FITTING: dict[str, st.SearchStrategy[str]] = {
    "i8": st.integers(-128, 127).map(str),
    "i16": st.integers(-(1 << 15), (1 << 15) - 1).map(str),
    "i": st.integers(-(1 << 31), (1 << 31) - 1).map(str),
    "b": st.integers(-(1 << 63), (1 << 63) - 1).map(str),
    "f": NUMBERS.map(json.dumps),
    "d": NUMBERS.map(json.dumps) | st.floats(-1e6, 1e6).map(json.dumps),
    "s": TEXTS,
    "": TEXTS,
    "o": st.sampled_from(["true", "false"]),
    "t": TIME_TEXTS.map(_quoted) | st.integers(-(1 << 53), 1 << 53).map(str),
    "ü": TIME_TEXTS.map(_quoted) | st.integers(-(1 << 53), 1 << 53).map(str),
    "x": _mostly(NESTED | TEXTS | TIME_TEXTS.map(_quoted), ANY),
    "ii": NUMBERS.map(json.dumps),
    r"\u0069": st.just("1"),
}


@st.composite
def records(draw: st.DrawFn) -> bytes | None:
    """Objects in many spellings; some broken in one place."""
    names = draw(st.lists(st.sampled_from(list(FITTING)), max_size=6, unique=draw(st.integers(0, 9)) != 7))
    fields = []
    for name in names:
        value = draw(_mostly(FITTING[name], ANY))
        space, more = draw(_mostly(st.just(""), SPACES)), draw(st.sampled_from(["", "", " "]))
        fields.append(f'{space}"{name}"{more}:{space}{value}{more}')
    record = f"{{{','.join(fields)}}}".encode(errors="replace")
    change = draw(st.integers(0, 19))
    if change == 13:
        at, cut = draw(st.integers(0, len(record))), draw(st.integers(0, 2))
        return (
            record[:at]
            + draw(st.sampled_from([b"", b",", b'"', b"}", b"{}", b"0", b"\xff", b"\n"]))
            + record[at + cut :]
        )
    return draw(st.sampled_from([None, b"", b"{", b"[]", b"1", record * 2, record[:-1]])) if change == 14 else record


def told(decoded: Decoded) -> tuple[list[str], list[Any], list[int]]:
    """Rows, where they came from, and which are bad. As texts: NaN is not the same as itself."""
    times = [field.type == TIMESTAMP for field in COLUMNS]
    columns = [
        column.cast(pa.int64()) if time else column for column, time in zip(decoded.rows.columns, times, strict=True)
    ]
    rows = pa.record_batch(columns, COLUMNS.names)
    rows.validate(full=True)
    assert decoded.rows.schema == COLUMNS
    count = decoded.rows.num_rows + len(decoded.bad)
    indices: list[Any] = list(range(count)) if decoded.indices is None else decoded.indices.to_pylist()
    return [repr(row) for row in rows.to_pylist()], indices, [bad.index for bad in decoded.bad]


def possible_reasons(value: bytes | None) -> list[str]:
    """Why the parser finds this record bad, whichever way it thinks that times are written."""
    parser = JsonParser(COLUMNS)
    kinds = ("iso", "epoch")
    reasons = []
    for parser.time_kind in kinds:
        reasons += [bad.reason for bad in parser(pa.array([value], pa.binary())).bad]
    assert len(reasons) == len(kinds)
    return reasons


@given(st.lists(records(), max_size=6))
@example([json.dumps(row).encode() for row in PLAIN_ROWS])
@example([b'{"d":1}', b'{"d":01}', b'{"d":1,}', b'{"d":1}}', b'{"d":1,"d":2}', b'{"d":-}', b'{"d":1.}', b" { } "])
@example(
    [
        b'{"x":1e400}',
        b'{"x":1e-400}',
        b'{"x":"\\ud800"}',
        b'{"x":[}',
        b'{"x":{"a":1,}}',
        b'{"x":' + b"[" * 99 + b"]" * 99 + b"}",
    ]
)
@example([b'{"t":1,"\xc3\xbc":"2026-01-01T00:00:00Z"}', b'{"t":1,"\xc3\xbc":2}', b'{"t":null,"\xc3\xbc":2}'])
@example([b'{"s":"\xff"}', b'{"s":"a"}'])
def test_the_scanner_makes_no_difference(values: list[bytes | None]) -> None:
    # What surrounds a slice is no part of it.
    block: Any = pa.array([b'{"s":"before"}', *values, b'"}'], pa.binary())[1:-1]
    decoded = JsonDecoder(COLUMNS)(block)
    assert told(decoded) == told(JsonParser(COLUMNS)(block))
    for bad in decoded.bad:
        assert bad.reason in possible_reasons(values[bad.index])


@given(st.lists(records(), max_size=4))
@settings(max_examples=40)
def test_rows_are_sifted_before_they_are_made(values: list[bytes | None]) -> None:
    def keeps(rows: pa.RecordBatch) -> Any:
        assert rows.schema.names == ["t", "i"]
        return rows.column("i").is_valid().to_numpy(zero_copy_only=False)

    block: Any = pa.array(values, pa.binary())
    whole, (sifted, left_out) = JsonDecoder(COLUMNS)(block), JsonDecoder(COLUMNS).sifted(block, ["t", "i"], keeps)
    assert sifted.bad == whole.bad
    assert sifted.rows.num_rows + left_out == whole.rows.num_rows
    valid = whole.rows.column("i").is_valid()
    indices = pa.array(range(len(values)), pa.int64()) if whole.indices is None else whole.indices
    assert set(indices.filter(valid).to_pylist()) <= set(told(sifted)[1])
    assert set(told(sifted)[0]) <= set(told(whole)[0])


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_ordinary_records_need_no_parser(monkeypatch: pytest.MonkeyPatch, ensure_ascii: bool) -> None:
    def parse(_: JsonParser, values: pa.BinaryArray) -> pa.RecordBatch:
        raise AssertionError(values)

    # A name is looked for as it is written.
    rows = [row for row in PLAIN_ROWS if "ü" not in row or not ensure_ascii]
    block: Any = pa.array([json.dumps(row, ensure_ascii=ensure_ascii).encode() for row in rows], pa.binary())
    wanted = told(JsonParser(COLUMNS)(block))
    monkeypatch.setattr(RowDecoder, "__call__", parse)
    assert told(JsonDecoder(COLUMNS)(block)) == wanted
    assert not wanted[2]


def test_every_character_can_be_an_escape() -> None:
    texts = [chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000] + ["\U0010ffff", 'a"b\\c/😀\x00']
    block: Any = pa.array([json.dumps({"s": text}).encode() for text in texts], pa.binary())
    plain = PlainScanner(COLUMNS)(block)
    assert plain is not None
    assert plain.are_plain.all()
    assert plain.rows(np.arange(len(texts)), ["s"]).column("s").to_pylist() == texts


def test_rows_are_sifted_also_where_they_are_parsed() -> None:
    columns = pa.schema([COLUMNS.field("i"), pa.field("l", pa.list_(pa.int64()))])
    block: Any = pa.array([b'{"i":1,"l":[1]}', b'{"i":2,"l":[2]}', b'{"i":1', b'{"i":1,"l":[4]}'], pa.binary())
    decoded, left_out = JsonDecoder(columns).sifted(block, ["i"], lambda rows: rows.column("i").to_numpy() == 1)
    assert decoded.rows.column("l").to_pylist() == [[1], [4]]
    assert decoded.indices is not None
    assert decoded.indices.to_pylist() == [0, 3]
    assert [bad.index for bad in decoded.bad] == [2]
    assert left_out == 1


def test_odd_records_among_others_are_parsed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    parse = JsonParser.parse

    def counted(self: JsonParser, values: pa.BinaryArray) -> pa.RecordBatch:
        parsed.append(len(values))
        return parse(self, values)

    monkeypatch.setattr(JsonParser, "parse", counted)
    block: Any = pa.array(
        [b'{"s":"a"}', b'{"s":"b","x":NaN}', b'{"s":"c"}', b'{"s":1}', None, b'{"s":"d"}'], pa.binary()
    )
    decoded = JsonDecoder(pa.schema({"s": pa.string()}))(block)
    assert decoded.rows.column("s").to_pylist() == ["a", "b", "c", "d"]
    assert [bad.index for bad in decoded.bad] == [3, 4]
    assert max(parsed) == 3


def test_reasons_are_those_of_the_way_that_times_are_written() -> None:
    block: Any = pa.array([b'{"t":1,"i":2}', b'{"t":1,"i":2.5}'], pa.binary())
    (bad,) = JsonDecoder(COLUMNS)(block).bad
    assert bad.reason == "i: 2.5 is no whole number"


def test_texts_at_the_end_of_a_page_are_read_within_it() -> None:
    values = [b'{"s":"%s","i":%d}' % (b"x" * (n % 50), n) for n in range(2_000)]
    decoded = JsonDecoder(COLUMNS)(pa.array(values, pa.binary()))
    assert decoded.rows.column("s").to_pylist() == ["x" * (n % 50) for n in range(2_000)]
    assert decoded.rows.column("i").to_pylist() == list(range(2_000))


def test_every_day_is_counted() -> None:
    days = np.arange("0001-01-01", "2600-01-01", 13, dtype="datetime64[D]")
    block: Any = pa.array([f'{{"t":"{day}T00:00:00Z"}}'.encode() for day in days.astype(str)], pa.binary())
    plain = PlainScanner(COLUMNS)(block)
    assert plain is not None
    assert plain.are_plain.all()
    times = plain.rows(np.arange(len(days)), ["t"]).column("t").cast(pa.int64()).to_numpy()
    assert (times == days.astype("datetime64[us]").astype(np.int64)).all()


def test_other_types_and_processes_are_left_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_compiled()
    assert can_scan(COLUMNS)
    assert not can_scan(pa.schema({"i": pa.int32(), "l": pa.list_(pa.int32())}))
    assert not can_scan(pa.schema([]))
    monkeypatch.delitem(sys.modules, SCANNER)
    assert not can_scan(COLUMNS)
    decoded = JsonDecoder(COLUMNS)(pa.array([b'{"i":1}'], pa.binary()))
    assert decoded.rows.column("i").to_pylist() == [1]

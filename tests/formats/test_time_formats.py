"""Event times that are written as epoch seconds, or as a pattern says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput
from headrace.formats import Decoded, FormatName, ValueFormat, decoder
from headrace.formats.time_formats import check_time_format

COLUMNS: dict[str, pa.DataType] = {"name": pa.string(), "ts": pa.timestamp("us", tz="UTC")}
SCHEMA = pa.schema(COLUMNS)
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))
# The pattern, and what Python calls it.
PATTERNS = {
    "dd.MM.yyyy HH:mm:ss.SSSSSS": "%d.%m.%Y %H:%M:%S.%f",
    "yyyyMMdd'T'HHmmssSSSSSSXXX": "%Y%m%dT%H%M%S%f%:z",
    "yyyy/MM/dd 'o''clock' HH-mm-ss,SSSSSS Z": "%Y/%m/%d o'clock %H-%M-%S,%f %z",
}


def decode(written: str, values: list[bytes], format_: FormatName = "json") -> Decoded:
    told = ValueFormat(format_, columns=tuple(SCHEMA.names), time_column="ts", time_format=written)
    return decoder(told, SCHEMA)(pa.array(values, pa.binary()))


def records(times: list[object]) -> list[bytes]:
    return [json.dumps({"name": "a", "ts": time}).encode() for time in times]


@given(st.lists(st.none() | MOMENTS, max_size=20), st.sampled_from(sorted(PATTERNS)), st.integers(-14, 14))
def test_texts_of_a_pattern_are_the_times_that_were_meant(
    moments: list[datetime | None], pattern: str, zone_hours: int
) -> None:
    has_zone = pattern.endswith(("X", "Z"))
    zone = timezone(timedelta(hours=zone_hours)) if has_zone else UTC
    meant = [None if moment is None else moment.replace(tzinfo=zone) for moment in moments]
    texts = [None if moment is None else _written(moment, PATTERNS[pattern]) for moment in meant]
    decoded = decode(pattern, records(list(texts)))
    assert decoded.rows.column(1).to_pylist() == meant
    assert not decoded.bad


def _written(moment: datetime, form: str) -> str:
    """Python leaves zeros before a year out, and can put a colon into a zone only from 3.12 on."""
    zone = moment.strftime("%z")
    form = form.replace("%Y", f"{moment.year:04}").replace("%:z", f"{zone[:3]}:{zone[3:]}")
    return moment.strftime(form)


@given(st.lists(st.none() | st.integers(-(10**11), 10**11), max_size=20))
def test_whole_seconds_are_exact(seconds: list[int | None]) -> None:
    decoded = decode("epoch_seconds", records(list(seconds)))
    expected = [None if one is None else one * 1_000_000 for one in seconds]
    assert decoded.rows.column(1).cast(pa.int64()).to_pylist() == expected


def test_parts_of_a_second_are_exact_to_the_microsecond() -> None:
    decoded = decode("epoch_seconds", [b'{"ts": 1767225600.123456}', b'{"ts": 1767225600.999999}'])
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    expected = [moment.replace(microsecond=part) for part in (123456, 999999)]
    assert decoded.rows.column(1).to_pylist() == expected


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_what_is_no_such_time_is_a_bad_record(format_: FormatName) -> None:
    texts = ["01.02.2026", "31.02.2026", "1.2.2026", "01.02.2026 ", "x", "28.02.2026"]
    values = records(list(texts)) if format_ == "json" else [f"a,{text}".encode() for text in texts]
    decoded = decode("dd.MM.yyyy", values, format_)
    assert [record.index for record in decoded.bad] == [1, 2, 3, 4]
    assert decoded.bad[0].reason == "ts is '31.02.2026', which is no time like dd.MM.yyyy"
    assert decoded.rows.column(1).to_pylist() == [datetime(2026, 2, day, tzinfo=UTC) for day in (1, 28)]
    assert decoded.indices is not None
    assert decoded.indices.to_pylist() == [0, 5]


def test_bad_records_of_both_kinds_keep_their_places() -> None:
    values = [b"nonsense", *records([1, 1e300]), b"{", *records(["x", 2])]
    decoded = decode("epoch_seconds", values)
    assert [record.index for record in decoded.bad] == [0, 2, 3, 4]
    assert decoded.rows.column(1).cast(pa.int64()).to_pylist() == [1_000_000, 2_000_000]


def test_other_columns_alone_need_no_time() -> None:
    told = ValueFormat("json", time_column="ts", time_format="dd.MM.yyyy")
    decoded = decoder(told, pa.schema({"name": pa.string()}))(pa.array([b'{"name": "a", "ts": "x"}'], pa.binary()))
    assert decoded.rows.to_pylist() == [{"name": "a"}]


def test_single_letters_take_one_digit_or_two() -> None:
    decoded = decode("d/M/yyyy H:m", records(["1/2/2026 3:4", "11/12/2026 13:14"]))
    expected = [datetime(2026, 2, 1, 3, 4, tzinfo=UTC), datetime(2026, 12, 11, 13, 14, tzinfo=UTC)]
    assert decoded.rows.column(1).to_pylist() == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("epoch", "'e' in 'epoch' is no part of a time"),
        ("HH:mm", "has no year"),
        ("yyyy-MM-dd 'at", "never closed"),
        ("yyyy-MM-dd yyyy", "two parts for the year"),
        ("", "has no year"),
    ],
)
def test_a_pattern_that_says_no_time_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_time_format(pattern)

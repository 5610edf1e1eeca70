"""The numbers of keys are those of zlib, over the texts that Spark would write: files and lanes depend on them."""

from __future__ import annotations

import zlib
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.serial.key_hash import BUCKETS, bucket_of, key_hashes, lane_of

texts = st.lists(st.tuples(st.none() | st.text(max_size=40), st.none() | st.binary(max_size=9)), max_size=20)


def told(value: object) -> bytes:
    if value is None:
        return b"\x00"
    return value if isinstance(value, bytes) else str(value).encode()


@given(texts, st.integers(0, 3))
def test_they_are_checksums_of_texts_with_a_separator_between(rows: list[Any], skipped: int) -> None:
    columns: list[pa.Array[Any]] = [
        pa.array([row[0] for row in rows], pa.string()),
        pa.array([row[1] for row in rows], pa.binary()),
    ]
    hashes = key_hashes([column[skipped:] for column in columns])
    assert hashes.tolist() == [zlib.crc32(b"\x1f".join(map(told, row))) for row in rows[skipped:]]
    assert lane_of([column[skipped:] for column in columns], 3).tolist() == [value % 3 for value in hashes.tolist()]
    assert all(0 <= bucket < BUCKETS for bucket in bucket_of(columns).tolist())


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array([0, -7, None, 2**62]), ["0", "-7", "\x00", str(2**62)]),
        # As bits: one zero and one NaN, and what Arrow and Spark write in two ways is alike.
        (pa.array([1.5, None], pa.float64()), ["4609434218613702656", "\x00"]),
        (pa.array([0.0, -0.0, 1.5], pa.float32()), ["0", "0", "4609434218613702656"]),
        (pa.array([float("nan"), -float("nan")]), ["9221120237041090560"] * 2),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2026, 1, 31)]), ["2026-01-31"]),
        (pa.array([datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)], pa.timestamp("ms", tz="UTC")), ["1000000"]),
        (pa.array(["ä", ""], pa.large_string()), ["ä", ""]),
        (pa.array([], pa.string()), []),
    ],
)
def test_values_of_all_kinds_have_a_text(column: pa.Array[Any], texts: list[str]) -> None:
    assert key_hashes([column]).tolist() == [zlib.crc32(text.encode()) for text in texts]


def test_without_columns_there_is_one_key() -> None:
    assert key_hashes([]).tolist() == [0]

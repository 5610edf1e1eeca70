"""Rows by key, against a look at every row: numbers near and far, texts, several columns, numbers that collide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.serial import key_index
from headrace.serial.key_index import TableIndex
from headrace.serial.row_hash import RowHashes, row_hashes

LONG = "x" * 300
KEYS: dict[str, tuple[list[pa.DataType], list[st.SearchStrategy[Any]]]] = {
    "near": ([pa.int64()], [st.one_of(st.none(), st.integers(-3, 3))]),
    "far": ([pa.int64()], [st.sampled_from([None, 0, 1, -(2**63), 2**63 - 1])]),
    "small": ([pa.int8()], [st.sampled_from([None, -128, 127, 0])]),
    "flags": ([pa.bool_()], [st.sampled_from([None, True, False])]),
    "days": ([pa.date32()], [st.one_of(st.none(), st.dates())]),
    "texts": ([pa.string()], [st.sampled_from([None, "", "a", "b", "ä", LONG, f"{LONG}y", f"z{LONG}"])]),
    "both": ([pa.string(), pa.int32()], [st.sampled_from([None, "", "a"]), st.sampled_from([None, 0, 1])]),
}

Row = tuple[Any, ...]


def columns(rows: Sequence[Row], types: Sequence[pa.DataType]) -> list[pa.Array[Any]]:
    return [pa.array([row[number] for row in rows], type_) for number, type_ in enumerate(types)]


def expected(rows: Sequence[Row], asked: Sequence[Row]) -> list[tuple[int, int]]:
    pairs = ((number, place) for number in range(len(asked)) for place in range(len(rows)))
    return [(number, place) for number, place in pairs if asked[number] == rows[place] and None not in asked[number]]


def check(name: str, data: st.DataObject) -> None:
    types, values = KEYS[name]
    keys = st.lists(st.tuples(*values), max_size=12)
    rows, asked = data.draw(keys), data.draw(keys)
    index = TableIndex(columns(rows, types))
    found = list(index.find(columns(asked, types)))
    pairs = [pair for part in found for pair in zip(part.asking.tolist(), part.found.tolist(), strict=True)]
    assert pairs == expected(rows, asked)
    assert [number for part in found for number in range(part.start, part.stop)] == list(range(len(asked)))
    has_row = {number for number, _ in pairs}
    assert (index.slots(columns(asked, types)) >= 0).tolist() == [number in has_row for number in range(len(asked))]


@pytest.mark.parametrize("name", KEYS)
@given(data=st.data())
def test_every_key_finds_its_rows(name: str, data: st.DataObject) -> None:
    check(name, data)


@pytest.mark.parametrize("name", ["near", "texts"])
@given(data=st.data())
def test_many_pairs_come_in_parts(name: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_index, "PAIRS_MAX", 2)
        check(name, data)


@pytest.mark.parametrize("name", ["texts", "both"])
@given(data=st.data())
def test_keys_that_only_look_alike_are_told_apart(name: str, data: st.DataObject) -> None:
    def colliding(keys: Sequence[pa.Array[Any]]) -> RowHashes:
        return row_hashes(keys) % np.uint64(2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_index, "row_hashes", colliding)
        check(name, data)


def test_numbers_with_large_gaps_are_searched() -> None:
    numbers = list(range(0, 10**12, 10**9))
    index = TableIndex([pa.array(numbers)])
    assert index.slots([pa.array([0, 1, 5 * 10**9, 10**12, -1])]).tolist() == [0, -1, 5, -1, -1]

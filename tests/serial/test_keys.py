"""Keys and their slots, beside a plain dict."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.serial.key_hash import bucket_of
from headrace.serial.keys import KeyIndex, group

TYPES: list[pa.DataType] = [pa.string(), pa.int64(), pa.bool_(), pa.date32()]
keys = st.tuples(
    st.sampled_from(["", "a", "b", "ä", None]),
    st.sampled_from([0, -1, 2**62, -(2**63), None]),
    st.sampled_from([True, False, None]),
    st.sampled_from([date(1960, 1, 1), date(2026, 1, 1), None]),
)
steps = st.lists(st.tuples(st.sampled_from(["add", "remove", "find"]), st.lists(keys, max_size=8)), max_size=20)


def columns(rows: list[Any], width: int) -> list[pa.Array[Any]]:
    return [pa.array([row[place] for row in rows], TYPES[place]) for place in range(width)]


@settings(max_examples=150, deadline=None)
@given(steps, st.integers(1, 4))
def test_an_index_is_a_dict(taken: list[tuple[str, list[Any]]], width: int) -> None:
    index, model = KeyIndex(), dict[Any, int]()
    for what, given_ in taken:
        rows = [row[:width] for row in given_]
        if what == "add":
            slots, fresh = index.add(columns(rows, width))
            added = dict.fromkeys(row for row in rows if row not in model)
            assert len(fresh) == len(added)
            for row, slot in zip(rows, slots.tolist(), strict=True):
                assert model.setdefault(row, slot) == slot
        elif what == "remove":
            gone = [row for row in dict.fromkeys(rows) if row in model]
            index.remove(np.array([model.pop(row) for row in gone], np.int64))
        else:
            assert index.find(columns(rows, width)).tolist() == [model.get(row, -1) for row in rows]
    assert len(set(model.values())) == len(model) == len(index)
    assert sorted(model.values()) == index.slots().tolist()
    slots = np.array(list(model.values()), np.int64)
    found = index.arrays(slots, TYPES[:width])
    assert [column.type for column in found] == TYPES[:width]
    assert list(zip(*(column.to_pylist() for column in found), strict=True)) == list(model)
    buckets = bucket_of(found).tolist() if len(slots) else []
    assert all(slot in index.slots(range(b, b + 1)) for slot, b in zip(slots.tolist(), buckets, strict=True))


def test_without_columns_there_is_one_key() -> None:
    index = KeyIndex()
    assert index.find([]).tolist() == [-1]
    slots, fresh = index.add([])
    assert (slots.tolist(), fresh.tolist(), len(index)) == ([0], [0], 1)
    assert index.add([])[1].tolist() == []


def test_texts_of_keys_that_are_gone_are_forgotten() -> None:
    index = KeyIndex()
    for turn in range(20):
        texts: pa.Array[Any] = pa.array([f"{turn} {number}" for number in range(500)])
        slots, _ = index.add([texts])
        index.remove(slots[10:])
    assert (len(index), index.capacity) == (200, 500 + 19 * 10)
    assert len(index._words._values[0]) < 2_500
    kept: pa.Array[Any] = pa.array([f"{turn} {number}" for turn in range(20) for number in range(10)])
    assert index.arrays(index.find([kept]), [pa.string()])[0].equals(kept)


def test_rows_of_many_columns_with_many_values_are_told_apart() -> None:
    """As many combinations as these have do not fit in 64 bits."""
    numbers = np.arange(70_000)
    groups = group([pa.array(numbers), pa.array(numbers[::-1].copy()), *[pa.array(numbers)] * 3], len(numbers))
    assert groups.count == len(numbers)
    assert groups.keys[1].to_numpy()[groups.codes].tolist() == numbers[::-1].tolist()

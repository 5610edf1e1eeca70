"""Rows by their hash against plain lists: through merges, expiry, lost attempts, crashes and other workers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.serial.histories import check_history, fates

from headrace.errors import Conflict
from headrace.serial import NodeState, StateStore, Version, lane_of
from headrace.serial import sorted_runs as runs_module
from headrace.serial import store as store_module
from headrace.serial.hashed_rows import HashedRows
from headrace.serial.key_hash import BUCKETS
from headrace.serial.partitioning import Partitioning
from headrace.serial.repartition import repartitioned
from headrace.serial.row_hash import bucket_bounds, row_hashes
from headrace.serial.sorted_runs import RUNS_MERGED, Asking
from headrace.testing import MemoryFiles

AT = pa.timestamp("us", tz="UTC")
KEY = (("k", pa.string()), ("d", pa.int64()))
COLUMNS = (("n", pa.int64()), ("at", AT), ("list", pa.list_(pa.int64())))
Row = tuple[str, int, int, int]

keys = st.tuples(st.sampled_from(["", "a", "b", "a long key of many words"]), st.integers(-2, 2))
rows_lists = st.lists(st.tuples(keys, st.integers(0, 99), st.integers(0, 20)), max_size=12)
changes = st.lists(
    st.one_of(st.tuples(st.just("append"), rows_lists), st.tuples(st.just("expire"), st.integers(0, 6))), max_size=4
)


def rows_of(state: NodeState) -> HashedRows:
    return state.hashed_rows("rows", KEY, COLUMNS, "at")


def lists(numbers: list[int]) -> list[list[int] | None]:
    """What the last column has beside these numbers."""
    return [[number] * (number % 3) if number % 5 else None for number in numbers]


def batch_of(made: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[list[Any]] = [[row[i] for row in made] for i in range(4)]
    columns.append(lists(columns[2]))
    arrays: list[Any] = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def found_by(rows: HashedRows, asked: list[Row], reach_us: int) -> Counter[tuple[int, Row]]:
    run = rows.run_of(batch_of(asked, rows.schema))
    asking = Asking(run, run.at_us - reach_us, run.at_us + reach_us)
    pairs: Counter[tuple[int, Row]] = Counter()
    for found in rows.find(asking):
        columns = [found.column(name) for name in ("k", "d", "n")]
        values: list[Any] = [
            *(column.to_pylist() for column in columns),
            found.column("at").view(pa.int64()).to_pylist(),
        ]
        assert found.column("list").to_pylist() == lists(values[2])
        pairs.update(zip(found.asking.tolist(), zip(*values, strict=True), strict=True))
    return pairs


def content(rows: HashedRows) -> Counter[Row]:
    table = rows.snapshot()
    columns = [table[name].to_pylist() for name in ("k", "d", "n")]
    return Counter(zip(*columns, table["at"].cast(pa.int64()).to_pylist(), strict=True))


@pytest.fixture(params=["one by one", "as they are"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits show what large states do: several chunks in a run, portions of pairs, buckets in turn."""
    if request.param == "one by one":
        monkeypatch.setattr(runs_module, "ROWS_COPIED_MAX", 5)
        monkeypatch.setattr(runs_module, "PAIRS_AT_ONCE", 3)
        monkeypatch.setattr(store_module, "PART_VALUES_MIN", 1)


class Model:
    """All rows that were appended and are not before the time that was given last; rows before it may be there."""

    def __init__(self, rows: list[Row], before_us: int, now_us: int) -> None:
        self.rows, self.before_us, self.now_us = rows, before_us, now_us

    def changed(self, rows: HashedRows, what: str, given: Any) -> Model:
        if what == "expire":
            before_us = self.before_us + given
            rows.expire(before_us)
            return Model([row for row in self.rows if row[3] >= before_us], before_us, max(self.now_us, before_us))
        made = [(*key, number, self.now_us + step) for key, number, step in given]
        rows.append(rows.run_of(batch_of(made, rows.schema)))
        return Model(self.rows + made, self.before_us, self.now_us + len(made) // 4)

    def check(self, rows: HashedRows) -> None:
        rows.expire(self.before_us)
        assert content(rows) == Counter(self.rows)
        asked = [(key, d, 0, self.before_us + 8) for key in ("", "a", "b", "c") for d in (-2, 0, 2)]
        expected = Counter(
            (number, row)
            for number, (key, d, _, at_us) in enumerate(asked)
            for row in self.rows
            if row[:2] == (key, d) and abs(row[3] - at_us) <= 8
        )
        assert found_by(rows, asked, 8) == expected
        assert len(self.rows) <= len(rows) <= 2 * len(self.rows) + 2 * len(rows._runs)


@pytest.mark.usefixtures("_sizes")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(changes, fates), max_size=30))
def test_rows_are_those_that_were_committed(history: list[tuple[list[Any], str]]) -> None:
    def changed(state: NodeState, model: Model, steps: list[Any]) -> Model:
        for step in steps:
            model = model.changed(rows_of(state), *step)
        return model

    check_history(history, Model([], 0, 100), changed, lambda state, model: model.check(rows_of(state)))


def numbered(rows: HashedRows, start: int, count: int) -> None:
    numbers = np.arange(start, start + count)
    keys = pa.array([f"k{number % 1000}" for number in numbers])
    arrays: list[Any] = [keys, pa.array(numbers), pa.array(numbers), pa.array(numbers).view(AT)]
    arrays.append(pa.array(lists(numbers.tolist()), pa.list_(pa.int64())))
    rows.append(rows.run_of(pa.record_batch(arrays, schema=rows.schema)))


def test_there_are_few_runs_and_each_row_is_merged_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    merged_rows = 0
    merge = runs_module.merged

    def counted(runs: Any) -> Any:
        nonlocal merged_rows
        merged_rows += sum(map(len, runs))
        return merge(runs)

    monkeypatch.setattr("headrace.serial.hashed_rows.merged", counted)
    rows = HashedRows(KEY, COLUMNS, "at")
    for start in range(0, 20_000, 20):
        numbered(rows, start, 20)
    assert len(rows) == 20_000
    # A thousand batches: less than four powers of eight.
    assert len(rows._runs) <= 4 * (RUNS_MERGED - 1)
    assert merged_rows <= 4 * 20_000


def test_what_is_written_follows_the_change_and_not_the_size() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    version = Version()
    sizes = []
    for batch in range(2 * BUCKETS):
        state = store.load("node", 0, version)
        numbered(rows_of(state), 20_000 * batch if batch < 2 else 40_000 + 10 * batch, 20_000 if batch < 2 else 10)
        version = store.write("node", 0, batch, state, version)
        sizes.append(version.changes[-1].size_bytes)
    assert max(sizes[2:]) < max(sizes[:2]) / 4
    assert len(rows_of(StateStore(files).load("node", 0, version))) == 40_000 + 10 * (2 * BUCKETS - 2)


def test_what_time_has_passed_goes_without_being_written() -> None:
    store = StateStore(MemoryFiles())
    version = Version()
    for batch in range(50):
        state = store.load("node", 0, version)
        rows = rows_of(state)
        rows.expire(100 * batch - 300)
        numbered(rows, 100 * batch, 100)
        assert len(rows) <= 2 * 400 + 100
        version = store.write("node", 0, batch, state, version)
    state = store.load("node", 0, version)
    rows_of(state).expire(5_000)
    assert len(rows_of(state)) == 0
    assert store.write("node", 0, 50, state, version) == version


@pytest.mark.usefixtures("_sizes")
def test_rows_can_be_moved_to_other_lanes() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    manifest: dict[int, Version] = {}
    for lane in range(2):
        state = store.load("node", lane, Version())
        numbered(rows_of(state), 500 * lane, 500)
        manifest[lane] = store.write("node", lane, 5, state, Version())
    made = repartitioned(store, {"node": manifest}, lambda _: Partitioning("by_key", ("k",)), 3, 5)["node"]
    seen: list[int] = []
    for lane, version in made.items():
        rows = rows_of(StateStore(files).load("node", lane, version))
        asked = list(content(rows))
        assert set(lane_of([pa.array([row[0] for row in asked])], 3).tolist()) == {lane}
        assert len(found_by(rows, asked, 0)) == len(asked)
        seen += [row[2] for row in asked]
    assert sorted(seen) == list(range(1000))


def test_a_name_has_one_shape() -> None:
    state = NodeState()
    rows_of(state)
    with pytest.raises(Conflict, match="other columns"):
        state.hashed_rows("rows", KEY, COLUMNS[:2], "at")
    with pytest.raises(Conflict, match="is rows, not table"):
        state.table("rows", KEY, COLUMNS)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=20), st.integers(0, 5))
def test_hashes_of_texts_depend_on_nothing_but_the_text(texts: list[str], skipped: int) -> None:
    alone = [int(row_hashes([pa.array([text], pa.string())])[0]) for text in texts]
    assert row_hashes([pa.array(texts, pa.string()).slice(skipped)]).tolist() == alone[skipped:]
    assert len(set(alone)) == len(set(texts))


def test_hashes_are_spread_and_stay_as_they_are() -> None:
    """Those in files of state were made by an earlier version."""
    numbers = row_hashes([pa.array(range(100_000))])
    assert len(set(numbers.tolist())) == 100_000
    least, greatest = bucket_bounds(range(3, 4))
    assert abs(int(((numbers >= least) & (numbers <= greatest)).sum()) - 100_000 / BUCKETS) < 300
    long = [f"{'x' * length}{end}" for length in (0, 7, 8, 255, 256, 1000) for end in "ab"]
    assert len(set(row_hashes([pa.array(long)]).tolist())) == len(long)
    assert row_hashes([pa.array([1, 2])]).tolist() == [6238072747940578789, 15839785061582574730]
    mixed: list[Any] = [pa.array(["headrace"]), pa.array([7], pa.int32()), pa.array([True]), pa.array([0], AT)]
    assert row_hashes(mixed).tolist() == [13884070629323165357]

"""The greatest numbers of each key, kept as candidates, against plain lists: through lost attempts, crashes, restarts
and other workers."""

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
from headrace.serial.candidate_rows import CandidateRows, one_batch
from headrace.serial.key_hash import BUCKETS
from headrace.serial.partitioning import Partitioning
from headrace.serial.repartition import repartitioned
from headrace.serial.row_hash import row_hashes
from headrace.testing import MemoryFiles

KEY = (("k", pa.string()), ("d", pa.int64()))
COLUMNS = (("n", pa.int64()), ("text", pa.string()))
KEPT = 2
Key = tuple[str | None, int | None]
Row = tuple[str | None, int | None, int]

keys = st.tuples(st.sampled_from([None, "", "a", "b", "a long key of many words"]), st.sampled_from([None, 0, 1, -1]))
appends = st.lists(st.tuples(keys, st.integers(0, 9)), max_size=12)


def rows_of(state: NodeState) -> CandidateRows:
    return state.candidate_rows("rows", KEY, COLUMNS)


def batch_of(made: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[list[Any]] = [[row[i] for row in made] for i in range(3)]
    columns.append([f"text {row[2]}" for row in made])
    arrays: list[Any] = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def read(batch: pa.RecordBatch) -> list[Row]:
    assert batch.column("text").to_pylist() == [f"text {number}" for number in batch.column("n").to_pylist()]
    return list(zip(*(batch.column(name).to_pylist() for name in ("k", "d", "n")), strict=True))


def greatest(rows: list[Row]) -> list[Row]:
    """Of each key."""
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        by_key.setdefault(row[:2], []).append(row)
    return [row for found in by_key.values() for row in sorted(found, key=lambda row: -row[2])[:KEPT]]


def superfluous(batch: pa.RecordBatch) -> Any:
    wanted = Counter(greatest(read(batch)))
    flags = []
    for row in read(batch):
        flags.append(not wanted[row])
        wanted[row] -= wanted[row] > 0
    return np.array(flags, np.bool_)


def take_in(rows: CandidateRows, made: list[Row]) -> None:
    """As a user does: what is there of the keys and what is new, and of that the greatest."""
    fresh = batch_of(made, rows.schema)
    hashes = rows.hashes_of(fresh)
    known = rows.find(hashes)
    flags = superfluous(one_batch([fresh, known.rows], rows.schema))
    known.remove(flags[len(made) :])
    new = np.flatnonzero(~flags[: len(made)])
    rows.append(fresh.take(new), hashes[new])


@pytest.fixture(params=["one by one", "as they are", "equal hashes"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits show what large states do: several chunks in a run, portions of places, buckets in turn."""
    if request.param == "one by one":
        monkeypatch.setattr(runs_module, "ROWS_COPIED_MAX", 5)
        monkeypatch.setattr(runs_module, "PAIRS_AT_ONCE", 3)
        monkeypatch.setattr(store_module, "PART_VALUES_MIN", 1)
    if request.param == "equal hashes":
        poor = lambda columns: row_hashes(columns) % np.uint64(3) << np.uint64(62)  # noqa: E731
        monkeypatch.setattr("headrace.serial.candidate_rows.row_hashes", poor)


@pytest.mark.usefixtures("_sizes")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(appends, fates), max_size=30))
def test_what_is_wanted_is_there(history: list[tuple[list[tuple[Key, int]], str]]) -> None:
    def changed(state: NodeState, model: list[Row], made: list[tuple[Key, int]]) -> list[Row]:
        new = [(*key, number) for key, number in made]
        if new:
            take_in(rows_of(state), new)
        return model + new

    nothing: list[Row] = []
    check_history(history, nothing, changed, lambda state, model: check(rows_of(state), model))


def check(rows: CandidateRows, all_rows: list[Row]) -> None:
    there = Counter(read(rows._inside(range(BUCKETS)).rows))
    wanted = Counter(greatest(all_rows))
    assert wanted <= there <= Counter(all_rows)
    rows.prune(superfluous)
    pruned = Counter(read(rows._inside(range(BUCKETS)).rows))
    assert pruned in (wanted, there)
    assert len(rows) == pruned.total() <= 2 * wanted.total()
    for number in range(3):
        asked = batch_of([("a", number, 0), ("", number, 0), (None, None, 0)], rows.schema)
        found = read(rows.find(rows.hashes_of(asked)).rows)
        of_keys = Counter(row for row in found if row[:2] in (("a", number), ("", number), (None, None)))
        assert of_keys == Counter({row: count for row, count in pruned.items() if row in of_keys})


def numbered(rows: CandidateRows, start: int, count: int) -> None:
    take_in(rows, [(f"k{number % 1000}", 0, number) for number in range(start, start + count)])


def test_rows_that_went_take_no_more_memory_than_the_others() -> None:
    rows = CandidateRows(KEY, COLUMNS)
    for start in range(0, 20_000, 500):
        numbered(rows, start, 500)
        assert sum(chunk.num_rows for part in rows._parts for chunk in part.run.chunks) <= 2 * 1000 * KEPT + 500
    assert len(rows) == 1000 * KEPT


def test_rows_that_stay_while_others_go_do_not_leave_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One key in ten is never seen again, the others always."""
    monkeypatch.setattr(runs_module, "ROWS_COPIED_MAX", 64)
    rows = CandidateRows(KEY, COLUMNS)
    for batch in range(300):
        take_in(rows, [(f"k{number}" if number else f"once {batch}", 0, batch) for number in range(10)])
    assert len(rows) == 300 + 9 * KEPT
    chunk_count = sum(len(part.run.chunks) for part in rows._parts)
    assert chunk_count <= 2 * (2 * len(rows)) / 64 + len(rows._parts)


def test_what_is_written_follows_the_change_and_not_the_size() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    version = Version()
    sizes = []
    for batch in range(2 * BUCKETS):
        state = store.load("node", 0, version)
        new: list[Row] = [(f"key {number}", 0, batch) for number in range(20_000 if batch < 2 else 10)]
        take_in(rows_of(state), new)
        version = store.write("node", 0, batch, state, version)
        sizes.append(version.changes[-1].size_bytes)
    assert max(sizes[2:]) < max(sizes[:2]) / 4
    rows = rows_of(StateStore(files).load("node", 0, version))
    rows.prune(superfluous)
    assert len(rows) == 20_000 * KEPT


@pytest.mark.usefixtures("_sizes")
def test_rows_can_be_moved_to_other_lanes() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    manifest: dict[int, Version] = {}
    for lane in range(2):
        state = store.load("node", lane, Version())
        take_in(rows_of(state), [(f"k{number}" if number else None, lane, number) for number in range(500)])
        manifest[lane] = store.write("node", lane, 5, state, Version())
    made = repartitioned(store, {"node": manifest}, lambda _: Partitioning("by_key", ("k",)), 3, 5)["node"]
    seen: list[Row] = []
    for lane, version in made.items():
        rows = rows_of(StateStore(files).load("node", lane, version))
        held = rows._inside(range(BUCKETS)).rows
        assert set(lane_of([held.column("k")], 3).tolist()) == {lane}
        assert rows.find(rows.hashes_of(held)).rows.num_rows == held.num_rows
        seen += read(held)
    assert sorted((number, lane) for _, lane, number in seen) == sorted(
        (n, lane) for n in range(500) for lane in (0, 1)
    )


def test_a_name_has_one_shape() -> None:
    state = NodeState()
    rows_of(state)
    with pytest.raises(Conflict, match="other columns"):
        state.candidate_rows("rows", KEY, COLUMNS[:1])
    with pytest.raises(Conflict, match="is candidates, not table"):
        state.table("rows", KEY, COLUMNS)


def test_hashes_stay_as_they_are() -> None:
    """Those in files of state were made by an earlier version; a null is no zero and no empty text."""
    rows = CandidateRows(KEY, COLUMNS)
    made: list[Row] = [
        ("a", 1, 0),
        (None, 1, 0),
        ("a", None, 0),
        (None, None, 0),
        ("", 0, 0),
        ("", None, 0),
        (None, 0, 0),
    ]
    hashes = rows.hashes_of(batch_of(made, rows.schema)).tolist()
    assert len(set(hashes)) == len(made)
    assert [rows.hashes_of(batch_of([row], rows.schema)).tolist()[0] for row in made] == hashes

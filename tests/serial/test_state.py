"""State against a plain dict, through random changes, lost attempts, crashes and gaps between micro-batches."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.serial.histories import check_history, fates

from headrace.errors import Conflict, CorruptData, InvalidInput
from headrace.serial import (
    LocalFiles,
    NodeState,
    StateStore,
    Version,
    group,
    lane_of,
)
from headrace.serial import store as store_module
from headrace.serial.key_hash import BUCKETS
from headrace.serial.partitioning import Partitioning
from headrace.serial.repartition import repartitioned
from headrace.serial.state_file import Section, decode, encode
from headrace.serial.store import CHANGES_ALONE_MAX
from headrace.serial.versions import CHANGES_KEPT
from headrace.testing import MemoryFiles

KEY = (("k", pa.string()), ("d", pa.int64()))
COLUMNS = (("n", pa.int64()), ("text", pa.string()), ("at", pa.timestamp("us", tz="UTC")))
LENGTH = 3

keys = st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 5))
changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), keys, st.integers(0, 99)),
        st.tuples(st.just("delete"), keys, st.just(0)),
        st.tuples(st.just("append"), keys, st.integers(0, 99)),
        st.tuples(st.just("value"), keys, st.integers(0, 99)),
        st.tuples(st.just("in place"), keys, st.integers(0, 99)),
    ),
    max_size=8,
)
Model = dict[str, dict[Any, Any]]


def columns_of(key: tuple[str | None, int]) -> list[pa.Array[Any]]:
    return [pa.array([key[0]], pa.string()), pa.array([key[1]], pa.int64())]


def change(state: NodeState, model: Model, what: str, key: tuple[str | None, int], number: int) -> None:
    table, rings = state.table("table", KEY, COLUMNS), state.rings("rings", KEY, LENGTH)
    if what == "put":
        slots, _ = table.add(columns_of(key))
        table["n"][slots], table["text"][slots], table["at"][slots] = number, f"x{number}", number
        table.touch(slots)
        model["table"][key] = number
    elif what == "delete":
        slots = table.find(columns_of(key))
        table.delete(slots[slots >= 0])
        model["table"].pop(key, None)
    elif what == "append":
        rings.append(rings.add(columns_of(key)), np.zeros(1, np.int64), np.array([float(number)]))
        model["rings"][key] = [*model["rings"].get(key, []), float(number)][-LENGTH:]
    elif what == "value":
        state.value("value").value = {"number": number}
        model["value"]["value"] = {"number": number}
    else:
        state.value("places", {}).value.setdefault(str(key), []).append(number)
        model["places"][str(key)] = [*model["places"].get(str(key), []), number]


def content(state: NodeState) -> Model:
    table, rings = state.table("table", KEY, COLUMNS), state.rings("rings", KEY, LENGTH)
    rows = table.snapshot().to_pylist()
    assert all(row["text"] == f"x{row['n']}" and row["at"].microsecond == row["n"] for row in rows)
    value = state.value("value").value
    return {
        "table": {(row["k"], row["d"]): row["n"] for row in rows},
        "rings": {(row["k"], row["d"]): row["numbers"] for row in rings.snapshot().to_pylist()},
        "value": {} if value is None else {"value": value},
        "places": copy.deepcopy(state.value("places", {}).value),
    }


def copied(model: Model) -> Model:
    return {name: dict(values) for name, values in model.items()}


@pytest.fixture(params=[1, store_module.PART_VALUES_MIN], ids=["in turn", "whole"], autouse=True)
def _part_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small state is written whole every time, unless told otherwise."""
    monkeypatch.setattr(store_module, "PART_VALUES_MIN", request.param)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(changes, fates), max_size=60))
def test_state_is_what_was_committed(history: list[tuple[list[Any], str]]) -> None:
    def changed(state: NodeState, model: Model, steps: list[Any]) -> Model:
        after = copied(model)
        for step in steps:
            change(state, after, *step)
        return after

    def check(state: NodeState, model: Model) -> None:
        assert content(state) == model

    check_history(history, {"table": {}, "rings": {}, "value": {}, "places": {}}, changed, check)


def touched(store: StateStore, version: Version, batch: int, count: int) -> Version:
    state = store.load("node", 0, version)
    table = state.table("t", [("k", pa.int64())], [("n", pa.int64())])
    slots, _ = table.add([pa.array(np.arange(count))])
    table["n"][slots] += 1
    table.touch(slots)
    return store.write("node", 0, batch, state, version)


def test_what_is_written_follows_the_change_and_not_the_size() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    version = touched(store, Version(), 0, 100_000)
    before = version.size_bytes
    sizes, turn = [], BUCKETS * (1 + CHANGES_ALONE_MAX)
    for batch in range(1, 2 * turn):
        version = touched(store, version, batch, 10)
        sizes.append(version.changes[-1].size_bytes)
    # Ten rows, and in turn a bucket of all: never the whole state at once, and not each time as much as that.
    assert max(sizes) < before / BUCKETS * 2
    assert sum(size > before / BUCKETS / 2 for size in sizes) < len(sizes) / 3
    assert len(version.changes) <= turn + CHANGES_KEPT
    assert (
        len(StateStore(files).load("node", 0, version).table("t", [("k", pa.int64())], [("n", pa.int64())])) == 100_000
    )
    assert len(store.load("node", 0, version).table("t", [("k", pa.int64())], [("n", pa.int64())])) == 100_000


def test_versions_stay_short_and_old_files_are_swept() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    version = Version()
    for batch in range(200):
        version = touched(store, version, batch, 5)
    assert len(version.changes) <= 5 + CHANGES_KEPT
    store.sweep({"node": {0: version}})
    assert len(files.contents) == len(version.changes)
    table = StateStore(files).load("node", 0, version).table("t", [("k", pa.int64())], [("n", pa.int64())])
    assert set(table["n"][table.slots()].tolist()) == {200}


def test_nothing_changed_means_nothing_written() -> None:
    files = MemoryFiles()
    store = StateStore(files)
    state = store.load("node", 0, Version())
    state.value("v", 1)
    assert store.write("node", 0, 0, state, Version()) == Version()
    assert files.contents == {}


def test_files_on_disk_are_mapped_checked_and_never_overwritten(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "state")
    version = touched(StateStore(files), Version(), 0, 10)
    (name,) = files.names()
    with pytest.raises(Conflict):
        files.write(name, [b"other"])
    assert len(StateStore(files).load("node", 0, version).table("t", [("k", pa.int64())], [("n", pa.int64())])) == 10
    path = tmp_path / "state" / name
    content = bytearray(path.read_bytes())
    content[-70] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CorruptData, match="checksum"):
        StateStore(files).load("node", 0, version)
    path.unlink()
    with pytest.raises(CorruptData, match="cannot be read"):
        StateStore(files).load("node", 0, version)


def test_a_name_has_one_kind_and_one_shape() -> None:
    state = NodeState()
    state.value("v")
    state.table("t", [("k", pa.int64())], [("n", pa.int64())])
    with pytest.raises(Conflict, match="is value, not table"):
        state.table("v", [("k", pa.int64())], [])
    with pytest.raises(Conflict, match="other columns"):
        state.table("t", [("k", pa.int64())], [("m", pa.int64())])


def test_stored_state_lacks_a_column_that_the_operator_has_got_since() -> None:
    before, after = NodeState(), NodeState()
    slots, _ = before.table("t", [("k", pa.int64())], [("n", pa.int64())]).add([pa.array([1])])
    before.table("t", [("k", pa.int64())], [("n", pa.int64())]).touch(slots)
    for section in before.changes():
        after.restore(section)
    with pytest.raises(Conflict, match="'t' has no column 'm'"):
        after.table("t", [("k", pa.int64())], [("n", pa.int64()), ("m", pa.int64())])


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.booleans()), max_size=30))
def test_rows_are_grouped_by_all_their_keys(rows: list[tuple[str | None, int, bool]]) -> None:
    columns: list[pa.Array[Any]] = [
        pa.array([row[0] for row in rows], pa.string()),
        pa.array([row[1] for row in rows], pa.int64()),
        pa.array([row[2] for row in rows], pa.bool_()),
    ]
    groups = group(columns, len(rows))
    found = list(zip(*(column.to_pylist() for column in groups.keys), strict=True))
    assert [found[code] for code in groups.codes] == rows
    assert found == list(dict.fromkeys(rows))
    assert [rows[i] for i in groups.order()] == sorted(rows, key=found.index)


def test_repartitioned_state_is_where_its_keys_go() -> None:
    files = MemoryFiles()
    store, manifest = StateStore(files), {}  # type: tuple[StateStore, dict[int, Version]]
    names = pa.array([f"k{n}" for n in range(200)])
    for lane in range(3):
        own = names.filter(pa.array(lane_of([names], 3) == lane))
        state = store.load("node", lane, Version())
        table, rings = state.table("t", KEY[:1], COLUMNS[:1]), state.rings("r", KEY[:1], LENGTH)
        slots, _ = table.add([own])
        table["n"][slots] = lane_of([own], 1_000_000)
        rings.append(rings.add([own]), np.zeros(len(own), np.int64), np.full(len(own), float(lane)))
        state.value("_timers").value = {"event": [lane, 7], "processing": []}
        manifest[lane] = store.write("node", lane, 5, state, Version())
    made = repartitioned(store, {"node": manifest}, lambda _: Partitioning("by_key", ("k",)), 5, 5)["node"]
    seen: list[str] = []
    for lane, version in made.items():
        state = StateStore(files).load("node", lane, version)
        rows = state.table("t", KEY[:1], COLUMNS[:1]).snapshot()
        keys: Any = rows["k"].combine_chunks()
        assert lane_of([keys], 5).tolist() == [lane] * rows.num_rows
        assert rows["n"].to_pylist() == lane_of([keys], 1_000_000).tolist()
        assert set(state.rings("r", KEY[:1], LENGTH).snapshot()["k"].to_pylist()) == set(keys.to_pylist())
        assert state.value("_timers").value == {"event": [0, 1, 2, 7], "processing": []}
        seen += keys.to_pylist()
    assert len(seen) == len(names)
    assert set(seen) == set(names.to_pylist())


def test_state_of_no_key_cannot_be_repartitioned() -> None:
    store = StateStore(MemoryFiles())
    state = store.load("node", 0, Version())
    state.value("total").value = 7
    version = store.write("node", 0, 0, state, Version())
    with pytest.raises(InvalidInput, match="node 'node': the state 'total' is not kept by k"):
        repartitioned(store, {"node": {0: version}}, lambda _: Partitioning("by_key", ("k",)), 2, 0)


def test_state_that_nobody_asks_for_outlives_the_files_it_was_in() -> None:
    files = MemoryFiles()
    version = touched(StateStore(files), Version(), 0, 50)
    for batch in range(1, 3 * BUCKETS):
        store = StateStore(files)
        state = store.load("node", 0, version)
        state.value("other").value = batch
        version = store.write("node", 0, batch, state, version)
    store = StateStore(files)
    store.sweep({"node": {0: version}})
    table = store.load("node", 0, version).table("t", [("k", pa.int64())], [("n", pa.int64())])
    assert table["n"][table.slots()].tolist() == [1] * 50


class CountedFiles(MemoryFiles):
    """Files in memory that say which of them were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_names: list[str] = []

    def read(self, name: str) -> pa.Buffer:
        self.read_names.append(name)
        return super().read(name)

    def reads(self) -> int:
        """Since it was last asked."""
        count = len(self.read_names)
        self.read_names = []
        return count


def number_of(state: NodeState) -> Any:
    return state.value("number").value


def numbered(store: StateStore, lane: int, version: Version, number: int) -> Version:
    state = store.load("node", lane, version)
    state.value("number").value = number
    return store.write("node", lane, number, state, version)


def test_a_worker_takes_in_only_what_it_missed() -> None:
    files = CountedFiles()
    here, there = StateStore(files), StateStore(files)
    versions = [numbered(here, 0, Version(), 0)]
    assert number_of(there.load("node", 0, versions[0])) == 0
    there.write("node", 0, 0, there.load("node", 0, versions[0]), versions[0])
    for number in range(1, 4):
        versions.append(numbered(here, 0, versions[-1], number))
    files.reads()
    assert number_of(there.load("node", 0, versions[3])) == 3
    assert [name.split("/")[2].split("-")[0] for name in files.read_names] == ["1", "2", "3"]
    # An older version than the one in memory is read anew.
    files.reads()
    assert number_of(here.load("node", 0, versions[1])) == 1
    assert files.reads() == len(versions[1].changes)


def test_a_state_that_was_not_given_back_is_not_in_memory() -> None:
    files = CountedFiles()
    store = StateStore(files)
    version = numbered(store, 0, Version(), 1)
    store.load("node", 0, version).value("number").value = 99
    assert files.reads() == 0
    assert number_of(store.load("node", 0, version)) == 1
    assert files.reads() == 1


def test_memory_is_bounded_and_the_lane_used_longest_ago_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "LANES_IN_MEMORY_MAX", 2)
    files = CountedFiles()
    store = StateStore(files)
    versions = {lane: numbered(store, lane, Version(), lane) for lane in range(2)}
    versions[0] = numbered(store, 0, versions[0], 10)
    versions[2] = numbered(store, 2, Version(), 2)
    reads = {}
    for lane in (0, 2, 1):
        files.reads()
        assert number_of(store.load("node", lane, versions[lane])) == {0: 10, 1: 1, 2: 2}[lane]
        reads[lane] = files.reads()
    assert reads == {0: 0, 2: 0, 1: 1}


def test_columns_are_written_as_they_are_in_memory() -> None:
    numbers: pa.Array[Any] = pa.array(np.arange(1000))
    rows = pa.table({"n": numbers})
    (buffer,) = (buffer for buffer in numbers.buffers() if buffer is not None)
    parts = encode([Section("rows", "table", rows)])
    assert buffer.address in [part.address for part in parts if isinstance(part, pa.Buffer)]
    (section,) = decode("file", pa.py_buffer(b"".join(map(bytes, parts))))
    assert section.rows == rows


def test_only_changes_are_looked_at_where_no_more_is_wanted() -> None:
    change, part = pa.table({"n": [1]}), pa.table({"n": [2]})
    parts = [bytes(part) for part in encode([Section("t", "table", change), Section("t", "table", part, range(3))])]
    content = bytearray(b"".join(parts))
    content[content.rindex((2).to_bytes(8, "little"))] = 3
    (section,) = decode("file", pa.py_buffer(bytes(content)), changes_only=True)
    assert section.rows == change
    with pytest.raises(CorruptData, match="checksum"):
        list(decode("file", pa.py_buffer(bytes(content))))


def test_a_value_changed_in_place_is_saved() -> None:
    files = MemoryFiles()
    version = Version()
    for batch in range(3):
        state = StateStore(files).load("node", 0, version)
        held = state.value("d", {"seen": []})
        assert held.value == {"seen": list(range(batch))}
        held.value["seen"].append(batch)
        version = StateStore(files).write("node", 0, batch, state, version)
    state = StateStore(files).load("node", 0, version)
    assert state.value("d").value == {"seen": [0, 1, 2]}
    assert state.changes() == []


def test_a_default_is_never_shared() -> None:
    default: dict[str, int] = {}
    for _ in range(2):
        held = NodeState().value("d", default)
        assert held.value == {}
        held.value["a"] = 1
    assert default == {}


REFUSED = {"number": {1: "a"}, "null": {"a": [{None: 1}]}, "set": {"a": {1, 2}}, "object": object()}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_a_value_that_would_come_back_as_another_is_refused(value: Any) -> None:
    state = NodeState()
    state.value("d").value = value
    with pytest.raises(InvalidInput, match="the state 'd'"):
        state.changes()

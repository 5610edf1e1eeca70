"""Keyed classes: rows and timers in order of event time, however the stream is cut, with state that is saved."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.keyed_cases import Script, Silence, Ticks, Totals, at, expected
from tests.operators.serial_cases import DELAY_US, micro_batches, plans, rows_strategy, run_after_crash

from headrace.graph import Json, Node, Schema
from headrace.operators import BUILT_IN, Catalogue, entry_of, keyed_lane
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.event_time import with_event_time
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import (
    Chain,
    LaneInput,
    LaneRun,
    Moment,
    NodeState,
    Partitioning,
    StateStore,
    Step,
    Version,
    lane_of,
)
from headrace.serial.items import Fields
from headrace.serial.repartition import repartitioned
from headrace.serial.waiting_rows import WaitingRows
from headrace.testing import ChainTester, chain_tester

COLUMNS = "k STRING, n BIGINT, ts TIMESTAMP"
Placed = tuple[str | None, int, int, int, int]
"""Key, number, second, partition, offset."""


def script(**settings: Any) -> ChainTester:
    return chain_tester(Script, COLUMNS, watermark=f"{DELAY_US // 1000} ms", **settings)


@st.composite
def placed_rows(draw: st.DrawFn) -> list[Placed]:
    """Rows in the order in which they arrive, spread over partitions."""
    rows = draw(rows_strategy())
    partitions = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    offsets, made = [0, 0, 0], list[Placed]()
    for (key, number, _, second), partition in zip(rows, partitions, strict=True):
        made.append((key, number or 0, second, partition, offsets[partition]))
        offsets[partition] += 1
    return made


def as_input(tester: ChainTester, rows: Sequence[Placed]) -> LaneInput:
    """One micro-batch, in the order (partition, offset) that lanes have."""
    ordered = sorted(rows, key=lambda row: row[3:])
    dicts = [{"k": key, "n": number, "ts": at(second)} for key, number, second, _, _ in ordered]
    batch = pa.RecordBatch.from_pylist(dicts, schema=tester.schema)
    origins = np.array([row[3] for row in ordered], np.int64)
    return LaneInput(batch, origins=origins, offsets=np.array([row[4] for row in ordered], np.int64))


def stored_keys(tester: ChainTester) -> list[Any]:
    table = StateStore(tester.files).load("it", 0, tester.versions["it"]).claim_all()["keys"]
    found: list[Any] = table.snapshot()["device"].to_pylist()  # type: ignore[index]
    return found


def in_order(rows: Sequence[Placed]) -> list[tuple[Any, int, int]]:
    return [row[:3] for row in sorted(rows, key=lambda row: row[2:])]


@settings(max_examples=150, deadline=None)
@given(placed_rows(), plans)
def test_the_emitted_rows_do_not_depend_on_cuts_and_crashes(rows: list[Placed], plan: list[tuple[int, str]]) -> None:
    tester = script(step="3s", again=2)
    for piece, how in micro_batches(rows, plan):
        run_after_crash(tester, how, as_input(tester, piece))
    tester.run()
    watermark_us = tester.progress.watermark_us
    until = 0.0 if watermark_us is None else watermark_us / 1e6
    assert tester.emitted == expected(in_order(rows), until, step=3, again=2)


@settings(max_examples=50, deadline=None)
@given(placed_rows(), plans)
def test_a_bounded_input_emits_the_same_as_a_stream_to_its_end(rows: list[Placed], plan: list[tuple[int, str]]) -> None:
    whole = expected(in_order(rows), math.inf, again=1)
    stream = script(again=1)
    for piece, how in micro_batches(rows, plan):
        run_after_crash(stream, how, as_input(stream, piece))
    stream.end()
    assert stream.emitted == whole
    bounded = script(again=1)
    run = LaneRun(bounded.make(), None, 0, Moment(0), {}, event_times=["ts"])
    made = run.rows([as_input(bounded, piece) for piece, _ in micro_batches(sorted(rows, key=lambda r: r[3:]), plan)])
    assert [row for batch in made for row in batch.to_pylist()] == whole


@settings(max_examples=30, deadline=None)
@given(placed_rows(), st.integers(1, 4), st.integers(0, 40))
def test_state_and_waiting_rows_move_to_other_lanes(rows: list[Placed], lanes: int, place: int) -> None:
    """By key, for which keys share a lane changes: the rows of one key are the same, in the same order."""
    before, after = rows[:place], rows[place:]
    tester = script(step="3s", again=2)
    tester.run(as_input(tester, before))
    tester.run()
    moved = repartitioned(
        StateStore(tester.files), {"it": {0: tester.versions["it"]}}, lambda _: Partitioning("by_key", ("k",)), lanes, 9
    )
    emitted, keys = tester.emitted, ["a", "b", "c", None]
    numbers = dict(zip(keys, lane_of([pa.array(keys)], lanes).tolist(), strict=True))
    watermark_us = max((second for _, _, second, _, _ in rows), default=0) * 1_000_000 - DELAY_US
    for lane in range(lanes):
        share = replace(tester, rows=[], lane=lane, batch=10)
        share.versions = {"it": moved["it"].get(lane, Version())}
        share.progress = tester.progress
        share.run(as_input(share, [row for row in after if numbers[row[0]] == lane]))
        share.progress = share.progress.raised(watermark_us)
        share.run()
        emitted = [*emitted, *share.emitted]
    whole = expected(in_order(rows), watermark_us / 1e6, step=3, again=2)
    for key in keys:
        assert [row for row in emitted if row["k"] == key] == [row for row in whole if row["k"] == key]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_lane, "CALLS_PER_PIECE", 3)
    monkeypatch.setattr(keyed_lane, "ROWS_AT_ONCE", 2)


@pytest.mark.usefixtures("small_pieces")
def test_what_is_due_is_played_in_pieces() -> None:
    rows: list[Placed] = [("ab"[n % 2], n, 100 + n // 2, 0, n) for n in range(40)]
    tester = script(step="3s", again=2)
    tester.run(as_input(tester, rows))
    tester.run()
    watermark_us = tester.progress.watermark_us
    assert watermark_us is not None
    assert tester.emitted == expected(in_order(rows), watermark_us / 1e6, step=3, again=2)
    assert len(tester.rows) > 5


def test_a_silence_inside_one_micro_batch_is_reported() -> None:
    tester = chain_tester(Silence, "device STRING, ts TIMESTAMP")
    tester.run([{"device": "a", "ts": at(0)}, {"device": "a", "ts": at(100)}, {"device": "a", "ts": at(130)}])
    tester.run()
    assert tester.emitted == [{"device": "a", "since": at(0), "reported": at(60)}]


def test_late_rows_are_dropped_and_counted_or_become_dead_letters() -> None:
    for late in ({}, {"late": "dead_letter", "dead_letter": "late"}):
        tester = chain_tester(Silence, "device STRING, ts TIMESTAMP", silence="10s", **late)
        tester.run([{"device": "a", "ts": at(50)}])
        tester.run([{"device": "a", "ts": at(20)}, {"device": "a", "ts": None}, {"device": "a", "ts": at(50)}])
        assert {**tester.reports["it"].counts} == {"late": 1, "without_time": 1}
        assert [letter.reason for letter in tester.dead_letters] == (
            ["late: 30000 ms behind the watermark"] if late else []
        )
        tester.end()
        assert tester.emitted == [{"device": "a", "since": at(50), "reported": at(60)}]


def test_rows_state_and_emitted_rows_may_be_dicts_and_a_key_several_columns() -> None:
    tester = chain_tester(Totals, "site STRING, n BIGINT, ts TIMESTAMP, day DATE")
    day = date(2026, 1, 2)
    for second, number in enumerate([1, 2, 3]):
        tester.run([{"site": "x", "day": day, "n": number, "ts": at(second)}])
    tester.end()
    assert [row["numbers"] for row in tester.emitted] == [[1], [1, 2], [1, 2, 3]]
    assert tester.emitted[0]["key"] == "x 2026-01-02"


def test_a_key_is_forgotten_when_its_state_is_deleted() -> None:
    tester = chain_tester(Silence, "device STRING, ts TIMESTAMP", silence="10s")
    tester.run([{"device": name, "ts": at(0)} for name in "abc"])
    tester.run([{"device": "d", "ts": at(9)}])
    tester.run([{"device": "d", "ts": at(30)}])
    assert sorted(stored_keys(tester)) == ["a", "b", "c"]
    tester.run([{"device": "d", "ts": at(31)}])
    tester.run()
    assert stored_keys(tester) == ["d"]


def test_timers_of_timers_end_with_a_bounded_input() -> None:
    tester = chain_tester(Ticks, "k STRING, ts TIMESTAMP")
    tester.run([{"k": "a", "ts": at(0)}, {"k": "b", "ts": at(3)}, {"k": "a", "ts": at(2)}])
    tester.end()
    assert [(row["k"], row["at"].timestamp()) for row in tester.emitted] == [
        ("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 4), ("b", 5),
    ]  # fmt: skip
    assert tester.reports["it"].counts["timers_left"] == 2


def test_the_page_of_the_docs_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "keyed.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    module = ModuleType("keyed_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("\n".join(blocks), module.__dict__)
    tester = ChainTester(lambda: Chain.line([Step("it", module.Counted())]))
    tester.run({"device": ["a", "b", "a"]})
    table = StateStore(tester.files).load("it", 0, tester.versions["it"]).claim_all()["counts"]
    snapshot = table.snapshot()
    assert snapshot is not None
    assert {row["device"]: row["rows"] for row in snapshot.to_pylist()} == {"a": 2, "b": 1}


def test_a_window_behind_it_has_its_event_time_and_no_late_rows() -> None:
    catalogue = Catalogue([*BUILT_IN, entry_of(Script)])
    schema = with_event_time(Schema.parse(COLUMNS), "ts")
    window: dict[str, Json] = {"size": "10s", "time": "at", "keys": ["k"], "aggregates": ["count(*) AS c"]}
    plan = ChainPlan.line([Node("it", "script", {"again": 1}), Node("window", "time-window", window)], schema)
    tester = ChainTester(lambda: plan.chain(catalogue), event_time="ts", schema=arrow_schema(schema))
    rows = [("a", number, 100 + number) for number in range(31)]
    for key, number, second in rows:
        tester.run([{"k": key, "n": number, "ts": at(second)}])
    tester.run()
    tester.run()
    counts = Counter(int(row["at"].timestamp()) // 10 * 10 for row in expected(rows, 130, again=1))
    assert {row["_window_start"].timestamp(): row["c"] for row in tester.emitted} == counts


def test_timers_are_saved_where_the_state_did_not_change() -> None:
    tester = chain_tester(Ticks, "k STRING, ts TIMESTAMP")
    for second in range(5):
        tester.run([{"k": "a" if second == 0 else f"b{second}", "ts": at(second)}])
    tester.run()
    assert [row["at"].timestamp() for row in tester.emitted if row["k"] == "a"] == [1, 2, 3]


def test_rows_that_went_on_do_not_come_again_with_a_file() -> None:
    """A change that another worker wrote brings rows which that worker has played since."""
    key: Fields = [("k", pa.string())]
    columns: Fields = [("ts", pa.timestamp("us", tz="UTC"))]
    written, held = NodeState(), NodeState()
    listed = [{"k": "a", "ts": at(second)} for second in (1, *range(100, 110))]
    rows = pa.RecordBatch.from_pylist(listed, schema=pa.schema([*key, *columns]))
    for state, some in ((written, rows.slice(0, 1)), (held, rows)):
        WaitingRows(state, key, columns, "ts").add(some, None, 0)
    again = WaitingRows(held, key, columns, "ts")
    assert again.due(50_000_000).num_rows == 1
    for section in written.changes():
        if section.name == "waiting":
            held.restore(section)
    assert again.due(60_000_000).num_rows == 0
    assert again.earliest_us == 100_000_000

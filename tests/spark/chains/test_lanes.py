"""Lanes of a chain as Spark's tasks run them, without Spark around: attempts that lose, workers that change, swaps."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace.errors import Conflict, CorruptData
from headrace.graph import Json, Node, Schema
from headrace.operators.catalogue import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneResult, LocalFiles, Moment, OperatorFailed, Partitioning, Progress, lane_of
from headrace.serial.versions import file_names
from headrace.spark.chains import task as chain_module
from headrace.spark.chains.driver import ChainDriver, batch_time_us, batch_watermark_us
from headrace.spark.chains.orders import ChainRecord, Orders
from headrace.spark.chains.packets import Arrived, Packer, ReadCounts, packet_of, unpacked
from headrace.spark.chains.stores import Stores
from headrace.spark.chains.task import inputs_of, lane_task, results_of
from headrace.spark.jobs.query_figures import QueryFigures
from headrace.spark.specs import CHAIN_COLUMN, LETTER_COLUMN, RECORD_ORIGIN, RECORD_TIME

SCHEMA = replace(Schema.parse("k STRING, n BIGINT, ts TIMESTAMP"), event_time="ts")
LENGTH: dict[str, Json] = {"length": 3, "keys": ["k"], "aggregates": ["sum(n) AS total"], "partitioned": "as_topic"}
WINDOW: dict[str, Json] = {"size": "10s", "time": "ts", "keys": ["k"], "aggregates": ["count(*) AS c"]}
LANES = 2


def plan_of(operator: str, config: dict[str, Json]) -> ChainPlan:
    return ChainPlan.line((Node("it", operator, config),), SCHEMA)


def rows(*values: tuple[str, int, int] | tuple[None, None, None]) -> pa.RecordBatch:
    keys, numbers, seconds = zip(*values, strict=True) if values else ((), (), ())
    times = pa.array([None if second is None else second * 1_000_000 for second in seconds], pa.int64()).view(
        pa.timestamp("us", tz="UTC")
    )
    return pa.record_batch([pa.array(keys, pa.string()), pa.array(numbers, pa.int64()), times], names=["k", "n", "ts"])


class Query:
    """A query's driver and its commit record; tasks are called one by one."""

    def __init__(self, directory: Path, plan: ChainPlan, lane_count: int | None = LANES) -> None:
        self.driver = ChainDriver(plan, directory, 0, lane_count)
        self.record = ChainRecord()
        self.batch = 0

    def attempt(self, lane: int, *batches: pa.RecordBatch) -> tuple[list[dict[str, Any]], LaneResult]:
        """One attempt of one task: what it would hand on."""
        moment = Moment(self.batch, self.record.progress.watermark_us, self.batch * 1_000_000)
        plan = replace(self.driver.plan, nodes=self.record.nodes or self.driver.plan.nodes)
        orders = Orders(plan, moment, str(self.driver.directory), self.record.manifest)
        orders = Orders.from_json(orders.to_json())
        shuffled = any(RECORD_ORIGIN in batch.schema.names for batch in batches)
        made = pa.Table.from_batches(lane_task(orders, lane, inputs_of(batches, shuffled=shuffled), sink=None))
        (result,) = results_of(text for text in made[CHAIN_COLUMN].to_pylist() if text is not None)
        data = made.filter(made[CHAIN_COLUMN].is_null()).drop_columns([CHAIN_COLUMN, LETTER_COLUMN])
        return data.to_pylist(), result

    def commit(self, *results: LaneResult) -> None:
        moment = Moment(self.batch, self.record.progress.watermark_us, self.batch * 1_000_000)
        record = self.driver.after(self.record, moment, results)
        self.driver.committed(self.record, record)
        self.record = ChainRecord.from_json(record.to_json())
        self.batch += 1

    def run(self, *lanes: tuple[pa.RecordBatch, ...]) -> list[list[dict[str, Any]]]:
        done = [self.attempt(lane, *batches) for lane, batches in enumerate(lanes)]
        self.commit(*(result for _, result in done))
        return [data for data, _ in done]


def new_worker() -> None:
    """What a worker process keeps in memory is gone."""
    chain_module._stores = Stores()


def totals(data: list[dict[str, Any]]) -> list[int]:
    return [row["total"] for row in data]


def test_an_attempt_that_loses_leaves_no_trace(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("length-window", LENGTH))
    query.run((rows(("a", 1, 0)),), ())
    lost, _ = query.attempt(0, rows(("a", 10, 0)))
    won, result = query.attempt(0, rows(("a", 10, 0)))
    _, other = query.attempt(1)
    assert lost == won
    assert totals(won) == [11]
    # A zombie writes its state after the winner, and before the next micro-batch.
    query.attempt(0, rows(("a", 999, 0)))
    query.commit(result, other)
    assert totals(query.run((rows(("a", 100, 0)),), ())[0]) == [111]
    new_worker()
    assert totals(query.run((rows(("a", 1000, 0)),), ())[0]) == [1110]
    query.driver.sweep(query.record)
    assert set(LocalFiles(tmp_path).names()) == file_names(query.record.manifest)


def test_the_size_of_a_state_is_that_of_the_files_which_the_last_commit_names(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("length-window", LENGTH))
    query.run((rows(("a", 1, 0)),), (rows(("b", 5, 0)),))
    query.attempt(0, rows(("a", 999, 0)))
    query.driver.sweep(query.record)
    figures = QueryFigures()
    figures.note_state(query.record.manifest)
    assert figures.state_bytes == {"it": sum(path.stat().st_size for path in tmp_path.rglob("*.state"))}


def test_empty_lanes_and_batches_without_rows_keep_the_state(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("length-window", LENGTH))
    query.run((rows(("a", 1, 0)),), (rows(("b", 5, 0)),))
    before = query.record.manifest
    query.run((), ())
    assert query.record.manifest == before
    query.run((rows(("a", 2, 0)),), ())
    new_worker()
    found = query.run((rows(("a", 3, 0)),), (rows(("b", 6, 0)),))
    assert [totals(data) for data in found] == [[6], [11]]


def test_lanes_agree_on_the_watermark_and_the_slowest_partition_counts(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("time-window", {**WINDOW, "partitioned": "as_topic"}))
    query.run((rows(("a", 1, 1)),), (rows(("b", 1, 2)),))
    assert query.run((rows(("a", 1, 60)),), (rows(("b", 1, 5)),)) == [[], []]
    assert query.record.progress.watermark_us == 5_000_000
    assert query.run((), (rows(("b", 1, 60)),)) == [[], []]
    closed = query.run((), ())
    assert [[row["c"] for row in data] for data in closed] == [[1], [2]]


def test_an_idle_partition_holds_nothing_back(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("time-window", {**WINDOW, "partitioned": "as_topic"}))
    query.run((rows(("a", 1, 1)),), (rows(("b", 1, 2)),))
    query.run((rows(("a", 1, 60)),), ())
    query.batch = 40
    query.run((rows(("a", 1, 61)),), ())
    assert query.record.progress.watermark_us == 61_000_000
    assert [[row["c"] for row in data] for data in query.run((), ())] == [[1], [1]]


def test_on_a_quiet_stream_event_time_goes_on_with_the_clock(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("time-window", WINDOW))
    query.driver.idle_timeout_us = 20_000_000
    query.run((rows(("a", 1, 5)),), ())
    query.batch = 19
    query.run((), ())
    assert query.record.progress.watermark_us == 5_000_000
    query.batch = 30
    query.run((), ())
    assert query.record.progress.watermark_us == 10_000_000
    assert [len(lane) for lane in query.run((), ())] == [1, 0]


def test_event_time_waits_for_rows_that_are_held_back_before_the_chain() -> None:
    quiet = Progress({0: 5}, {0: 5}, 5)
    assert quiet.idled(100, 10, 20).watermark_us == 70
    assert quiet.idled(100, 10, 20, handed_us=60).watermark_us == 60
    assert quiet.idled(100, 10, 20, handed_us=3).watermark_us == 5


def test_rows_that_were_left_out_before_the_chain_move_event_time(tmp_path: Path) -> None:
    """Each source partition's own, and they are no rows to any operator."""
    query = Query(tmp_path, plan_of("time-window", WINDOW))
    there = rows(("a", 1, 5), (None, None, None), (None, None, None))
    origins, times = pa.array([0, 0, 1], pa.int32()), pa.array([None, 30_000_000, 12_000_000], pa.int64())
    _, result = query.attempt(0, there.append_column(RECORD_ORIGIN, origins).append_column(RECORD_TIME, times))
    assert result.latest_us == {0: 30_000_000, 1: 12_000_000}
    assert result.reports["it"].rows_in == 1
    _, result = query.attempt(
        1, there.slice(1).append_column(RECORD_ORIGIN, origins[1:]).append_column(RECORD_TIME, times[1:])
    )
    assert result.latest_us == {0: 30_000_000, 1: 12_000_000}


def test_after_a_shuffle_rows_are_in_the_order_of_their_origins(tmp_path: Path) -> None:
    first, second = rows(("a", 1, 0), ("a", 2, 0)), rows(("a", 3, 0), ("a", 4, 0))
    pieces = [
        batch.append_column(RECORD_ORIGIN, pa.array(np.full(batch.num_rows, origin, np.int32)))
        for batch, origin in ((first, 0), (second, 1))
    ]
    arrived = [pieces, pieces[::-1], [pieces[1].slice(0, 1), pieces[0], pieces[1].slice(1)]]
    found = [
        Query(tmp_path / str(n), plan_of("length-window", LENGTH)).attempt(0, *way) for n, way in enumerate(arrived)
    ]
    assert [totals(data) for data, _ in found] == [[1, 3, 6, 9]] * 3
    assert [result.latest_us for _, result in found] == [{0: 0, 1: 0}] * 3


def test_operators_are_swapped_at_a_commit_and_state_stays(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("time-window", {**WINDOW, "emit": "final"}))
    query.run((rows(("a", 1, 1)),), ())
    query.driver.replace(plan_of("time-window", {**WINDOW, "emit": "changes"}), Catalogue(), "other")
    # The micro-batch whose beginning is committed already gets the operators that it had.
    assert query.run((rows(("a", 1, 2)),), ())[0] == []
    assert query.driver.identity("one") == "other"
    assert query.run((rows(("a", 1, 3)),), ())[0][0]["c"] == 3


@pytest.mark.parametrize(
    "other",
    [
        ChainPlan.line((Node("other", "time-window", WINDOW),), SCHEMA),
        plan_of("time-window", {**WINDOW, "keys": ["n"]}),
        plan_of("time-window", {**WINDOW, "aggregates": ["sum(n) AS s"]}),
    ],
    ids=["another node", "other keys", "other columns"],
)
def test_operators_that_need_another_plan_are_refused(tmp_path: Path, other: ChainPlan) -> None:
    query = Query(tmp_path, plan_of("time-window", WINDOW))
    with pytest.raises(Conflict, match="same nodes, keys and columns"):
        query.driver.replace(other, Catalogue(), "other")


def test_a_lane_that_did_not_run_is_noticed(tmp_path: Path) -> None:
    query = Query(tmp_path, plan_of("length-window", LENGTH))
    _, result = query.attempt(0, rows(("a", 1, 0)))
    with pytest.raises(CorruptData, match="not every lane"):
        query.commit(result)


def test_a_bounded_run_has_no_state_and_calls_every_timer(tmp_path: Path) -> None:
    plan = plan_of("time-window", WINDOW)
    inputs = inputs_of([rows(("a", 1, 1), ("a", 1, 11))], shuffled=False)
    made = pa.Table.from_batches(lane_task(Orders(plan, Moment(0)), 0, inputs, sink=None))
    assert made["c"].to_pylist() == [1, 1, None]


def test_neighbours_with_other_keys_are_another_stage() -> None:
    nodes = (Node("w", "length-window", {**LENGTH, "partitioned": "by_key"}), Node("d", "deduplicate", {"keys": ["n"]}))
    stages = ChainPlan.line(nodes, SCHEMA).stages(Catalogue())
    assert [(stage.nodes, str(stage.partitioning)) for stage in stages] == [(("w",), "k"), (("d",), "n")]


def test_the_time_of_a_batch_is_what_spark_wrote_down() -> None:
    written = 'v1\n{"batchWatermarkMs":1001,"batchTimestampMs":1234}\n{"0":1}'
    assert (batch_time_us(written), batch_watermark_us(written)) == (1_234_000, 1_001_000)


def test_lanes_of_keys_are_spread() -> None:
    lanes = lane_of([pa.array([f"key-{n}" for n in range(1000)]), pa.array([None] * 1000, pa.int64())], 4)
    assert min(np.bincount(lanes)) > 150


def packed(
    data: list[pa.RecordBatch], origin: int, partitioning: Partitioning, lane_count: int, counts: ReadCounts
) -> list[pa.RecordBatch]:
    packer = Packer(origin, partitioning, lane_count)
    packets = [packet for rows in data for packet in packer.add(rows)]
    return [*packets, *packer.rest(), packet_of(counts, origin, lane_count)]


def arriving() -> Arrived:
    return Arrived(frozenset({0}))


def lanes_of_packets(partitioning: Partitioning, lane_count: int) -> list[list[int]]:
    """The numbers of the rows that each lane gets, of two batches of ten."""
    data = [rows(*((f"k{n % 4}", n, 0) for n in range(first, first + 10))) for first in (0, 10)]
    arrived = packed(data, 0, partitioning, lane_count, ReadCounts())
    own = [
        [batch.filter(pa.array([value == lane for value in batch["lane"].to_pylist()])) for batch in arrived]
        for lane in range(lane_count)
    ]
    return [
        [n for one in unpacked(lane, arriving()) for n in one.rows["n"].to_pylist() if n is not None] for lane in own
    ]


def test_rows_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.spark.chains.packets.ROWS_PER_PACKING", 10)
    assert lanes_of_packets(Partitioning("round_robin"), 3) == [list(range(lane, 20, 3)) for lane in range(3)]


def test_a_function_says_the_lane() -> None:
    custom = Partitioning("custom", function="headrace.operators.samples:by_last_digit")
    assert lanes_of_packets(custom, 3) == [[n for n in range(20) if n % 4 % 3 == lane] for lane in range(3)]


@pytest.mark.parametrize(("place", "told"), [("builtins:len", "shape ()"), ("json:loads", "TypeError")])
def test_a_function_that_gives_no_lanes_is_named(place: str, told: str) -> None:
    with pytest.raises(OperatorFailed, match=re.escape(told)) as caught:
        lanes_of_packets(Partitioning("custom", function=place), 2)
    assert place in str(caught.value)


def counted(partition: int) -> ReadCounts:
    return ReadCounts(Counter(t=50, f=15), Counter(t=partition), {partition: 1_000 + partition})


def test_packets_bring_every_row_to_its_lane_in_order() -> None:
    data = [rows(*((f"k{n % 7}", n, 0) for n in range(first, first + 50))) for first in range(0, 300, 50)]
    sent = [
        packed(data[origin::2], origin, Partitioning("by_key", ("k",)), LANES, counted(origin)) for origin in (0, 1)
    ]
    arrived = [batch for batches in sent for batch in batches][::-1]
    beside = arriving()
    told: dict[int, int] = {}
    found: list[list[tuple[int, int]]] = [[] for _ in range(LANES)]
    for lane in range(LANES):
        own = [batch.filter(pa.array([value == lane for value in batch["lane"].to_pylist()])) for batch in arrived]
        for piece in unpacked(own, beside):
            if piece.reached_us:
                assert not piece.rows.num_rows
                told |= piece.reached_us
                continue
            assert set(lane_of([piece.rows["k"]], LANES).tolist()) == {lane}
            found[lane] += [(piece.origin or 0, n) for n in piece.rows["n"].to_numpy().tolist()]
    assert told == beside.counts.reached_us
    assert beside.counts == ReadCounts(Counter(t=100, f=30), Counter(t=1), {0: 1_000, 1: 1_001})
    assert sorted(n for lane in found for _, n in lane) == list(range(300))
    assert all(lane == sorted(lane) for lane in found)

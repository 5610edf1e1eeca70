"""Parts of a chain alone, without Spark: what a step costs, what is copied, what state costs."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
import pyarrow as pa

from headrace.bench.chain_rows import PARTITIONS, ROW_SCHEMA, blocks
from headrace.bench.peers import Say
from headrace.bench.report import Result
from headrace.bench.rows import slices, stream_of
from headrace.formats import ValueFormat, decoder
from headrace.formats.decoding import Decoder
from headrace.graph.document import Node
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import KeyedTable, LaneInput, LocalFiles, Moment, StateStore, Version
from headrace.spark.chains.orders import Orders
from headrace.spark.chains.task import lane_task, results_of
from headrace.spark.specs import Output, SinkSpec
from headrace.spark.writing.staged import Staged

STEPS_ITEM: Final = "chain-10-over-1"
COPIES_ITEM: Final = "copies"
STATE_ITEM: Final = "state-1m-keys"
PART_ITEMS: Final = (STEPS_ITEM, COPIES_ITEM, STATE_ITEM)

STEPS: Final = 10
STEP_ROWS: Final = 2_000_000
STEP_ROUNDS: Final = 5
KEYS: Final = 1_000_000
TOUCHED: Final = 1_000
MICRO_BATCHES: Final = 40


def measure_parts(items: tuple[str, ...], directory: Path, say: Say) -> list[Result]:
    """Without Spark and without a broker; files go into the directory."""
    results: list[Result] = []
    if STEPS_ITEM in items or COPIES_ITEM in items:
        results += _steps(directory, say)
    if STATE_ITEM in items:
        results.append(_state(directory / "state"))
    return results


def _steps(directory: Path, say: Say) -> list[Result]:
    """All that a task does, from the log's files to staged rows, with one operator that hands on, and with ten."""
    rows = [rows for partition, rows in blocks(STEP_ROWS) if partition == 0]
    values = pa.array([stream_of(piece) for batch in rows for piece in slices(batch)], pa.binary())
    decode = decoder(ValueFormat("arrow"), rows[0].schema)
    times_s: dict[int, list[float]] = {1: [], STEPS: []}
    copies = 0
    for number in range(STEP_ROUNDS):
        for steps, found in times_s.items():
            began_s = time.process_time()
            copies += _task(directory, steps, decode, values)
            found.append(time.process_time() - began_s)
        say(f"{STEPS_ITEM}: {times_s[1][number]:.3f} s with one, {times_s[STEPS][number]:.3f} s with {STEPS}")
    one_s, ten_s = (min(found) for found in times_s.values())
    note = f"{one_s * 1e9 / STEP_ROWS * PARTITIONS:.0f} and {ten_s * 1e9 / STEP_ROWS * PARTITIONS:.0f} ns of CPU a row"
    return [Result(STEPS_ITEM, "x", ten_s / one_s, note=note), Result(COPIES_ITEM, "copies", copies)]


def _task(directory: Path, steps: int, decode: Decoder, values: pa.BinaryArray) -> int:
    """One micro-batch of one lane. Returns how often rows were copied."""
    nodes = tuple(Node(f"s{n}", "python", {"function": "headrace.operators.samples:unchanged"}) for n in range(steps))
    output = Output("out", "topic", "out", "arrow", columns={name: name for name in ROW_SCHEMA.names})
    sink = SinkSpec("bench", "", str(directory), None, (output,))
    inputs = (LaneInput(decode(values.slice(first, 4)).rows) for first in range(0, len(values), 4))
    (message,) = lane_task(Orders(ChainPlan.line(nodes, ROW_SCHEMA), Moment(0)), 0, inputs, sink=sink)
    staged: Staged = pickle.loads(message.column(0)[0].as_py())  # noqa: S301  (made two lines above)
    for part in staged.topic_parts:
        part.discard()
    (result,) = results_of(staged.lanes)
    return sum(report.copies.count for report in result.reports.values())


def _state(directory: Path) -> Result:
    """A micro-batch that touches a thousand of a million keys, on a disk, by a worker that had the lane before."""
    random = np.random.default_rng(1)
    store = StateStore(LocalFiles(directory))
    version = _touched(store, Version(), 0, np.arange(KEYS))
    times_ms = []
    for batch in range(1, MICRO_BATCHES):
        keys = random.integers(0, KEYS, TOUCHED)
        began_s = time.perf_counter()
        version = _touched(store, version, batch, np.unique(keys))
        times_ms.append((time.perf_counter() - began_s) * 1000)
    note = f"median of {MICRO_BATCHES - 1} that write all buckets in turn; the slowest {max(times_ms):.0f} ms"
    return Result(STATE_ITEM, "ms", median(times_ms), note=note)


def _touched(
    store: StateStore, version: Version, batch: int, keys: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Version:
    state = store.load("node", 0, version)
    table: KeyedTable = state.table("t", [("k", pa.int64())], [("n", pa.int64()), ("x", pa.float64())])
    slots, _ = table.add([pa.array(keys, pa.int64())])
    table["n"][slots] += 1
    table.touch(slots)
    return store.write("node", 0, batch, state, version)

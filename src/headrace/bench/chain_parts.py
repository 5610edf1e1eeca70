"""Parts of a chain alone, without Spark: what a step costs, what is copied, what state costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
import pyarrow as pa

from headrace.bench.report import Result
from headrace.serial import Batch, Chain, KeyedTable, LocalFiles, Operator, StateStore, Step, Version
from headrace.testing import ChainTester

STEPS_ITEM: Final = "chain-10-over-1"
COPIES_ITEM: Final = "copies"
STATE_ITEM: Final = "state-1m-keys"
PART_ITEMS: Final = (STEPS_ITEM, COPIES_ITEM, STATE_ITEM)

STEPS: Final = 10
BATCHES: Final = 200
ROWS_PER_BATCH: Final = 65_536
KEYS: Final = 1_000_000
TOUCHED: Final = 1_000
MICRO_BATCHES: Final = 40


class _Pass(Operator):
    """Looks at a column, as any operator would, and hands the batch on."""

    stateless = True

    def __init__(self, *, works: bool) -> None:
        self._works = works

    def process(self, batch: Batch) -> Iterable[Batch]:
        if self._works:
            np.sort(batch.column("x").to_numpy())
        return [batch.to("out")]


def measure_parts(items: tuple[str, ...]) -> list[Result]:
    results: list[Result] = []
    if STEPS_ITEM in items or COPIES_ITEM in items:
        results += _steps()
    if STATE_ITEM in items:
        results.append(_state())
    return results


def _steps() -> list[Result]:
    """One operator that does something, alone and with nine more behind it that only hand on."""
    rows = pa.record_batch({"x": np.random.default_rng(1).random(ROWS_PER_BATCH)})
    one_s, _ = min(_seconds(rows, 1) for _ in range(3))
    ten_s, copies = min(_seconds(rows, STEPS) for _ in range(3))
    return [Result(STEPS_ITEM, "x", ten_s / one_s), Result(COPIES_ITEM, "copies", copies)]


def _seconds(rows: pa.RecordBatch, steps: int) -> tuple[float, int]:
    tester = ChainTester(lambda: Chain.line([Step(f"s{i}", _Pass(works=i == 0)) for i in range(steps)]))
    began_s = time.perf_counter()
    tester.run(*([rows] * BATCHES))
    seconds = time.perf_counter() - began_s
    return seconds, sum(report.copies.count for report in tester.reports.values())


def _state() -> Result:
    """A micro-batch that touches a thousand of a million keys, on a disk, by a worker that had the lane before."""
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as directory:
        store = StateStore(LocalFiles(Path(directory)))
        version = _touched(store, Version(), 0, np.arange(KEYS))
        times_ms = []
        for batch in range(1, MICRO_BATCHES):
            keys = random.integers(0, KEYS, TOUCHED)
            began_s = time.perf_counter()
            version = _touched(store, version, batch, np.unique(keys))
            times_ms.append((time.perf_counter() - began_s) * 1000)
    note = f"median of {MICRO_BATCHES - 1}; the slowest, with a snapshot of all keys, {max(times_ms):.0f} ms"
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

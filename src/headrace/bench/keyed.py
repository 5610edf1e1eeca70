"""Rows a second of a keyed class beside an operator of batches that does the same: `python -m headrace.bench.keyed`.

A running count and sum by key, one row out for each row in, in micro-batches, with state written to files in memory and
read anew for each. No Spark, one thread, processor time: so both are measured in one run, on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators import KeyedOperator
from headrace.serial import Batch, Chain, Context, Operator, Step, group
from headrace.testing import ChainTester, chain_tester

ROWS = 400_000
MICRO_BATCHES = 10
KEYS = (100, 10_000)
RUNS = 3
COLUMNS = "k STRING, n BIGINT, ts TIMESTAMP"


@dataclass
class Row:
    k: str
    n: int


@dataclass
class Totals:
    count: int = 0
    total: int = 0


@dataclass
class Running:
    k: str
    count: int
    total: int


class ByKey(KeyedOperator[Row, Totals, Running, None]):
    """The work as a keyed class."""

    key = "k"
    event_time = "ts"

    def on_row(self, key: str, row: Row, state: Totals) -> None:
        state.count += 1
        state.total += row.n
        self.emit(Running(key, state.count, state.total))


class ByBatch(Operator):
    """The same work on whole columns, with state in slots."""

    def open(self, context: Context) -> None:
        columns = [("count", pa.int64()), ("total", pa.int64())]
        self._totals = context.state.table("totals", [("k", pa.string())], columns)

    def process(self, batch: Batch) -> Iterable[Batch]:
        groups, table = group([batch.column("k")], batch.num_rows), self._totals
        slots, _ = table.add(groups.keys)
        order = groups.order()
        codes, numbers = groups.codes[order], batch.column("n").to_numpy()[order]
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        sizes = np.diff(np.concatenate([starts, [len(codes)]]))
        sums = np.cumsum(numbers)
        sums -= np.repeat(sums[starts] - numbers[starts], sizes)
        mine, last = slots[codes], starts + sizes - 1
        count = table["count"][mine] + np.arange(1, len(codes) + 1) - np.repeat(starts, sizes)
        total = table["total"][mine] + sums
        table["count"][mine[last]], table["total"][mine[last]] = count[last], total[last]
        table.touch(slots)
        back = np.argsort(order)
        return [Batch(pa.record_batch({"k": batch.column("k"), "count": count[back], "total": total[back]}))]


def testers() -> dict[str, ChainTester]:
    return {
        "batch contract": ChainTester(lambda: Chain.line([Step("it", ByBatch())]), event_time="ts"),
        "keyed class": chain_tester(ByKey, COLUMNS),
    }


def micro_batches(keys: int, rows: int = ROWS, count: int = MICRO_BATCHES) -> Iterator[pa.RecordBatch]:
    """Rows in order of event time, of random keys."""
    chance, size = np.random.default_rng(1), rows // count
    for number in range(count):
        at_us: pa.Array[Any] = pa.array(np.arange(number * size, (number + 1) * size) * 1_000)
        names = [f"d{key}" for key in chance.integers(0, keys, size).tolist()]
        times = at_us.view(pa.timestamp("us", tz="UTC"))
        yield pa.record_batch({"k": names, "n": pa.array(chance.integers(0, 100, size)), "ts": times})


def rows_per_s(tester: ChainTester, batches: Iterable[pa.RecordBatch]) -> float:
    """Of processor time."""
    start_s, rows = time.process_time(), 0
    for batch in batches:
        tester.run(batch)
        rows += batch.num_rows
    tester.end()
    return rows / (time.process_time() - start_s)


def main() -> None:
    print(
        f"{datetime.now().astimezone():%Y-%m-%d}, {ROWS:,} rows in {MICRO_BATCHES} micro-batches, best of {RUNS} runs"
    )
    for keys in KEYS:
        batches = list(micro_batches(keys))
        runs = [{name: rows_per_s(tester, batches) for name, tester in testers().items()} for _ in range(RUNS)]
        found = (f"{name} {max(run[name] for run in runs):,.0f} rows/s" for name in runs[0])
        print(f"{keys:,} keys: {', '.join(found)}")


if __name__ == "__main__":
    main()

"""The rows of the suite `chain`: the same for every run, partitioned by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headrace.bench.rows import ARROW_ROWS_PER_RECORD
from headrace.graph.schema import Schema

SCHEMA: Final = "k STRING, n BIGINT, x DOUBLE, ts TIMESTAMP"
ROW_SCHEMA: Final = Schema.parse(SCHEMA)
PARTITIONS: Final = 2
KEYS: Final = 10_000


def blocks(row_count: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """A row each ten microseconds; the same for every run."""
    random = np.random.default_rng(1)
    per_block = 16 * ARROW_ROWS_PER_RECORD
    for first in range(0, row_count, per_block * PARTITIONS):
        for partition in range(PARTITIONS):
            start = first + partition
            numbers = np.arange(start, min(row_count, first + per_block * PARTITIONS), PARTITIONS)
            keys = random.integers(0, KEYS // PARTITIONS, len(numbers)) * PARTITIONS + partition
            names = pa.array([f"key-{key:05d}" for key in range(KEYS)])
            yield (
                partition,
                pa.record_batch(
                    {
                        "k": names.take(keys),
                        "n": random.integers(0, 1000, len(numbers)),
                        "x": random.random(len(numbers)),
                        "ts": pa.array(numbers * 10, pa.int64()).view(pa.timestamp("us", tz="UTC")),
                    }
                ),
            )


def write_files(directory: Path, row_count: int, file_count: int = 8) -> int:
    """Rows of the same kind as Parquet files, in order. Returns how many files there are."""
    directory.mkdir(parents=True)
    rows = pa.Table.from_batches([rows for _, rows in blocks(row_count)])
    share = -(-rows.num_rows // file_count)
    for number in range(file_count):
        pq.write_table(rows.slice(number * share, share), directory / f"{number:04d}.parquet", coerce_timestamps="us")
    return file_count

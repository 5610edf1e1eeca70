"""The rows that every side works on: telemetry, the same for the same seed, in topics and in files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.log import encode_batches
from headrace.log.encode import Column
from headrace.wire.client import Client

SCHEMA: Final = (
    "id STRING, drone STRING, ts TIMESTAMP, battery DOUBLE, altitude DOUBLE, temperature DOUBLE, lat DOUBLE, lon DOUBLE"
)
PARTITIONS: Final = 2
MICRO_BATCHES: Final = 4
# Files are so many seconds old at most.
FILES_MAX: Final = 10_000
DRONES: Final = 100
SEED: Final = 1

EPOCH_MS: Final = 1_767_225_600_000
DISORDER_MS: Final = 2_000
ARROW_ROWS_PER_RECORD: Final = 16_384
# A record of so many rows is larger than Kafka's default limit for a message.
ARROW_TOPIC_CONFIG: Final = {"max.message.bytes": str(8 << 20)}


@dataclass(frozen=True, slots=True)
class Block:
    """What one partition holds for one micro-batch."""

    batch: int
    partition: int
    rows: pa.RecordBatch


def blocks(row_count: int, seed: int = SEED) -> Iterator[Block]:
    """All rows in order of time: batch by batch, in each the partitions one after the other."""
    random = np.random.default_rng(seed)
    borders = np.linspace(0, row_count, MICRO_BATCHES * PARTITIONS + 1).astype(int)
    for number, (first, end) in enumerate(pairwise(borders.tolist())):
        yield Block(number // PARTITIONS, number % PARTITIONS, telemetry(random, first, end))


def telemetry(random: np.random.Generator, first: int, end: int) -> pa.RecordBatch:
    """One report a millisecond, measured up to DISORDER_MS before; about a tenth with a battery below 10."""
    count = end - first
    times_ms = EPOCH_MS + np.arange(first, end) - random.integers(0, DISORDER_MS, count)
    names = pa.array([f"drone-{number:03d}" for number in range(DRONES)])
    columns: dict[str, Any] = {
        "id": [f"report-{number}" for number in range(first, end)],
        "drone": names.take(random.integers(0, DRONES, count)),
        "ts": pa.array(times_ms).cast(pa.timestamp("ms", tz="UTC")),
        "battery": random.uniform(0, 100, count).round(2),
        "altitude": random.uniform(0, 150, count).round(2),
        "temperature": random.uniform(-10, 40, count).round(2),
        "lat": random.uniform(47, 48, count).round(5),
        "lon": random.uniform(11, 12, count).round(5),
    }
    return pa.record_batch(columns)


def json_values(rows: pa.RecordBatch) -> pa.StringArray:
    """Each row as one JSON object."""
    pieces: list[Any] = []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        text, quote = _text(column), "" if _is_number(column.type) else '"'
        pieces += [f'{"," if pieces else "{"}"{name}":{quote}', text, quote]
    joined: pa.StringArray = pc.binary_join_element_wise(*pieces, "}", "")
    return joined


def write_file(block: Block, directory: Path) -> None:
    text = "".join(f"{line}\n" for line in json_values(block.rows).to_pylist())
    write_lines(text, directory, block.batch * PARTITIONS + block.partition)


def write_lines(text: str, directory: Path, number: int) -> None:
    """A file of JSON lines; Spark takes the oldest files first, so their times say the order."""
    path = directory / f"{number:04d}.json"
    path.write_text(text)
    modified_s = time.time() - FILES_MAX + number
    os.utime(path, (modified_s, modified_s))


def append_json(client: Client, topic: str, partition: int, rows: pa.RecordBatch) -> None:
    _append(client, topic, partition, rows["drone"], json_values(rows))


def append_arrow(client: Client, topic: str, partition: int, rows: pa.RecordBatch) -> int:
    """Many rows a record; how many records."""
    values = [stream_of(piece) for piece in slices(rows)]
    _append(client, topic, partition, None, pa.array(values, pa.binary()))
    return len(values)


def append_values(client: Client, topic: str, partition: int, values: Column) -> None:
    """One record for each value, without a key."""
    _append(client, topic, partition, None, values)


def _append(client: Client, topic: str, partition: int, keys: Column | None, values: Column) -> None:
    now_ms = np.full(len(values), time.time_ns() // 1_000_000, np.int64)
    for encoded in encode_batches(keys, values, now_ms):
        client.produce({topic: {partition: encoded}})


def slices(rows: pa.RecordBatch) -> list[pa.RecordBatch]:
    """As many rows as a record of Arrow format holds."""
    return [rows.slice(first, ARROW_ROWS_PER_RECORD) for first in range(0, len(rows), ARROW_ROWS_PER_RECORD)]


def stream_of(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


def _text(column: Any) -> Any:
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column, "%Y-%m-%dT%H:%M:%SZ")
    return column.cast(pa.string())

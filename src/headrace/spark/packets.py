"""Rows on their way to their lanes, packed by the source's reader: Spark moves a few packets and never sees a row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators.imports import load_object
from headrace.serial import LaneInput, Partitioning
from headrace.serial.keys import Integers
from headrace.serial.places import PARTITIONS_PER_SOURCE
from headrace.spark.pieces import in_pieces
from headrace.spark.record_rows import without_offsets

LANE, ORIGIN, ORDINAL, PACKET = "lane", "origin", "ordinal", "packet"
PACKET_COLUMNS = f"{LANE} INT, {ORIGIN} INT, {ORDINAL} INT, {PACKET} BINARY"
# Rows that are divided among the lanes at once: one packet for each lane that gets some.
ROWS_PER_PACKING = 131_072
# Packets of so many rows go to the chain as they are: to put two together is to copy them.
ROWS_PER_LANE = 16_384
# The ordinal of a packet that holds no rows, but what its reader counted.
COUNTS = -1


@dataclass(slots=True)
class ReadCounts:
    """What one task of a source read: rows handed on, and records that could not be decoded."""

    rows: int = 0
    bad: int = 0


def packed(
    batches: Iterable[pa.RecordBatch], origin: int, partitioning: Partitioning, lane_count: int, counts: ReadCounts
) -> Iterator[pa.RecordBatch]:
    """Packets of a source's task, in order, and a last one with its counts. Raises OperatorFailed."""
    function = None if partitioning.function is None else load_object(partitioning.function)
    first_row = 0
    for ordinal, rows in enumerate(in_pieces(batches, ROWS_PER_PACKING)):
        lanes = partitioning.lanes(without_offsets(rows).rows, first_row, lane_count, function)
        yield _packets(rows, origin, ordinal, lanes)
        first_row += rows.num_rows
    content = json.dumps([counts.rows, counts.bad]).encode()
    yield _table([origin % lane_count], origin, COUNTS, pa.array([content], pa.binary()))


def unpacked(packets: Iterable[pa.RecordBatch], counts: dict[int, ReadCounts]) -> Iterator[LaneInput]:
    """A lane's rows in the order (origin, place in it), however they arrived. Adds to the counts, by source."""
    waiting: list[tuple[int, int, pa.Buffer]] = []
    for batch in packets:
        places = np.stack([batch.column(ORIGIN).to_numpy(), batch.column(ORDINAL).to_numpy()], axis=1).tolist()
        for (origin, ordinal), content in zip(places, batch.column(PACKET), strict=True):
            if ordinal == COUNTS:
                rows, bad = json.loads(content.as_py())
                counted = counts.setdefault(origin // PARTITIONS_PER_SOURCE, ReadCounts())
                counted.rows, counted.bad = counted.rows + rows, counted.bad + bad
            else:
                waiting.append((origin, ordinal, content.as_buffer()))
    waiting.sort(key=lambda packet: packet[:2])
    for origin in dict.fromkeys(packet[0] for packet in waiting):
        batches = (batch for at, _, content in waiting if at == origin for batch in pa.ipc.open_stream(content))
        source = origin // PARTITIONS_PER_SOURCE
        yield from (without_offsets(rows, origin=origin, source=source) for rows in in_pieces(batches, ROWS_PER_LANE))


def _packets(rows: pa.RecordBatch, origin: int, ordinal: int, lanes: Integers) -> pa.RecordBatch:
    # Sixteen bits make numpy sort by counting.
    order = np.argsort(lanes.astype(np.uint16), kind="stable")
    sizes = np.bincount(lanes)
    chosen = np.flatnonzero(sizes)
    ends = np.cumsum(sizes)
    ordered = rows if len(chosen) == 1 else rows.take(order)
    contents = _streams(ordered.slice(int(ends[lane] - sizes[lane]), int(sizes[lane])) for lane in chosen)
    return _table(chosen.tolist(), origin, ordinal, contents)


def _table(lanes: list[int], origin: int, ordinal: int, contents: pa.Array[Any]) -> pa.RecordBatch:
    count = len(lanes)
    columns = [
        pa.array(lanes, pa.int32()),
        pa.array([origin] * count, pa.int32()),
        pa.array([ordinal] * count, pa.int32()),
        contents,
    ]
    return pa.record_batch(columns, names=[LANE, ORIGIN, ORDINAL, PACKET])


def _streams(parts: Iterable[pa.RecordBatch]) -> pa.Array[Any]:
    """Each part as an Arrow stream, all written into the memory of one binary array: nothing is copied again."""
    sink, ends = pa.BufferOutputStream(), [0]
    for rows in parts:
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_batch(rows)
        ends.append(sink.tell())
    places = pa.array(ends, pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, places, sink.getvalue()])

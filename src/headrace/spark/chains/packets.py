"""Rows on their way to their lanes, packed by the source's reader: Spark moves a few packets and never sees a row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators.imports import load_object
from headrace.serial import LaneInput, Partitioning
from headrace.serial.keys import Integers
from headrace.serial.places import PARTITIONS_PER_SOURCE
from headrace.spark.chains.pieces import in_pieces, joined
from headrace.spark.chains.record_rows import without_offsets

LANE, ORIGIN, ORDINAL, PACKET = "lane", "origin", "ordinal", "packet"
PACKET_COLUMNS = f"{LANE} INT, {ORIGIN} INT, {ORDINAL} INT, {PACKET} BINARY"
# Rows that are divided among the lanes at once: one packet for each lane that gets some.
ROWS_PER_PACKING = 131_072
# Packets of so many rows go to the chain as they are: to put two together is to copy them.
ROWS_PER_LANE = 16_384
# The ordinals of packets that hold no rows, but what a reader counted, or what a lane of an earlier stage left.
COUNTS, RESULT = -1, -2


@dataclass(slots=True)
class ReadCounts:
    """What tasks of sources read: rows that left each node up to the chain, records that could not be decoded, by the
    node of their topic, and how far event time came, by origin."""

    rows: Counter[str] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)
    reached_us: dict[int, int] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps([self.rows, self.bad, list(self.reached_us.items())]).encode()

    def add(self, content: bytes) -> None:
        """Takes in what another task counted."""
        rows, bad, reached = json.loads(content)
        self.rows.update(rows)
        self.bad.update(bad)
        self.reached_us.update((int(origin), us) for origin, us in reached)

    def reached(self) -> Iterator[LaneInput]:
        """What tells a chain how far event time came, also by rows that it does not get."""
        nothing = pa.record_batch([], schema=pa.schema([]))
        for origin, us in self.reached_us.items():
            yield LaneInput(nothing, source=origin // PARTITIONS_PER_SOURCE, reached_us={origin: us})


class Packer:
    """Divides the rows of one origin, as they come, among the lanes."""

    def __init__(self, origin: int, partitioning: Partitioning, lane_count: int) -> None:
        self._origin = origin
        self._partitioning = partitioning
        self._lane_count = lane_count
        self._function = None if partitioning.function is None else load_object(partitioning.function)
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = self._packed_rows = self._ordinal = 0

    def add(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Packets, where enough rows are together. Raises OperatorFailed."""
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        if self._waiting_rows >= ROWS_PER_PACKING:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Packets of all rows that are still waiting. Raises OperatorFailed."""
        if not self._waiting_rows:
            return
        rows = joined(self._waiting)
        lanes = self._partitioning.lanes(
            without_offsets(rows).rows, self._packed_rows, self._lane_count, self._function
        )
        yield _packets(rows, self._origin, self._ordinal, lanes)
        self._packed_rows += rows.num_rows
        self._ordinal += 1
        self._waiting, self._waiting_rows = [], 0


def packet_of(counts: ReadCounts, partition: int, lane_count: int) -> pa.RecordBatch:
    """The last packet of a task: what it counted."""
    return _table([partition % lane_count], partition, COUNTS, pa.array([counts.to_bytes()], pa.binary()))


def result_packet(result: bytes, lane: int) -> pa.RecordBatch:
    """What a lane of an earlier stage left, for the commit."""
    return _table([lane], lane, RESULT, pa.array([result], pa.binary()))


@dataclass(slots=True)
class Arrived:
    """What came to a lane of a stage beside its rows: what readers counted, what lanes of earlier stages left, and
    packets for later stages. `sources` are the numbers of the inputs that are for this stage."""

    sources: frozenset[int]
    counts: ReadCounts = field(default_factory=ReadCounts)
    results: list[bytes] = field(default_factory=list)
    for_later: list[pa.RecordBatch] = field(default_factory=list)

    def own(self, packets: pa.RecordBatch) -> pa.RecordBatch:
        """Those with rows for this stage; of the others it takes note."""
        origins, ordinals = packets.column(ORIGIN).to_numpy(), packets.column(ORDINAL).to_numpy()
        has_rows = ordinals >= 0
        for row in np.flatnonzero(~has_rows).tolist():
            content = packets.column(PACKET)[row].as_py()
            if ordinals[row] == COUNTS:
                self.counts.add(content)
            else:
                self.results.append(content)
        is_own = has_rows & np.isin(origins // PARTITIONS_PER_SOURCE, list(self.sources))
        if (has_rows & ~is_own).any():
            self.for_later.append(packets.filter(pa.array(has_rows & ~is_own)))
        return packets if is_own.all() else packets.filter(pa.array(is_own))


def unpacked(packets: Iterable[pa.RecordBatch], arrived: Arrived) -> Iterator[LaneInput]:
    """A lane's rows in the order (origin, place in it), however they arrived."""
    waiting: list[tuple[int, int, pa.Buffer]] = []
    for batch in map(arrived.own, packets):
        places = np.stack([batch.column(ORIGIN).to_numpy(), batch.column(ORDINAL).to_numpy()], axis=1).tolist()
        for (origin, ordinal), content in zip(places, batch.column(PACKET), strict=True):
            waiting.append((origin, ordinal, content.as_buffer()))
    waiting.sort(key=lambda packet: packet[:2])
    for origin in dict.fromkeys(packet[0] for packet in waiting):
        batches = (batch for at, _, content in waiting if at == origin for batch in pa.ipc.open_stream(content))
        source = origin // PARTITIONS_PER_SOURCE
        yield from (
            without_offsets(rows, origin=origin, source=source, private=True)
            for rows in in_pieces(batches, ROWS_PER_LANE)
        )
    yield from arrived.counts.reached()


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

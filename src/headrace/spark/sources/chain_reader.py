"""What a topic's reader does for the chain right behind it: runs it, or packs the rows for the lanes they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.columnar.values import Values, holds
from headrace.operators.plugin_folder import use_plugin_folder
from headrace.serial import Partitioning, microseconds
from headrace.serial.places import origin_of
from headrace.spark.chains.packets import Packer, ReadCounts, packet_of
from headrace.spark.chains.pieces import pieces_of
from headrace.spark.chains.record_rows import without_offsets
from headrace.spark.chains.task import current_orders, lane_task
from headrace.spark.reading.ranges import read_columns, with_columns_beside
from headrace.spark.specs import BAD_COLUMN, RECORD_OFFSET, SKIPPED_COLUMN, ChainReading, InputReading, SourceSpec
from headrace.spark.writing.staging import current_sink


def read_chained(
    spec: SourceSpec, reading: ChainReading, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Runs in a task, also for a range without records: timers may be due."""
    wanted = with_columns_beside(arrow_schema(Schema.parse(reading.columns)), "_offset", BAD_COLUMN, SKIPPED_COLUMN)
    counts = ReadCounts()
    records = _Records(spec, [origin_of(one.number, partition) for one in reading.inputs], counts)
    batches = records.good(read_columns(spec, wanted, partition, start, end))
    if reading.strategy is not None:
        return _packed(reading, batches, partition, counts)
    (one,) = reading.inputs
    orders, _ = current_orders([Schema.parse(text) for text in reading.schemas])
    pieces = pieces_of(input_rows(one, Values(batch), counts) for batch in batches)
    inputs = (without_offsets(piece, source=one.number) for piece in pieces)
    sink = current_sink() if reading.stages else None
    origin = origin_of(one.number, partition)
    return lane_task(orders, origin, chain(inputs, _afterwards(counts)), sink=sink, read=counts)


def _afterwards(counts: ReadCounts) -> Iterator[Any]:
    """Looks at the counts when all rows have been read."""
    yield from counts.reached()


def _packed(
    reading: ChainReading, batches: Iterable[pa.RecordBatch], partition: int, counts: ReadCounts
) -> Iterator[pa.RecordBatch]:
    """Packets for the lanes, those of each input in order, and a last one with the counts. Raises OperatorFailed."""
    packers = []
    use_plugin_folder(reading.plugins)
    for one in reading.inputs:
        partitioning = Partitioning(reading.strategy, one.keys, reading.function)  # type: ignore[arg-type]
        packers.append((one, Packer(origin_of(one.number, partition), partitioning, reading.lane_count)))
    for batch in batches:
        values = Values(batch)
        for one, packer in packers:
            yield from packer.add(input_rows(one, values, counts))
    for _, packer in packers:
        yield from packer.rest()
    yield packet_of(counts, partition, reading.lane_count)


def input_rows(one: InputReading, values: Values, counts: ReadCounts) -> pa.RecordBatch:
    """The rows of an input among those of its topic, with the offsets of their records."""
    for node, keep in one.counted:
        counts.rows[node] += values.rows.num_rows if keep is None else int(np.count_nonzero(holds(values, keep)))
    kept = values if one.keep is None else values.only(pa.array(holds(values, one.keep)))
    columns = [*(kept.array(form) for form in one.columns.values()), kept.rows.column("_offset")]
    return pa.record_batch(columns, names=[*one.columns, RECORD_OFFSET])


class _Records:
    """The rows of a topic's task. What travels beside them is counted."""

    def __init__(self, spec: SourceSpec, origins: list[int], counts: ReadCounts) -> None:
        self._spec = spec
        self._origins = origins
        self._counts = counts
        # Also of a micro-batch without rows: else what Spark counts, which are packets, would be taken for rows.
        counts.rows[spec.node] += 0

    def good(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A batch holds rows, or bad records, or what stands for rows that were left out: never two of them."""
        for batch in batches:
            if batch.column(BAD_COLUMN).null_count < batch.num_rows:
                self._counts.bad[self._spec.node] += batch.num_rows
            elif batch.column(SKIPPED_COLUMN).null_count < batch.num_rows:
                self._note_skipped(batch)
            else:
                self._counts.rows[self._spec.node] += batch.num_rows
                yield batch

    def _note_skipped(self, batch: pa.RecordBatch) -> None:
        skipped = batch.column(SKIPPED_COLUMN).to_numpy(zero_copy_only=False)
        self._counts.rows[self._spec.node] += int((skipped + 1).sum())
        times = None if self._spec.event_time is None else batch.column(self._spec.event_time).drop_null()
        if times is not None and len(times):
            reached_us = int(microseconds(times).max())
            self._counts.reached_us.update(dict.fromkeys(self._origins, reached_us))

"""Our Spark data source: topics as streams and as ranges, decoded to Arrow, only the columns that are asked for."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from headrace.errors import CorruptData, InvalidInput
from headrace.log import Records
from headrace.spark.formats import Bad, Decoded, Decoder, decoder
from headrace.spark.specs import BAD_COLUMN, OPTION, SYSTEM_COLUMNS, Offsets, SourceSpec
from headrace.spark.topics import open_topic


class TopicDataSource(DataSource):
    """`spark.readStream.format("headrace-topic")`: the compiler gives the schema and the spec."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.spec = SourceSpec.from_json(options[OPTION])

    @classmethod
    def name(cls) -> str:
        return "headrace-topic"

    def streamReader(self, schema: StructType) -> TopicStreamReader:  # noqa: N802  (Spark's name)
        return TopicStreamReader(self.spec, schema)

    def reader(self, schema: StructType) -> TopicRangeReader:
        return TopicRangeReader(self.spec, schema)


@dataclass(frozen=True)
class OffsetRange(InputPartition):
    """What one task reads: [start, end) of one topic partition."""

    partition: int
    start: int
    end: int


class TopicStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in one process for as long as its query runs; `read` alone runs in the tasks."""

    def __init__(self, spec: SourceSpec, schema: StructType) -> None:
        self.spec = spec
        self.schema = schema
        self._target: Offsets | None = None
        self._topic = None if spec.end else open_topic(spec.location)

    def __getstate__(self) -> dict[str, object]:
        # Tasks get the spec, never an open topic.
        return {"spec": self.spec, "schema": self.schema, "_target": None, "_topic": None}

    def initialOffset(self) -> Offsets:  # noqa: N802
        return dict(self.spec.start)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self.spec.max_rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self.reportLatestOffset()

    def reportLatestOffset(self) -> Offsets:  # noqa: N802
        return {str(partition): end for partition, (_, end) in self._bounds().items()}

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """As far as the limit lets us go; a partition that appeared meanwhile begins at its first offset."""
        bounds = self._bounds()
        begin = {str(p): start.get(str(p), first) for p, (first, _) in bounds.items()}
        end = self._target or {str(p): end for p, (_, end) in bounds.items()}
        end = {p: max(end.get(p, position), position) for p, position in begin.items()}
        if isinstance(limit, ReadAllAvailable):
            return end
        rows_max = limit.max_rows if isinstance(limit, ReadMaxRows) else self.spec.max_rows_per_batch
        return share_limit(begin, end, rows_max)

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[OffsetRange]:
        bounds = self._bounds()
        ranges = [OffsetRange(int(p), start.get(p, bounds[int(p)][0]), stop) for p, stop in end.items()]
        return [_kept(self.spec, wanted, bounds[wanted.partition][0]) for wanted in ranges if wanted.start < wanted.end]

    def read(self, partition: OffsetRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return read_range(self.spec, self.schema, partition)

    def _bounds(self) -> dict[int, tuple[int, int]]:
        if self._topic is None:
            self._topic = open_topic(self.spec.location)
        return self._topic.bounds()


class TopicRangeReader(DataSourceReader):
    """The same rows for a batch run."""

    def __init__(self, spec: SourceSpec, schema: StructType) -> None:
        self.spec = spec
        self.schema = schema

    def partitions(self) -> Sequence[OffsetRange]:
        ends = self.spec.end or {}
        ranges = [OffsetRange(int(partition), self.spec.start[partition], end) for partition, end in ends.items()]
        # Spark wants at least one partition, even of nothing.
        return [wanted for wanted in ranges if wanted.start < wanted.end] or [OffsetRange(0, 0, 0)]

    def read(self, partition: OffsetRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return read_range(self.spec, self.schema, partition)


def share_limit(begin: Offsets, end: Offsets, rows_max: int) -> Offsets:
    """Ends that take at most `rows_max` rows in all, each partition its share of the backlog and at least one row."""
    backlog = {partition: end[partition] - begin[partition] for partition in begin}
    total = sum(backlog.values())
    if total <= rows_max:
        return end
    shares = {p: min(rows, max(1, rows_max * rows // total)) for p, rows in backlog.items() if rows}
    return {partition: begin[partition] + shares.get(partition, 0) for partition in begin}


def read_range(spec: SourceSpec, schema: StructType, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    """Runs in a task: the rows of one range, in order, as Arrow batches of exactly the schema."""
    if wanted.start >= wanted.end:
        return
    columns = to_arrow_schema(schema, timezone="UTC")
    hidden = {*SYSTEM_COLUMNS, BAD_COLUMN}
    decode: Decoder = decoder(spec.format, pa.schema([field for field in columns if field.name not in hidden]))
    for records in open_topic(spec.location).read(wanted.partition, wanted.start, wanted.end):
        decoded = decode(records.values)
        if decoded.bad and spec.fail_on_bad:
            raise _bad_record(spec, wanted.partition, records, decoded.bad[0])
        if decoded.rows.num_rows:
            yield _good_rows(columns, decoded, records, wanted.partition)
        if decoded.bad:
            yield _bad_rows(columns, spec, decoded.bad, records, wanted.partition)


def _good_rows(columns: pa.Schema, decoded: Decoded, records: Records, partition: int) -> pa.RecordBatch:
    arrays = [
        decoded.rows.column(field.name)
        if field.name in decoded.rows.schema.names
        else _system_column(field, decoded, records, partition)
        for field in columns
    ]
    return pa.record_batch(arrays, schema=columns)


def _system_column(field: pa.Field[Any], decoded: Decoded, records: Records, partition: int) -> pa.Array[Any]:
    count = decoded.rows.num_rows
    if field.name == BAD_COLUMN:
        nulls: pa.Array[Any] = pa.nulls(count, field.type)
        return nulls
    if field.name == "_partition":
        return pa.array(np.full(count, partition, np.int32))
    per_record = _record_column(field, records)
    return per_record if decoded.indices is None else per_record.take(decoded.indices)


def _record_column(field: pa.Field[Any], records: Records) -> pa.Array[Any]:
    if field.name == "_offset":
        return pa.array(records.offsets)
    if field.name == "_timestamp":
        return pa.array(records.timestamps_ms * 1000).cast(field.type)
    return records.keys


def _bad_rows(
    columns: pa.Schema, spec: SourceSpec, bad: Sequence[Bad], records: Records, partition: int
) -> pa.RecordBatch:
    letters = pa.array([_dead_letter(spec, partition, records, record) for record in bad], pa.string())
    arrays = [letters if field.name == BAD_COLUMN else pa.nulls(len(bad), field.type) for field in columns]
    return pa.record_batch(arrays, schema=columns)


def _dead_letter(spec: SourceSpec, partition: int, records: Records, bad: Bad) -> str:
    """What lands in the dead-letter topic: the record, where it was, and why it is there."""
    value = records.values[bad.index].as_py()
    letter: dict[str, object] = {
        "node": spec.node,
        "topic": spec.location.topic,
        "partition": partition,
        "offset": int(records.offsets[bad.index]),
        "timestamp_ms": int(records.timestamps_ms[bad.index]),
        "reason": bad.reason,
    }
    try:
        letter["value"] = None if value is None else value.decode()
    except UnicodeDecodeError:
        letter["value_base64"] = base64.b64encode(value).decode()
    return json.dumps(letter)


def _bad_record(spec: SourceSpec, partition: int, records: Records, bad: Bad) -> InvalidInput:
    where = f"{spec.location.topic}-{partition} at offset {records.offsets[bad.index]}"
    return InvalidInput(
        f"the record in {where} is not {spec.format} of the declared columns: {bad.reason}",
        node=spec.node,
        hint="bad_rows=drop counts such records, bad_rows=dead_letter keeps them in a topic",
    )


def _kept(spec: SourceSpec, wanted: OffsetRange, first_kept: int) -> OffsetRange:
    if wanted.start < first_kept:
        where = f"{spec.location.topic}-{wanted.partition}"
        raise CorruptData(
            f"{where}: offsets {wanted.start} to {first_kept - 1} are needed, and are no longer in the log",
            node=spec.node,
            hint="retention removed them before they were read; restart with --reset to go on from what is left",
        )
    return wanted

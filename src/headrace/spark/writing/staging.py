"""What a task hands to the driver: rows encoded for their topics, finished files, the newest rows for previews."""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from headrace.errors import InvalidInput
from headrace.formats import Encoder, ValueFormat, encoder, value_prefix
from headrace.formats.framing import with_prefix
from headrace.formats.json_text import json_arrays, json_texts
from headrace.log import encode_batches
from headrace.spark.specs import (
    BATCH_PROPERTY,
    CHAIN_COLUMN,
    MESSAGE_COLUMN,
    SINK_PROPERTY,
    Output,
    SinkSpec,
    physical_columns,
)
from headrace.spark.writing.partitioner import by_partition, partitions_of
from headrace.spark.writing.python_stage import PythonStage

# Up to this size a task's rows for one partition travel in its commit message; beyond it, in a file.
INLINE_BYTES_MAX = 256 * 1024
# Record batches stay below Kafka's default max.message.bytes.
BATCH_BYTES_MAX = 512 * 1024
ARROW_ROWS_PER_RECORD = 16_384


@dataclass(frozen=True, slots=True)
class TopicPart:
    """A task's rows for one topic partition, as record batches without a producer."""

    topic: str
    partition: int
    inline: bytes | None
    path: str | None

    def read(self) -> bytes:
        return self.inline if self.path is None else Path(self.path).read_bytes()  # type: ignore[return-value]

    def discard(self) -> None:
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A finished and synced file under a hidden name beside its final place."""

    node: str
    directory: str
    path: str
    suffix: str


@dataclass(frozen=True, slots=True)
class Staged(WriterCommitMessage):
    """The commit message of one task."""

    task: int
    topic_parts: tuple[TopicPart, ...]
    file_parts: tuple[FilePart, ...]
    previews: dict[str, list[str]]
    rows: dict[str, int]
    lanes: tuple[bytes, ...] = ()
    """What the lanes of a chain left, for the commit."""


def current_sink() -> SinkSpec:
    """The sink that came with this task. Raises InvalidInput where it was told of none."""
    context = TaskContext.get()
    text = None if context is None else context.getLocalProperty(SINK_PROPERTY)
    if not text:
        raise InvalidInput("a task that stages its rows was told of no sink")
    return SinkSpec.from_json(text)


def message_of(spec: SinkSpec, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Runs in a task: stages all its rows. Returns the one row that it leaves, its commit message."""
    context = TaskContext.get()
    task, attempt = (context.partitionId(), context.taskAttemptId()) if context else (0, 0)
    batch_id = context.getLocalProperty(BATCH_PROPERTY) if context else None
    with Staging(spec, task, attempt, int(batch_id or 0)) as staging:
        for batch in batches:
            staging.add(batch)
        message = pickle.dumps(staging.finish())
    return pa.record_batch({MESSAGE_COLUMN: pa.array([message], pa.binary())})


class Staging:
    """Takes the batches of one task attempt; `finish` gives the message. Leaving it without that removes everything."""

    def __init__(self, spec: SinkSpec, task: int, attempt: int, batch: int = 0) -> None:
        self._task = task
        self._finished = False
        self._lanes: list[bytes] = []
        prefix = Path(spec.staging) / f"{task:05d}-{attempt}"
        self._topics = [_TopicStage(o, f"{prefix}-{i}", task) for i, o in enumerate(spec.outputs) if o.kind == "topic"]
        self._files = [
            _FileStage(o, f"{staged_prefix(spec.query)}{task:05d}-{attempt}") for o in spec.outputs if o.kind == "file"
        ]
        self._previews = [_PreviewStage(o) for o in spec.outputs if o.kind == "preview"]
        self._outside = [PythonStage(o, spec.query, batch, task) for o in spec.outputs if o.kind == "python"]

    def add(self, batch: pa.RecordBatch) -> None:
        """Rows for every output whose columns the batch has."""
        names = set(batch.schema.names)
        if CHAIN_COLUMN in names:
            self._lanes += cast("list[bytes]", batch.column(CHAIN_COLUMN).drop_null().to_pylist())
        for stage in self._stages():
            if names.issuperset(physical_columns(stage.output)):
                stage.add(batch)
        for outside in self._outside:
            if names.issuperset(physical_columns(outside.output)):
                outside.add(kept_columns(outside.output, batch))

    def finish(self) -> Staged:
        for outside in self._outside:
            outside.finish()
        topic_parts = tuple(part for stage in self._topics for part in stage.parts())
        file_parts = tuple(part for stage in self._files for part in stage.parts())
        self._finished = True
        rows = {stage.output.node: stage.rows for stage in (*self._stages(), *self._outside)}
        previews = {stage.output.node: list(stage.newest) for stage in self._previews}
        return Staged(self._task, topic_parts, file_parts, previews, rows, tuple(self._lanes))

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for outside in self._outside:
            outside.close()
        if not self._finished:
            for stage in self._stages():
                stage.discard()

    def _stages(self) -> list[_TopicStage | _FileStage | _PreviewStage]:
        return [*self._topics, *self._files, *self._previews]


class _TopicStage:
    def __init__(self, output: Output, prefix: str, task: int) -> None:
        self.output = output
        self.rows = 0
        self._prefix = prefix
        self._keyless = task % output.partition_count
        self._encode: Encoder | None = None
        self._schema_prefix = value_prefix(output.value_format) if output.value_format else b""
        self._spools: dict[int, _Spool] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        keys, values = self._records(batch)
        if not len(values):
            return
        # An Arrow record holds many rows.
        self.rows += _kept_count(self.output, batch) if self.output.format == "arrow" else len(values)
        if self.output.table is not None:
            values = self._as_table(keys, values)
        headers = self._headers(batch)
        if keys is None:
            self._append(self._keyless, None, values, headers)
            return
        chosen = partitions_of(keys, self.output.partition_count, self._keyless)
        groups = by_partition(chosen, self.output.partition_count)
        for partition, indices in groups:
            taken = (keys, values, headers)
            if len(groups) > 1:
                taken = (keys.take(indices), values.take(indices), None if headers is None else headers.take(indices))
            self._append(partition, *taken)

    def _as_table(self, keys: pa.Array[Any] | None, values: pa.Array[Any]) -> pa.Array[Any]:
        """The values as a table has them. Raises InvalidInput for a row that it could not find again."""
        if keys is None or keys.null_count:
            hint = "leave such rows out before: WHERE … IS NOT NULL"
            raise InvalidInput("a row without a key cannot be in a table", node=self.output.node, hint=hint)
        return pa.nulls(len(values), pa.binary()) if self.output.table == "delete" else values

    def _records(self, batch: pa.RecordBatch) -> tuple[pa.Array[Any] | None, pa.Array[Any]]:
        if self.output.format == "arrow":
            return None, _arrow_values(kept_columns(self.output, batch))
        if self.output.value is None:
            return self._kept_keys(batch), self._encoded(batch)
        values = _text(self.output, batch)
        keys = self._keys(batch)
        if values.null_count:
            kept = values.is_valid()
            values, keys = values.filter(kept), None if keys is None else keys.filter(kept)
        return keys, with_prefix(values.cast(pa.binary()), self._schema_prefix)

    def _encoded(self, batch: pa.RecordBatch) -> pa.Array[Any]:
        """Of columns; where rows delete others, nothing but keys counts."""
        if self.output.table == "delete":
            return pa.nulls(_kept_count(self.output, batch), pa.binary())
        rows = kept_columns(self.output, batch)
        if self._encode is None:
            self._encode = encoder(cast("ValueFormat", self.output.value_format), rows.schema)
        return self._encode(rows)

    def _kept_keys(self, batch: pa.RecordBatch) -> pa.Array[Any] | None:
        keys = self._keys(batch)
        return keys if keys is None or self.output.keep is None else keys.filter(batch.column(self.output.keep))

    def _keys(self, batch: pa.RecordBatch) -> pa.Array[Any] | None:
        """The key of several columns is the JSON array of their texts, and null where one of them is."""
        if self.output.key_parts:
            texts = [batch.column(name).cast(pa.string()) for name in self.output.key_parts]
            return json_arrays(texts).cast(pa.binary())
        return batch.column(self.output.key).cast(pa.string()).cast(pa.binary()) if self.output.key else None

    def _headers(self, batch: pa.RecordBatch) -> pa.Array[Any] | None:
        """Of the rows that are this sink's."""
        if self.output.headers is None:
            return None
        headers: pa.Array[Any] = batch.column(self.output.headers)
        if self.output.value is not None:
            return headers.filter(_text(self.output, batch).is_valid())
        return headers.filter(batch.column(self.output.keep)) if self.output.keep else headers

    def _append(
        self, partition: int, keys: pa.Array[Any] | None, values: pa.Array[Any], headers: pa.Array[Any] | None
    ) -> None:
        spool = self._spools.get(partition)
        if spool is None:
            spool = self._spools[partition] = _Spool(f"{self._prefix}-{partition}")
        now = np.full(len(values), time.time_ns() // 1_000_000, np.int64)
        for encoded in encode_batches(keys, values, now, batch_bytes=BATCH_BYTES_MAX, headers=headers):
            spool.write(encoded)

    def parts(self) -> list[TopicPart]:
        return [TopicPart(self.output.target, p, *spool.finish()) for p, spool in self._spools.items()]

    def discard(self) -> None:
        for spool in self._spools.values():
            spool.discard()


class _Spool:
    """Bytes in memory while few, in a file from then on. Not synced: an uncommitted batch is simply run again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._chunks: list[bytes] = []
        self._size = 0
        self._file: int | None = None

    def write(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        if self._size > INLINE_BYTES_MAX:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for chunk in self._chunks:
            view = memoryview(chunk)
            while view:
                view = view[os.write(self._file, view) :]
        self._chunks = []

    def finish(self) -> tuple[bytes | None, str | None]:
        if self._file is None:
            return b"".join(self._chunks), None
        self._spill()
        os.close(self._file)
        self._file = None
        return None, self._path

    def discard(self) -> None:
        if self._file is not None:
            os.close(self._file)
            Path(self._path).unlink(missing_ok=True)


class _FileStage:
    def __init__(self, output: Output, name: str) -> None:
        self.output = output
        self.rows = 0
        directory = Path(output.target)
        directory.mkdir(parents=True, exist_ok=True)
        # The time keeps apart what attempts of different runs left behind.
        self._path = directory / f"{name}-{time.time_ns():x}.{output.format}"
        self._file: pa.NativeFile | None = None
        self._writer: pa.csv.CSVWriter | pa.parquet.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        rows = _text_rows(self.output, batch) if self.output.format == "json" else kept_columns(self.output, batch)
        if not rows.num_rows:
            return
        if self._file is None:
            self._file = pa.OSFile(str(self._path), "wb")
            self._writer = _writer(self.output.format, self._file, rows.schema)
        if self._writer is None:
            lines = cast("list[str]", rows.column(0).to_pylist())
            self._file.write("\n".join([*lines, ""]).encode())
        else:
            self._writer.write_batch(rows)
        self.rows += rows.num_rows

    def parts(self) -> list[FilePart]:
        if self._file is None:
            return []
        self._close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        return [FilePart(self.output.node, self.output.target, str(self._path), self.output.format)]

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        self._close()
        self._path.unlink(missing_ok=True)


class _PreviewStage:
    def __init__(self, output: Output) -> None:
        self.output = output
        self.rows = 0
        self.newest: deque[str] = deque(maxlen=output.row_limit)

    def add(self, batch: pa.RecordBatch) -> None:
        if self.output.value is None:
            rows = kept_columns(self.output, batch)
            values, count = json_texts(rows[-self.output.row_limit :]), rows.num_rows
        else:
            values = _text(self.output, batch).drop_null()
            count = len(values)
        self.rows += count
        self.newest.extend(cast("list[str]", values[-self.output.row_limit :].to_pylist()))

    def discard(self) -> None:
        self.newest.clear()


def staged_prefix(query: str) -> str:
    """How the hidden files of a query begin: pipelines may share a folder."""
    return f".staged-{query}-"


def kept_columns(output: Output, batch: pa.RecordBatch) -> pa.RecordBatch:
    """This sink's rows and columns, under their own names."""
    columns = [batch.column(physical) for physical in output.columns.values()]
    rows = pa.record_batch(columns, names=list(output.columns))
    return rows.filter(batch.column(output.keep)) if output.keep else rows


def _kept_count(output: Output, batch: pa.RecordBatch) -> int:
    return int(cast("Any", batch.column(output.keep)).true_count) if output.keep else batch.num_rows


def _text_rows(output: Output, batch: pa.RecordBatch) -> pa.RecordBatch:
    texts = json_texts(kept_columns(output, batch)) if output.value is None else _text(output, batch).drop_null()
    return pa.record_batch([texts], names=["value"])


def _text(output: Output, batch: pa.RecordBatch) -> pa.Array[Any]:
    """The column of finished rows. Called only for outputs that have one."""
    return batch.column(cast("str", output.value))


def _arrow_values(rows: pa.RecordBatch) -> pa.Array[Any]:
    """Rows as Arrow IPC streams, one record value for a slice of them."""
    values: list[bytes] = []
    per_record = ARROW_ROWS_PER_RECORD
    if rows.num_rows and rows.nbytes > BATCH_BYTES_MAX:
        per_record = max(1, min(per_record, rows.num_rows * BATCH_BYTES_MAX // rows.nbytes))
    for first in range(0, rows.num_rows, per_record):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_batch(rows.slice(first, per_record))
        values.append(sink.getvalue().to_pybytes())
    return pa.array(values, pa.binary())


def _writer(format_: str, file: pa.NativeFile, schema: pa.Schema) -> pa.csv.CSVWriter | pa.parquet.ParquetWriter | None:
    if format_ == "csv":
        return pa.csv.CSVWriter(cast("Any", file), schema)
    return pa.parquet.ParquetWriter(file, schema) if format_ == "parquet" else None

"""Rows on their way into a topic: encoded as record batches, by partition."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.errors import InvalidInput
from headrace.formats import Encoder, ValueFormat, encoder, value_prefix
from headrace.formats.framing import with_prefix
from headrace.formats.json_text import json_arrays
from headrace.log import encode_batches
from headrace.spark.specs import Output
from headrace.spark.writing.output_rows import kept_columns, kept_count, text_of
from headrace.spark.writing.partitioner import by_partition, partitions_of
from headrace.spark.writing.staged import TopicPart

# Up to this size a task's rows for one partition travel in its commit message; beyond it, in a file.
INLINE_BYTES_MAX = 256 * 1024
# Record batches stay below Kafka's default max.message.bytes.
BATCH_BYTES_MAX = 512 * 1024
MESSAGE_LIMIT = "max.message.bytes"
ARROW_ROWS_PER_RECORD = 16_384


class TopicStage:
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
        self.rows += kept_count(self.output, batch) if self.output.format == "arrow" else len(values)
        headers = self._headers(batch)
        if self.output.table is not None:
            values = self._as_table(keys, values, batch)
        if self.output.deletes is not None:
            keys, values = _without_replaced(cast("pa.Array[Any]", keys), values)
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

    def _as_table(self, keys: pa.Array[Any] | None, values: pa.Array[Any], batch: pa.RecordBatch) -> pa.Array[Any]:
        """The values as a table has them. Raises InvalidInput for a row that it could not find again."""
        if keys is None or keys.null_count:
            hint = "leave such rows out before: WHERE … IS NOT NULL"
            raise InvalidInput("a row without a key cannot be in a table", node=self.output.node, hint=hint)
        if self.output.table == "delete":
            return pa.nulls(len(values), pa.binary())
        if self.output.deletes is None:
            return values
        deletes = self._own(batch.column(self.output.deletes), batch)
        kept: pa.Array[Any] = pc.if_else(deletes, pa.scalar(None, values.type), values)
        return kept

    def _records(self, batch: pa.RecordBatch) -> tuple[pa.Array[Any] | None, pa.Array[Any]]:
        if self.output.format == "arrow":
            return None, _arrow_values(kept_columns(self.output, batch))
        if self.output.value is None:
            return self._kept_keys(batch), self._encoded(batch)
        values = text_of(self.output, batch)
        keys = self._keys(batch)
        if values.null_count:
            kept = values.is_valid()
            values, keys = values.filter(kept), None if keys is None else keys.filter(kept)
        return keys, with_prefix(values.cast(pa.binary()), self._schema_prefix)

    def _encoded(self, batch: pa.RecordBatch) -> pa.Array[Any]:
        """Of columns; where rows delete others, nothing but keys counts."""
        if self.output.table == "delete":
            return pa.nulls(kept_count(self.output, batch), pa.binary())
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
        return self._own(batch.column(self.output.headers), batch)

    def _own(self, column: pa.Array[Any], batch: pa.RecordBatch) -> pa.Array[Any]:
        """A column of the rows that are this sink's."""
        if self.output.value is not None:
            return column.filter(text_of(self.output, batch).is_valid())
        return column.filter(batch.column(self.output.keep)) if self.output.keep else column

    def _append(
        self, partition: int, keys: pa.Array[Any] | None, values: pa.Array[Any], headers: pa.Array[Any] | None
    ) -> None:
        spool = self._spools.get(partition)
        if spool is None:
            spool = self._spools[partition] = _Spool(f"{self._prefix}-{partition}")
        now = np.full(len(values), time.time_ns() // 1_000_000, np.int64)
        for encoded in encode_batches(keys, values, now, batch_bytes=BATCH_BYTES_MAX, headers=headers):
            self._check_size(len(encoded))
            spool.write(encoded)

    def _check_size(self, size: int) -> None:
        """Raises InvalidInput for a batch that the topic refuses: the commit would fail, again and again."""
        limit = self.output.batch_bytes_max
        if limit is not None and size > limit:
            topic = self.output.target
            raise InvalidInput(
                f"a record batch of {size:,} bytes is too large for the topic {topic!r}: it takes {limit:,} bytes",
                node=self.output.node,
                hint=f"raise the topic's {MESSAGE_LIMIT} and start the pipeline again, or leave such rows out before",
            )

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
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
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


def _without_replaced(keys: pa.Array[Any], values: pa.Array[Any]) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """Without deletes of keys that come again: the later record takes the place of what they delete."""
    if not values.null_count:
        return keys, values
    codes = keys.dictionary_encode().indices.to_numpy()
    last = np.zeros(int(codes.max()) + 1, np.int64)
    last[codes] = np.arange(len(codes))
    kept = pa.array(values.is_valid().to_numpy(zero_copy_only=False) | (last[codes] == np.arange(len(codes))))
    return keys.filter(kept), values.filter(kept)


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

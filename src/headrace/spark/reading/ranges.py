"""What a task of our source does: the rows of one range of offsets, as Arrow batches of exactly the schema."""

from __future__ import annotations

import base64
import codecs
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headrace.errors import InvalidInput
from headrace.formats import Bad, Decoded
from headrace.formats.boundary import SafeDecoder
from headrace.formats.decoding import combine
from headrace.log import Records, UnreadableBatch
from headrace.spark.reading.prefilter import admitted, columns_of, may_hold
from headrace.spark.reading.registered import source_decoder
from headrace.spark.reading.topics import open_topic, read_past_unreadable
from headrace.spark.specs import ASIDE_COLUMNS, BAD_COLUMN, SKIPPED_COLUMN, SYSTEM_COLUMNS, SourceSpec

_HEADERS = "_headers"
# A record of so many bytes has enough rows to be handled on its own.
LARGE_VALUE_BYTES = 64 * 1024
# So many rows make a batch that is worth handing on.
GATHERED_ROWS = 16_384
# Of a record that ends a job, so much is told with the error.
VALUE_BYTES_MAX = 1_000
# Of a key and of a value in a dead letter. Escaped as JSON it may be six times as long, and must fit into a topic.
LETTER_BYTES_MAX = 64 * 1024
_BAD_ROWS_HINT = "on_error=drop counts such records, on_error=dead_letter keeps them in a topic"
_BESIDE_TYPES = {"_offset": pa.int64(), BAD_COLUMN: pa.string(), SKIPPED_COLUMN: pa.int64()}


def read_range(spec: SourceSpec, schema: StructType, partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """Runs in a task: the rows of one range, in order, as Arrow batches of exactly the schema."""
    return read_columns(spec, to_arrow_schema(schema, timezone="UTC"), partition, start, end)


def with_columns_beside(columns: pa.Schema, *names: str) -> pa.Schema:
    """The columns, and these of what a record has beside its values, where they are not among them."""
    more = [pa.field(name, _BESIDE_TYPES[name]) for name in names if name not in columns.names]
    return pa.schema([*columns, *more])


def read_columns(
    spec: SourceSpec, columns: pa.Schema, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    if start >= end:
        return
    hidden = {*SYSTEM_COLUMNS, *ASIDE_COLUMNS}
    decode = source_decoder(spec, pa.schema([field for field in columns if field.name not in hidden]))
    skipped, latest, gathered = 0, _Latest(spec), _Gathered(columns)
    sieve = _Sieve(spec, decode, latest)
    topic, headers = open_topic(spec.location), _HEADERS in columns.names
    for stored in read_past_unreadable(topic, partition, start, end, headers=headers):
        if isinstance(stored, UnreadableBatch):
            letter = _unreadable(spec, partition, stored, range(start, end))
            yield _aside(columns, BAD_COLUMN, [json.dumps(letter)])
            continue
        for records in _portions(spec, stored):
            decoded, left_out = sieve(records.values)
            skipped += left_out
            if decoded.bad and spec.fail_on_bad:
                raise _bad_record(spec, partition, records, decoded.bad[0])
            rows = _good_rows(columns, decoded, records, partition)
            latest.take_in(rows)
            if spec.prefilter is not None:
                rows = admitted(rows, spec.prefilter)
                skipped += decoded.rows.num_rows - rows.num_rows
            yield from gathered.with_more(rows)
            if decoded.bad:
                letters = [_dead_letter(spec, partition, records, record) for record in decoded.bad]
                yield _aside(columns, BAD_COLUMN, letters)
    yield from gathered.rest()
    if skipped or (spec.serves_chain and latest.time is not None):
        beside = _aside(columns, SKIPPED_COLUMN, [skipped - 1])
        yield _with_value(_at(spec, beside, latest.time), "_partition", partition)


def _portions(spec: SourceSpec, records: Records) -> Iterator[Records]:
    """What is decoded at once. Large Arrow records one by one: their rows are used where they lie, not copied."""
    if spec.format.name == "arrow" and records.values.nbytes >= len(records) * LARGE_VALUE_BYTES:
        return (records.one(index) for index in range(len(records)))
    return iter((records,))


class _Gathered:
    """Few rows at a time become one batch of many, for every batch has its own cost. Many are handed on as they are."""

    def __init__(self, columns: pa.Schema) -> None:
        self._columns = columns
        self._pieces: list[pa.RecordBatch] = []

    def with_more(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if rows.num_rows < GATHERED_ROWS // 2:
            self._pieces += [rows] if rows.num_rows else []
            if sum(piece.num_rows for piece in self._pieces) >= GATHERED_ROWS:
                yield from self.rest()
        else:
            yield from self.rest()
            yield rows

    def rest(self) -> Iterator[pa.RecordBatch]:
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            yield combine(pieces, self._columns)


def idle_row(spec: SourceSpec, schema: StructType, event_time_ms: int) -> pa.RecordBatch:
    """A row that stands for none, and has an event time all the same."""
    row = _aside(to_arrow_schema(schema, timezone="UTC"), SKIPPED_COLUMN, [-1])
    return _at(spec, row, pa.scalar(event_time_ms, pa.int64()).cast(pa.timestamp("ms", tz="UTC")))


def _at(spec: SourceSpec, row: pa.RecordBatch, time: pa.Scalar[Any] | None) -> pa.RecordBatch:
    """The same row with an event time, where something waits for one."""
    return row if time is None or spec.event_time is None else _with_value(row, spec.event_time, time.as_py())


def _with_value(row: pa.RecordBatch, name: str, value: object) -> pa.RecordBatch:
    """The same row with a value in this column, where it has one."""
    place = row.schema.get_field_index(name)
    if place < 0:
        return row
    field = row.schema.field(place)
    return row.set_column(place, field, pa.array([value], field.type))


class _Latest:
    """The greatest event time of all rows, also of those that are not handed on: they have happened all the same."""

    def __init__(self, spec: SourceSpec) -> None:
        self._column = spec.event_time
        self.time: pa.Scalar[Any] | None = None

    def take_in(self, rows: pa.RecordBatch) -> None:
        if self._column is None or not rows.num_rows:
            return
        found = pc.max(rows.column(self._column))
        if found.is_valid and (self.time is None or found.as_py() > self.time.as_py()):
            self.time = found


class _Sieve:
    """Decodes values. Of JSON records that the prefilter rules out, only what it asks for, and their event time."""

    def __init__(self, spec: SourceSpec, decode: SafeDecoder, latest: _Latest) -> None:
        self._decode, self._latest = decode, latest
        self._wanted = spec.prefilter
        names = set() if spec.prefilter is None else columns_of(spec.prefilter)
        if names and spec.event_time is not None:
            names.add(spec.event_time)
        self._names = sorted(names) if names.isdisjoint(SYSTEM_COLUMNS) else []

    def __call__(self, values: pa.BinaryArray) -> tuple[Decoded, int]:
        """And how many rows it left out."""
        return self._decode.sifted(values, self._names, self._keeps) if self._names else (self._decode(values), 0)

    def _keeps(self, rows: pa.RecordBatch) -> NDArray[np.bool_]:
        self._latest.take_in(rows)
        return may_hold(rows, self._wanted or [])


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
    if field.name in ASIDE_COLUMNS:
        nulls: pa.Array[Any] = pa.nulls(count, field.type)
        return nulls
    if field.name == "_partition":
        return pa.array(np.full(count, partition, np.int32))
    if field.name == "_processing_time":
        now: pa.Array[Any] = pa.array(np.full(count, time.time_ns() // 1000)).cast(field.type)
        return now
    per_record = _record_column(field, records)
    return per_record if decoded.indices is None else per_record.take(decoded.indices)


def _record_column(field: pa.Field[Any], records: Records) -> pa.Array[Any]:
    if field.name == "_offset":
        return pa.array(records.offsets)
    if field.name == "_timestamp":
        return pa.array(records.timestamps_ms * 1000).cast(field.type)
    if field.name == _HEADERS:
        maps: pa.Array[Any] = pa.array([_named(headers) for headers in records.headers or ()], field.type)
        return maps
    return records.keys


def _named(headers: Sequence[tuple[str, bytes | None]]) -> list[tuple[str, str | None]]:
    """As Arrow takes the entries of a map: each name once, what is no text with marks for its bytes."""
    texts = {name: None if value is None else value.decode(errors="replace") for name, value in headers}
    return list(texts.items())


def _aside(columns: pa.Schema, name: str, values: Sequence[object]) -> pa.RecordBatch:
    """Rows that hold nothing but this."""
    arrays = [
        pa.array(values, field.type) if field.name == name else pa.nulls(len(values), field.type) for field in columns
    ]
    return pa.record_batch(arrays, schema=columns)


def _dead_letter(spec: SourceSpec, partition: int, records: Records, bad: Bad) -> str:
    """What lands in the dead-letter topic: the record, where it was, and why it is there."""
    told = _told(spec, partition, records, bad, LETTER_BYTES_MAX)
    return json.dumps({"node": spec.node, "reason": bad.reason, **told})


def _told(spec: SourceSpec, partition: int, records: Records, bad: Bad, size_max: int) -> dict[str, object]:
    """A record, of a long one its beginning, and where it was."""
    told: dict[str, object] = {
        "topic": spec.location.topic,
        "partition": partition,
        "offset": int(records.offsets[bad.index]),
        "timestamp_ms": int(records.timestamps_ms[bad.index]),
    }
    key, value = records.keys[bad.index].as_py(), records.values[bad.index].as_py()
    return {**told, **_cut("key", key, size_max), **_cut("value", value, size_max)}


def _cut(name: str, data: bytes | None, size_max: int) -> dict[str, object]:
    """Of a long one its beginning, with the size and the hash of all of it."""
    if data is None or len(data) <= size_max:
        return _text(name, data)
    return {
        **_text(name, data[:size_max]),
        f"{name}_bytes": len(data),
        f"{name}_sha256": hashlib.sha256(data).hexdigest(),
    }


def _text(name: str, data: bytes | None) -> dict[str, object]:
    """As text, but for a last character that is not whole; in base64 where it is none."""
    try:
        return {name: None if data is None else codecs.utf_8_decode(data, "strict", False)[0]}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data or b"").decode()}


def _unreadable(spec: SourceSpec, partition: int, batch: UnreadableBatch, offsets: range) -> dict[str, object]:
    """The dead letter of those offsets of a batch that belong to the task. Raises InvalidInput if bad records fail."""
    first = max(batch.header.base_offset, offsets.start)
    told: dict[str, object] = {
        "topic": spec.location.topic,
        "partition": partition,
        "offset": first,
        "last_offset": min(batch.header.last_offset, offsets.stop - 1),
        "timestamp_ms": batch.header.max_timestamp_ms,
        "value": None,
    }
    if not spec.fail_on_bad:
        return {"node": spec.node, "reason": batch.reason, **told}
    place = f"{spec.location.topic}-{partition} at offset {first}"
    raise InvalidInput(
        f"the batch in {place} ({batch.header.record_count} records) cannot be read: {batch.reason}",
        node=spec.node,
        hint=_BAD_ROWS_HINT,
        record=told,
    )


def _bad_record(spec: SourceSpec, partition: int, records: Records, bad: Bad) -> InvalidInput:
    where = f"{spec.location.topic}-{partition} at offset {records.offsets[bad.index]}"
    return InvalidInput(
        f"the record in {where} is not {spec.format.name} of the declared columns: {bad.reason}",
        node=spec.node,
        hint=_BAD_ROWS_HINT,
        record=_told(spec, partition, records, bad, VALUE_BYTES_MAX),
    )

"""Brings the copy of a table up to the end of its topic, and reads its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final

import pyarrow as pa

from headrace.formats import Decoder
from headrace.log import Records, UnreadableBatch
from headrace.spark.reading.registered import source_decoder
from headrace.spark.reading.topics import Topic, open_topic, read_past_unreadable
from headrace.spark.specs import TableSpec, TopicLocation
from headrace.tables.definition import Table
from headrace.tables.keys import can_tell_key, told_key
from headrace.tables.question import Wanted
from headrace.tables.store import Stored, TableStore

# The record's key, beside the columns of the table.
KEY_COLUMN: Final = "record key"


class Follower:
    """Belongs to one table. `bad_records` counts those that could not be decoded and so are no rows."""

    def __init__(self, table: Table, location: TopicLocation, store: TableStore) -> None:
        self.table = table
        self.bad_records = 0
        self._location = location
        self._store = store
        self._decode: Decoder = source_decoder(TableSpec(table.name, location, table.format), table.columns)
        self._reached = store.prepare(table)

    def catch_up(self) -> None:
        """The copy holds all that was committed at the call. Raises NotFound where the topic is gone, DiskFailure."""
        with closing(open_topic(self._location)) as topic:
            bounds = topic.bounds()
            if any(self._reached.get(partition, 0) > end for partition, (_, end) in bounds.items()):
                # The topic was deleted and made anew.
                self._store.drop(self.table.topic)
                self._reached = self._store.prepare(self.table)
            for partition, (first, end) in bounds.items():
                self._read(topic, partition, max(first, self._reached.get(partition, 0)), end)

    def _read(self, topic: Topic, partition: int, start: int, end: int) -> None:
        if start >= end:
            return
        for records in read_past_unreadable(topic, partition, start, end):
            if isinstance(records, UnreadableBatch):
                self.bad_records += 1
                continue
            reached = int(records.offsets[-1]) + 1 if len(records) else start
            self._store.apply(self.table, dict(self._changes(records)), {partition: reached})
        # Markers of transactions and removed records have offsets too.
        self._store.apply(self.table, {}, {partition: end})
        self._reached[partition] = end

    def rows(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        """The rows of the copy, at least one batch, with the columns that are wanted and `KEY_COLUMN`."""
        names = self.table.schema.names
        chosen = [name for name in names if wanted.columns is None or name.lower() in wanted.columns] or names[:1]
        columns = pa.schema([self.table.columns.field(name) for name in chosen])
        decode = source_decoder(TableSpec(self.table.name, self._location, self.table.format), columns)
        keys = None if wanted.keys is None else [key for key in map(told_key, wanted.keys) if key is not None]
        yield _with_keys(pa.RecordBatch.from_pylist([], columns), [])
        for found in self._store.records(self.table.topic, keys):
            decoded = decode(pa.array([value for _, value in found], pa.binary()))
            unreadable = {bad.index for bad in decoded.bad}
            kept = [key for place, (key, _) in enumerate(found) if place not in unreadable]
            yield _with_keys(decoded.rows, kept)

    def _changes(self, records: Records) -> Iterator[tuple[bytes, Stored | None]]:
        """The last one of a key counts. A record that cannot be decoded leaves its row as it was."""
        values = records.values.to_pylist()
        has_value = records.values.is_valid()
        kept = records.filter(has_value.to_numpy(zero_copy_only=False))
        decoded = self._decode(kept.values)
        self.bad_records += len(decoded.bad)
        told = iter(self._told(decoded.rows))
        unreadable = {bad.index for bad in decoded.bad}
        place = 0
        for key, value in zip(records.keys.to_pylist(), values, strict=True):
            row = None
            if value is not None:
                place += 1
                if place - 1 in unreadable:
                    continue
                own = next(told)
                row = Stored(None if own == key else own, value)
            if key is not None:
                yield key, row

    def _told(self, rows: pa.RecordBatch) -> Sequence[bytes | None]:
        """The keys that the columns of rows tell."""
        if not can_tell_key(self.table):
            return [None] * rows.num_rows
        columns: list[list[Any]] = [rows.column(key).to_pylist() for key in self.table.keys]
        return [told_key(values) for values in zip(*columns, strict=True)]


def _with_keys(rows: pa.RecordBatch, keys: Sequence[bytes]) -> pa.RecordBatch:
    return rows.append_column(KEY_COLUMN, pa.array(keys, pa.binary()))

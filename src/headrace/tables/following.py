"""Brings the copy of a table up to the end of its topic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headrace.formats import Decoder
from headrace.log import Records, UnreadableBatch
from headrace.spark.reading.registered import source_decoder
from headrace.spark.reading.topics import Topic, open_topic, read_past_unreadable
from headrace.spark.specs import TableSpec, TopicLocation
from headrace.tables.definition import Table
from headrace.tables.store import Row, TableStore


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

    def _changes(self, records: Records) -> Iterator[tuple[bytes, Row | None]]:
        """The last one of a key counts. A record that cannot be decoded leaves its row as it was."""
        keys = records.keys.to_pylist()
        has_value = records.values.is_valid()
        kept = records.filter(has_value.to_numpy(zero_copy_only=False))
        decoded = self._decode(kept.values)
        self.bad_records += len(decoded.bad)
        columns = [plain_values(column) for column in decoded.rows.columns]
        rows = iter(zip(*columns, strict=True)) if columns else iter(())
        unreadable = {bad.index for bad in decoded.bad}
        place = 0
        for key, is_row in zip(keys, has_value.to_pylist(), strict=True):
            row = None
            if is_row:
                place += 1
                if place - 1 in unreadable:
                    continue
                row = next(rows)
            if key is not None:
                yield key, row


def plain_values(column: pa.Array[Any]) -> list[Any]:
    """Values as SQLite keeps them: times as text that sorts, what has parts as JSON."""
    type_ = column.type
    if pa.types.is_timestamp(type_):
        texts: Any = pc.strftime(column, format="%Y-%m-%d %H:%M:%S")
        return list(texts.to_pylist())
    if pa.types.is_date(type_):
        return list(column.cast(pa.string()).to_pylist())
    if pa.types.is_decimal(type_):
        return list(column.cast(pa.float64()).to_pylist())
    if pa.types.is_nested(type_):
        return [None if value is None else json.dumps(value, default=str) for value in column.to_pylist()]
    return list(column.to_pylist())

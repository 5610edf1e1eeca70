"""A table in the memory of a worker process: brought from version to version by reading on in its topic."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.log import Records
from headrace.spark.reading.registered import source_decoder
from headrace.spark.reading.topics import Topic, open_topic
from headrace.spark.specs import Offsets, TableSpec

# Tables that a worker keeps; the one that was not used for longest goes first.
COPIES_MAX = 8
# After this, compaction may have removed the record that deleted a row: the copy is made anew.
COPY_AGE_S_MAX = 3600.0
TABLE_BYTES_MAX = 1 << 30

_copies: OrderedDict[str, TableCopy] = OrderedDict()


def rows_at(spec: TableSpec, columns: pa.Schema, version: Offsets) -> pa.Table:
    """Runs in a task: the rows of the table in a version, of exactly these columns; the same object as long as they do
    not change. Raises InvalidInput, NotFound."""
    name = f"{replace(spec, end=None).to_json()} {columns}"
    copy = _copies.pop(name, None)
    if copy is None or not copy.leads_to(version):
        copy = TableCopy(spec, columns)
    copy.advance(version)
    _copies[name] = copy
    while len(_copies) > COPIES_MAX:
        _copies.popitem(last=False)
    return copy.rows


class TableCopy:
    """The newest row of each key up to a version."""

    def __init__(self, spec: TableSpec, columns: pa.Schema) -> None:
        self.rows: pa.Table = columns.empty_table()
        self._spec = spec
        self._decode = source_decoder(spec, columns)
        self._places: dict[bytes, int] = {}
        self._version: Offsets = {}
        self._advanced_s = time.monotonic()

    def leads_to(self, version: Mapping[str, int]) -> bool:
        """Whether reading on leads there: a copy never goes back."""
        is_fresh = time.monotonic() - self._advanced_s < COPY_AGE_S_MAX
        return is_fresh and all(version.get(partition, 0) >= at for partition, at in self._version.items())

    def advance(self, version: Offsets) -> None:
        """`rows` is the table in that version afterwards. Raises InvalidInput for a record that is no row."""
        before = len(self._places)
        if version != self._version:
            pieces = [self.rows]
            with closing(open_topic(self._spec.location)) as topic:
                for partition, end in version.items():
                    self._read(topic, int(partition), end, pieces)
            if len(pieces) > 1 or len(self._places) != before:
                self._settle(pa.concat_tables(pieces))
        self._version, self._advanced_s = dict(version), time.monotonic()

    def _read(self, topic: Topic, partition: int, end: int, pieces: list[pa.Table]) -> None:
        start = max(self._version.get(str(partition), 0), topic.bounds()[partition][0])
        for records in topic.read(partition, start, end) if start < end else ():
            base = sum(piece.num_rows for piece in pieces)
            rows = self._decoded(records, partition)
            self._place(records, base)
            pieces.append(pa.Table.from_batches([rows]))

    def _decoded(self, records: Records, partition: int) -> pa.RecordBatch:
        """One row for each record that has a value."""
        kept = records.filter(records.values.is_valid().to_numpy(zero_copy_only=False))
        decoded = self._decode(kept.values)
        if decoded.bad:
            bad = decoded.bad[0]
            where = f"{self._spec.location.topic}-{partition} at offset {kept.offsets[bad.index]}"
            hint = "write the row with that key once more, as it should be, or delete it"
            raise InvalidInput(f"the record in {where} is no row: {bad.reason}", node=self._spec.node, hint=hint)
        return decoded.rows

    def _place(self, records: Records, place: int) -> None:
        """The last record of a key tells: a row, or that there is none."""
        empty = records.values.is_null().to_pylist()
        for key, is_deleted in zip(records.keys.to_pylist(), empty, strict=True):
            if key is not None:
                self._places.pop(key, None)
                if not is_deleted:
                    self._places[key] = place
            place += not is_deleted

    def _settle(self, rows: pa.Table) -> None:
        """Only rows that count stay in memory."""
        self.rows = rows.take(pa.array(self._places.values(), pa.int64())).combine_chunks()
        self._places = {key: place for place, key in enumerate(self._places)}
        if self.rows.nbytes > TABLE_BYTES_MAX:
            limit = f"{self.rows.nbytes >> 20} MB, and {TABLE_BYTES_MAX >> 20} is the limit of a lookup"
            raise InvalidInput(
                f"the table {self._spec.location.topic} has {limit}",
                node=self._spec.node,
                hint="declare only the columns that are needed",
            )

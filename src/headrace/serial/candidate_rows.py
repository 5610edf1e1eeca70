"""State of whole rows, found by the hash of their key, of which some are wanted no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.serial.items import ALL_BUCKETS, Fields, Shape, StateItem
from headrace.serial.keys import Integers
from headrace.serial.row_hash import RowHashes, bucket_bounds, row_hashes
from headrace.serial.sorted_runs import Flags, Run, equal_places, few, merged

# What the hashes are called in a state file, where they are the last column.
_HASH = "_hash"


@dataclass(slots=True)
class _Part:
    """A run, and which of its rows are gone, in the order of its hashes."""

    run: Run
    gone: Flags = field(init=False)
    gone_count: int = 0

    def __post_init__(self) -> None:
        self.gone = np.zeros(len(self.run), np.bool_)

    def __len__(self) -> int:
        """Rows that take memory: the run is merged with others of this size."""
        return len(self.run)

    def remove(self, places: Integers) -> None:
        """Places in the order of the hashes. Costs what goes, not what is there: the memory of half may be gone."""
        self.gone_count += int(np.count_nonzero(~self.gone[places]))
        self.gone[places] = True
        if 2 * self.gone_count > len(self.run):
            self.run = self.living()
            self.gone, self.gone_count = np.zeros(len(self.run), np.bool_), 0

    def living(self) -> Run:
        return self.run.kept(~self.gone) if self.gone_count else self.run

    def rows_at(self, places: Integers) -> tuple[list[pa.RecordBatch], Integers]:
        """The rows at places in the order of the hashes, and these in the order in which the rows come."""
        parts, order = self.run.taken(self.run.places[places])
        return [part.batch() for part in parts if len(part.rows)], places[order]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Some of the rows of a state, and where they are in it: to be told which of them may go."""

    rows: pa.RecordBatch
    owners: Sequence[tuple[_Part, Integers]]

    def remove(self, is_removed: Flags) -> None:
        """Called once, before anything else happens to the state."""
        start = 0
        for part, places in self.owners:
            part.remove(places[is_removed[start : start + len(places)]])
            start += len(places)


class CandidateRows(StateItem):
    """Rows of each key, in no order, among them all that its user wants: those that it removes are gone from memory,
    but come again with a state that is read from files, where a change is only what was appended.

    So whoever looks at the rows of a key must be able to tell which of them are wanted, whatever else is there. What
    came from files is looked through by `prune`, so that the rows that nobody wants do not become many.
    """

    kind = "candidates"

    def __init__(self, key: Fields, columns: Fields) -> None:
        self.key = tuple(key)
        self.columns = tuple(columns)
        self.schema = pa.schema([pa.field(name, type_) for name, type_ in (*key, *columns)])
        self._stored = self.schema.append(pa.field(_HASH, pa.uint64()))
        self._parts: list[_Part] = []
        self._appended: list[pa.RecordBatch] = []
        self._doubtful = 0

    def __len__(self) -> int:
        return sum(len(part) - part.gone_count for part in self._parts)

    def hashes_of(self, rows: pa.RecordBatch) -> RowHashes:
        """By the key; keys may be null."""
        columns = [rows.column(name) for name, _ in self.key]
        hashes = row_hashes([_without_nulls(column) for column in columns])
        for number, column in enumerate(columns, 1):
            if column.null_count:
                is_null = column.is_null().to_numpy(zero_copy_only=False)
                marked = hashes[is_null] + np.uint64(number)
                hashes[is_null] = row_hashes([pa.array(marked.view(np.int64))])
        return hashes

    def append(self, rows: pa.RecordBatch, hashes: RowHashes) -> None:
        """Rows of this schema, and what `hashes_of` gives for them. Their memory must not be written to any more."""
        if rows.num_rows:
            self._add(rows, hashes)
            self._appended.append(self._with_hashes(rows, hashes))

    def find(self, hashes: RowHashes) -> Candidates:
        """The rows of keys with these hashes. Among them may be rows of other keys, whose hash is the same."""
        asked = np.sort(hashes)
        asked = asked[np.concatenate([[True], asked[1:] != asked[:-1]])]
        found = ((part, [theirs for _, theirs in equal_places(asked, part.run.hashes)]) for part in self._parts)
        return self._candidates((part, np.concatenate(places)) for part, places in found if places)

    def all(self) -> Candidates:
        """Every row that is there."""
        return self._inside(ALL_BUCKETS)

    def prune(self, superfluous: Callable[[pa.RecordBatch], Flags]) -> None:
        """Lets go of rows for which the function is true, if so many came from files that it pays. It is called with
        all rows of some keys. Costs what is there, but not more often than that came anew."""
        if 2 * self._doubtful <= len(self):
            return
        for bucket in ALL_BUCKETS:
            found = self._inside(range(bucket, bucket + 1))
            if found.rows.num_rows:
                found.remove(superfluous(found.rows))
        self._doubtful = 0

    @property
    def shape(self) -> Shape:
        return {"keys": len(self.key)}

    @property
    def size(self) -> int:
        return len(self)

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table:
        """In one piece, so that a state that is read anew has few."""
        found = self._inside(buckets)
        hashes = [part.run.hashes[places] for part, places in found.owners]
        rows = self._with_hashes(found.rows, np.concatenate([np.empty(0, np.uint64), *hashes]))
        return pa.Table.from_batches([rows])

    def delta(self) -> pa.Table | None:
        return pa.Table.from_batches(self._appended, self._stored) if self._appended else None

    def apply(self, change: pa.Table) -> None:
        for batch in change.to_batches():
            *columns, hashes = batch.columns
            if batch.num_rows:
                self._add(pa.record_batch(columns, schema=self.schema), hashes.to_numpy())
        self._doubtful += change.num_rows

    def replace(self, rows: pa.Table, buckets: range) -> None:
        for part in self._parts:
            inside = part.run.between(*bucket_bounds(buckets))
            part.remove(np.arange(inside.start, inside.stop))
        self.apply(rows)

    def mark_written(self) -> None:
        self._appended = []

    def _add(self, rows: pa.RecordBatch, hashes: RowHashes) -> None:
        # Of these rows the time does not matter.
        run = Run.of(rows, hashes, np.zeros(rows.num_rows, np.int64))
        self._parts = few([*(part for part in self._parts if len(part)), _Part(run)], _as_one)

    def _inside(self, buckets: range) -> Candidates:
        bounds = ((part, part.run.between(*bucket_bounds(buckets))) for part in self._parts)
        return self._candidates((part, np.arange(inside.start, inside.stop)) for part, inside in bounds)

    def _candidates(self, found: Iterator[tuple[_Part, Integers]]) -> Candidates:
        batches: list[pa.RecordBatch] = []
        owners: list[tuple[_Part, Integers]] = []
        for part, places in found:
            living = places[~part.gone[places]]
            if len(living):
                rows, ordered = part.rows_at(living)
                batches += rows
                owners.append((part, ordered))
        return Candidates(one_batch(batches, self.schema), owners)

    def _with_hashes(self, rows: pa.RecordBatch, hashes: RowHashes) -> pa.RecordBatch:
        columns: list[Any] = [*rows.columns, pa.array(hashes)]
        return pa.record_batch(columns, schema=self._stored)


def one_batch(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """All rows, in order; without a copy if there is only one."""
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return pa.RecordBatch.from_pylist([], schema=schema)
    joined: pa.RecordBatch = pa.concat_batches(batches)  # type: ignore[attr-defined]
    return joined


def _as_one(parts: Sequence[_Part]) -> _Part:
    return _Part(merged([part.living() for part in parts]))


def _without_nulls(column: pa.Array[Any]) -> pa.Array[Any]:
    if not column.null_count:
        return column
    zero: Any = "" if pa.types.is_string(column.type) else 0
    return pc.fill_null(column, pa.scalar(bool(zero) if pa.types.is_boolean(column.type) else zero, column.type))

"""State of whole rows, found by the hash of their key, that ends with time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial.items import ALL_BUCKETS, Fields, Shape, StateItem
from headrace.serial.keys import Integers
from headrace.serial.row_hash import RowHashes, bucket_bounds, row_hashes
from headrace.serial.sorted_runs import Asking, Found, Run, few, merged, pairs

# What the hashes are called in a state file, where they are the last column.
_HASH = "_hash"
# A time before all rows.
_ALWAYS_US = -(1 << 63)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows of a state file, and those of its buckets that no later one has."""

    rows: pa.RecordBatch
    buckets: frozenset[int]

    def without(self, buckets: range) -> _Piece:
        return replace(self, buckets=self.buckets.difference(buckets))


class HashedRows(StateItem):
    """Rows without nulls in their key and time, in no order; rows that are alike are several.

    A change is what was appended. What goes with time is not written down: `expire` is called with the watermark before
    rows are asked for, in every process alike, and a row that is found though it is gone has no partner by its time.
    """

    kind = "rows"

    def __init__(self, key: Fields, columns: Fields, time: str) -> None:
        """`time` is one of the columns, or of those of the key: microseconds in UTC."""
        self.key = tuple(key)
        self.columns = tuple(columns)
        self.time = time
        self.schema = pa.schema([pa.field(name, type_) for name, type_ in (*key, *columns)])
        self._stored = self.schema.append(pa.field(_HASH, pa.uint64()))
        self._runs: list[Run] = []
        self._pieces: list[_Piece] = []
        self._appended: list[Run] = []
        self._before_us = _ALWAYS_US

    def __len__(self) -> int:
        """Rows that are there, some of which may be gone by their time: no more than half."""
        return sum(map(len, self._all()))

    def run_of(self, rows: pa.RecordBatch) -> Run:
        """Rows of this schema, put in order: to be appended here, or to ask other rows with."""
        hashes = row_hashes([rows.column(name) for name, _ in self.key])
        return Run.of(rows, hashes, self.times_of(rows))

    def times_of(self, rows: pa.RecordBatch) -> Integers:
        at_us: Integers = rows.column(self.time).view(pa.int64()).to_numpy()
        return at_us

    def append(self, run: Run) -> None:
        """Called with what `run_of` made. The memory of its rows is kept and must not be written to any more."""
        if len(run):
            self._runs = few([*self._all(), run], merged)
            self._appended.append(run)

    def find(self, asking: Asking) -> Iterator[Found]:
        """The pairs of those that ask and the rows here. Their keys are equal but for the odd pair of equal hashes."""
        return pairs(asking, self._all()) if len(asking.run) else iter(())

    def of_times(self, low_us: int, high_us: int) -> Iterator[pa.RecordBatch]:
        """Rows from one time to before another. Costs what is found, and for new rows their order in time."""
        for run in self._all():
            if len(places := run.of_times(low_us, high_us)):
                parts, _ = run.taken(places)
                yield from (part.batch() for part in parts)

    def earliest_from(self, at_us: int) -> int | None:
        """The first time of a row that is not before this one; None if there is none."""
        return min((us for run in self._all() if (us := run.earliest_from(at_us)) is not None), default=None)

    def expire(self, before_us: int) -> None:
        """Rows before this time may go; called with later and later times. Costs what goes, not what is there."""
        self._before_us = before_us
        self._runs = [run for old in self._all() for run in _living(old, before_us)]

    @property
    def shape(self) -> Shape:
        return {"keys": len(self.key), "time": self.schema.names.index(self.time)}

    @property
    def size(self) -> int:
        return len(self)

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table:
        """In one piece, so that a state that is read anew has few."""
        batches = [batch for run in self._all() for batch in self._living_in(run, buckets)]
        return pa.Table.from_batches(batches, self._stored).combine_chunks()

    def delta(self) -> pa.Table | None:
        if not self._appended:
            return None
        batches = [self._with_hashes(run.chunks[0], run.hashes_by_place()) for run in self._appended]
        return pa.Table.from_batches(batches, self._stored)

    def apply(self, change: pa.Table) -> None:
        self._pieces += _pieces(change, ALL_BUCKETS)

    def replace(self, rows: pa.Table, buckets: range) -> None:
        self._runs = [run for old in self._runs if len(run := _outside(old, buckets))]
        self._pieces = [piece for old in self._pieces if (piece := old.without(buckets)).buckets]
        self._pieces += _pieces(rows, buckets)

    def mark_written(self) -> None:
        self._appended = []

    def _all(self) -> list[Run]:
        """All rows, with those that were read since as one run: in order, most of it, as it was written."""
        if self._pieces:
            made = [run for piece in self._pieces if len(run := self._read(piece))]
            self._pieces = []
            self._runs = few([*self._runs, merged(made)], merged) if made else self._runs
        return self._runs

    def _read(self, piece: _Piece) -> Run:
        """Without a copy of the rows."""
        *columns, hashes = piece.rows.columns
        rows = pa.record_batch(columns, schema=self.schema)
        run = Run.of(rows, hashes.to_numpy(), self.times_of(rows))
        if len(piece.buckets) == len(ALL_BUCKETS):
            return run
        bounds = [run.between(*bucket_bounds(range(bucket, bucket + 1))) for bucket in sorted(piece.buckets)]
        return replace(
            run,
            hashes=np.concatenate([run.hashes[inside] for inside in bounds]),
            places=np.concatenate([run.places[inside] for inside in bounds]),
        )

    def _living_in(self, run: Run, buckets: range) -> Iterator[pa.RecordBatch]:
        inside = run.between(*bucket_bounds(buckets))
        places, hashes = run.places[inside], run.hashes[inside]
        living = run.at_us[places] >= self._before_us
        parts, order = run.taken(places[living])
        ends = [0, *accumulate(len(part.rows) for part in parts)]
        hashes = hashes[living][order]
        for start, part in zip(ends, parts, strict=False):
            yield self._with_hashes(part.batch(), hashes[start : start + len(part.rows)])

    def _with_hashes(self, rows: pa.RecordBatch, hashes: RowHashes) -> pa.RecordBatch:
        columns: list[Any] = [*rows.columns, pa.array(hashes)]
        return pa.record_batch(columns, schema=self._stored)


def _pieces(rows: pa.Table, buckets: range) -> list[_Piece]:
    return [_Piece(batch, frozenset(buckets)) for batch in rows.to_batches() if batch.num_rows]


def _living(run: Run, before_us: int) -> Sequence[Run]:
    """All of it as long as at least half lives."""
    if run.latest_us < before_us:
        return ()
    if run.earliest_us >= before_us or run.middle_us >= before_us:
        return (run,)
    is_living = run.at_us[run.places] >= before_us
    return (run.kept(is_living),) if is_living.any() else ()


def _outside(run: Run, buckets: range) -> Run:
    inside = run.between(*bucket_bounds(buckets))
    is_kept = np.ones(len(run), np.bool_)
    is_kept[inside] = False
    return run.kept(is_kept)

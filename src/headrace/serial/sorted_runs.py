"""Runs: rows as they came, and beside them their hashes in order, with the place of each.

Rows are found by searching the fewer hashes of two runs among those of the other; they are never moved for it. Runs of
similar size become one, so that there are few of them, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from headrace.serial.keys import Integers
from headrace.serial.row_hash import RowHashes

Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

_Sized = TypeVar("_Sized", bound=Sized)

# So many runs of similar size become one, so that there are at most some for each power of it.
RUNS_MERGED = 8
# Rows of neighbouring chunks are copied together up to so many; beyond, only hashes and places are merged.
ROWS_COPIED_MAX = 1 << 13
# Pairs that are looked at together: what a key with very many rows on both sides takes of the memory.
PAIRS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Run:
    """Rows with a time, found by their hashes. A row's place is its number, counted through all chunks.

    `hashes` are in order, and `places` are those of their rows; `at_us` are the times by place. Rows whose place is not
    among the places are gone.
    """

    hashes: RowHashes
    places: Integers
    at_us: Integers
    chunks: tuple[pa.RecordBatch, ...]

    @classmethod
    def of(cls, rows: pa.RecordBatch, hashes: RowHashes, at_us: Integers) -> Run:
        order = np.argsort(hashes)
        return cls(hashes[order], order, at_us, (rows,))

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def earliest_us(self) -> int:
        """No row is before this."""
        return int(self.at_us.min())

    @cached_property
    def latest_us(self) -> int:
        """No row is after this."""
        return int(self.at_us.max())

    @cached_property
    def middle_us(self) -> int:
        """As many rows are before this as after it, about."""
        times = self.at_us[self.places]
        return int(np.partition(times, len(times) // 2)[len(times) // 2])

    @cached_property
    def by_time(self) -> tuple[Integers, Integers]:
        """The times in order, and the places of their rows."""
        order = np.argsort(self.at_us, kind="stable")
        if len(self.places) < len(self.at_us):
            is_there = np.zeros(len(self.at_us), np.bool_)
            is_there[self.places] = True
            order = order[is_there[order]]
        return self.at_us[order], order

    def of_times(self, low_us: int, high_us: int) -> Integers:
        """The places of rows from one time to before another, in order of time."""
        if self.latest_us < low_us or self.earliest_us >= high_us:
            return self.places[:0]
        times, places = self.by_time
        return places[np.searchsorted(times, low_us) : np.searchsorted(times, high_us)]

    def earliest_from(self, at_us: int) -> int | None:
        """The first time that is not before this one; None if there is none."""
        if self.latest_us < at_us:
            return None
        times, _ = self.by_time
        place = np.searchsorted(times, at_us)
        return int(times[place]) if place < len(times) else None

    def between(self, least: int, greatest: int) -> slice:
        """Where in the order the hashes from `least` to `greatest` are."""
        start = int(np.searchsorted(self.hashes, np.uint64(least)))
        return slice(start, int(np.searchsorted(self.hashes, np.uint64(greatest), side="right")))

    def kept(self, is_kept: Flags) -> Run:
        """Only some of the rows, given in the order of the hashes: the memory of the others is free afterwards."""
        stays = np.zeros(len(self.at_us), np.bool_)
        stays[self.places[is_kept]] = True
        ends = [0, *accumulate(chunk.num_rows for chunk in self.chunks)]
        pieces = (
            chunk.filter(pa.array(stays[start : start + chunk.num_rows]))
            for start, chunk in zip(ends, self.chunks, strict=False)
        )
        places = (np.cumsum(stays) - 1)[self.places[is_kept]]
        chunks = tuple(piece for piece in pieces if piece.num_rows)
        return Run(self.hashes[is_kept], places, self.at_us[stays], _compact(chunks))

    def hashes_by_place(self) -> RowHashes:
        """Of a run that has all the rows of its chunks."""
        hashes: RowHashes = np.empty(len(self.hashes), np.uint64)
        hashes[self.places] = self.hashes
        return hashes

    def taken(self, places: Integers) -> tuple[list[Taken], Integers]:
        """The rows at these places, chunk by chunk, and in which order that has them."""
        if len(self.chunks) == 1:
            return [Taken(self.chunks[0], places)], np.arange(len(places))
        starts = np.array([0, *accumulate(chunk.num_rows for chunk in self.chunks)])
        numbers = np.searchsorted(starts, places, side="right") - 1
        order = np.argsort(numbers.astype(np.uint16) if len(starts) < 1 << 16 else numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(starts)))
        inside = places[order] - starts[numbers[order]]
        found = [
            Taken(chunk, inside[bounds[number] : bounds[number + 1]])
            for number, chunk in enumerate(self.chunks)
            if bounds[number] < bounds[number + 1]
        ]
        return found, order


@dataclass(frozen=True, slots=True)
class Taken:
    """Some rows of a chunk."""

    chunk: pa.RecordBatch
    rows: Integers

    def column(self, name: str) -> pa.Array[Any]:
        return self.chunk.column(name).take(self.rows)

    def batch(self) -> pa.RecordBatch:
        return self.chunk.take(self.rows)


@dataclass(frozen=True, slots=True)
class Found:
    """Pairs of rows: the number of each row that asked, and the rows that it found."""

    asking: Integers
    parts: Sequence[Taken]

    def __len__(self) -> int:
        return len(self.asking)

    def column(self, name: str) -> pa.Array[Any]:
        """Of the rows that were found."""
        arrays = [part.column(name) for part in self.parts]
        return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)

    def kept(self, is_kept: Flags) -> Found:
        """Only some of the pairs."""
        return self.taken(np.flatnonzero(is_kept))

    def taken(self, numbers: Integers) -> Found:
        """The pairs of these numbers, which are in order; one that is named several times is there as often."""
        ends = [0, *accumulate(len(part.rows) for part in self.parts)]
        bounds = np.searchsorted(numbers, ends)
        parts = [
            Taken(part.chunk, part.rows[numbers[bounds[place] : bounds[place + 1]] - ends[place]])
            for place, part in enumerate(self.parts)
        ]
        return Found(self.asking[numbers], parts)


@dataclass(frozen=True, slots=True)
class Asking:
    """Rows that look for others: of equal hash, and with a time from `low_us` to `high_us`, both by place."""

    run: Run
    low_us: Integers
    high_us: Integers


def merged(runs: Sequence[Run]) -> Run:
    """All rows as one run."""
    starts = [0, *accumulate(len(run.at_us) for run in runs)]
    hashes = np.concatenate([run.hashes for run in runs])
    places = np.concatenate([run.places + start for start, run in zip(starts, runs, strict=False)])
    # A stable sort finds what is in order already, and merges it.
    order = np.argsort(hashes, kind="stable")
    at_us = np.concatenate([run.at_us for run in runs])
    return Run(hashes[order], places[order], at_us, _compact(tuple(chunk for run in runs for chunk in run.chunks)))


def few(runs: Sequence[_Sized], merge: Callable[[Sequence[_Sized]], _Sized]) -> list[_Sized]:
    """The same rows, with those runs merged of which there are several of about one size."""
    by_level: dict[int, list[_Sized]] = {}
    waiting = list(runs)
    while waiting:
        run = waiting.pop()
        level = len(run).bit_length() // (RUNS_MERGED - 1).bit_length()
        alike = by_level.setdefault(level, [])
        alike.append(run)
        if len(alike) == RUNS_MERGED:
            waiting.append(merge(by_level.pop(level)))
    return [run for level in sorted(by_level, reverse=True) for run in by_level[level]]


def pairs(asking: Asking, runs: Sequence[Run]) -> Iterator[Found]:
    """Every pair once, in portions of no more than twice PAIRS_AT_ONCE."""
    found: list[Found] = []
    earliest_us, latest_us = int(asking.low_us.min()), int(asking.high_us.max())
    for run in runs:
        if run.latest_us < earliest_us or run.earliest_us > latest_us:
            continue
        for mine, theirs in equal_places(asking.run.hashes, run.hashes):
            found.append(_in_time(asking, asking.run.places[mine], run, run.places[theirs]))
            if sum(map(len, found)) >= PAIRS_AT_ONCE:
                yield _one(found)
                found = []
    if sum(map(len, found)):
        yield _one(found)


def _one(found: Sequence[Found]) -> Found:
    asking = np.concatenate([one.asking for one in found])
    return Found(asking, [part for one in found for part in one.parts if len(part.rows)])


def _in_time(asking: Asking, rows: Integers, run: Run, places: Integers) -> Found:
    at_us = run.at_us[places]
    inside = (asking.low_us[rows] <= at_us) & (at_us <= asking.high_us[rows])
    if not inside.all():
        rows, places = rows[inside], places[inside]
    parts, order = run.taken(places)
    return Found(rows[order], parts)


def equal_places(one: RowHashes, other: RowHashes) -> Iterator[tuple[Integers, Integers]]:
    """Where two orders have equal hashes: pairs of places in them, some at a time."""
    if len(one) > len(other):
        yield from ((mine, theirs) for theirs, mine in equal_places(other, one))
        return
    starts = np.searchsorted(other, one)
    hits = np.flatnonzero((starts < len(other)) & (other[np.minimum(starts, len(other) - 1)] == one))
    counts = np.searchsorted(other, one[hits], side="right") - starts[hits]
    ends = np.cumsum(counts)
    for first in range(0, int(counts.sum()), PAIRS_AT_ONCE):
        last = min(first + PAIRS_AT_ONCE, int(ends[-1]))
        some = slice(np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last) + 1)
        # Of the first and the last of these some pairs may belong to the portions around.
        begins = np.maximum(ends[some] - counts[some], first)
        sizes = np.minimum(ends[some], last) - begins
        ordinals = np.arange(first, last) - np.repeat(ends[some] - counts[some], sizes)
        yield np.repeat(hits[some], sizes), np.repeat(starts[hits[some]], sizes) + ordinals


def _compact(chunks: tuple[pa.RecordBatch, ...]) -> tuple[pa.RecordBatch, ...]:
    """The same rows in few chunks, however small those became in which most rows are gone."""
    groups: list[list[pa.RecordBatch]] = []
    size = 0
    for chunk in chunks:
        size += chunk.num_rows
        if groups and size <= ROWS_COPIED_MAX:
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
            size = chunk.num_rows
    return tuple(batch for group in groups for batch in _as_few(group))


def _as_few(chunks: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    return chunks if len(chunks) == 1 else pa.Table.from_batches(chunks).combine_chunks().to_batches()

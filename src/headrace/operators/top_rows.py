"""The work of `top-n` in a chain: the first rows of each key are kept, and told again when there are new ones among
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.row_ranks import RowOrder, key_codes
from headrace.operators.weights import weighed_batch
from headrace.serial import Batch, Context
from headrace.serial import Operator as Instance
from headrace.serial.candidate_rows import Candidates, one_batch
from headrace.serial.keys import Integers
from headrace.serial.sorted_runs import Flags

# Rows of a micro-batch that wait for its end before those that do not rank among the first are left out.
ROWS_WAITING_MAX = 1 << 18
# What is the key in state where a ranking has none: the same of all rows.
_ALL_ROWS = "_all_rows"
# Rows that leave together.
ROWS_TOLD_AT_ONCE = 1 << 16


class TopRows(Instance):
    """At the end of each micro-batch the first rows of each key that has new ones among them: keys in the order in
    which they came, rows by their rank. They depend on which rows ever came, and not on the order in which they did.

    State holds the first rows of every key. Where it `retracts`, the first rows of a key as they were come before them.
    """

    def __init__(
        self,
        schema: Schema,
        keys: Sequence[str],
        order: RowOrder,
        count: int,
        rank: str | None,
        *,
        retracts: bool = False,
    ) -> None:
        own = {column.name: arrow_type(column.type) for column in schema}
        self._keys = [(name, own[name]) for name in keys] or [(_ALL_ROWS, pa.bool_())]
        self._is_keyless = not keys
        self._columns = [field for field in own.items() if self._is_keyless or field not in self._keys]
        self._order = order
        self._count = count
        ranks = [] if rank is None else [pa.field(rank, pa.int32())]
        self._output = pa.schema([*(pa.field(name, type_) for name, type_ in own.items()), *ranks])
        self._has_rank = rank is not None
        self._retracts = retracts

    def open(self, context: Context) -> None:
        super().open(context)
        self._kept = context.state.candidate_rows("rows", self._keys, self._columns)
        self._waiting: list[pa.RecordBatch] = []
        self._limit = ROWS_WAITING_MAX
        self._are_all_here = False

    def process(self, batch: Batch) -> Iterable[Batch]:
        self._waiting.append(self._as_kept(batch.rows))
        if sum(rows.num_rows for rows in self._waiting) > self._limit:
            rows = one_batch(self._waiting, self._kept.schema)
            # By key as they came first, so that keys stay in that order.
            self._waiting = [rows.take(self._first(rows)[0])]
            self._limit = ROWS_WAITING_MAX + 2 * self._waiting[0].num_rows
        # Signals and the end of time make those before it in the chain tell rows when there are no others to wait for.
        return self._ranked() if self._are_all_here else ()

    def _as_kept(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        schema = self._kept.schema
        given = list(schema)[1:] if self._is_keyless else list(schema)
        arrays: list[Any] = [_typed(rows.column(field.name), field.type) for field in given]
        key: list[Any] = [pa.repeat(True, rows.num_rows)] if self._is_keyless else []
        return pa.record_batch([*key, *arrays], schema=schema)

    def on_rows_end(self) -> Iterable[Batch]:
        self._are_all_here = True
        return self._ranked()

    def _ranked(self) -> Iterator[Batch]:
        fresh = one_batch(self._waiting, self._kept.schema)
        self._waiting = []
        if fresh.num_rows:
            self._kept.prune(self._superfluous)
            yield from self._told(fresh)

    def _told(self, fresh: pa.RecordBatch) -> Iterator[Batch]:
        hashes = self._kept.hashes_of(fresh)
        known = self._kept.find(hashes)
        # Known ones first: of rows that are alike they stay.
        rows = one_batch([part for part in (known.rows, fresh) if part.num_rows], fresh.schema)
        first_fresh = known.rows.num_rows
        codes = self._codes_by_fresh(rows, first_fresh)
        chosen, ranks = self._order.first(rows, codes, self._count)
        is_kept = codes > int(codes[first_fresh:].max())
        is_kept[chosen] = True
        self._keep(fresh, hashes, known, is_kept)
        changed = codes[chosen[chosen >= first_fresh]]
        told = _Ranked(chosen, ranks).of_some(codes, changed)
        was = _Ranked(chosen[:0], ranks[:0])
        if self._retracts and first_fresh and len(changed):
            was = _Ranked(*self._order.first(known.rows, codes[:first_fresh], self._count)).of_some(codes, changed)
        yield from self._leaving(rows, codes, was, told)

    def _leaving(self, rows: pa.RecordBatch, codes: Integers, was: _Ranked, told: _Ranked) -> Iterator[Batch]:
        """Key by key: those that were the first, then those that are."""
        numbers, ranks = np.concatenate([was.numbers, told.numbers]), np.concatenate([was.ranks, told.ranks])
        order = np.argsort(codes[numbers], kind="stable") if len(was.numbers) else np.arange(len(numbers))
        for start in range(0, len(order), ROWS_TOLD_AT_ONCE):
            some = order[start : start + ROWS_TOLD_AT_ONCE]
            made = self._output_rows(rows.take(numbers[some]), ranks[some])
            yield weighed_batch(made, some >= len(was.numbers)) if self._retracts else Batch(made, private=True)

    def _codes_by_fresh(self, rows: pa.RecordBatch, first_fresh: int) -> Integers:
        """Codes of keys in the order in which fresh rows bring them. Keys that are only known, by an equal hash, come
        last."""
        codes = self._codes(rows.slice(first_fresh), rows.slice(0, first_fresh))
        fresh_count = rows.num_rows - first_fresh
        return np.concatenate([codes[fresh_count:], codes[:fresh_count]])

    def _keep(self, fresh: pa.RecordBatch, hashes: Any, known: Candidates, is_kept: Flags) -> None:
        known.remove(~is_kept[: known.rows.num_rows])
        new = np.flatnonzero(is_kept[known.rows.num_rows :])
        self._kept.append(fresh if len(new) == fresh.num_rows else fresh.take(new), hashes[new])

    def _output_rows(self, rows: pa.RecordBatch, ranks: Integers) -> pa.RecordBatch:
        names = self._output.names[:-1] if self._has_rank else self._output.names
        arrays: list[Any] = [rows.column(name) for name in names]
        if self._has_rank:
            arrays.append(pa.array(ranks + 1, pa.int32()))
        return pa.record_batch(arrays, schema=self._output)

    def _superfluous(self, rows: pa.RecordBatch) -> Flags:
        is_superfluous = np.ones(rows.num_rows, np.bool_)
        is_superfluous[self._first(rows)[0]] = False
        return is_superfluous

    def _first(self, rows: pa.RecordBatch) -> tuple[Integers, Integers]:
        return self._order.first(rows, self._codes(rows), self._count)

    def _codes(self, *batches: pa.RecordBatch) -> Integers:
        return key_codes([pa.concat_arrays([rows.column(name) for rows in batches]) for name, _ in self._keys])


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Numbers of rows, and the rank of each within its key."""

    numbers: Integers
    ranks: Integers

    def of_some(self, codes: Integers, some: Integers) -> _Ranked:
        """Those of keys with some of these codes."""
        found = np.flatnonzero(_of_some(codes[self.numbers], some))
        return _Ranked(self.numbers[found], self.ranks[found])


def _of_some(codes: Integers, some: Integers) -> Flags:
    """Which of these codes are among some."""
    is_some = np.zeros(int(max(codes.max(initial=-1), some.max(initial=-1))) + 1, np.bool_)
    is_some[some] = True
    flags: Flags = is_some[codes]
    return flags


def _typed(column: pa.Array[Any], type_: pa.DataType) -> pa.Array[Any]:
    return column if column.type == type_ else column.cast(type_)

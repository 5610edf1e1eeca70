"""Rows in the order of time with functions of all rows of their key so far, and what is kept of a key for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import Column
from headrace.operators.aggregates import Aggregate, Array, result, too_large
from headrace.operators.arrow_types import arrow_type
from headrace.operators.kept_values import KeptValues
from headrace.operators.lagged_values import LaggedValues
from headrace.operators.over_frames import known_numbers, last_of, next_of, places_of
from headrace.operators.over_functions import Function, Numbered, Picked
from headrace.operators.over_order import InOrder
from headrace.operators.over_walks import Best, running_extremes, running_sums
from headrace.serial import Context, Groups, KeyedTable, group, microseconds
from headrace.serial.items import Fields
from headrace.serial.keys import Integers

_INT_MAX = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Rows by key, within a key by time. `ends` is the last row that aggregates of each take in."""

    rows: pa.RecordBatch
    groups: Groups
    codes: Integers
    starts: Integers
    ties: Integers
    """Rows of one key and time have the same number, which goes up by one."""
    ends: Integers

    @property
    def own_starts(self) -> Integers:
        """For each row the first one of its key."""
        return self.starts[self.codes]

    @property
    def key_ends(self) -> Integers:
        """For each key the row behind its last one."""
        return np.append(self.starts[1:], len(self.codes))


class RunningRows(InOrder):
    def __init__(
        self, time: str, keys: Sequence[Column], functions: Sequence[Function], *, has_ties: bool, keeps_late: bool
    ) -> None:
        super().__init__(time, keeps_late=keeps_late)
        self._keys = keys
        self._functions = functions
        self._has_ties = has_ties

    def open(self, context: Context) -> None:
        super().open(context)
        key: Fields = [(column.name, arrow_type(column.type)) for column in self._keys]
        kept = [field for index, function in enumerate(self._functions) for field in _kept(function, index)]
        self._table = context.state.table("keys", key, [("rows", pa.int64()), ("times", pa.int64()), *kept])
        self._lagged = {
            index: LaggedValues(context.state, f"lag{index}", key, function)
            for index, function in enumerate(self._functions)
            if isinstance(function, Picked) and function.function == "lag"
        }

    def with_functions(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        sorted_rows, order = self._sorted(rows)
        slots, _ = self._table.add(sorted_rows.groups.keys)
        made = [self._result(index, sorted_rows, slots) for index in range(len(self._functions))]
        self._count(sorted_rows, slots)
        places = places_of(order)
        columns: list[Any] = [*rows.columns, *(column.take(places) for column in made)]
        names = [*rows.schema.names, *(function.name for function in self._functions)]
        return pa.record_batch(columns, names=names)

    def _sorted(self, rows: pa.RecordBatch) -> tuple[SortedRows, Integers]:
        groups = group([rows.column(column.name) for column in self._keys], rows.num_rows)
        order = groups.order()
        codes, at_us = groups.codes[order], microseconds(rows.column(self.time))[order]
        is_new_key = np.diff(codes, prepend=-1) != 0
        is_new_time = is_new_key | (np.diff(at_us, prepend=0) != 0)
        ties = np.cumsum(is_new_time) - 1
        here = np.arange(len(order))
        ends = np.append(np.flatnonzero(is_new_time)[1:], len(order))[ties] - 1 if self._has_ties else here
        return SortedRows(rows.take(order), groups, codes, np.flatnonzero(is_new_key), ties, ends), order

    def _count(self, rows: SortedRows, slots: Integers) -> None:
        self._table["rows"][slots] += rows.key_ends - rows.starts
        self._table["times"][slots] += rows.ties[rows.key_ends - 1] - rows.ties[rows.starts] + 1
        self._table.touch(slots)

    def _result(self, index: int, rows: SortedRows, slots: Integers) -> pa.Array[Any]:
        function = self._functions[index]
        if isinstance(function, Aggregate):
            return _aggregated(function, index, self._table, rows, slots)
        before = self._table["rows"][slots]
        if isinstance(function, Numbered):
            return _numbers(function, rows, before, self._table["times"][slots])
        column = rows.rows.column(function.column)
        if index in self._lagged:
            return self._lagged[index].of(column, rows.groups.keys, rows.codes, rows.starts, before)
        kept = KeptValues(self._table, str(index), function.type)
        return _picked(function, kept, column, rows, slots)


def _kept(function: Function, index: int) -> Fields:
    """What is kept of each key for a function."""
    if isinstance(function, Aggregate):
        return function.fields(index)
    if isinstance(function, Picked) and (function.function == "first_value" or function.ignores_nulls):
        return KeptValues.fields(str(index), function.type)
    return []


def _aggregated(
    aggregate: Aggregate, index: int, table: KeyedTable, rows: SortedRows, slots: Integers
) -> pa.Array[Any]:
    counts = table[f"n{index}"][slots]
    if aggregate.column is None:
        known = np.ones(len(rows.codes), np.bool_)
        values = np.zeros(len(rows.codes), np.int64)
    else:
        values, known = known_numbers(rows.rows.column(aggregate.column), aggregate.kept_type)
    had_some = counts > 0
    running = running_sums(known.astype(np.int64), rows.codes, counts)
    table[f"n{index}"][slots] = counts
    if aggregate.function == "count":
        return result(aggregate, running[rows.ends], running)
    before = table[f"v{index}"][slots]
    if aggregate.function in ("min", "max"):
        best = Best(before, had_some)
        numbers = running_extremes(values, known, rows.codes, best, aggregate.function == "min")
    else:
        numbers = _sums(aggregate.name, np.where(known, values, 0), rows.codes, before)
    table[f"v{index}"][slots] = before
    return result(aggregate, running[rows.ends], numbers[rows.ends])


def _sums(name: str, values: Array, codes: Integers, before: Array) -> Array:
    sums = running_sums(values, codes, before)
    if values.dtype.kind == "i":
        earlier = sums - values
        # Only numbers of one sign have a sum of the other one, when it does not fit.
        if (((earlier ^ sums) & (values ^ sums)) < 0).any():
            raise too_large(name)
    return sums


def _numbers(function: Numbered, rows: SortedRows, before: Integers, times_before: Integers) -> pa.Array[Any]:
    """`before` is how many rows each key had, `times_before` how many times of them."""
    here = np.arange(len(rows.codes))
    if function.function == "dense_rank":
        numbers = times_before[rows.codes] + rows.ties - rows.ties[rows.own_starts] + 1
    else:
        tied = np.flatnonzero(np.diff(rows.ties, prepend=-1))[rows.ties]
        place = here if function.function == "row_number" else tied
        numbers = before[rows.codes] + place - rows.own_starts + 1
    if numbers.max(initial=0) > _INT_MAX:
        hint = "count(*) counts on as BIGINT"
        raise InvalidInput(f"the number {function.name!r} does not fit its type, INT", hint=hint)
    return pa.array(numbers, pa.int64()).cast(pa.int32())


def _picked(
    function: Picked, kept: KeptValues, column: pa.Array[Any], rows: SortedRows, slots: Integers
) -> pa.Array[Any]:
    """The first or the last value up to the end of each row's frame, and kept for the rows to come."""
    if function.function == "last_value" and not function.ignores_nulls:
        return column.take(rows.ends)
    valid: Array = column.is_valid().to_numpy(zero_copy_only=False)
    counted = valid if function.ignores_nulls else np.ones(len(valid), np.bool_)
    known = kept.are_known(slots)
    if function.function == "first_value":
        found = next_of(counted)[rows.own_starts]
        is_kept, is_there = known[rows.codes], found <= rows.ends
        latest = next_of(counted)[rows.starts]
        is_new = ~known & (latest < rows.key_ends)
    else:
        found = last_of(counted)[rows.ends]
        is_there = found >= rows.own_starts
        is_kept = ~is_there & known[rows.codes]
        latest = last_of(counted)[rows.key_ends - 1]
        is_new = latest >= rows.starts
    pool = pa.concat_arrays([kept.values(slots), column])
    place = np.where(is_kept, rows.codes, found + len(slots))
    places: Any = pa.array(place, mask=~(is_kept | is_there))
    made = pool.take(places)
    kept.keep(slots[is_new], column.take(latest[is_new]))
    return made

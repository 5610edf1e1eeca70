"""Aggregates that pick a row of their group and give its value: first, last, any_value, min_by, max_by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates.basic import is_orderable
from headrace.operators.aggregates.kind import Aggregate, Array, Kind, Partial, StateFields, chosen, refused
from headrace.operators.aggregates.numbers import counted, extreme_rows, last_rows, row_numbers, sortable, valid_of
from headrace.operators.arrow_types import arrow_type
from headrace.serial.keyed_table import to_arrow, to_numpy
from headrace.serial.keys import Integers

IGNORE_NULLS = "ignore nulls"


class _Pick(Kind):
    """State: how many rows there were to pick from, the value, and whether it is null."""

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", arrow_type(aggregate.type)), ("null", pa.bool_())]

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        nothing = state.columns[2] | (state.counts == 0)
        column = to_arrow(state.numbers, arrow_type(aggregate.type))
        if not nothing.any():
            return column
        # Also of values that are lists.
        return column.take(row_numbers(np.arange(len(column)), missing=nothing))

    def _picked(self, aggregate: Aggregate, rows: pa.RecordBatch, best: Integers) -> tuple[Array, Array]:
        """The values of these rows, and which are null; −1 for no row."""
        values = rows.column(aggregate.column or "").take(row_numbers(best, missing=best < 0))
        return to_numpy(values, arrow_type(aggregate.type)), values.is_null().to_numpy(zero_copy_only=False)


class InOrder(_Pick):
    """By the order in which a lane reads the rows: within a micro-batch that of source, partition and offset. `second`
    is null for rows that do not count; None if all do."""

    names = ("first", "first_value", "any_value", "last", "last_value")

    def result_type(self, function: str, types: Sequence[str]) -> str:
        return types[0]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        ignores = IGNORE_NULLS in aggregate.parameters
        name = aggregate.column if ignores else aggregate.second
        counting = None if name is None else rows.column(name)
        known = counted(codes, counting)
        numbers = np.arange(len(codes))
        if counting is not None and counting.null_count:
            numbers = np.flatnonzero(valid_of(counting))
        step = 1 if _is_last(aggregate) else -1
        best = last_rows(known[::step], numbers[::step], group_count)
        return Partial((np.bincount(known, minlength=group_count), *self._picked(aggregate, rows, best)))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        is_left = right.counts == 0 if _is_last(aggregate) else left.counts > 0
        picked = [chosen(is_left, one, other) for one, other in zip(left.columns[1:], right.columns[1:], strict=True)]
        return Partial((left.counts + right.counts, *picked))


class ByAnother(_Pick):
    """The value of the row whose `second` is the greatest or least; of several the last one, as in Spark."""

    is_max: ClassVar[bool]

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if len(types) != 2 or not is_orderable(types[1]):
            raise refused(function, types)
        return types[0]

    def fields(self, aggregate: Aggregate) -> StateFields:
        (by_type,) = aggregate.parameters
        return [*super().fields(aggregate), ("by", arrow_type(by_type))]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        by = rows.column(aggregate.second or "")
        keys, numbers = sortable(by), np.arange(len(codes))
        if by.null_count:
            numbers = np.flatnonzero(valid_of(by))
            keys, codes = keys[numbers], codes[numbers]
        best = extreme_rows(keys, codes, numbers, group_count, is_max=self.is_max)
        found = to_numpy(by.take(row_numbers(best, missing=best < 0)), by.type)
        counts = np.bincount(codes, minlength=group_count)
        return Partial((counts, *self._picked(aggregate, rows, best), found))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        is_left = right.counts == 0
        both = np.flatnonzero((left.counts > 0) & (right.counts > 0))
        if len(both):
            by_type = arrow_type(aggregate.parameters[0])
            pairs = [to_arrow(side.columns[3][both], by_type) for side in (left, right)]
            keys = sortable(pa.concat_arrays(pairs))
            before, after = keys[: len(both)], keys[len(both) :]
            is_left[both] = before > after if self.is_max else before < after
        picked = [chosen(is_left, one, other) for one, other in zip(left.columns[1:], right.columns[1:], strict=True)]
        return Partial((left.counts + right.counts, *picked))


class MinBy(ByAnother):
    names = ("min_by",)
    is_max = False


class MaxBy(ByAnother):
    names = ("max_by",)
    is_max = True


def _is_last(aggregate: Aggregate) -> bool:
    return aggregate.function in ("last", "last_value")

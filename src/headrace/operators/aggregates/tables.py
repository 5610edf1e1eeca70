"""Aggregates in a table of state: partial results into it, and results out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates.kind import Aggregate, Array, OfValues, Partial
from headrace.serial import KeyedTable
from headrace.serial.keys import Integers


class GroupedValues(Protocol):
    """The values that are kept of groups, for aggregates of all of them."""

    def of(self, keys: Sequence[pa.Array[Any]], counts: Integers) -> pa.Array[Any]: ...


def partial(aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
    """Rows with the same code are put together; nulls count for nothing. Raises InvalidInput where a sum overflows."""
    return aggregate.kind.partial(aggregate, rows, codes, group_count)


def merge(table: KeyedTable, aggregates: Sequence[Aggregate], partials: Sequence[Partial], slots: Integers) -> None:
    """Takes partial results into the state of these slots, each at most once. New slots hold zeros.

    Raises InvalidInput where a sum overflows.
    """
    for index, (aggregate, part) in enumerate(zip(aggregates, partials, strict=True)):
        made = aggregate.kind.merge(aggregate, state_of(table, aggregate, index, slots), part)
        for (name, _), column in zip(aggregate.fields(index), made.columns, strict=True):
            table[name][slots] = column


def state_of(table: KeyedTable, aggregate: Aggregate, index: int, slots: Integers) -> Partial:
    """What is kept for these slots, of the aggregate with this number."""
    return Partial(tuple(table[name][slots] for name, _ in aggregate.fields(index)))


def spread(state: Partial, places: Integers, count: int) -> Partial:
    """The same at other places, of so many: each at most once. The others are as groups without rows."""

    def of(column: Array) -> Array:
        made = np.full(count, None, object) if column.dtype.hasobject else np.zeros(count, column.dtype)
        made[places] = column
        return made

    return Partial(tuple(map(of, state.columns)))


def results(
    table: KeyedTable, aggregates: Sequence[Aggregate], slots: Integers, values: Sequence[GroupedValues | None] = ()
) -> list[pa.Array[Any]]:
    """The aggregates' columns for these slots. `values` are those that are kept for each aggregate, where it is of all
    values."""
    made = []
    for index, aggregate in enumerate(aggregates):
        state = state_of(table, aggregate, index, slots)
        if isinstance(aggregate.kind, OfValues):
            kept = values[index] if values else None
            if kept is None:
                raise AssertionError("the operator keeps no values")
            found = kept.of(table.keys(slots), state.counts)
            made.append(aggregate.kind.result_of(aggregate, state.counts, found))
        else:
            made.append(aggregate.kind.result(aggregate, state))
    return made


def result(aggregate: Aggregate, counts: Array, numbers: Array) -> pa.Array[Any]:
    """One aggregate's column; null where there was no value to aggregate."""
    return aggregate.kind.result(aggregate, Partial((counts, numbers)))

"""Open windows of a serial operator: aggregates by key and start, as rows that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import Aggregate, GroupedValues, results
from headrace.operators.arrow_types import TIMESTAMP, arrow_schema, arrow_type
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.operators.window_columns import END, START, WINDOW_COLUMNS
from headrace.serial import KeyedTable, NodeState, timestamps
from headrace.serial.items import Fields
from headrace.serial.keys import Integers


def window_schema(keys: Sequence[Column], aggregates: Sequence[Aggregate]) -> Schema:
    made = (Column(aggregate.name, aggregate.type) for aggregate in aggregates)
    return Schema((*WINDOW_COLUMNS, *keys, *made))


class OpenWindows:
    """A table with one row for each open window: its key, its start, its end and what its aggregates keep."""

    def __init__(
        self,
        state: NodeState,
        keys: Sequence[Column],
        aggregates: Sequence[Aggregate],
        more: Fields = (),
        *,
        told_before_end_us: int | None = None,
        values: Sequence[GroupedValues | None] = (),
    ) -> None:
        """`more` are numbers that an operator keeps of each window beside that, `values` those of aggregates of all
        values. Rows have an event time as their last column, so long before their window's end; none without."""
        key = [*((column.name, arrow_type(column.type)) for column in keys), (START, TIMESTAMP)]
        kept = [field for index, aggregate in enumerate(aggregates) for field in aggregate.fields(index)]
        self.table: KeyedTable = state.table("windows", key, [("start", pa.int64()), ("end", pa.int64()), *kept, *more])
        self._aggregates = aggregates
        self._values = values
        self._key_names = [column.name for column in keys]
        self._told_before_end_us = told_before_end_us
        made = window_schema(keys, aggregates)
        self._schema = arrow_schema(Schema((*made, EVENT_TIME_COLUMN)) if told_before_end_us is not None else made)

    def add(self, keys: Sequence[pa.Array[Any]], names: Integers, starts: Integers, ends: Integers) -> Integers:
        """Slots of these windows, opened where they are new. Names tell the windows of a key apart: starts, or ends."""
        slots, _ = self.table.add([*keys, timestamps(names)])
        self.table["start"][slots] = starts
        self.table["end"][slots] = ends
        self.table.touch(slots)
        return slots

    def ending_by(self, at_us: int) -> Integers:
        slots = self.table.slots()
        return slots[self.table["end"][slots] <= at_us]

    @property
    def next_end_us(self) -> int | None:
        """When the first of the open windows ends."""
        slots = self.table.slots()
        return int(self.table["end"][slots].min()) if len(slots) else None

    def rows(self, slots: Integers) -> pa.RecordBatch:
        """These windows as rows, in this order."""
        *keys, _ = self.table.keys(slots)
        ends = self.table["end"][slots]
        made = results(self.table, self._aggregates, slots, self._values)
        before_us = self._told_before_end_us
        time = [] if before_us is None else [timestamps(ends - before_us)]
        bounds = [timestamps(self.table["start"][slots]), timestamps(ends)]
        return pa.record_batch([*bounds, *keys, *made, *time], schema=self._schema)

    def gone(self, slots: Integers) -> pa.RecordBatch:
        """Windows that are no more: their bounds and keys, and nulls for the aggregates."""
        rows = self.rows(slots)
        first = len(rows.schema) - len(self._aggregates)
        nulls = [pa.nulls(rows.num_rows, field.type) for field in list(rows.schema)[first:]]
        return pa.record_batch([*rows.columns[:first], *nulls], schema=self._schema)

    def in_order(self, rows: pa.RecordBatch, *more: str) -> pa.RecordBatch:
        """By end, start and key, then by `more` columns: where a slot lies differs from worker to worker, and rows must
        not."""
        return rows.take(sorted_indices(rows, [END, START, *self._key_names, *more]))


def sorted_indices(rows: pa.RecordBatch, names: Sequence[str]) -> pa.UInt64Array:
    """Row numbers, by these columns."""
    keys: list[tuple[str, Literal["ascending", "descending"]]] = [(name, "ascending") for name in names]
    return pc.sort_indices(rows, keys)


def repeated(values: np.ndarray[Any, Any], times: int) -> np.ndarray[Any, Any]:
    return values if times == 1 else np.repeat(values, times)

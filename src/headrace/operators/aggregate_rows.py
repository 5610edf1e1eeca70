"""The work of `aggregate` and of relational windows in a chain: aggregates by key, or by key and window."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import WEIGHT, Schema
from headrace.operators.aggregate_plan import AggregatePlan
from headrace.operators.aggregates import GroupedValues, OfValues, Partial, merge, partial, results
from headrace.operators.arrow_types import TIMESTAMP, arrow_schema, arrow_type
from headrace.operators.distinct_values import DistinctValues
from headrace.operators.group_values import GroupValues
from headrace.operators.weights import changed_rows
from headrace.operators.window_columns import START
from headrace.operators.window_spans import Spans
from headrace.operators.window_state import OpenWindows, sorted_indices
from headrace.serial import Batch, Context, KeyedTable, Signal, Timer, group, microseconds, timestamps
from headrace.serial import Operator as Instance
from headrace.serial.items import Fields
from headrace.serial.keys import Groups, Integers
from headrace.serial.watermark import END_OF_TIME_US


class _Aggregating(Instance):
    """Takes rows into the state of their groups, and tells at the end of a micro-batch's rows what changed; where it
    `retracts`, also what these groups were before."""

    def __init__(self, plan: AggregatePlan, *, retracts: bool) -> None:
        self._plan = plan
        self._retracts = retracts
        self._bit_of = {
            number: (index, bit)
            for index, distinct in enumerate(plan.distincts)
            for bit, (number, _) in enumerate(distinct.conditions)
        }
        # Of several aggregates of the same values the first knows how many there are, as well as the others.
        self._first_over = {
            one.column or "": number
            for number, one in reversed([*enumerate(plan.aggregates)])
            if isinstance(one.kind, OfValues)
        }

    def open(self, context: Context) -> None:
        super().open(context)
        self._changed: list[Integers] = []
        self._before: list[pa.RecordBatch] = []
        self._distincts = [
            DistinctValues(context.state, f"distinct{index}", self._group_key, arrow_type(distinct.value[1]))
            for index, distinct in enumerate(self._plan.distincts)
        ]
        self._kept = {
            column: GroupValues(context.state, f"values:{column}", self._group_key, arrow_type(type_))
            for column, type_ in self._plan.kept.items()
        }

    @property
    def _values(self) -> list[GroupedValues | None]:
        """For each aggregate of all values what is kept of them."""
        return [
            self._kept[one.column or ""] if isinstance(one.kind, OfValues) else None for one in self._plan.aggregates
        ]

    @property
    def _group_key(self) -> Fields:
        """The columns that name a group, in state."""
        return [(key.name, arrow_type(key.type)) for key in self._plan.keys]

    @abstractmethod
    def _rows_of(self, slots: Integers) -> pa.RecordBatch:
        """These groups as rows."""

    @abstractmethod
    def _in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """In an order that does not depend on slots; a row that is retracted right before the one in its place."""

    def on_rows_end(self) -> Iterable[Batch]:
        if not self._changed:
            return []
        rows = self._rows_of(np.unique(np.concatenate(self._changed)))
        before, self._changed, self._before = self._before, [], []
        if not self._retracts:
            return [Batch(self._in_order(rows), private=True)]
        both = self._in_order(changed_rows(before, rows))
        return [Batch(both, private=True, retracted=both.num_rows - rows.num_rows)]

    def _remember(self, table: KeyedTable, keys: Sequence[pa.Array[Any]]) -> None:
        """Called before rows come into these groups: what they are is what was emitted of them."""
        if not self._retracts:
            return
        slots = table.find(keys)
        slots = slots[slots >= 0]
        if self._changed:
            slots = slots[~np.isin(slots, np.concatenate(self._changed))]
        if len(slots):
            self._before.append(self._rows_of(slots))

    def _take_in(
        self, table: KeyedTable, slots: Integers, groups: Groups, arranged: pa.RecordBatch, ends: Integers
    ) -> None:
        for column, number in self._first_over.items():
            self._kept[column].take_in(groups, arranged.column(column), table[f"n{number}"][slots])
        merge(table, self._plan.aggregates, self._partials(groups, arranged, ends), slots)
        table.touch(slots)

    def _forget(self, table: KeyedTable, slots: Integers) -> None:
        """These groups end."""
        for column, number in self._first_over.items():
            self._kept[column].forget(table.keys(slots), table[f"n{number}"][slots])
        table.delete(slots)

    def _partials(self, groups: Groups, arranged: pa.RecordBatch, ends: Integers) -> list[Partial]:
        fresh = [
            values.take_in(
                groups,
                arranged.column(f"d{index}"),
                arranged.column(f"c{index}").to_numpy(),
                ends,
                len(self._plan.distincts[index].conditions),
            )
            for index, values in enumerate(self._distincts)
        ]
        made: list[Partial] = []
        for number, aggregate in enumerate(self._plan.aggregates):
            if number in self._bit_of:
                index, bit = self._bit_of[number]
                made.append(Partial((fresh[index][bit],)))
            else:
                made.append(partial(aggregate, arranged, groups.codes, groups.count))
        return made


class AggregateRows(_Aggregating):
    """After every micro-batch one row for each key that had rows in it, by key. State holds every key."""

    def __init__(self, plan: AggregatePlan, output: Schema, *, retracts: bool = False) -> None:
        super().__init__(plan, retracts=retracts)
        self._schema = arrow_schema(output)

    def open(self, context: Context) -> None:
        super().open(context)
        kept = [field for index, aggregate in enumerate(self._plan.aggregates) for field in aggregate.fields(index)]
        self._table = context.state.table("groups", self._group_key, kept)

    def process(self, batch: Batch) -> Iterable[Batch]:
        if batch.num_rows:
            arranged = self._plan.arranged(batch.rows)
            groups = group(self._plan.key_columns(arranged), arranged.num_rows)
            self._remember(self._table, groups.keys)
            slots, _ = self._table.add(groups.keys)
            self._take_in(self._table, slots, groups, arranged, np.full(groups.count, END_OF_TIME_US))
            self._changed.append(slots)
        return []

    def _rows_of(self, slots: Integers) -> pa.RecordBatch:
        columns: Sequence[Any] = [
            *self._table.keys(slots),
            *results(self._table, self._plan.aggregates, slots, self._values),
        ]
        return pa.record_batch(columns, schema=self._schema)

    def _in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        weight = [WEIGHT] if self._retracts else []
        return rows.take(sorted_indices(rows, [*(key.name for key in self._plan.keys), *weight]))


class WindowRows(_Aggregating):
    """Windows over event time, each closed when the watermark has passed its end. What leaves is the window when it
    closes, or, with `changes`, whenever a micro-batch has changed it.

    A row counts in those of its windows that are not closed; if all are it is late, and counted as that.
    """

    def __init__(self, plan: AggregatePlan, time: str, spans: Spans, *, changes: bool, retracts: bool = False) -> None:
        super().__init__(plan, retracts=retracts)
        self._time = time
        self._spans = spans
        self._changes = changes

    def open(self, context: Context) -> None:
        super().open(context)
        self._windows = OpenWindows(
            context.state,
            self._plan.keys,
            self._plan.aggregates,
            # The last moment of the window, as Spark has it.
            told_before_end_us=None if self._changes else 1,
            values=self._values,
        )

    @property
    def _group_key(self) -> Fields:
        return [*super()._group_key, (START, TIMESTAMP)]

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = self._timed(batch.rows)
        if not rows.num_rows:
            return []
        # Also of rows that are late: Spark computes their values too.
        arranged, at_us = self._plan.arranged(rows), microseconds(rows.column(self._time))
        closed_us = self.context.watermark_us
        if closed_us is not None:
            self.context.counts["late"] += int(np.count_nonzero(self._spans.last_end(at_us) <= closed_us))
        numbers, names = self._spans.taken(at_us, closed_us=closed_us)
        if len(names):
            self._add(arranged if numbers is None else arranged.take(numbers), names)
        return []

    def on_rows_end(self) -> Iterable[Batch]:
        if self._changes:
            return super().on_rows_end()
        self._changed = []
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        # Windows may be many: one timer, for the first that ends, serves all that have ended.
        at_us = max(timer.at_us, self.context.watermark_us or timer.at_us)
        told = self._closed(self._windows.ending_by(at_us), at_us)
        self._wait()
        return told

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        """`close_window`: every open window leaves as it is; what comes later begins anew."""
        if signal.kind != "close_window":
            return None
        return self._closed(self._windows.table.slots(), END_OF_TIME_US)

    def _closed(self, slots: Integers, at_us: int) -> list[Batch]:
        """These windows go, which are all that end by this time. Returns what is told of them."""
        if self._changes:
            # Rows that came with this very time may have changed windows that go now.
            told = list(super().on_rows_end())
        else:
            told = [Batch(self._in_order(self._rows_of(slots)), private=True)] if len(slots) else []
        self._forget(self._windows.table, slots)
        for values in self._distincts:
            values.end(at_us)
        return told

    def _timed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        times = rows.column(self._time)
        if not times.null_count:
            return rows
        self.context.counts["without_time"] += times.null_count
        return rows.filter(times.is_valid())

    def _add(self, arranged: pa.RecordBatch, names: Integers) -> None:
        groups = group([*self._plan.key_columns(arranged), timestamps(names)], arranged.num_rows)
        named = microseconds(groups.keys[-1])
        starts, ends = self._spans.bounds(named)
        self._remember(self._windows.table, groups.keys)
        slots = self._windows.add(groups.keys[:-1], named, starts, ends)
        self._take_in(self._windows.table, slots, groups, arranged, ends)
        self._changed.append(slots)
        # At once: rows that a window before let out with the watermark may close this one with it.
        self.context.timers.at_event_time(int(ends.min()))

    def _wait(self) -> None:
        """For the next window to end."""
        end_us = self._windows.next_end_us
        if end_us is not None:
            self.context.timers.at_event_time(end_us)

    def _rows_of(self, slots: Integers) -> pa.RecordBatch:
        return self._windows.rows(slots)

    def _in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return self._windows.in_order(rows, *([WEIGHT] if self._retracts else []))

"""`time-window`: aggregates per key over fixed spans of event time that tumble, hop or grow, in the chain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.aggregates import AGGREGATES, merge, partial
from headrace.operators.durations import duration_ms
from headrace.operators.event_windows import WINDOWS_PER_ROW_MAX, refuse_no_length
from headrace.operators.late_rows import Flags, Late, LateFor, LateTopic, set_late_aside
from headrace.operators.serial_operator import TIME, Keys, Partitioned, Partitioner
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_operator import TOLD, WindowConfig, Windowing, WindowInstance, WindowOperator
from headrace.operators.window_spans import Spans
from headrace.serial import Batch, Timer, group, microseconds, timestamps
from headrace.serial import Operator as Instance
from headrace.serial.keys import Integers


class TimeWindowConfig(WindowConfig):
    size: Duration = Field(description="How long a window is: `1 minute`, `30s`. Windows are aligned to the epoch.")
    every: Duration | None = Field(None, description="How often a window begins; the size itself if not given.")
    step: Duration | None = Field(
        None,
        description="Instead of every: a window begins when the last one ends, and is told whenever it grew by this.",
    )
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    emit: Literal["final", "changes"] = Field(
        "final", description="final: a window once, when it closes; changes: a row whenever it changes."
    )
    late: Late = "drop"
    late_for: LateFor = None
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @property
    def spans(self) -> Spans:
        parts = self.every or self.step or self.size
        return Spans(duration_ms(self.size) * 1000, duration_ms(parts) * 1000, grow=self.step is not None)

    @model_validator(mode="after")
    def _fits_together(self) -> TimeWindowConfig:
        if self.every is not None and self.step is not None:
            raise refuse_setting("a window either begins every so often or grows by a step", "give every or step")
        refuse_no_length(size=self.size, every=self.every or self.size, step=self.step or self.size)
        size_us, part_us = self.spans.size_us, self.spans.every_us
        if size_us % part_us or size_us // part_us > WINDOWS_PER_ROW_MAX:
            raise refuse_setting(
                f"size must be a multiple of every or step, at most {WINDOWS_PER_ROW_MAX} times as long",
                "size=1m every=10s",
            )
        return self


class TimeWindow(WindowOperator[TimeWindowConfig]):
    spec = Spec(
        name="time-window",
        title="Time window",
        summary="Aggregates per key over spans of event time that tumble, hop or grow.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "_window_start, _window_end, the keys and the aggregates"),),
        guarantees=(
            "emit=final: each window and key exactly once, when the watermark passes its end, and the same rows as a "
            "batch run. emit=changes: a row whenever a batch of rows changed a window; the last one is the final one. "
            "Rows whose windows are all closed are counted as late, and become what `late` says; rows without a time "
            "are left out and counted. A window that update_previous tells again replaces what it told before."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! time-window "1 minute" every="10 seconds" time=ts keys=drone aggregates=["avg(battery) AS battery"]'
            " ! preview"
        ),
        positional="size",
        stateful=True,
    )
    config_type = TimeWindowConfig

    def instance(self, config: TimeWindowConfig, schema: Schema) -> Instance:
        return _TimeWindow(Windowing.of(config, schema), config.spans)


class _TimeWindow(WindowInstance):
    def __init__(self, windowing: Windowing, spans: Spans) -> None:
        super().__init__(windowing)
        self._spans = spans

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows, names = self._in_windows(batch.rows)
        if not rows.num_rows:
            return []
        keys = [rows.column(column.name) for column in self._keys]
        groups = group([*keys, timestamps(names)], rows.num_rows)
        named = microseconds(groups.keys[-1])
        starts, ends = self._spans.bounds(named)
        slots = self._windows.add(groups.keys[:-1], named, starts, ends)
        partials = [partial(aggregate, rows, groups.codes, groups.count) for aggregate in self._aggregates]
        merge(self._windows.table, self._aggregates, partials, slots)
        for end_us in np.unique(ends).tolist():
            self.context.timers.at_event_time(end_us)
        told = slots if self._changes else self._told_again(slots)
        return [Batch(self._windows.rows(told), private=True)] if len(told) else []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        closed = self._windows.ending_by(timer.at_us)
        told = self._windows.in_order(self._windows.rows(self._not_told(closed)))
        self._forget(closed, timer.at_us)
        return [] if self._changes or not told.num_rows else [Batch(told, private=True)]

    def _forget(self, closed: Integers, at_us: int) -> None:
        """Closed windows go, or stay for a while where late rows may still change them."""
        gone_us = self._windows.table["end"][closed] + self._kept_us
        for until_us in np.unique(gone_us[gone_us > at_us]).tolist():
            self.context.timers.at_event_time(until_us)
        self._windows.table.delete(closed[gone_us <= at_us])

    def _told_again(self, slots: Integers) -> Integers:
        """Of windows that just changed those which are closed: late rows came into them."""
        if not self._kept_us or self.context.watermark_us is None:
            return slots[:0]
        again: Integers = slots[self._windows.table["end"][slots] <= self.context.watermark_us]
        self._windows.table[TOLD][again] = 1
        return again

    def _times(self, rows: pa.RecordBatch, timed: Flags) -> tuple[Integers, Flags]:
        """When each row counts as having happened, and which rows count: those with a time, and not too late."""
        at_us, watermark_us = microseconds(rows.column(self._time)), self.context.watermark_us
        if watermark_us is None:
            return at_us, timed
        is_late = timed & (self._spans.last_end(at_us) <= watermark_us - self._kept_us)
        moves = self._late == "include_in_next_window"
        self.context.counts["late_taken_in" if moves else "late"] += int(np.count_nonzero(is_late))
        if moves:
            return np.where(is_late, watermark_us, at_us), timed
        if self._late == "dead_letter":
            set_late_aside(self.context, rows, at_us, is_late)
        return at_us, timed & ~is_late

    def _in_windows(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, Integers]:
        """The rows, each as often as it lies in a window that takes rows, and the names of those windows."""
        timed = rows.column(self._time).is_valid().to_numpy(zero_copy_only=False)
        self.context.counts["without_time"] += int(len(timed) - np.count_nonzero(timed))
        at_us, counting = self._times(rows, timed)
        watermark_us = self.context.watermark_us
        numbers, names = self._spans.taken(
            at_us, counting, None if watermark_us is None else watermark_us - self._kept_us
        )
        return (rows if numbers is None else rows.take(numbers)), names

"""`time-window`: aggregates per key over fixed spans of event time, tumbling or hopping, in the chain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.aggregates import AGGREGATES, merge, partial
from headrace.operators.durations import duration_ms
from headrace.operators.serial_operator import TIME, Keys, Partitioned
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_operator import WindowConfig, WindowInstance, WindowOperator
from headrace.operators.window_state import repeated
from headrace.serial import Batch, Timer, group, microseconds, timestamps
from headrace.serial import Operator as Instance

# A row lies in at most this many hopping windows.
WINDOWS_PER_ROW_MAX = 1_000


class TimeWindowConfig(WindowConfig):
    size: Duration = Field(description="How long a window is: `1 minute`, `30s`. Windows are aligned to the epoch.")
    every: Duration | None = Field(None, description="How often a window begins; the size itself if not given.")
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    emit: Literal["final", "changes"] = Field(
        "final", description="final: a window once, when it closes; changes: a row whenever it changes."
    )
    partitioned: Partitioned = "by_key"

    @property
    def size_us(self) -> int:
        return duration_ms(self.size) * 1000

    @property
    def every_us(self) -> int:
        return self.size_us if self.every is None else duration_ms(self.every) * 1000

    @model_validator(mode="after")
    def _fits_together(self) -> TimeWindowConfig:
        if self.size_us == 0 or self.every_us == 0:
            raise refuse_setting("a window of no length", "give size and every a duration such as 1 minute")
        if self.size_us % self.every_us or self.size_us // self.every_us > WINDOWS_PER_ROW_MAX:
            raise refuse_setting(
                f"size must be a multiple of every, at most {WINDOWS_PER_ROW_MAX} times as long", "size=1m every=10s"
            )
        return self


class TimeWindow(WindowOperator[TimeWindowConfig]):
    spec = Spec(
        name="time-window",
        title="Time window",
        summary="Aggregates per key over spans of event time that tumble or hop.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "_window_start, _window_end, the keys and the aggregates"),),
        guarantees=(
            "emit=final: each window and key exactly once, when the watermark passes its end, and the same rows as a "
            "batch run. emit=changes: a row whenever a batch of rows changed a window; the last one is the final one. "
            "Rows later than the watermark are left out of closed windows and counted; rows without a time too."
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
        return _TimeWindow(config, schema)


class _TimeWindow(WindowInstance):
    def __init__(self, config: TimeWindowConfig, schema: Schema) -> None:
        super().__init__(config, schema)
        self._size_us = config.size_us
        self._every_us = config.every_us

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows, starts = self._in_windows(batch.rows)
        if not rows.num_rows:
            return []
        keys = [rows.column(column.name) for column in self._keys]
        groups = group([*keys, timestamps(starts)], rows.num_rows)
        opened = microseconds(groups.keys[-1])
        slots = self._windows.add(groups.keys[:-1], opened, opened + self._size_us)
        partials = [partial(aggregate, rows, groups.codes, groups.count) for aggregate in self._aggregates]
        merge(self._windows.table, self._aggregates, partials, slots)
        for end_us in np.unique(opened).tolist():
            self.context.timers.at_event_time(end_us + self._size_us)
        return [Batch(self._windows.rows(slots), private=True)] if self._changes else []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        closed = self._windows.ending_by(timer.at_us)
        rows = self._windows.rows(closed)
        self._windows.table.delete(closed)
        return [] if self._changes or not len(closed) else [Batch(self._windows.in_order(rows), private=True)]

    def _in_windows(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """The rows, each as often as it lies in an open window, and the starts of those windows."""
        times = rows.column(self._time)
        timed = times.is_valid().to_numpy(zero_copy_only=False)
        at_us = microseconds(times)
        count = self._size_us // self._every_us
        last = at_us - at_us % self._every_us
        starts = repeated(last, count) - np.tile(np.arange(count) * self._every_us, rows.num_rows)
        open_ = repeated(timed, count)
        if self.context.watermark_us is not None:
            open_ = open_ & (starts + self._size_us > self.context.watermark_us)
        self.context.counts["without_time"] += int(len(timed) - np.count_nonzero(timed))
        if count == 1 and open_.all():
            return rows, starts
        origin = repeated(np.arange(rows.num_rows), count)
        anywhere = np.zeros(rows.num_rows, np.bool_)
        anywhere[origin[open_]] = True
        self.context.counts["late"] += int(np.count_nonzero(timed & ~anywhere))
        return rows.take(origin[open_]), starts[open_]

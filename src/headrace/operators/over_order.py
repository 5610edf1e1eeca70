"""Rows that wait until no earlier one can come, and then go on in the order of event time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from headrace.operators.late_rows import rows_in_time
from headrace.serial import Batch, Context, Timer, microseconds
from headrace.serial import Operator as Instance
from headrace.serial.row_chunks import RowChunks


class InOrder(Instance):
    """An operator that adds columns to rows, each of which it sees after all earlier ones. Rows of the same time come
    together, in the order in which they came in."""

    def __init__(self, time: str, *, keeps_late: bool) -> None:
        self.time = time
        self._keeps_late = keeps_late

    def open(self, context: Context) -> None:
        super().open(context)
        self._waiting = RowChunks(context.state, "waiting")

    @abstractmethod
    def with_functions(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Called with rows in the order of time, later than all before: the same ones with more columns."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = rows_in_time(self.context, batch.rows, self.time, keeps_late=self._keeps_late)
        if rows.num_rows:
            self._waiting.append(rows)
            self.context.timers.at_event_time(int(microseconds(rows.column(self.time)).min()) + 1)
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        rows = self._waiting.all()
        if rows is None or self.context.watermark_us is None:
            return []
        at_us = microseconds(rows.column(self.time))
        passed = at_us < self.context.watermark_us
        order = np.argsort(at_us, kind="stable")
        due, left = order[passed[order]], np.flatnonzero(~passed)
        if not len(due):
            return []
        self._waiting.replace(rows.take(left))
        if len(left):
            self.context.timers.at_event_time(int(at_us[left].min()) + 1)
        return [Batch(self.with_functions(rows.take(due)), private=True)]

"""What `output-rate` does with rows: by number in the order in which they come, or by spans of event time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from headrace.operators.late_rows import rows_in_time
from headrace.serial import Batch, Context, KeyedTable, Operator, Timer, group, microseconds
from headrace.serial.keys import Groups, Integers
from headrace.serial.row_chunks import RowChunks, joined

SKIPPED = "skipped"


class OneOfRows(Operator):
    """Of every `count` rows of a key the one at a place: 0 is the first, -1 the last."""

    def __init__(self, keys: list[tuple[str, pa.DataType]], count: int, place: int) -> None:
        self._keys = keys
        self._count = count
        self._place = place % count

    def open(self, context: Context) -> None:
        super().open(context)
        self._seen: KeyedTable = context.state.table("seen", self._keys, [("rows", pa.int64())])

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        if not rows.num_rows:
            return []
        groups = group([rows.column(name) for name, _ in self._keys], rows.num_rows)
        slots, _ = self._seen.add(groups.keys)
        seen = self._seen["rows"][slots]
        chosen = (seen[groups.codes] + _ranks(groups)) % self._count == self._place
        self._seen["rows"][slots] = (seen + np.bincount(groups.codes, minlength=groups.count)) % self._count
        self._seen.touch(slots)
        self.context.counts[SKIPPED] += rows.num_rows - int(np.count_nonzero(chosen))
        return [Batch(rows.filter(pa.array(chosen)), private=True)]


class AllOfRows(Operator):
    """Every `count` rows of a key together, when the last of them is there."""

    def __init__(self, keys: list[str], count: int) -> None:
        self._keys = keys
        self._count = count

    def open(self, context: Context) -> None:
        super().open(context)
        self._waiting = RowChunks(context.state, "waiting")

    def process(self, batch: Batch) -> Iterable[Batch]:
        if not batch.rows.num_rows:
            return []
        self._waiting.append(batch.rows)
        rows = self._waiting.all()
        if rows is None or rows.num_rows < self._count:
            return []
        groups = group([rows.column(name) for name in self._keys], rows.num_rows)
        whole = np.bincount(groups.codes, minlength=groups.count) // self._count * self._count
        due = _ranks(groups) < whole[groups.codes]
        if not due.any():
            return []
        self._waiting.replace(rows.filter(pa.array(~due)))
        return [Batch(rows.filter(pa.array(due)), private=True)]


class OfTime(Operator):
    """Rows of a key in spans of event time, when no earlier row can come any more."""

    def __init__(
        self, which: Literal["first", "last", "all"], keys: list[str], time: str, span_us: int, *, keeps_late: bool
    ) -> None:
        self._which = which
        self._keys = keys
        self._time = time
        self._span_us = span_us
        self._keeps_late = keeps_late

    def open(self, context: Context) -> None:
        super().open(context)
        self._waiting = RowChunks(context.state, "waiting")

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = rows_in_time(self.context, batch.rows, self._time, keeps_late=self._keeps_late)
        if rows.num_rows:
            self._waiting.append(rows)
            self._wait(microseconds(rows.column(self._time)))
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        rows = self._waiting.all()
        if rows is None or self.context.watermark_us is None:
            return []
        at_us = microseconds(rows.column(self._time))
        is_due = (at_us // self._span_us + 1) * self._span_us <= self.context.watermark_us
        due, left = np.flatnonzero(is_due), np.flatnonzero(~is_due)
        if len(left):
            self._wait(at_us[left])
        if not len(due):
            return []
        self._waiting.replace(rows.take(left))
        due = due[np.argsort(at_us[due], kind="stable")]
        return self._let_out(rows.take(due), at_us[due])

    def _let_out(self, rows: pa.RecordBatch, at_us: Integers) -> Iterable[Batch]:
        """Called with the rows of spans that have ended, in the order of time."""
        chosen = rows.take(np.arange(rows.num_rows)[self._chosen(rows, at_us)])
        self.context.counts[SKIPPED] += rows.num_rows - chosen.num_rows
        return [Batch(chosen, private=True)]

    def _chosen(self, rows: pa.RecordBatch, at_us: Integers) -> Any:
        """Places of the rows to let through, which are in the order of time."""
        if self._which == "all":
            return slice(None)
        groups = group([rows.column(name) for name in self._keys], rows.num_rows)
        spans = np.stack([groups.codes, at_us // self._span_us], axis=1)
        backwards = -1 if self._which == "last" else 1
        _, places = np.unique(spans[::backwards], axis=0, return_index=True)
        return np.sort(places if backwards == 1 else len(spans) - 1 - places)

    def _wait(self, at_us: Integers) -> None:
        self.context.timers.at_event_time((int(at_us.min()) // self._span_us + 1) * self._span_us)


class SnapshotOfTime(OfTime):
    """At the end of each span with rows, the latest row so far of every key, in the order of time."""

    def __init__(self, keys: list[str], time: str, span_us: int, *, keeps_late: bool) -> None:
        super().__init__("last", keys, time, span_us, keeps_late=keeps_late)

    def open(self, context: Context) -> None:
        super().open(context)
        self._latest = RowChunks(context.state, "latest")

    def _let_out(self, rows: pa.RecordBatch, at_us: Integers) -> Iterable[Batch]:
        spans = at_us // self._span_us
        borders = [0, *(np.flatnonzero(np.diff(spans)) + 1).tolist(), rows.num_rows]
        latest, snapshots = self._latest.all(), []
        for start, stop in pairwise(borders):
            latest = self._newest(latest, rows.slice(start, stop - start))
            snapshots.append(Batch(latest))
        if latest is not None:
            self._latest.replace(latest)
        return snapshots

    def _newest(self, before: pa.RecordBatch | None, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The last row of each key, of those before and of these."""
        whole = rows if before is None else joined(before, rows)
        groups = group([whole.column(name) for name in self._keys], whole.num_rows)
        _, places = np.unique(groups.codes[::-1], return_index=True)
        newest = np.sort(whole.num_rows - 1 - places)
        of_before = 0 if before is None else before.num_rows
        self.context.counts[SKIPPED] += rows.num_rows - int(np.count_nonzero(newest >= of_before))
        return whole.take(newest)


def _ranks(groups: Groups) -> Integers:
    """For each row how many rows of its key stand before it."""
    order = groups.order()
    sizes = np.bincount(groups.codes, minlength=groups.count)
    starts = np.cumsum(sizes) - sizes
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return ranks

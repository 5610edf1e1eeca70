"""The work of sessions in a chain: rows of a key that follow each other closely are put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.operators.aggregate_plan import AggregatePlan
from headrace.operators.aggregates import Partial, merge, partial, spread, state_of
from headrace.operators.late_rows import Flags, set_late_aside
from headrace.operators.window_operator import TOLD, Windowing, WindowInstance
from headrace.serial import Batch, Timer, group, microseconds
from headrace.serial.keys import Integers


class SessionRows(WindowInstance):
    """One lane's sessions; each ends when the watermark has passed its last row and the gap behind it."""

    def __init__(self, windowing: Windowing, gap_us: int) -> None:
        super().__init__(windowing)
        self._gap_us = gap_us

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = self._timed(batch.rows)
        return self._take_in(rows, microseconds(rows.column(self._time))) if rows.num_rows else []

    def _take_in(self, rows: pa.RecordBatch, at_us: Integers) -> list[Batch]:
        """Rows that have a time, with their keys under the names of these."""
        pieces = self._pieces(rows, at_us)
        late = self._late_flags(pieces)
        if late.any():
            rows, at_us = self._without(late, rows, at_us)
            if not rows.num_rows:
                return []
            pieces = self._pieces(rows, at_us)
        return self._merged(rows, pieces)

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        # Ends of sessions are many: one timer, for the first of them, serves all that have ended.
        at_us = max(timer.at_us, self.context.watermark_us or timer.at_us)
        told = self._windows.rows(self._not_told(self._windows.ending_by(at_us)))
        self._windows.table.delete(self._windows.ending_by(at_us - self._kept_us))
        self._wait()
        return [] if self._changes or not told.num_rows else [Batch(self._windows.in_order(told), private=True)]

    def _wait(self) -> None:
        """For the next session to end, or the next one that is kept behind its end to go."""
        slots, table = self._windows.table.slots(), self._windows.table
        if not len(slots):
            return
        due_us = table["end"][slots]
        if self._kept_us:
            due_us = due_us + np.where(table[TOLD][slots] == 1, self._kept_us, 0)
        self.context.timers.at_event_time(int(due_us.min()))

    def _timed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        valid = rows.column(self._time).is_valid()
        missing = rows.num_rows - int(valid.true_count)
        self.context.counts["without_time"] += missing
        return rows.filter(valid) if missing else rows

    def _pieces(self, rows: pa.RecordBatch, at_us: Integers) -> _Pieces:
        """Open sessions of the keys at hand and the rows themselves, as spans of time, put into sessions."""
        groups = group(self._key_columns(rows), rows.num_rows)
        table = self._windows.table
        open_, owner = self._open_sessions(groups.keys)
        keys = np.concatenate([owner, groups.codes])
        starts = np.concatenate([table["start"][open_], at_us])
        ends = np.concatenate([table["end"][open_], at_us + self._gap_us])
        order = np.lexsort((ends, starts, keys))
        sessions = _sessions(keys[order], starts[order], ends[order])
        numbers = np.empty(len(order), np.int64)
        numbers[order] = sessions
        return _Pieces(groups.keys, open_, keys, starts, ends, numbers)

    def _key_columns(self, rows: pa.RecordBatch) -> list[pa.Array[Any]]:
        return [rows.column(column.name) for column in self._keys]

    def _open_sessions(self, keys: tuple[pa.Array[Any], ...]) -> tuple[Integers, Integers]:
        """Slots of the open sessions that have one of these keys, and which key each has."""
        slots = np.sort(self._windows.table.slots())
        if not len(slots):
            return slots, slots
        *stored, _ = self._windows.table.keys(slots)
        both = [pa.concat_arrays([of_rows, of_state]) for of_rows, of_state in zip(keys, stored, strict=True)]
        count = len(keys[0]) if keys else 1
        codes = group(both, count + len(slots)).codes[count:]
        # Codes are in the order of first appearance: those of the rows' keys come first.
        mine = codes < count
        return slots[mine], codes[mine]

    def _late_flags(self, pieces: _Pieces) -> Flags:
        """A row is late when the session it would be in has ended already, and is kept no more."""
        watermark_us = self.context.watermark_us
        if watermark_us is None:
            return np.zeros(len(pieces.numbers) - len(pieces.open), np.bool_)
        flags: Flags = self._ends(pieces) <= watermark_us - self._kept_us
        return flags

    def _without(self, late: Flags, rows: pa.RecordBatch, at_us: Integers) -> tuple[pa.RecordBatch, Integers]:
        """The rows that count all the same, and when each counts as having happened."""
        moves = self._late == "include_in_next_window"
        self.context.counts["late_taken_in" if moves else "late"] += int(np.count_nonzero(late))
        if moves:
            return rows, np.where(late, self.context.watermark_us or 0, at_us)
        if self._late == "dead_letter":
            set_late_aside(self.context, rows, at_us, late)
        return rows.filter(pa.array(~late)), at_us[~late]

    def _ends(self, pieces: _Pieces) -> Integers:
        """For each row the end of the session that it would be in."""
        ends = np.full(pieces.numbers.max() + 1, np.iinfo(np.int64).min)
        np.maximum.at(ends, pieces.numbers, pieces.ends)
        of_rows: Integers = ends[pieces.numbers[len(pieces.open) :]]
        return of_rows

    def _merged(self, rows: pa.RecordBatch, pieces: _Pieces) -> list[Batch]:
        """Sessions that changed are written anew under their earliest start."""
        touched = np.unique(pieces.numbers[len(pieces.open) :])
        renumbered = np.full(pieces.numbers.max() + 1, -1)
        renumbered[touched] = np.arange(len(touched))
        numbers = renumbered[pieces.numbers]
        of_state, of_rows = numbers[: len(pieces.open)], numbers[len(pieces.open) :]
        open_, of_state = pieces.open[of_state >= 0], of_state[of_state >= 0]
        starts = np.full(len(touched), np.iinfo(np.int64).max)
        ends = np.full(len(touched), np.iinfo(np.int64).min)
        kept = numbers >= 0
        np.minimum.at(starts, numbers[kept], pieces.starts[kept])
        np.maximum.at(ends, numbers[kept], pieces.ends[kept])
        keys = np.zeros(len(touched), np.int64)
        keys[numbers[kept]] = pieces.keys[kept]
        before = self._state_partials(open_, of_state, len(touched))
        gone = self._replaced(open_, of_state, starts)
        fresh = [partial(aggregate, rows, of_rows, len(touched)) for aggregate in self._aggregates]
        slots = self._windows.add([key.take(keys) for key in pieces.key_values], starts, starts, ends)
        for part in (*before, fresh):
            merge(self._windows.table, self._aggregates, part, slots)
        changed = self._windows.in_order(self._windows.rows(self._told_at_once(slots)))
        self._wait()
        return [Batch(made, private=True) for made in (gone, changed) if made.num_rows]

    def _told_at_once(self, slots: Integers) -> Integers:
        """Of sessions that just changed those that do not wait for their end: changes, or late rows came into them."""
        if self._changes:
            return slots
        if not self._kept_us or self.context.watermark_us is None:
            return slots[:0]
        ended: Integers = slots[self._windows.table["end"][slots] <= self.context.watermark_us]
        self._windows.table[TOLD][ended] = 1
        return ended

    def _state_partials(self, open_: Integers, numbers: Integers, count: int) -> list[list[Partial]]:
        """What open sessions hold, as partial results of the sessions they go into: one list for each round, so that
        no session gets two of them at once."""
        table = self._windows.table
        rounds: list[list[Partial]] = []
        # By their starts: which slot a session has differs from worker to worker, and its result must not.
        left = np.argsort(table["start"][open_], kind="stable")
        while len(left):
            _, first = np.unique(numbers[left], return_index=True)
            chosen = left[first]
            rounds.append(
                [
                    spread(state_of(table, aggregate, index, open_[chosen]), numbers[chosen], count)
                    for index, aggregate in enumerate(self._aggregates)
                ]
            )
            left = np.delete(left, first)
        return rounds

    def _replaced(self, open_: Integers, numbers: Integers, starts: Integers) -> pa.RecordBatch:
        """Takes the old sessions out; returns those that were told, and whose start is no session's start any more."""
        merged = open_[self._windows.table["start"][open_] != starts[numbers]]
        if not self._changes:
            merged = merged[self._windows.table[TOLD][merged] == 1] if self._kept_us else merged[:0]
        gone = self._windows.in_order(self._windows.gone(merged))
        self._windows.table.delete(open_)
        return gone


class PlannedSessionRows(SessionRows):
    """Sessions of a relational operator, whose keys and values are computed first."""

    def __init__(self, plan: AggregatePlan, time: str, gap_us: int, *, told_before_end_us: int) -> None:
        super().__init__(Windowing(time, plan.keys, plan.aggregates, told_before_end_us=told_before_end_us), gap_us)
        self._plan = plan
        # With the watermark just at its end a session is told in the past of those behind it.
        self.lag_us = told_before_end_us - 1

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = self._timed(batch.rows)
        # Also of rows that are late: Spark computes their values too.
        return self._take_in(self._plan.arranged(rows), microseconds(rows.column(self._time))) if rows.num_rows else []

    def _key_columns(self, rows: pa.RecordBatch) -> list[pa.Array[Any]]:
        return self._plan.key_columns(rows)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Spans of time by key: first the open sessions, then the rows. `numbers` says which session each goes into."""

    key_values: tuple[pa.Array[Any], ...]
    open: Integers
    keys: Integers
    starts: Integers
    ends: Integers
    numbers: Integers


def _sessions(keys: Integers, starts: Integers, ends: Integers) -> Integers:
    """For spans sorted by key and start: a number for each session. A span that begins where all before it with its
    key have ended, or later, begins a new one."""
    # Raised by more than any time for each key, the ends of one key can never reach into the next.
    lift = int(ends.max() - starts.min()) + 1
    raised = keys * lift - int(starts.min())
    reach = np.maximum.accumulate(ends + raised)
    fresh = np.concatenate([[True], (starts + raised)[1:] >= reach[:-1]])
    return np.cumsum(fresh) - 1

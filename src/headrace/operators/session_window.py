"""`session-window`: aggregates per key over rows that follow each other closely in event time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.aggregates import AGGREGATES, Partial, merge, partial
from headrace.operators.durations import duration_ms
from headrace.operators.late_rows import Late, LateFor, LateTopic, set_late_aside
from headrace.operators.serial_operator import TIME, Keys, Partitioned, Partitioner
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_operator import TOLD, WindowConfig, WindowInstance, WindowOperator
from headrace.serial import Batch, Timer, group, microseconds
from headrace.serial import Operator as Instance
from headrace.serial.keys import Integers


class SessionWindowConfig(WindowConfig):
    gap: Duration = Field(description="A session ends when no row came for this long: `5 minutes`.")
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    emit: Literal["final", "changes"] = Field(
        "final", description="final: a session once, when it has ended; changes: a row whenever it changes."
    )
    late: Late = "drop"
    late_for: LateFor = None
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @model_validator(mode="after")
    def _is_long_enough(self) -> SessionWindowConfig:
        if duration_ms(self.gap) == 0:
            raise refuse_setting("a gap of no length", "give gap a duration such as 5 minutes")
        return self


class SessionWindow(WindowOperator[SessionWindowConfig]):
    spec = Spec(
        name="session-window",
        title="Session window",
        summary="Aggregates per key over rows that follow each other closely.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "_window_start (first row), _window_end (last row + gap), the keys and the aggregates"),),
        guarantees=(
            "emit=final: each session exactly once, when the watermark passes its end, and the same rows as a batch "
            "run. emit=changes: a row whenever a batch of rows changed a session; sessions are told apart by key and "
            "start, and one that was merged into another comes once more with null aggregates. Rows below the "
            "watermark that reach no session still open are counted as late, and become what `late` says: "
            "include_in_next_window takes the watermark for their time; a session that update_previous tells again "
            "replaces the one with its key and start, and those that it took in come once more with null aggregates. "
            "Rows without a time are left out and counted."
        ),
        example=(
            'topic clicks schema="user STRING, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! session-window "5 minutes" time=ts keys=user aggregates=["count(*) AS clicks"] ! preview'
        ),
        positional="gap",
        stateful=True,
        adjustable=("gap",),
    )
    config_type = SessionWindowConfig

    def instance(self, config: SessionWindowConfig, schema: Schema) -> Instance:
        return _SessionWindow(config, schema)


class _SessionWindow(WindowInstance):
    def __init__(self, config: SessionWindowConfig, schema: Schema) -> None:
        super().__init__(config, schema)
        self._gap_us = duration_ms(config.gap) * 1000

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = self._timed(batch.rows)
        if not rows.num_rows:
            return []
        rows, at_us = self._without_late(rows, microseconds(rows.column(self._time)))
        if not rows.num_rows:
            return []
        return self._merged(rows, self._pieces(rows, at_us))

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
        groups = group([rows.column(column.name) for column in self._keys], rows.num_rows)
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

    def _without_late(self, rows: pa.RecordBatch, at_us: Integers) -> tuple[pa.RecordBatch, Integers]:
        """The rows that count, and when each counts as having happened. A row is late when the session it would be in
        has ended already, and is kept no more."""
        watermark_us = self.context.watermark_us
        if watermark_us is None:
            return rows, at_us
        late = self._ends(self._pieces(rows, at_us)) <= watermark_us - self._kept_us
        moves = self._late == "include_in_next_window"
        self.context.counts["late_taken_in" if moves else "late"] += int(np.count_nonzero(late))
        if moves:
            return rows, np.where(late, watermark_us, at_us)
        if self._late == "dead_letter":
            set_late_aside(self.context, rows, at_us, late)
        return (rows.filter(pa.array(~late)), at_us[~late]) if late.any() else (rows, at_us)

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
        left = np.arange(len(open_))
        while len(left):
            _, first = np.unique(numbers[left], return_index=True)
            chosen = left[first]
            rounds.append([_spread(table, index, open_[chosen], numbers[chosen], count) for index in self._indices()])
            left = np.delete(left, first)
        return rounds

    def _indices(self) -> range:
        return range(len(self._aggregates))

    def _replaced(self, open_: Integers, numbers: Integers, starts: Integers) -> pa.RecordBatch:
        """Takes the old sessions out; returns those that were told, and whose start is no session's start any more."""
        merged = open_[self._windows.table["start"][open_] != starts[numbers]]
        if not self._changes:
            merged = merged[self._windows.table[TOLD][merged] == 1] if self._kept_us else merged[:0]
        gone = self._windows.in_order(self._windows.gone(merged))
        self._windows.table.delete(open_)
        return gone


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


def _spread(table: Any, index: int, slots: Integers, numbers: Integers, count: int) -> Partial:
    counts = np.zeros(count, np.int64)
    values = np.zeros(count, table[f"v{index}"].dtype)
    counts[numbers] = table[f"n{index}"][slots]
    values[numbers] = table[f"v{index}"][slots]
    return Partial(counts, values)

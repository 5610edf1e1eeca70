"""Plays the rows and timers of a keyed class in one lane, in order of event time, as far as the watermark is."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput, JobFailed
from headrace.operators.keyed_class import KeyedOperator
from headrace.operators.keyed_emitted import EmittedRows
from headrace.operators.keyed_states import TIMERS_PER_KEY_MAX, KeyedStates, KeyEntry, Rank
from headrace.operators.late_rows import are_in_time
from headrace.serial import END_OF_TIME_US, Batch, Context, Timer, group, microseconds, rows_from
from headrace.serial import Operator as Instance
from headrace.serial.items import Fields
from headrace.serial.places import PARTITIONS_PER_SOURCE
from headrace.serial.waiting_rows import NO_ORIGIN, OFFSET, ORIGIN, WaitingRows

# Calls of the class in one call of this operator: each has the time limit of an operator.
CALLS_PER_PIECE = 8_192
# Rows are made objects so many at a time.
ROWS_AT_ONCE = 8_192
ROW_CHARACTERS_MAX = 500

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class KeyedCallFailed(JobFailed):
    """A method of a keyed class raised: says for which key, at which time, on which row."""

    code = "keyed_call_failed"


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Which columns of the rows the lane reads."""

    keys: Fields
    others: Fields
    time: str


class KeyedLane(Instance):
    """A row waits until the watermark has passed its time. Then rows and timers are played as one queue: rows of one
    time in the order (source, partition, offset), then the timers of that time by key, then what is later. So nothing
    but which rows are late depends on how the stream was cut."""

    def __init__(
        self, work: KeyedOperator[Any, Any, Any, Any], columns: RowColumns, output: pa.Schema, *, keeps_late: bool
    ) -> None:
        self._work = work
        self._columns = columns
        self._keeps_late = keeps_late
        self._emitted = EmittedRows(output)
        self._entry: KeyEntry | None = None
        self._now_us = 0
        self._is_timer = False
        self._due: list[tuple[int, Rank]] = []
        self._until_us = 0
        self._pieces: Iterator[Batch] | None = None
        self.lag_us = work.lag // _MICROSECOND
        work.calls = self

    def open(self, context: Context) -> None:
        super().open(context)
        columns = self._columns
        self._waiting = WaitingRows(context.state, columns.keys, columns.others, columns.time)
        self._states = KeyedStates(context.state, columns.keys, self._work.declared.codec)

    def process(self, batch: Batch) -> Iterable[Batch]:
        kept = are_in_time(self.context, batch.rows, self._columns.time, keeps_late=self._keeps_late)
        rows, places = batch.rows, batch.places
        if not kept.all():
            rows = rows.filter(pa.array(kept))
            places = None if places is None else places.take(np.flatnonzero(kept))
        if rows.num_rows:
            self._waiting.add(rows, places, self.context.batch)
            self._wake(int(microseconds(rows.column(self._columns.time)).min()))
            if self.context.watermark_us is not None:
                self._waiting.require_room()
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        """A piece of what is due, and the rest when this is called again: the chain does so for timers added here."""
        if self.context.watermark_us is None:
            return []
        if self._pieces is None:
            self._pieces = self._played(self.context.watermark_us)
        piece = next(self._pieces, None)
        if piece is None:
            self._pieces = None
            for at_us in (self._waiting.earliest_us, self._states.earliest_us()):
                self._wake(at_us)
            return []
        self.context.timers.at_event_time(timer.at_us)
        return [piece]

    def _wake(self, at_us: int | None) -> None:
        """What is at this time is due when the watermark is beyond it."""
        known = self.context.timers.next_event_us
        if at_us is not None and (known is None or at_us + 1 < known):
            self.context.timers.at_event_time(at_us + 1)

    def _played(self, until_us: int) -> Iterator[Batch]:
        """Everything before this time, in pieces; the state is saved with the last."""
        self._until_us = until_us
        rows = self._waiting.due(until_us)
        groups = group([rows.column(name) for name, _ in self._columns.keys], rows.num_rows)
        entries = self._states.of(groups.keys) if rows.num_rows else []
        for entry, count in zip(entries, np.bincount(groups.codes, minlength=len(entries)).tolist(), strict=True):
            entry.rows_left = count
        due = {entry.rank: entry for entry in (*self._states.with_timers(until_us), *entries)}
        self._due = [(at_us, rank) for rank, entry in due.items() for at_us in entry.timers if at_us < until_us]
        heapq.heapify(self._due)
        for calls, _ in enumerate(self._calls(rows, groups.codes, entries), 1):
            if calls % CALLS_PER_PIECE == 0:
                yield self._emitted.taken()
        self._entry = None
        self._states.save()
        yield self._emitted.taken()

    def _calls(self, rows: pa.RecordBatch, codes: Any, entries: Sequence[KeyEntry]) -> Iterator[None]:
        """Calls the class, once for each step."""
        at_us = microseconds(rows.column(self._columns.time)).tolist()
        call, due = self._work.on_row, self._due
        for start in range(0, rows.num_rows, ROWS_AT_ONCE):
            some = rows.slice(start, ROWS_AT_ONCE)
            listed = zip(at_us[start : start + ROWS_AT_ONCE], codes[start : start + ROWS_AT_ONCE].tolist(), strict=True)
            for number, ((now_us, code), row) in enumerate(zip(listed, self._objects(some), strict=True)):
                while due and due[0][0] < now_us:
                    if self._fired():
                        yield
                entry = self._entry = entries[code]
                self._now_us, self._is_timer = now_us, False
                try:
                    call(entry.key, row, entry.value)
                except Exception as error:
                    raise self._failed("on_row", error, some.slice(number, 1)) from error
                entry.rows_left -= 1
                yield
        while due:
            if self._fired():
                yield

    def _fired(self) -> bool:
        """Calls for the first timer; False where it was removed meanwhile."""
        at_us, rank = heapq.heappop(self._due)
        entry = self._states.at(rank)
        if at_us not in entry.timers:
            return False
        entry.timers.discard(at_us)
        self._entry, self._now_us, self._is_timer = entry, at_us, True
        try:
            self._work.on_timer(entry.key, self.now, entry.value)
        except Exception as error:
            raise self._failed("on_timer", error, None) from error
        entry.depths.pop(at_us, None)
        return True

    def _objects(self, rows: pa.RecordBatch) -> Iterable[Any]:
        row_type = self._work.declared.row_type
        return rows.select(self._waiting.names).to_pylist() if row_type is None else rows_from(rows, row_type)

    # What the class reaches while it is called.

    @property
    def now(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self._now_us)

    def emit(self, row: Any) -> None:
        self._emitted.add(row)

    def set_timer(self, at: datetime) -> None:
        entry, at_us = self._current(), _microseconds(at)
        if self._is_timer and at_us <= self._now_us:
            message = f"on_timer sets a timer at {at.isoformat()}, and it is called at {self.now.isoformat()}"
            raise InvalidInput(message, hint="a timer that is set in on_timer must be later, else it never ends")
        at_us = max(at_us, self._now_us)
        if at_us in entry.timers or self._is_beyond_end(entry, at_us):
            return
        if len(entry.timers) >= TIMERS_PER_KEY_MAX:
            raise InvalidInput(
                f"more than {TIMERS_PER_KEY_MAX:,} timers wait for the key {entry.key!r}",
                hint="set one timer for the next time, and the one after it in on_timer",
            )
        entry.timers.add(at_us)
        if at_us < self._until_us:
            heapq.heappush(self._due, (at_us, entry.rank))

    def cancel_timer(self, at: datetime) -> None:
        self._current().timers.discard(_microseconds(at))

    def clear_timers(self) -> None:
        self._current().timers.clear()

    def delete_state(self) -> None:
        self._states.renew(self._current())

    def count(self, name: str, by: int) -> None:
        self.context.counts[name] += by

    def _is_beyond_end(self, entry: KeyEntry, at_us: int) -> bool:
        """At the end of a bounded input a timer that sets the next one would go on for ever."""
        if not self._is_timer or entry.rows_left or self._until_us < END_OF_TIME_US // 2:
            return False
        depth = entry.depths.get(self._now_us, 0) + 1
        if depth > self._work.timers_at_end:
            self.context.counts["timers_left"] += 1
            return True
        entry.depths[at_us] = depth
        return False

    def _current(self) -> KeyEntry:
        if self._entry is None:
            raise InvalidInput("timers and state belong to a key", hint="call this in on_row or on_timer")
        return self._entry

    def _failed(self, method: str, error: Exception, row: pa.RecordBatch | None) -> KeyedCallFailed:
        key = self._current().key
        where = f"the key {key!r} at {self.now.isoformat()}"
        if row is not None:
            where += f", {_record(row)}row {_quoted(row.select(self._waiting.names))}"
        name = type(self._work).__name__
        hint = getattr(error, "hint", None)
        return KeyedCallFailed(f"{name}.{method} failed for {where}: {type(error).__name__}: {error}", hint=hint)


def _microseconds(at: datetime) -> int:
    if at.tzinfo is None:
        hint = "times of rows have one; write datetime(…, tzinfo=UTC)"
        raise InvalidInput(f"the timer at {at.isoformat()} has no time zone", hint=hint)
    return (at - _EPOCH) // _MICROSECOND


def _record(row: pa.RecordBatch) -> str:
    origin, offset = row.column(ORIGIN)[0].as_py(), row.column(OFFSET)[0].as_py()
    return "" if origin == NO_ORIGIN else f"partition {origin % PARTITIONS_PER_SOURCE}, offset {offset}, "


def _quoted(row: pa.RecordBatch) -> str:
    return json.dumps(row.to_pylist()[0], default=str)[:ROW_CHARACTERS_MAX]

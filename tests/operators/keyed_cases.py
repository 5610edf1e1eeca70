"""A keyed class that does all that one can do, and the same in plain Python without micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from headrace.operators import KeyedOperator

SECOND = timedelta(seconds=1)


@dataclass
class Settings:
    step: timedelta = field(default=timedelta(seconds=2), metadata={"help": "How far ahead timers are set."})
    again: int = field(default=3, metadata={"help": "A timer in so many sets the next.", "ge": 1})


@dataclass
class Event:
    k: str | None
    n: int | None
    ts: datetime


@dataclass
class Seen:
    numbers: dict[int, list[int]] = field(default_factory=dict)
    last: datetime | None = None
    fired: int = 0


@dataclass
class Told:
    k: str | None
    what: str
    at: datetime
    total: int


class Script(KeyedOperator[Event, Seen, Told, Settings]):
    """Sets, cancels and clears timers, changes and deletes state, as the number of the row says."""

    key = "k"
    event_time = "ts"
    emitted_time = "at"

    def on_row(self, key: str | None, row: Event, state: Seen) -> None:
        number, step = row.n or 0, self.settings.step
        state.numbers.setdefault(number % 3, []).append(number)
        state.last = row.ts
        match number % 7:
            case 0:
                self.set_timer(row.ts + step)
            case 1:
                self.clear_timers()
            case 2:
                self.delete_state()
            case 3:
                self.set_timer(row.ts + step)
                self.set_timer(row.ts + 2 * step)
            case 4:
                self.set_timer(row.ts - step)
            case 5:
                self.cancel_timer(row.ts + SECOND)
            case _:
                pass
        self.emit(Told(key, "row", self.now, sum(map(sum, state.numbers.values()))))

    def on_timer(self, key: str | None, time: datetime, state: Seen) -> None:
        state.fired += 1
        if state.fired % self.settings.again == 1:
            self.set_timer(time + 3 * SECOND)
        if state.fired % 4 == 0:
            self.delete_state()
        last = 0 if state.last is None else int(state.last.timestamp())
        self.emit(Told(key, "timer", time, 1000 * state.fired + last))


def at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


@dataclass
class _Key:
    numbers: list[int] = field(default_factory=list)
    last: int = 0
    fired: int = 0
    timers: set[int] = field(default_factory=set)


def expected(rows: Sequence[tuple[Any, int, int]], until: float, step: int = 2, again: int = 3) -> list[dict[str, Any]]:
    """What `Script` emits up to a time, in whole seconds, of rows (key, number, second) in order."""
    keys: dict[str | None, _Key] = {}
    emitted: list[dict[str, Any]] = []
    waiting = [row for row in rows if row[2] < until]
    while True:
        armed = [(second, key is not None, key or "") for key, one in keys.items() for second in one.timers]
        second, *rank = min(armed, default=(1 << 60, False, ""))
        if waiting and waiting[0][2] <= second:
            key, number, now = waiting.pop(0)
            one = keys.setdefault(key, _Key())
            _row(keys, key, number, now, step)
            total = sum(one.numbers)
            emitted.append({"k": key, "what": "row", "at": at(now), "total": total})
        elif armed and second < until:
            key = next(key for key in keys if [key is not None, key or ""] == rank)
            emitted.append(_timer(keys, key, second, again))
        else:
            return emitted


def _row(keys: dict[str | None, _Key], key: str | None, number: int, now: int, step: int) -> None:
    one = keys[key]
    one.numbers.append(number)
    one.last = now
    match number % 7:
        case 0:
            one.timers.add(now + step)
        case 1:
            one.timers.clear()
        case 2:
            keys[key] = _Key()
        case 3:
            one.timers |= {now + step, now + 2 * step}
        case 4:
            one.timers.add(now)
        case 5:
            one.timers.discard(now + 1)
        case _:
            pass


def _timer(keys: dict[str | None, _Key], key: str | None, second: int, again: int) -> dict[str, Any]:
    one = keys[key]
    one.timers.discard(second)
    one.fired += 1
    if one.fired % again == 1:
        one.timers.add(second + 3)
    if one.fired % 4 == 0:
        keys[key] = _Key()
    return {"k": key, "what": "timer", "at": at(second), "total": 1000 * one.fired + one.last}


@dataclass
class SilenceSettings:
    silence: timedelta = field(default=timedelta(minutes=1), metadata={"help": "How long a device may be silent."})


@dataclass
class Reading:
    device: str
    ts: datetime


@dataclass
class Heard:
    last: datetime | None = None


@dataclass
class Alert:
    device: str
    since: datetime | None
    reported: datetime


class Silence(KeyedOperator[Reading, Heard, Alert, SilenceSettings]):
    """Reports devices that are silent, and forgets them."""

    key = "device"
    event_time = "ts"
    adjustable = ("silence",)

    def on_row(self, key: str, row: Reading, state: Heard) -> None:
        state.last = row.ts
        self.clear_timers()
        self.set_timer(row.ts + self.settings.silence)

    def on_timer(self, key: str, time: datetime, state: Heard) -> None:
        self.emit(Alert(key, state.last, time))
        self.delete_state()


class Totals(KeyedOperator[dict[str, Any], dict[str, Any], dict[str, Any], None]):
    key = ("site", "day")
    event_time = "ts"
    columns = "key STRING, numbers ARRAY<BIGINT>"

    def on_row(self, key: tuple[Any, ...], row: dict[str, Any], state: dict[str, Any]) -> None:
        state.setdefault("inside", {"numbers": []})["numbers"].append(row["n"])
        self.emit({"key": " ".join(map(str, key)), "numbers": list(state["inside"]["numbers"])})


@dataclass
class Tick:
    k: str
    at: datetime


@dataclass
class Timed:
    k: str
    ts: datetime


@dataclass
class Nothing:
    pass


class Ticks(KeyedOperator[Timed, Nothing, Tick, None]):
    key = "k"
    event_time = "ts"
    timers_at_end = 1

    def on_row(self, key: str, row: Timed, state: Nothing) -> None:
        self.set_timer(row.ts + SECOND)

    def on_timer(self, key: str, time: datetime, state: Nothing) -> None:
        self.emit(Tick(key, time))
        self.set_timer(time + SECOND)

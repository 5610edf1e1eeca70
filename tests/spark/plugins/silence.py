"""`silence`: a keyed class in the plugin folder, as users write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headrace.operators import KeyedOperator


@dataclass
class Settings:
    silence: timedelta = field(default=timedelta(minutes=1), metadata={"help": "How long a key may be silent."})


@dataclass
class Reading:
    k: str
    n: int
    ts: datetime


@dataclass
class Heard:
    numbers: list[int] = field(default_factory=list)


@dataclass
class Report:
    k: str
    at: datetime
    numbers: int
    total: int


class Silence(KeyedOperator[Reading, Heard, Report, Settings]):
    """Reports keys that are silent, with what they had before."""

    key = "k"
    event_time = "ts"
    emitted_time = "at"

    def on_row(self, key: str, row: Reading, state: Heard) -> None:
        state.numbers.append(row.n)
        self.clear_timers()
        self.set_timer(row.ts + self.settings.silence)

    def on_timer(self, key: str, time: datetime, state: Heard) -> None:
        self.emit(Report(key, time, len(state.numbers), sum(state.numbers)))
        self.delete_state()

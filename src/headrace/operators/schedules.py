"""When a trigger fires: every so often, at the times of a cron line, or once. Nothing here reads the clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Final, Protocol

from cronsim import CronSim, CronSimError

from headrace.errors import InvalidInput

# Before every firing: where a trigger stands that has not fired yet, if it fires just once.
NEVER: Final = 0
# A stream asks for the next firing many times a second, and the answer stays the same until it has fired.
_ASKED_MAX: Final = 256
_FIELDS: Final = "write five fields, minute hour day month weekday, such as '*/5 * * * *'"


class Schedule(Protocol):
    """Moments in milliseconds since the epoch."""

    def next_ms(self, after_ms: int) -> int | None:
        """The first firing after a moment; None if there is none."""

    def last_ms(self, until_ms: int) -> int | None:
        """The last firing up to and at a moment; None if there is none."""


@dataclass(frozen=True, slots=True)
class Every:
    """Multiples of a duration since the epoch, as windows are aligned."""

    duration_ms: int

    def next_ms(self, after_ms: int) -> int | None:
        return (after_ms // self.duration_ms + 1) * self.duration_ms

    def last_ms(self, until_ms: int) -> int | None:
        return until_ms // self.duration_ms * self.duration_ms


@dataclass(frozen=True, slots=True)
class Cron:
    """The times that a cron line names, in UTC."""

    line: str

    def next_ms(self, after_ms: int) -> int | None:
        return _next_of(self.line, after_ms)

    def last_ms(self, until_ms: int) -> int | None:
        # One later, because the search leaves out the moment where it begins.
        return _found(CronSim(self.line, _moment(until_ms + 1), reverse=True))


@dataclass(frozen=True, slots=True)
class Once:
    """At one moment, by a trigger that has never fired before."""

    at_ms: int

    def next_ms(self, after_ms: int) -> int | None:
        return self.at_ms if after_ms == NEVER else None

    def last_ms(self, until_ms: int) -> int | None:
        return self.at_ms if self.at_ms <= until_ms else None


def check_cron(line: str) -> str:
    """The line with one blank between its fields. Raises InvalidInput for one that names no times."""
    try:
        next(CronSim(line, _moment(NEVER)))
    except CronSimError as error:
        raise InvalidInput(f"{line!r} is no schedule: {str(error).lower()}", hint=_FIELDS) from error
    except StopIteration:
        raise InvalidInput(f"{line!r} never comes", hint=_FIELDS) from None
    return " ".join(line.split())


def firings_ms(schedule: Schedule, after_ms: int, until_ms: int) -> Iterator[int]:
    """All firings after one moment, up to and at another."""
    moment_ms = schedule.next_ms(after_ms)
    while moment_ms is not None and moment_ms <= until_ms:
        yield moment_ms
        moment_ms = schedule.next_ms(moment_ms)


def newest_firings_ms(schedule: Schedule, until_ms: int, count_max: int) -> list[int]:
    """The last firings up to a moment, the newest last."""
    return list(islice(_backwards(schedule, until_ms), count_max))[::-1]


def _backwards(schedule: Schedule, until_ms: int) -> Iterator[int]:
    moment_ms = schedule.last_ms(until_ms)
    while moment_ms is not None and moment_ms > NEVER:
        yield moment_ms
        moment_ms = schedule.last_ms(moment_ms - 1)


@lru_cache(_ASKED_MAX)
def _next_of(line: str, after_ms: int) -> int | None:
    return _found(CronSim(line, _moment(after_ms)))


def _found(search: CronSim) -> int | None:
    found = next(search, None)
    return None if found is None else int(found.timestamp()) * 1000


def _moment(moment_ms: int) -> datetime:
    return datetime.fromtimestamp(moment_ms / 1000, UTC)

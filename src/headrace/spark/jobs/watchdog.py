"""Asks of every running query whether it has moved, or had nothing to do.

A query moves when Spark reports a micro-batch or says that there was none to run, and when a micro-batch gets from its
tasks to its commit. One that did not for `quiet_s` is reported; after `stuck_s` it is started again. Because a
micro-batch may be that long for good reasons, the limit doubles with every restart that did not help.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Final, Literal, Protocol

from headrace.errors import InvalidConfig
from headrace.spark.session.keeper import ANSWER_S

Step = Literal["plan", "tasks", "commit"]

_WAITS_FOR: Final[dict[Step, str]] = {
    "plan": "its source does not plan the next micro-batch",
    "tasks": "the tasks of a micro-batch do not end",
    "commit": "the commit of a micro-batch does not end",
}


VARIABLE_PREFIX: Final = "HEADRACE_WATCH_"


@dataclass(frozen=True, slots=True)
class WatchLimits:
    quiet_s: float = 60.0
    stuck_s: float = 300.0
    stuck_max_s: float = 3600.0
    # Java that has not answered for so long is killed and started again.
    java_answer_s: float = ANSWER_S

    @classmethod
    def from_environment(cls) -> WatchLimits:
        """The defaults, but for HEADRACE_WATCH_QUIET_S and the like. Raises InvalidConfig."""
        names = {field.name: VARIABLE_PREFIX + field.name.upper() for field in fields(cls)}
        return cls(**{name: _seconds(given) for name, given in names.items() if given in os.environ})


def _seconds(variable: str) -> float:
    text = os.environ[variable]
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    # NaN is not above 0 either.
    if not 0 < seconds < math.inf:
        raise InvalidConfig(f"the environment variable {variable} is {text!r}", valid=["a number of seconds above 0"])
    return seconds


class Watched(Protocol):
    """What is asked of a query."""

    @property
    def name(self) -> str: ...
    @property
    def step(self) -> Step: ...
    @property
    def moved_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Stall:
    """A query that stands still."""

    query: str
    step: Step
    seconds: float
    is_stuck: bool

    def __str__(self) -> str:
        return f"query {self.query} has not moved for {self.seconds:.0f} s: {_WAITS_FOR[self.step]}"


class Watchdog:
    """For the queries of one job."""

    def __init__(self, limits: WatchLimits, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock_s = clock_s
        self._stuck_s = limits.stuck_s

    def look(self, queries: Iterable[Watched]) -> Stall | None:
        """The query that stood still longest, if that is long enough to report."""
        now_s = self._clock_s()
        slowest = min(queries, key=lambda query: query.moved_s, default=None)
        seconds = 0.0 if slowest is None else now_s - slowest.moved_s
        if slowest is None or seconds < min(self._limits.quiet_s, self._stuck_s):
            return None
        return Stall(slowest.name, slowest.step, seconds, is_stuck=seconds >= self._stuck_s)

    def restarted(self) -> None:
        """A query was started again because it was stuck: next time it gets longer."""
        self._stuck_s = min(self._limits.stuck_max_s, 2 * self._stuck_s)

    def helped(self) -> None:
        """The job has run well since."""
        self._stuck_s = self._limits.stuck_s

"""What the broker logs: events with fields, one JSON object a line where a process asks for it.

It stands on Python's own logging, which asyncio loads anyway: what a broker imports is most of its
start.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

_NAME: Final = "headrace.wire"

# Lines of one kind of event that clients cause, in so many seconds; beyond it they are only counted.
LINES_MAX: Final = 20
PERIOD_S: Final = 60.0
# Kinds of reasons told apart in that time.
KINDS_MAX: Final = 50

_NUMBERS: Final = re.compile(r"-?\d+")


class Event(NamedTuple):
    """What happened, always in the same words, and to what."""

    event: str
    fields: Mapping[str, object]

    def __str__(self) -> str:
        return " ".join([self.event, *(f"{name}={value}" for name, value in self.fields.items())])


class EventLog:
    """One for each module, as with `logging.getLogger`."""

    def __init__(self, name: str = _NAME) -> None:
        self._logger = logging.getLogger(name)

    def info(self, event: str, **fields: object) -> None:
        self._logger.info(Event(event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self._logger.warning(Event(event, fields))

    def error(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """With the traceback of `error` where it is given."""
        self._logger.error(Event(event, fields), exc_info=error)

    def exception(self, event: str, **fields: object) -> None:
        """With the traceback of the exception being handled."""
        self._logger.exception(Event(event, fields))


class CountedLog:
    """For what clients can cause as often as they like: of each reason a few lines in a while, then how many more."""

    def __init__(self, event: str, *, lines_max: int = LINES_MAX, period_s: float = PERIOD_S) -> None:
        self._event = event
        self._lines_max = lines_max
        self._period_s = period_s
        self._began_s = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._log = EventLog()

    def warning(self, *, reason: str, **fields: object) -> None:
        self.settle()
        # Numbers differ with every client; a reason is its words.
        words = _NUMBERS.sub("…", reason)
        kind = words if words in self._counts or len(self._counts) < KINDS_MAX else "other reasons"
        self._counts[kind] += 1
        if self._counts[kind] <= self._lines_max:
            self._log.warning(self._event, **fields, reason=reason)

    def settle(self) -> None:
        """Called now and then: what was only counted is logged once the while is over."""
        if time.monotonic() - self._began_s < self._period_s:
            return
        counts, self._counts, self._began_s = self._counts, Counter(), time.monotonic()
        for kind, count in counts.items():
            if count > self._lines_max:
                self._log.warning(self._event, more=count - self._lines_max, reason=kind)


def log_to_stderr() -> None:
    """Called once by a process of its own: everything logged there goes to stderr as JSON lines."""
    logging.basicConfig(level=logging.INFO, handlers=[_JsonLines()])


class _JsonLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            # Whatever stderr is at that moment: it may be exchanged while the process runs.
            sys.stderr.write(json.dumps(_line(record), default=str) + "\n")
        except Exception:
            self.handleError(record)


def _line(record: logging.LogRecord) -> dict[str, Any]:
    said: Any = record.msg
    event, fields = said if isinstance(said, Event) else (record.getMessage(), {})
    time = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
    line = {**fields, "event": event, "level": record.levelname.lower(), "timestamp": time}
    return {**line, "exception": logging.Formatter().formatException(record.exc_info)} if record.exc_info else line

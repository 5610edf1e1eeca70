"""What is wrong with the machine or the engine now, beside any pipeline: begun once, ended once, shown meanwhile."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from headrace.spark.jobs.events import EventBus

# The events of a notice belong to no pipeline.
NO_PIPELINE: Final = ""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notice:
    """`code` names the trouble; one code has one notice at a time."""

    code: str
    message: str
    hint: str | None
    since_ms: int


class Notices:
    """May be called from any thread. `said` gets one sentence for each begin and each end."""

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._current: dict[str, Notice] = {}
        self.said: Callable[[str], None] = lambda sentence: None

    @property
    def current(self) -> tuple[Notice, ...]:
        with self._lock:
            return tuple(self._current.values())

    def begin(self, code: str, message: str, hint: str | None = None) -> None:
        """A notice of this code that stands already gets the new words, without a new event."""
        with self._lock:
            known = self._current.get(code)
            since_ms = time.time_ns() // 1_000_000 if known is None else known.since_ms
            notice = self._current[code] = Notice(code, message, hint, since_ms)
        if known is None:
            self._say(message, {**asdict(notice), "begins": True})

    def end(self, code: str, message: str) -> None:
        with self._lock:
            notice = self._current.pop(code, None)
        if notice is not None:
            self._say(message, {**asdict(notice), "message": message, "hint": None, "begins": False})

    def _say(self, sentence: str, details: dict[str, object]) -> None:
        _log.warning("%s", sentence)
        self._events.publish(NO_PIPELINE, "system", details)
        self.said(sentence)

"""All connections of the server: a bounded number, of which those without a request make room for new ones.

Any program on this machine can connect and send nothing, or half a request. It must not lock others out: a new
connection takes the place of the one that has waited longest. What is being served is never ended for another.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

# Refusals are told together: a line for each would fill the log.
TOLD_EVERY_S: Final = 60.0

_log = logging.getLogger(__name__)


class Connection(Protocol):
    def abort(self) -> None: ...


class Crowd:
    """Used by the event loop alone."""

    def __init__(self, connections_max: int, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._connections_max = connections_max
        self._clock_s = clock_s
        # In the order in which they began to wait.
        self._waiting: dict[Connection, None] = {}
        self._served: set[Connection] = set()
        self._refused: Counter[str] = Counter()
        self._told_s = -TOLD_EVERY_S

    def wait(self, connection: Connection) -> None:
        """It has no request that is being served."""
        self._served.discard(connection)
        self._waiting.setdefault(connection)

    def serve(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._served.add(connection)

    def leave(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._served.discard(connection)

    def make_room(self) -> None:
        """Called after one has come: it stays unless all others are being served."""
        while self._waiting and len(self._waiting) + len(self._served) > self._connections_max:
            oldest = next(iter(self._waiting))
            self.leave(oldest)
            self.note("connections that made room for others")
            oldest.abort()

    def note(self, what: str) -> None:
        """Counts a refusal; the log gets the counts once in a while."""
        self._refused[what] += 1
        now_s = self._clock_s()
        if now_s - self._told_s < TOLD_EVERY_S:
            return
        told = ", ".join(f"{count} {name}" for name, count in self._refused.items())
        _log.warning("refused since the last such line: %s", told)
        self._refused.clear()
        self._told_s = now_s

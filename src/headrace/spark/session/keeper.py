"""Keeps a Spark session: notices within a second that Java ended, or that it no longer answers, and starts it again."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import EngineLost, HeadraceError
from headrace.spark.session.liveness import HINT, forget_session, how_java_ended, kill_java
from headrace.spark.session.session import SparkSettings, is_session_foreign, start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WATCH_S: Final = 0.25
# Java is asked so often whether it is there; one that has not answered for so long is killed.
ASK_S: Final = 5.0
ANSWER_S: Final = 60.0
# Between attempts to start Java again.
RETRY_FIRST_S: Final = 1.0
RETRY_MAX_S: Final = 30.0

_log = logging.getLogger(__name__)

STARTING: Final = EngineLost("Spark starts", hint="try again in a few seconds")


class SessionKeeper:
    """`prepare` is called with each new session before it is used; `lost` and `back` when it goes and returns.

    All three are called by the thread that watches, but for the first `prepare`.
    """

    def __init__(
        self,
        settings: SparkSettings,
        *,
        prepare: Callable[[SparkSession], None],
        lost: Callable[[EngineLost], None] = lambda error: None,
        back: Callable[[float], None] = lambda seconds: None,
        answer_s: float = ANSWER_S,
    ) -> None:
        self._settings = settings
        self._prepare, self._lost, self._back = prepare, lost, back
        self._answer_s = answer_s
        self._session: SparkSession | None = None
        self._reason: EngineLost | None = STARTING
        self._owned = True
        self._closing = threading.Event()
        self._answered_s = 0.0
        self.restarts = 0
        self._watcher = threading.Thread(target=self._watch, name="spark-watch", daemon=True)
        self._asker = threading.Thread(target=self._ask, name="spark-ask", daemon=True)

    def open(self) -> None:
        """Spark is up afterwards: the session that this process has, or a new one. Raises ExternalFailure."""
        self._owned = not is_session_foreign(self._settings)
        self._begin(start_session(self._settings))
        self._watcher.start()
        self._asker.start()

    def close(self, goodbye: Callable[[SparkSession], None]) -> None:
        """Stops Spark, unless the process had it before. `goodbye` is called first where Spark still answers."""
        self._closing.set()
        if self._watcher.is_alive():
            self._watcher.join()
        session, self._session = self._session, None
        self._reason = EngineLost("the engine is closed")
        if session is None:
            return
        if how_java_ended() is not None:
            forget_session()
            return
        goodbye(session)
        if self._owned:
            session.stop()

    @property
    def reason(self) -> EngineLost | None:
        """Why there is no session now; None while there is one."""
        return self._reason

    @property
    def session(self) -> SparkSession:
        """Raises EngineLost while there is none."""
        session = self._session
        if session is None or self._reason is not None:
            raise self._reason or STARTING
        return session

    def _begin(self, session: SparkSession) -> None:
        self._prepare(session)
        self._answered_s = time.monotonic()
        self._session, self._reason = session, None

    def _watch(self) -> None:
        while not self._closing.wait(WATCH_S):
            ended = how_java_ended()
            if ended is not None:
                self._revive(EngineLost(ended, hint=HINT))
            elif time.monotonic() - self._answered_s > self._answer_s:
                kill_java(f"no answer for {self._answer_s:.0f} s")

    def _ask(self) -> None:
        """In a thread of its own: a question to a process that hangs does not come back."""
        while not self._closing.wait(min(ASK_S, self._answer_s / 4)):
            session = self._session
            # Whatever is raised, it was no answer.
            with contextlib.suppress(Exception):
                if session is not None:
                    jvm: Any = session._jvm
                    jvm.java.lang.System.nanoTime()
                    self._answered_s = time.monotonic()

    def _revive(self, error: EngineLost) -> None:
        self._session, self._reason = None, error
        began_s = time.monotonic()
        _log.error("%s; it is started again", error.message)
        self._lost(error)
        wait_s = RETRY_FIRST_S
        while not self._closing.is_set():
            forget_session()
            try:
                session = start_session(self._settings)
                self._owned = True
                self._begin(session)
            except Exception as failure:  # it may end at any moment of its start
                message = failure.message if isinstance(failure, HeadraceError) else f"{type(failure).__name__}"
                _log.error("Spark does not start again: %s; the next attempt is in %.0f s", message, wait_s)
                self._reason = EngineLost(f"{error.message}, and does not start again: {message}", hint=HINT)
                kill_java("its start failed")
                self._closing.wait(wait_s)
                wait_s = min(RETRY_MAX_S, 2 * wait_s)
                continue
            self.restarts += 1
            took_s = time.monotonic() - began_s
            _log.warning("Spark runs again after %.1f s", took_s)
            self._back(took_s)
            return

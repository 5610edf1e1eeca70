"""Ends user code that does not come back: with an error where Python can be interrupted, else with the process."""

from __future__ import annotations

import faulthandler
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# Code that ignores the interrupt, deep in a library, gets this much longer.
GRACE_S = 10.0


class OperatorHangs(Exception):
    """A call into an operator took longer than it may."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises OperatorHangs in the calling code; after some grace the worker process ends, with a traceback on stderr.

    Only the main thread can be interrupted: Spark's workers run operators there. Elsewhere nothing is limited.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise OperatorHangs(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(seconds + GRACE_S, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Sessions that were begun before anybody needs them: they start while the process imports its own code."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from headrace.spark.session.launch import Launch
from headrace.spark.session.liveness import forget_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.spark.session.session import SparkSettings


class _Begun(threading.Thread):
    """Makes one session, or keeps why there is none."""

    def __init__(self, settings: SparkSettings, launched: Launch, made: Callable[[], SparkSession | None]) -> None:
        super().__init__(name="begin-spark", daemon=True)
        self.settings = settings
        self._launched, self._made = launched, made
        self._session: SparkSession | None = None
        self._failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._session = self._made()
        except BaseException as failure:  # whatever it is, whoever takes the session gets it
            self._failure = failure

    def session(self) -> SparkSession | None:
        """Waits for it. Raises what making it raised."""
        self.join()
        if self._failure is not None:
            raise self._failure
        return self._session

    def abandon(self) -> None:
        self._launched.kill()
        self.join()
        with contextlib.suppress(Exception):
            forget_session()


_begun: list[_Begun] = []


def begin(settings: SparkSettings, launched: Launch, made: Callable[[], SparkSession | None]) -> None:
    begun = _Begun(settings, launched, made)
    _begun.append(begun)
    begun.start()


def is_begun(settings: SparkSettings) -> bool:
    return any(begun.settings == settings for begun in _begun)


def take_begun(settings: SparkSettings) -> SparkSession | None:
    """What was begun for these settings, once it is there; None where that came to nothing. What was begun for others
    is not needed any more."""
    found = None
    while _begun:
        begun = _begun.pop()
        if begun.settings == settings:
            found = begun
        else:
            begun.abandon()
    return None if found is None else found.session()


def abandon_session() -> None:
    """Ends what was begun and nobody took."""
    while _begun:
        _begun.pop().abandon()

"""Browsers that are logged in: each has an id of its own, which ends, can be ended, and is of no use to other accounts.

A browser sends a cookie of 127.0.0.1 to every port of it, so to servers of other accounts too. That is why a cookie is
never the token, and why a session belongs to the account whose browser began it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from headrace.errors import DiskFailure
from headrace.process.files import PRIVATE, write_atomically

SESSIONS_FILE: Final = "sessions.json"
ID_BYTES: Final = 24
# Without a request for as long, and after as long in any case, the token is needed again.
IDLE_S_MAX: Final = 7 * 24 * 3600.0
LIFE_S_MAX: Final = 30 * 24 * 3600.0
# The one that was idle longest makes room.
SESSIONS_MAX: Final = 100
# How far the last use on disk may lie behind.
NOTE_EVERY_S: Final = 600.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Session:
    """`account` is the user id that the browser ran as; None where the system does not say."""

    begun_s: float
    used_s: float
    account: int | None

    def is_over(self, now_s: float) -> bool:
        return now_s - self.used_s > IDLE_S_MAX or now_s - self.begun_s > LIFE_S_MAX


class Sessions:
    """Used by the event loop alone. On disk are hashes of the ids: who reads the file cannot log in with it."""

    def __init__(self, data_directory: Path, token: str, clock_s: Callable[[], float] = time.time) -> None:
        """Sessions that another token began are over."""
        self._path = data_directory / SESSIONS_FILE
        self._token_hash = _hash(token)
        self._clock_s = clock_s
        self._open = self._read()

    def begin(self, account: int | None) -> str:
        """The id of a new session; only the browser knows it afterwards."""
        now_s = self._clock_s()
        self._open = {key: session for key, session in self._open.items() if not session.is_over(now_s)}
        while len(self._open) >= SESSIONS_MAX:
            del self._open[min(self._open, key=lambda key: self._open[key].used_s)]
        session_id = secrets.token_urlsafe(ID_BYTES)
        self._open[_hash(session_id)] = Session(now_s, now_s, account)
        self._write()
        return session_id

    def is_open(self, session_id: str, account: int | None) -> bool:
        """Whether a request with this id, from a process of this account, is let in."""
        key, now_s = _hash(session_id), self._clock_s()
        session = self._open.get(key)
        if session is None or session.is_over(now_s) or session.account not in (None, account):
            return False
        if now_s - session.used_s > NOTE_EVERY_S:
            self._open[key] = replace(session, used_s=now_s)
            self._write()
        return True

    def end(self, session_id: str) -> None:
        if self._open.pop(_hash(session_id), None) is not None:
            self._write()

    def end_all(self) -> None:
        self._open.clear()
        self._write()

    def _read(self) -> dict[str, Session]:
        try:
            written = json.loads(self._path.read_bytes())
            if written["token"] != self._token_hash:
                return {}
            return {str(key): Session(**fields) for key, fields in written["sessions"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("%s cannot be read (%s): browsers must log in again", self._path, error)
            return {}

    def _write(self) -> None:
        sessions = {key: asdict(session) for key, session in self._open.items()}
        text = json.dumps({"token": self._token_hash, "sessions": sessions})
        try:
            write_atomically(self._path, text, mode=PRIVATE)
        except DiskFailure as error:
            # Who is logged in stays so; only a restart would ask for the token again.
            _log.warning("%s", error)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()

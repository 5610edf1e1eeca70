"""Tables that were declared for good, by statements of their own: in a small file beside the copies.

Copies can be made anew from their topics, so backups leave them out; what declared them cannot.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Final

from headrace.errors import CorruptData
from headrace.process import write_atomically

FILE_NAME: Final = "tables.json"
FORMAT: Final = 1


class Declarations:
    """A file that is replaced whole. Each change is on disk when its call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    @classmethod
    def beside(cls, copies: Path) -> Declarations:
        """Of a data directory, by the path of its copies. Raises CorruptData for a file that cannot be read.

        Older versions kept the statements among the copies: they are taken from there, and those copies are gone
        afterwards, for one that came out of a backup may be ahead of its topic.
        """
        made = cls(copies.with_name(FILE_NAME))
        if not made._path.exists() and (found := _among(copies)) is not None:
            made._write(found)
            for old in copies.parent.glob(f"{copies.name}*"):
                old.unlink()
        made.statements()
        return made

    def statements(self) -> dict[str, str]:
        """Name → the statement that declared it, by name."""
        if not self._path.exists():
            return {}
        try:
            statements: dict[str, str] = json.loads(self._path.read_text())["statements"]
        except (ValueError, KeyError, TypeError) as error:
            hint = "restore it from a backup, or delete it and declare the tables again"
            raise CorruptData(f"{self._path} does not tell the declared tables", hint=hint) from error
        return dict(sorted(statements.items()))

    def remember(self, name: str, statement: str) -> None:
        with self._lock:
            self._write({**self.statements(), name: statement})

    def forget(self, name: str) -> None:
        with self._lock:
            self._write({known: statement for known, statement in self.statements().items() if known != name})

    def _write(self, statements: dict[str, str]) -> None:
        write_atomically(self._path, json.dumps({"format": FORMAT, "statements": statements}))


def _among(copies: Path) -> dict[str, str] | None:
    """What an older version declared among its copies; None where none did."""
    if not copies.exists():
        return None
    try:
        with closing(sqlite3.connect(copies)) as connection:
            return dict(connection.execute("SELECT name, statement FROM declared").fetchall())
    except sqlite3.DatabaseError:
        return None

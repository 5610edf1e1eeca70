"""The SQLite file under the version store: opening, format, transactions, and errors in our own words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.errors import Conflict, CorruptData, DiskFailure, ExternalFailure

BUSY_TIMEOUT_MS = 5_000  # how long to wait for another process that writes

# Each entry brings the file from format n to n + 1; entries are never changed, only added.
MIGRATIONS = (
    """
    CREATE TABLE pipelines (
        name TEXT PRIMARY KEY,
        archived INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE versions (
        pipeline TEXT NOT NULL REFERENCES pipelines (name) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        note TEXT NOT NULL,
        author TEXT NOT NULL,
        saved_at TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        document TEXT NOT NULL,
        layout TEXT NOT NULL,
        PRIMARY KEY (pipeline, number)
    ) STRICT, WITHOUT ROWID;
    """,
    # A draft that was discarded leaves its row without a document: its revisions never begin anew.
    """
    CREATE TABLE drafts (
        pipeline TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        base_version INTEGER NOT NULL,
        saved_at TEXT NOT NULL,
        document TEXT,
        layout TEXT
    ) STRICT, WITHOUT ROWID;
    """,
    # When a version was last started. Of versions from before it is not known: they count as if started when saved.
    """
    ALTER TABLE versions ADD COLUMN ran_at TEXT;
    UPDATE versions SET ran_at = saved_at
    """,
    # Texts that somebody is writing and that cannot be read as a pipeline yet, one for each notation.
    """
    CREATE TABLE draft_texts (
        pipeline TEXT NOT NULL,
        notation TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (pipeline, notation)
    ) STRICT, WITHOUT ROWID
    """,
)


class Database:
    """One connection that threads share, one at a time. Other processes may read and write beside it."""

    def __init__(self, path: Path) -> None:
        """Creates the file or migrates it. Raises Conflict where it is newer, CorruptData where it is no database."""
        self._path = path
        self._lock = threading.RLock()
        with self._own_words():
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
        try:
            self._open()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view for all queries inside."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; on disk when it ends."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._own_words():
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _open(self) -> None:
        with self._own_words():
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        with self.writing() as connection:
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found > len(MIGRATIONS):
                hint = "start the newer Headrace, or another data directory"
                raise Conflict(
                    f"{self._path} has format {found}; this version reads up to {len(MIGRATIONS)}", hint=hint
                )
            for statement in (part for migration in MIGRATIONS[found:] for part in migration.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _own_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise ExternalFailure(f"{self._path} is in use by another process", hint="try again") from error
            raise DiskFailure(f"{self._path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise CorruptData(f"{self._path} is damaged or no version store: {error}") from error

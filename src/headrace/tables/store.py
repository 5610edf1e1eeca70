"""The copy of tables: the newest record of each key in SQLite, with the offsets reached in the same transaction.

SQLite, because it is in Python already, is transactional (a crash leaves records and offsets in step), finds a key in
microseconds, and keeps tables larger than memory on disk. It stores values as they stand in the topic and computes
nothing: what a row means is the decoder's and the language's, which pipelines use too. The copy can be thrown away at
any time: the topic is the truth.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.errors import DiskFailure
from headrace.tables.definition import Table

# 1 had a column for each of the table's.
FORMAT: Final = 2
PAGE_BYTES: Final = 4096
# All copies together; a table that would pass it is not kept up and says so.
COPIES_BYTES_MAX: Final = 8 << 30
BUSY_TIMEOUT_S: Final = 5.0
# After this, compaction may have removed the record that deleted a row: the copy is made anew.
COPY_AGE_MS_MAX: Final = 12 * 3600 * 1000

# How many records a reader takes at once.
READ_RECORDS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Stored:
    """`told` is the key that the row's columns tell, None where it is the record's."""

    told: bytes | None
    value: bytes


class TableStore:
    """One file. May be used by many threads: one writes at a time, each question has a connection of its own."""

    def __init__(self, path: Path) -> None:
        """Raises DiskFailure. A file of another format, or a broken one, is made anew."""
        self._path = path
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._opened()
        except sqlite3.DatabaseError:
            for old in path.parent.glob(f"{path.name}*"):
                old.unlink()
            self._connection = self._opened()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def prepare(self, table: Table) -> dict[int, int]:
        """Partition → offset that the copy has reached. A copy of other columns, or too old, begins anew."""
        with self._writing() as connection:
            meant = json.dumps([*table.keys, str(table.schema)])
            found = connection.execute("SELECT meant, time_ms FROM copies WHERE topic = ?", (table.topic,)).fetchone()
            if found is None or found[0] != meant or _now_ms() - found[1] > COPY_AGE_MS_MAX:
                self._create(connection, table, meant)
            rows = connection.execute("SELECT partition, reached FROM positions WHERE topic = ?", (table.topic,))
            return dict(rows.fetchall())

    def apply(self, table: Table, changes: Mapping[bytes, Stored | None], reached: Mapping[int, int]) -> None:
        """Records by key, None for those deleted, and how far they reach: all or nothing."""
        rows = _rows(table.topic)
        with self._writing() as connection:
            gone = [(key,) for key, row in changes.items() if row is None]
            connection.executemany(f"DELETE FROM {rows} WHERE key = ?", gone)  # noqa: S608 - a quoted name
            connection.executemany(
                f"INSERT OR REPLACE INTO {rows} VALUES (?, ?, ?)",  # noqa: S608
                ((key, row.told, row.value) for key, row in changes.items() if row is not None),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO positions VALUES (?, ?, ?)",
                [(table.topic, *place) for place in reached.items()],
            )
            connection.execute("UPDATE copies SET time_ms = ? WHERE topic = ?", (_now_ms(), table.topic))

    def records(self, topic: str, keys: Sequence[bytes] | None = None) -> Iterator[list[tuple[bytes, bytes]]]:
        """(Key, value) of the records of one moment; with `keys` those whose own key or told key is among them."""
        where = "" if keys is None else " WHERE key = ? UNION SELECT key, value FROM {0} WHERE told = ?"
        sql = f"SELECT key, value FROM {{0}}{where}".format(_rows(topic))  # noqa: S608
        with closing(self._reader()) as connection:
            for arguments in [()] if keys is None else [(key, key) for key in keys]:
                cursor = connection.execute(sql, arguments)
                while found := cursor.fetchmany(READ_RECORDS):
                    yield found

    def drop(self, topic: str) -> None:
        """Nothing is left of the copy afterwards."""
        with self._writing() as connection:
            _drop(connection, topic)

    @property
    def topics(self) -> tuple[str, ...]:
        """Of all copies."""
        with self._lock:
            return tuple(topic for (topic,) in self._connection.execute("SELECT topic FROM copies ORDER BY topic"))

    def _reader(self) -> sqlite3.Connection:
        """A connection that cannot write, to be closed by the caller."""
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        # A lost transaction is read again from the topic.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA max_page_count = {COPIES_BYTES_MAX // PAGE_BYTES}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT):
            connection.close()
            raise sqlite3.DatabaseError("another format")
        connection.executescript(
            f"""
            CREATE TABLE IF NOT EXISTS copies (topic TEXT PRIMARY KEY, meant TEXT NOT NULL, time_ms INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS positions (
                topic TEXT NOT NULL, partition INTEGER NOT NULL, reached INTEGER NOT NULL,
                PRIMARY KEY (topic, partition)
            ) WITHOUT ROWID;
            PRAGMA user_version = {FORMAT};
            """
        )
        return connection

    def _create(self, connection: sqlite3.Connection, table: Table, meant: str) -> None:
        _drop(connection, table.topic)
        rows = _rows(table.topic)
        connection.execute(f"CREATE TABLE {rows} (key BLOB PRIMARY KEY, told BLOB, value BLOB NOT NULL) WITHOUT ROWID")
        told = quoted(f"told keys of {table.topic}")
        connection.execute(f"CREATE INDEX {told} ON {rows} (told) WHERE told IS NOT NULL")
        connection.execute("INSERT INTO copies VALUES (?, ?, ?)", (table.topic, meant, _now_ms()))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
            except sqlite3.OperationalError as error:
                raise DiskFailure(f"{self._path}: {error}") from error


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _rows(topic: str) -> str:
    return quoted(f"rows of {topic}")


def _drop(connection: sqlite3.Connection, topic: str) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {_rows(topic)}")
    for listed in ("copies", "positions"):
        connection.execute(f"DELETE FROM {listed} WHERE topic = ?", (topic,))  # noqa: S608 - one of two names


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

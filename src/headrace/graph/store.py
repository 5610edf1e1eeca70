"""Pipelines and their versions, kept in SQLite. Every save that changes something is a version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headrace.errors import Conflict, CorruptData, InvalidInput, NotFound, did_you_mean
from headrace.graph.database import Database
from headrace.graph.diff import Diff, compare
from headrace.graph.document import Document
from headrace.graph.drafts import DraftStore
from headrace.graph.layout import Layout

MAX_NAME_CHARACTERS = 200
MAX_NOTE_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """What a list of versions shows."""

    pipeline: str
    number: int
    note: str
    author: str
    saved_at: datetime
    content_hash: str
    ran_at: datetime | None = None
    """When it was last started; None for a version that never ran."""


@dataclass(frozen=True, slots=True)
class Version:
    info: VersionInfo
    document: Document
    layout: Layout


@dataclass(frozen=True, slots=True)
class Saved:
    """`is_new` is False when the document was the latest version already: then that version stands."""

    version: VersionInfo
    is_new: bool


@dataclass(frozen=True, slots=True)
class PipelineInfo:
    """`runs_next` is the number of the version that a start takes which names none."""

    name: str
    latest: VersionInfo
    is_archived: bool
    runs_next: int


def _now() -> datetime:
    return datetime.now(UTC)


class Store:
    """Safe to share between threads. Everything written is on disk when a method returns.

    Methods raise NotFound for names and numbers that do not exist, DiskFailure and CorruptData for a broken file.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime] = _now) -> None:
        """Creates the file, or migrates an older one. Raises Conflict for a file of a newer Headrace."""
        self._database = Database(path)
        self._clock = clock
        self.drafts = DraftStore(self._database, clock)

    def close(self) -> None:
        self._database.close()

    def save(
        self,
        document: Document,
        *,
        note: str = "",
        author: str = "",
        layout: Layout | None = None,
        expected_version: int | None = None,
    ) -> Saved:
        """Makes a version, unless the latest one has the same meaning; a layout alone is put beside that one.

        With `expected_version` (0: none yet) raises Conflict where somebody else saved meanwhile.
        """
        _check_name(document.name)
        if len(note) > MAX_NOTE_CHARACTERS:
            raise InvalidInput(f"a note of {len(note)} characters; {MAX_NOTE_CHARACTERS} are allowed")
        with self._database.writing() as connection:
            latest = _latest_row(connection, document.name)
            found = latest["number"] if latest else 0
            if expected_version is not None and expected_version != found:
                message = f"pipeline {document.name!r} is at version {found}, not {expected_version}"
                raise Conflict(message, hint="somebody saved it meanwhile: look at the newer version and save again")
            if latest and latest["content_hash"] == document.content_hash:
                return Saved(_keep_layout(connection, latest, layout), is_new=False)
            kept = layout.to_json() if layout is not None else latest["layout"] if latest else "{}"
            info = VersionInfo(document.name, found + 1, note, author, self._clock(), document.content_hash)
            _insert(connection, info, document, kept)
            return Saved(info, is_new=True)

    def versions(self, name: str) -> tuple[VersionInfo, ...]:
        """Oldest first."""
        with self._database.reading() as connection:
            rows = _rows(connection, f"{_SELECT} WHERE pipeline = ? ORDER BY number", name)
            if not rows:
                raise _unknown_pipeline(connection, name)
            return tuple(map(_info, rows))

    def get(self, name: str, number: int) -> Version:
        with self._database.reading() as connection:
            rows = _rows(connection, f"{_SELECT} WHERE pipeline = ? AND number = ?", name, number)
            if not rows:
                latest = _require_latest(connection, name)["number"]
                raise NotFound(f"pipeline {name!r} has no version {number}", hint=f"it has versions 1 to {latest}")
            return _version(rows[0])

    def latest(self, name: str) -> Version:
        with self._database.reading() as connection:
            return _version(_require_latest(connection, name))

    def runs_next(self, name: str) -> Version:
        """What a start takes that names no version: the one that ran last, or the newest where none ever ran."""
        with self._database.reading() as connection:
            return _version(_runs_next(connection, _require_latest(connection, name)))

    def note_run(self, name: str, number: int) -> None:
        """Called when a version has started."""
        with self._database.writing() as connection:
            update = "UPDATE versions SET ran_at = ? WHERE pipeline = ? AND number = ?"
            connection.execute(update, (self._clock().isoformat(), name, number))

    def compare(self, name: str, old: int, new: int) -> Diff:
        return compare(self.get(name, old).document, self.get(name, new).document)

    def pipelines(self, *, include_archived: bool = False) -> tuple[PipelineInfo, ...]:
        """By name."""
        with self._database.reading() as connection:
            rows = _rows(
                connection, f"{_SELECT} WHERE {_IS_LATEST} AND (NOT archived OR ?) ORDER BY name", include_archived
            )
            return tuple(
                PipelineInfo(row["name"], _info(row), bool(row["archived"]), _runs_next(connection, row)["number"])
                for row in rows
            )

    def archive(self, name: str) -> None:
        """Leaves it out of lists; versions stay, and saving a new one brings it back."""
        self._set_archived(name, True)

    def restore(self, name: str) -> None:
        self._set_archived(name, False)

    def delete(self, name: str) -> None:
        """Removes the pipeline, all its versions and its draft."""
        with self._database.writing() as connection:
            _require_latest(connection, name)
            connection.execute("DELETE FROM pipelines WHERE name = ?", (name,))
        self.drafts.discard(name)

    def _set_archived(self, name: str, archived: bool) -> None:
        with self._database.writing() as connection:
            _require_latest(connection, name)
            connection.execute("UPDATE pipelines SET archived = ? WHERE name = ?", (archived, name))


_SELECT = "SELECT * FROM versions JOIN pipelines ON name = pipeline"
_IS_LATEST = "number = (SELECT max(number) FROM versions AS other WHERE other.pipeline = name)"


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise InvalidInput(f"{name[:MAX_NAME_CHARACTERS]!r} is no name for a pipeline")


def _insert(connection: sqlite3.Connection, info: VersionInfo, document: Document, layout: str) -> None:
    revive = "INSERT INTO pipelines (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET archived = 0"
    connection.execute(revive, (info.pipeline,))
    values = (info.pipeline, info.number, info.note, info.author, info.saved_at.isoformat(), info.content_hash)
    insert = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)"
    connection.execute(insert, (*values, document.to_json(), layout))


def _keep_layout(connection: sqlite3.Connection, row: sqlite3.Row, layout: Layout | None) -> VersionInfo:
    if layout is not None:
        update = "UPDATE versions SET layout = ? WHERE pipeline = ? AND number = ?"
        connection.execute(update, (layout.to_json(), row["pipeline"], row["number"]))
    return _info(row)


def _rows(connection: sqlite3.Connection, query: str, *values: object) -> list[sqlite3.Row]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(query, values).fetchall()


def _latest_row(connection: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    rows = _rows(connection, f"{_SELECT} WHERE pipeline = ? ORDER BY number DESC LIMIT 1", name)
    return rows[0] if rows else None


def _require_latest(connection: sqlite3.Connection, name: str) -> sqlite3.Row:
    row = _latest_row(connection, name)
    if row is None:
        raise _unknown_pipeline(connection, name)
    return row


def _runs_next(connection: sqlite3.Connection, latest: sqlite3.Row) -> sqlite3.Row:
    last = f"{_SELECT} WHERE pipeline = ? AND ran_at IS NOT NULL ORDER BY ran_at DESC, number DESC LIMIT 1"
    ran = _rows(connection, last, latest["pipeline"])
    return ran[0] if ran else latest


def _unknown_pipeline(connection: sqlite3.Connection, name: str) -> NotFound:
    known = [str(row["name"]) for row in _rows(connection, "SELECT name FROM pipelines ORDER BY name")]
    return NotFound(f"no pipeline is named {name!r}", valid=known, hint=did_you_mean(name, known))


def _info(row: sqlite3.Row) -> VersionInfo:
    saved_at = datetime.fromisoformat(row["saved_at"])
    ran_at = None if row["ran_at"] is None else datetime.fromisoformat(row["ran_at"])
    own = (row["pipeline"], row["number"], row["note"], row["author"], saved_at, row["content_hash"])
    return VersionInfo(*own, ran_at)


def _version(row: sqlite3.Row) -> Version:
    """Raises CorruptData where the document is not the one that was saved."""
    info = _info(row)
    try:
        document = Document.from_json(row["document"])
        layout = Layout.from_json(row["layout"])
    except InvalidInput as error:
        raise CorruptData(f"version {info.number} of {info.pipeline!r} cannot be read: {error.message}") from error
    if document.content_hash != info.content_hash:
        raise CorruptData(f"version {info.number} of {info.pipeline!r} does not match its hash")
    return Version(info, document, layout)

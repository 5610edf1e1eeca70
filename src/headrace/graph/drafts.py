"""Drafts: what is being made of a pipeline, one for each, beside its versions. A writer must know what it replaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from headrace.errors import Conflict, CorruptData, InvalidInput
from headrace.graph.database import Database
from headrace.graph.document import Document
from headrace.graph.layout import Layout

NO_REVISION = 0

# Revision, base version, time, document, layout; the last two are null in a draft that was discarded.
_Row: TypeAlias = tuple[int, int, str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Draft:
    """`revision` grows with every write, also through a discard. `base_version`: what it was made from, or 0."""

    pipeline: str
    revision: int
    base_version: int
    saved_at: datetime
    document: Document
    layout: Layout


class DraftConflict(Conflict):
    """Somebody else wrote meanwhile; `current` is what they wrote, or None where there is no draft any more."""

    def __init__(self, pipeline: str, expected_revision: int, current: Draft | None) -> None:
        self.current = current
        found = f"at revision {current.revision}" if current else "gone"
        super().__init__(
            f"the draft of {pipeline!r} is {found}, not at revision {expected_revision}",
            hint="somebody else changed it: take theirs, or write yours over it on purpose",
        )


class DraftStore:
    """Safe to share between threads and processes. What was written is on disk when a method returns."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def find(self, pipeline: str) -> Draft | None:
        with self._database.reading() as connection:
            return _draft(pipeline, _row(connection, pipeline))

    def all(self) -> dict[str, Draft]:
        """By pipeline."""
        with self._database.reading() as connection:
            names = [name for (name,) in connection.execute("SELECT pipeline FROM drafts ORDER BY pipeline")]
            found = [_draft(name, _row(connection, name)) for name in names]
        return {draft.pipeline: draft for draft in found if draft is not None}

    def open(self, pipeline: str, base_version: int, document: Document, layout: Layout) -> Draft:
        """The draft that is there, or a new one of this content."""
        with self._database.writing() as connection:
            row = _row(connection, pipeline)
            found = _draft(pipeline, row)
            return found or self._put(connection, self._draft_after(row, pipeline, base_version, document, layout))

    def write(
        self,
        pipeline: str,
        expected_revision: int,
        document: Document,
        layout: Layout | None = None,
        base_version: int | None = None,
    ) -> Draft:
        """Replaces the draft; layout and base stay where none is given. NO_REVISION: there is none yet.

        Raises DraftConflict where the draft is not at the expected revision: then nothing changed.
        """
        with self._database.writing() as connection:
            row = _row(connection, pipeline)
            current = _draft(pipeline, row)
            known = (row[0] if row else NO_REVISION, *([] if current else [NO_REVISION]))
            if expected_revision not in known:
                raise DraftConflict(pipeline, expected_revision, current)
            kept = layout if layout is not None else current.layout if current else Layout()
            base = base_version if base_version is not None else current.base_version if current else 0
            return self._put(connection, self._draft_after(row, pipeline, base, document, kept))

    def texts(self, pipeline: str) -> dict[str, str]:
        """What is being written in each notation and cannot be read as a pipeline yet."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT notation, text FROM draft_texts WHERE pipeline = ?", (pipeline,))
            return dict(found.fetchall())

    def write_text(self, pipeline: str, notation: str, text: str | None) -> None:
        """Kept beside the draft, which stays as it is; None forgets it."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM draft_texts WHERE pipeline = ? AND notation = ?", (pipeline, notation))
            if text is not None:
                connection.execute("INSERT INTO draft_texts VALUES (?, ?, ?)", (pipeline, notation, text))

    def discard(self, pipeline: str) -> None:
        """No draft and no texts afterwards; whoever still writes to it gets a conflict."""
        forget = "UPDATE drafts SET document = NULL, layout = NULL, revision = revision + 1, saved_at = ?"
        with self._database.writing() as connection:
            where = " WHERE pipeline = ? AND document IS NOT NULL"
            connection.execute(forget + where, (self._clock().isoformat(), pipeline))
            connection.execute("DELETE FROM draft_texts WHERE pipeline = ?", (pipeline,))

    def _draft_after(
        self, row: _Row | None, pipeline: str, base_version: int, document: Document, layout: Layout
    ) -> Draft:
        revision = (row[0] if row else NO_REVISION) + 1
        return Draft(pipeline, revision, base_version, self._clock(), document, layout)

    @staticmethod
    def _put(connection: sqlite3.Connection, draft: Draft) -> Draft:
        values = (draft.pipeline, draft.revision, draft.base_version, draft.saved_at.isoformat())
        contents = (draft.document.to_json(), draft.layout.to_json())
        connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?, ?)", (*values, *contents))
        return draft


_COLUMNS = "revision, base_version, saved_at, document, layout"


def _row(connection: sqlite3.Connection, pipeline: str) -> _Row | None:
    found: _Row | None = connection.execute(
        f"SELECT {_COLUMNS} FROM drafts WHERE pipeline = ?",  # noqa: S608 - our own column names
        (pipeline,),
    ).fetchone()
    return found


def _draft(pipeline: str, row: _Row | None) -> Draft | None:
    """None without a row, and for one that was discarded. Raises CorruptData."""
    if row is None:
        return None
    revision, base_version, saved_at, document, layout = row
    if document is None:
        return None
    try:
        moment = datetime.fromisoformat(saved_at)
        return Draft(
            pipeline, revision, base_version, moment, Document.from_json(document), Layout.from_json(layout or "{}")
        )
    except (InvalidInput, ValueError) as error:
        raise CorruptData(f"the draft of {pipeline!r} cannot be read: {error}") from error

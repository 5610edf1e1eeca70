"""Tables that can be asked: which there are, their copies, and the thread that keeps them up."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from headrace.errors import Conflict, HeadraceError, NotFound, did_you_mean
from headrace.graph.document import Document
from headrace.operators import Catalogue
from headrace.spark.specs import TopicLocation
from headrace.tables.changes import Change, changed_rows, write_rows
from headrace.tables.declarations import Declarations
from headrace.tables.definition import Table, declared_in, tables_of
from headrace.tables.following import Follower
from headrace.tables.question import Answer, Wanted, answered
from headrace.tables.store import TableStore

FOLLOW_EVERY_S: Final = 1.0
FOLLOWED_MAX: Final = 200

_log = logging.getLogger(__name__)


class Tables:
    """May be used by many threads. `documents` gives the pipelines whose tables can be asked."""

    def __init__(
        self,
        path: Path,
        location: Callable[[str], TopicLocation],
        documents: Callable[[], Iterable[Document]],
        catalogue: Catalogue,
    ) -> None:
        self._declared = Declarations.beside(path)
        self._store = TableStore(path)
        self._location = location
        self._documents = documents
        self._catalogue = catalogue
        self._lock = threading.RLock()
        self._changing = threading.Lock()
        self._known: dict[str, Table] = {}
        self._seen: dict[str, tuple[Table, ...]] = {}
        self._followers: dict[Table, Follower] = {}
        self._behind: set[str] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tables", daemon=True)

    def start(self) -> None:
        """Copies are kept up from now on, asked or not."""
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        self._store.close()

    def known(self) -> tuple[Table, ...]:
        """All tables that can be asked, by name."""
        with self._lock:
            self._look()
            return tuple(self._known[name] for name in sorted(self._known))

    def declare(self, sql: str) -> tuple[Table, ...]:
        """The tables of CREATE TABLE statements can be asked from now on, until their topics are deleted.

        Raises InvalidSyntax, InvalidGraph.
        """
        declared = tuple(declared_in(sql, self._catalogue))
        for table in declared:
            self._declared.remember(table.name, sql)
        with self._lock:
            self._look()
        return declared

    def forget(self, name: str) -> str:
        """A table that a statement of its own declared cannot be asked any more; its topic stays. Returns its name.

        Raises NotFound, and Conflict for a table that only pipelines have.
        """
        table = self.find(name)
        with self._lock:
            if table.name not in self._declared.statements():
                hint = "delete the pipelines, or save versions without it"
                raise Conflict(f"the table {table.name!r} is there by its pipelines", hint=hint)
            self._declared.forget(table.name)
            self._look()
        return table.name

    def ask(self, sql: str, own: Iterable[Table] = ()) -> Answer:
        """What a SELECT says over all that is committed now. `own` are tables that only the asking script declares.

        Raises NotFound for a table that is not there or has no topic, InvalidInput for what cannot be answered.
        """
        declared = {table.name.lower(): table for table in own}
        return answered(sql, lambda name: declared.get(name.lower()) or self.find(name), self._rows)

    def change(self, change: Change, own: Iterable[Table] = ()) -> int:
        """How many rows a statement wrote or deleted; they are committed afterwards. Changes happen one at a time.

        Raises NotFound, InvalidInput, ExternalFailure.
        """
        declared = {table.name.lower(): table for table in own}
        table = declared.get(change.target.text.lower()) or self.find(change.target.text)
        with self._changing:
            written = changed_rows(change, table, self._rows)
            if written.keys:
                write_rows(self._location(table.topic).bootstrap, table, written)
        return len(written.keys)

    def find(self, name: str) -> Table:
        """By its name or its topic, in any case. Raises NotFound."""
        with self._lock:
            if name.lower() not in self._known:
                self._look()
            table = self._known.get(name.lower())
        if table is None:
            names = [table.name for table in self._known.values()]
            hint = did_you_mean(name, names) or "a table is there once a pipeline with its CREATE TABLE is saved"
            raise NotFound(f"no table {name!r}", valid=names, hint=hint)
        return table

    def follow(self) -> None:
        """Brings all copies up to date, and drops those of tables that are gone."""
        known = self.known()
        for table in known[:FOLLOWED_MAX]:
            try:
                self._catch_up(table)
            except NotFound:
                self._forget(table.topic)
            except HeadraceError as error:
                self._say_once(table, error)
            else:
                self._behind.discard(table.topic)
        for topic in set(self._store.topics) - {table.topic for table in known}:
            self._forget(topic)

    def bad_records(self, table: Table) -> int:
        """Records of its topic, since the start, that were no rows."""
        follower = self._followers.get(table)
        return 0 if follower is None else follower.bad_records

    def _rows(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        yield from self._catch_up(wanted.table).rows(wanted)

    def _catch_up(self, table: Table) -> Follower:
        with self._lock:
            follower = self._followers.get(table)
            if follower is None:
                # One copy a topic: another table over it takes its place.
                self._followers = {one: two for one, two in self._followers.items() if one.topic != table.topic}
                follower = self._followers[table] = Follower(table, self._location(table.topic), self._store)
            follower.catch_up()
            return follower

    def _say_once(self, table: Table, error: HeadraceError) -> None:
        if table.topic not in self._behind:
            self._behind.add(table.topic)
            _log.warning("the copy of table %s is behind: %s", table.name, error.message)

    def _forget(self, topic: str) -> None:
        with self._lock:
            self._followers = {table: one for table, one in self._followers.items() if table.topic != topic}
            self._store.drop(topic)
            for name, sql in self._declared.statements().items():
                if any(table.topic == topic for table in declared_in(sql, self._catalogue)):
                    self._declared.forget(name)

    def _look(self) -> None:
        """Which tables there are: what a statement of its own declares, else the first pipeline that names one."""
        seen: dict[str, tuple[Table, ...]] = {}
        known: dict[str, Table] = {}
        for sql in self._declared.statements().values():
            seen[sql] = self._seen.get(sql) or tuple(declared_in(sql, self._catalogue))
            known |= {table.name.lower(): table for table in seen[sql]}
        for document in self._documents():
            content = document.content_hash
            seen[content] = self._seen.get(content) or tuple(tables_of(document, self._catalogue))
            for table in seen[content]:
                known.setdefault(table.name.lower(), table)
        self._seen, self._known = seen, known

    def _run(self) -> None:
        while not self._closing.wait(FOLLOW_EVERY_S):
            try:
                self.follow()
            except Exception:
                _log.exception("tables are not kept up")

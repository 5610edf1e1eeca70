"""A SELECT over tables, in SQLite's words, and what it answers."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite

from headrace.errors import InvalidInput, did_you_mean
from headrace.tables.definition import Table
from headrace.tables.store import view_name

ROWS_MAX: Final = 10_000
SECONDS_MAX: Final = 10.0
# How many steps of SQLite's machine pass between two looks at the clock.
_STEPS: Final = 10_000
_MISSING: Final = re.compile(r"no such (?P<what>column|function): (?P<name>.+)")


class _Backquoted(SQLite):
    """SQLite takes an unknown name in double quotes for a text; in back quotes it is an error."""

    class Tokenizer(SQLite.Tokenizer):
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def as_objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Question:
    """`sql` is SQLite's; `tables` are those that it reads."""

    sql: str
    tables: tuple[Table, ...]

    def answered(self, connection: sqlite3.Connection) -> Answer:
        """Raises InvalidInput for names that are not there, too many rows, or too long a time."""
        deadline_s = time.monotonic() + SECONDS_MAX
        connection.set_progress_handler(lambda: time.monotonic() > deadline_s, _STEPS)
        try:
            cursor = connection.execute(self.sql)
            found = cursor.fetchmany(ROWS_MAX + 1)
        except sqlite3.Error as error:
            raise self._in_our_words(error) from error
        if len(found) > ROWS_MAX:
            raise InvalidInput(f"the answer has more than {ROWS_MAX} rows", hint="add LIMIT, or a narrower WHERE")
        return Answer(tuple(column[0] for column in cursor.description), tuple(map(tuple, found)))

    def _in_our_words(self, error: sqlite3.Error) -> InvalidInput:
        if error.sqlite_errorname == "SQLITE_INTERRUPT":
            return InvalidInput(f"the answer takes longer than {SECONDS_MAX:.0f} s", hint="ask by key, or for less")
        missing = _MISSING.search(str(error))
        if missing is None:
            return InvalidInput(f"tables cannot answer this: {error}")
        if missing["what"] == "function":
            return InvalidInput(f"tables have no function {missing['name']}", hint="they are those of SQLite")
        valid = [f"{table.name}.{name}" for table in self.tables for name in table.schema.names]
        plain = [name for table in self.tables for name in table.schema.names]
        name = missing["name"].rpartition(".")[2]
        return InvalidInput(f"unknown column {missing['name']!r}", valid=valid, hint=did_you_mean(name, plain))


def evaluated(expressions: Sequence[str]) -> tuple[Any, ...]:
    """What expressions over no rows say. Raises InvalidInput."""
    try:
        tree = sqlglot.parse_one(f"SELECT {', '.join(expressions)}", read="spark")
        with closing(sqlite3.connect(":memory:")) as connection:
            values: tuple[Any, ...] = connection.execute(tree.sql(dialect=_Backquoted)).fetchone()
    except (sqlglot.ParseError, sqlite3.Error) as error:
        raise InvalidInput(f"these are no values: {error}") from error
    return values


def read_question(sql: str, find: Callable[[str], Table]) -> Question:
    """`find` gives the table of a name, or raises. Raises InvalidInput for what is no question about tables."""
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except sqlglot.ParseError as error:
        raise InvalidInput(f"tables cannot answer this: {error}") from error
    parts = {part.alias.lower() for part in tree.find_all(exp.CTE)}
    tables: dict[str, Table] = {}
    for reference in list(tree.find_all(exp.Table)):
        if reference.name.lower() in parts:
            continue
        table = tables[reference.name] = find(reference.name)
        meant = exp.Table(this=exp.to_identifier(view_name(table.topic), quoted=True))
        meant.set("alias", exp.TableAlias(this=exp.to_identifier(reference.alias_or_name, quoted=True)))
        reference.replace(meant)
    if not tables:
        raise InvalidInput("a question reads a table", hint="SELECT … FROM table WHERE …")
    return Question(tree.sql(dialect=_Backquoted, identify=True), tuple(tables.values()))

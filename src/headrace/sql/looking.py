"""A SELECT of its own over streams: the pipeline that makes its rows, to be looked at while they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from headrace.errors import InvalidSyntax, Place
from headrace.graph.document import Document
from headrace.operators.catalogue import Catalogue
from headrace.operators.preview import MAX_PREVIEW_ROWS
from headrace.sql.language import read_statements
from headrace.sql.language.statement_tree import (
    Ask,
    Create,
    CreateAs,
    CreateTrigger,
    CreateView,
    Statement,
)
from headrace.sql.language.tree import Name, Option
from headrace.sql.language.variables import expand
from headrace.sql.language.walk import names_read
from headrace.sql.sink_names import sink_beside
from headrace.sql.to_graph import read_script, translated
from headrace.sql.to_sql import print_sql

# What the rows to look at are called in the pipeline that makes them; no stream of a script is.
LOOK: Final = "headrace_look"


@dataclass(frozen=True, slots=True)
class Look:
    """`document` makes the rows at the node LOOK, and has one sink, a preview. `limit` is how many rows are wanted."""

    document: Document
    limit: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the SELECT at the end of a script reads: `streams` are defined by the script, as something else than a
    table; `others` are not. `missing` is all that the script reads and does not define."""

    streams: tuple[str, ...]
    others: tuple[str, ...]
    missing: tuple[str, ...]


def read_wanted(sql: str) -> Wanted | None:
    """None unless the script ends with a SELECT, and has no other. Raises InvalidSyntax."""
    _, statements = read_statements(expand(sql, {}))
    if not statements or not isinstance(statements[-1], Ask):
        return None
    if any(isinstance(statement, Ask) for statement in statements[:-1]):
        return None
    defined = {name.lower(): is_table for name, is_table in _defined(statements)}
    asked = _each(name.text for name in names_read(statements[-1]))
    used = _each(name.text for statement in statements for name in names_read(statement))
    missing = tuple(name for name in used if name.lower() not in defined)
    streams = tuple(name for name in asked if not defined.get(name.lower(), True))
    return Wanted(streams, tuple(name for name in asked if name in missing), missing)


def read_look(sql: str, known: str, catalogue: Catalogue) -> Look:
    """The pipeline behind the SELECT that a script ends with. `known` are definitions that stand before the script.

    Raises InvalidSyntax as `parse` does, with the place in the script.
    """
    before = f"{known}\n" if known else ""
    try:
        script, statements = read_script(before + sql, {})
        asked = statements[-1]
        if not isinstance(asked, Ask):
            raise script.error("a SELECT is to be looked at, and this is none", asked.span)
        document = translated(script, (*statements[:-1], _shown(asked)), catalogue, LOOK)
    except InvalidSyntax as error:
        error.place = _shifted(error.place, before.count("\n"), sql)
        raise
    return Look(document.leading_to([sink_beside(LOOK)]), asked.query.limit)


def defined_names(document: Document, catalogue: Catalogue) -> tuple[str, ...]:
    """The streams, views and tables of a pipeline, as its SQL calls them; steps inside of a statement have no names."""
    _, statements = read_statements(expand(print_sql(document, catalogue=catalogue), {}))
    return tuple(name for name, _ in _defined(statements))


def _shown(asked: Ask) -> CreateAs:
    """Its rows go into a preview; how many are wanted, whoever looks counts."""
    span = asked.span
    connector = Option(Name("connector", span), "preview", False, span)
    rows = Option(Name("rows", span), MAX_PREVIEW_ROWS, False, span)
    return CreateAs(False, Name(LOOK, span), (connector, rows), replace(asked.query, limit=None), span)


def _defined(statements: tuple[Statement, ...]) -> Iterator[tuple[str, bool]]:
    """Names, and whether they mean a table with rows of its own."""
    for statement in statements:
        match statement:
            case Create():
                yield statement.name.text, statement.is_table
            case CreateAs() | CreateView() | CreateTrigger():
                yield statement.name.text, False


def _each(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _shifted(place: Place | None, lines: int, text: str) -> Place | None:
    """The place without the lines before the script; one in those lines is none of the script."""
    if place is None or place.line <= lines:
        return None
    return Place(place.line - lines, place.column, text, place.length)

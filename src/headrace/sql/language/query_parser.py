"""Queries: WITH, SELECT and its clauses, UNION, ORDER BY and LIMIT."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.errors import InvalidSyntax
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import read_inline_duration
from headrace.sql.language.expression_parser import read_expression, read_expressions, read_sort_keys
from headrace.sql.language.relation_parser import read_relation
from headrace.sql.language.tree import (
    CommonTable,
    EmitClause,
    EmitWhen,
    Expression,
    Item,
    OutputRate,
    OutputWhich,
    Query,
    Relation,
    Select,
    Union,
    Window,
    Windowed,
)
from headrace.sql.language.windows import read_window

CLAUSES = ("WHERE", "GROUP BY", "WINDOW", "HAVING", "EMIT")

_REFUSED = {
    "EXCEPT": "EXCEPT is not supported: over a table, WHERE … NOT IN (SELECT …) leaves rows out",
    "INTERSECT": "INTERSECT is not supported: over a table, WHERE … IN (SELECT …) keeps rows",
    "NATURAL": "NATURAL joins are not supported: name the columns behind ON or USING",
    "OVER": "OVER stands behind the call of a function",
    "TABLESAMPLE": "TABLESAMPLE is not supported: WHERE rand() < 0.1 keeps a tenth of the rows",
    "PARTITION BY": "PARTITION BY stands in OVER (…), behind a PATTERN, or as PARTITION WITH (…) BEGIN … END",
}
_REFUSED_GROUPS = ("ROLLUP", "CUBE", "GROUPING SETS")
_SELECT_ENDS = ("UNION", "ORDER BY", "LIMIT")


@dataclass(slots=True)
class _Clauses:
    """What has been read of a SELECT behind FROM."""

    condition: Expression | None = None
    keys: tuple[Expression, ...] | None = None
    window: Window | None = None
    having: Expression | None = None
    qualify: Expression | None = None
    emit: EmitClause | None = None
    output: OutputRate | None = None


def read_query(cursor: Cursor) -> Query:
    """A query up to the end of the cursor. Raises InvalidSyntax at the first thing that cannot be read."""
    query = read_open_query(cursor)
    if not cursor.done():
        raise _unexpected(cursor, *CLAUSES, ";")
    return query


def read_open_query(cursor: Cursor, *ends: str) -> Query:
    """A query that one of the words may follow."""
    start = cursor.index
    tables = cursor.several(_common_table) if cursor.accept("WITH") else ()
    first = _select(cursor, ends)
    unions: list[Union] = []
    while cursor.accept("UNION"):
        is_all = cursor.accept("ALL")
        if not is_all:
            cursor.accept("DISTINCT")
        unions.append(Union(is_all, _select(cursor, ends)))
    order = read_sort_keys(cursor) if cursor.accept("ORDER BY") else ()
    limit = cursor.integer("a number of rows") if cursor.accept("LIMIT") else None
    return _with_last_clauses(cursor, Query(tables, first, tuple(unions), order, limit, cursor.since(start)))


def _with_last_clauses(cursor: Cursor, query: Query) -> Query:
    """EMIT may stand behind ORDER BY and LIMIT too, and belongs to the SELECT before them."""
    last = query.unions[-1].select if query.unions else query.first
    if not cursor.at("EMIT") or last.emit is not None:
        return query
    cursor.expect("EMIT")
    last = replace(last, emit=_emit(cursor))
    if query.unions:
        return replace(query, unions=(*query.unions[:-1], replace(query.unions[-1], select=last)))
    return replace(query, first=last)


def _common_table(cursor: Cursor) -> CommonTable:
    if cursor.at("RECURSIVE"):
        raise cursor.script.error("WITH RECURSIVE is not supported", cursor.here())
    name = cursor.name("the name of a part")
    cursor.expect("AS", "(")
    stop = cursor.closing()
    query = cursor.part(cursor.index, stop).query()
    cursor.index = stop + 1
    return CommonTable(name, query)


def _select(cursor: Cursor, ends: tuple[str, ...]) -> Select:
    start = cursor.index
    if not cursor.accept("SELECT"):
        raise cursor.failure("SELECT")
    is_distinct = cursor.accept("DISTINCT")
    if is_distinct and cursor.at("ON"):
        hint = (
            "number the rows in a query inside: ROW_NUMBER() OVER (PARTITION BY key ORDER BY time) AS n, and keep n = 1"
        )
        raise cursor.script.error("DISTINCT ON is not supported", cursor.here(), hint=hint)
    items = read_items(cursor)
    if not cursor.accept("FROM"):
        raise _unexpected(cursor, ",", "FROM")
    clauses = _Clauses()
    source = _source(cursor, clauses)
    while not (cursor.done() or any(cursor.at(word) for word in (*_SELECT_ENDS, *ends))):
        _clause(cursor, clauses)
    return Select(
        is_distinct,
        items,
        source,
        clauses.condition,
        clauses.keys or (),
        clauses.window,
        clauses.having,
        clauses.qualify,
        clauses.emit,
        clauses.output,
        cursor.since(start),
    )


def _source(cursor: Cursor, clauses: _Clauses) -> Relation:
    """A window on the only source is a clause of the SELECT."""
    relation = read_relation(cursor)
    if isinstance(relation, Windowed):
        clauses.window = relation.window
        return relation.source
    return relation


def read_items(cursor: Cursor) -> tuple[Item, ...]:
    """`expression [AS alias], …`."""
    return cursor.several(_item)


def _item(cursor: Cursor) -> Item:
    start = cursor.index
    expression = read_expression(cursor)
    explicit = cursor.accept("AS")
    alias = cursor.name("a name") if explicit or cursor.at_name() else None
    span = cursor.since(start)
    text = cursor.script.slice(span)
    if alias and not explicit:
        text = f"{expression.text} AS {cursor.script.slice(alias.span)}"
    return Item(expression, alias, cursor.accept("PRIMARY KEY"), text, span)


def _clause(cursor: Cursor, clauses: _Clauses) -> None:
    if cursor.accept("WHERE"):
        _once(cursor, clauses.condition, "WHERE")
        clauses.condition = read_expression(cursor)
    elif cursor.accept("GROUP BY"):
        _once(cursor, clauses.keys, "GROUP BY")
        _refuse_groups(cursor)
        clauses.keys = read_expressions(cursor)
    elif cursor.accept("WINDOW"):
        _once(cursor, clauses.window, "WINDOW")
        clauses.window = read_window(cursor)
    elif cursor.accept("HAVING"):
        _once(cursor, clauses.having, "HAVING")
        clauses.having = read_expression(cursor)
    elif cursor.accept("QUALIFY"):
        _once(cursor, clauses.qualify, "QUALIFY")
        clauses.qualify = read_expression(cursor)
    elif cursor.accept("EMIT"):
        _once(cursor, clauses.emit, "EMIT")
        clauses.emit = _emit(cursor)
    elif cursor.accept("OUTPUT"):
        _once(cursor, clauses.output, "OUTPUT")
        clauses.output = _output(cursor)
    else:
        raise _unexpected(cursor, *CLAUSES, ";")


def _refuse_groups(cursor: Cursor) -> None:
    for word in _REFUSED_GROUPS:
        if cursor.at(word, "("):
            hint = "write a query for each of the groups, and UNION ALL"
            raise cursor.script.error(f"GROUP BY {word} is not supported", cursor.here(), hint=hint)


def _once(cursor: Cursor, value: object, clause: str) -> None:
    if value is not None:
        cursor.index -= 1
        raise cursor.script.error(f"{clause} stands here a second time", cursor.here())


def _emit(cursor: Cursor) -> EmitClause:
    start = cursor.index - 1
    words: tuple[EmitWhen, ...] = ("changes", "final")
    for when in words:
        if cursor.accept(when.upper()):
            timeout = read_inline_duration(cursor) if cursor.accept("TIMEOUT") else None
            return EmitClause(when, timeout, cursor.since(start))
    raise cursor.failure("CHANGES", "FINAL")


def _output(cursor: Cursor) -> OutputRate:
    start = cursor.index - 1
    which = _output_which(cursor)
    cursor.expect("EVERY")
    if cursor.at("EVENTS", ahead=1):
        count = cursor.integer("a number of events")
        cursor.expect("EVENTS")
        return OutputRate(which, count, None, cursor.since(start))
    return OutputRate(which, None, read_inline_duration(cursor), cursor.since(start))


def _output_which(cursor: Cursor) -> OutputWhich:
    words: tuple[OutputWhich, ...] = ("all", "first", "last", "snapshot")
    for word in words:
        if cursor.accept(word.upper()):
            return word
    if cursor.at("EVERY"):
        return "all"
    raise cursor.failure("ALL", "FIRST", "LAST", "SNAPSHOT", "EVERY")


def _unexpected(cursor: Cursor, *expected: str) -> InvalidSyntax:
    for word, reason in _REFUSED.items():
        if cursor.at(word):
            return cursor.script.error(reason, cursor.here())
    return cursor.failure(*expected)

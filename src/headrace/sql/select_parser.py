"""SELECT and its clauses. What cannot run yet is refused by its name."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.errors import InvalidSyntax
from headrace.sql.cursor import Cursor
from headrace.sql.expressions import read_checked
from headrace.sql.tree import Emit, EmitClause, Expression, Item, Name, OperatorCall, Option, Reference, Select, Window
from headrace.sql.values import read_value
from headrace.sql.windows import at_table_function, read_table_function, read_window

CLAUSES = ("WHERE", "GROUP BY", "WINDOW", "HAVING", "EMIT")

_REFUSED = {
    "JOIN": "joins are not supported yet",
    "UNION": "UNION is not supported yet: write one INSERT INTO for each SELECT",
    "EXCEPT": "EXCEPT is not supported",
    "INTERSECT": "INTERSECT is not supported",
    "ORDER BY": "a stream has no end, so ORDER BY cannot sort it",
    "LIMIT": "a stream has no end; a preview takes rows = n",
    "OVER": "OVER windows are not supported yet",
    "QUALIFY": "QUALIFY is not supported yet",
    "PARTITION BY": "PARTITION BY is not supported yet",
    "MATCH_RECOGNIZE": "patterns are not supported yet",
    "PATTERN": "patterns are not supported yet",
    "OUTPUT": "OUTPUT rates are not supported yet",
    "LATERAL": "LATERAL is not supported",
    **dict.fromkeys(("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"), "joins are not supported yet"),
}


@dataclass(slots=True)
class _Clauses:
    """What has been read of a SELECT behind FROM."""

    condition: Expression | None = None
    keys: tuple[Expression, ...] | None = None
    window: Window | None = None
    having: Expression | None = None
    emit: EmitClause | None = None


def read_select(cursor: Cursor) -> Select:
    """A SELECT up to the end of the statement. Raises InvalidSyntax at the first thing that cannot be read."""
    start = cursor.index
    if cursor.at("WITH"):
        raise cursor.script.error("WITH is not supported: write a CREATE VIEW for each part", cursor.here())
    cursor.expect("SELECT")
    if cursor.at("DISTINCT"):
        raise cursor.script.error("SELECT DISTINCT would need state without an end", cursor.here())
    items = _items(cursor)
    if not cursor.accept("FROM"):
        raise _unexpected(cursor, ",", "FROM")
    clauses = _Clauses()
    source = _source(cursor, clauses)
    while not cursor.done():
        _clause(cursor, clauses)
    return Select(
        items,
        source,
        clauses.condition,
        clauses.keys or (),
        clauses.window,
        clauses.having,
        clauses.emit,
        cursor.since(start),
    )


def _items(cursor: Cursor) -> tuple[Item, ...]:
    items = [_item(cursor)]
    while cursor.accept(","):
        items.append(_item(cursor))
    return tuple(items)


def _item(cursor: Cursor) -> Item:
    start = cursor.index
    expression = read_checked(cursor)
    explicit = cursor.accept("AS")
    alias = cursor.name("a name") if explicit or cursor.at_name() else None
    span = cursor.since(start)
    text = cursor.script.slice(span)
    if alias and not explicit:
        text = f"{expression.text} AS {cursor.script.slice(alias.span)}"
    return Item(expression, alias, text, span)


def _source(cursor: Cursor, clauses: _Clauses) -> Reference | OperatorCall:
    if cursor.at("PATTERN", "(") or cursor.at("SEQUENCE", "("):
        raise cursor.script.error(_REFUSED["PATTERN"], cursor.here())
    if cursor.at("("):
        hint = "write a CREATE VIEW for it and read the view"
        raise cursor.script.error("subqueries are not supported yet", cursor.here(), hint=hint)
    if at_table_function(cursor):
        reference, clauses.window = read_table_function(cursor)
        return Reference(reference.name, reference.port, _alias(cursor))
    if cursor.at("(", ahead=1):
        return _operator_call(cursor)
    reference = _reference(cursor)
    reference = Reference(reference.name, reference.port, _alias(cursor))
    if cursor.at(","):
        raise cursor.script.error(_REFUSED["JOIN"], cursor.here())
    return reference


def _reference(cursor: Cursor) -> Reference:
    name = cursor.name("the name of a stream")
    port = cursor.label("the name of an output").text if cursor.accept(".") else "out"
    return Reference(name, port)


def _alias(cursor: Cursor) -> Name | None:
    if cursor.accept("AS"):
        return cursor.name("a name")
    return cursor.name("a name") if cursor.at_name() else None


def _operator_call(cursor: Cursor) -> OperatorCall:
    """`operator(TABLE a, port => TABLE b, setting => value)`."""
    start = cursor.index
    operator = cursor.name("the name of an operator")
    cursor.expect("(")
    inputs: list[tuple[str, Reference]] = []
    settings: list[Option] = []
    while not cursor.accept(")"):
        if (inputs or settings) and not cursor.accept(","):
            raise cursor.failure(",", ")")
        _argument(cursor, inputs, settings)
    return OperatorCall(operator, tuple(inputs), tuple(settings), cursor.since(start))


def _argument(cursor: Cursor, inputs: list[tuple[str, Reference]], settings: list[Option]) -> None:
    start = cursor.index
    if cursor.accept("TABLE"):
        inputs.append(("in", _reference(cursor)))
        return
    name = cursor.label("TABLE or the name of a setting")
    cursor.expect("=>")
    if cursor.accept("TABLE"):
        inputs.append((name.text, _reference(cursor)))
        return
    if any(setting.name.text == name.text for setting in settings):
        raise cursor.script.error(f"the setting {name.text!r} is given twice", name.span)
    value, _ = read_value(cursor)
    settings.append(Option(name, value, cursor.since(start), exact=True))


def _clause(cursor: Cursor, clauses: _Clauses) -> None:
    if cursor.accept("WHERE"):
        _once(cursor, clauses.condition, "WHERE")
        clauses.condition = read_checked(cursor)
    elif cursor.accept("GROUP BY"):
        _once(cursor, clauses.keys, "GROUP BY")
        clauses.keys = _keys(cursor)
    elif cursor.accept("WINDOW"):
        _once(cursor, clauses.window, "WINDOW")
        clauses.window = read_window(cursor)
    elif cursor.accept("HAVING"):
        _once(cursor, clauses.having, "HAVING")
        clauses.having = read_checked(cursor)
    elif cursor.accept("EMIT"):
        _once(cursor, clauses.emit, "EMIT")
        clauses.emit = _emit(cursor)
    else:
        raise _unexpected(cursor, *CLAUSES, ";")


def _once(cursor: Cursor, value: object, clause: str) -> None:
    if value is not None:
        cursor.index -= 1
        raise cursor.script.error(f"{clause} stands here a second time", cursor.here())


def _keys(cursor: Cursor) -> tuple[Expression, ...]:
    keys = [read_checked(cursor)]
    while cursor.accept(","):
        keys.append(read_checked(cursor))
    return tuple(keys)


def _emit(cursor: Cursor) -> EmitClause:
    start = cursor.index - 1
    words: tuple[Emit, ...] = ("changes", "final")
    for when in words:
        if cursor.accept(when.upper()):
            return EmitClause(when, cursor.since(start))
    raise cursor.failure("CHANGES", "FINAL")


def _unexpected(cursor: Cursor, *expected: str) -> InvalidSyntax:
    for word, reason in _REFUSED.items():
        if cursor.at(word):
            return cursor.script.error(reason, cursor.here())
    return cursor.failure(*expected)

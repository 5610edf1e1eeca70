"""SET_HEADER and REMOVE_HEADER in the SELECT list of a statement that writes records: no columns of them.

They make one column more, a map, which the sink writes as headers. A record keeps those that it came with, where the
rows still have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from headrace.sql.expressions import HEADER_FUNCTIONS
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression, Item, OperatorCall, Query, Select
from headrace.sql.language.values import print_string
from headrace.sql.over_calls import is_over
from headrace.sql.ranking import ranked_source
from headrace.sql.steps import Piece, Writer
from headrace.sql.window_steps import is_grouped

COLUMN: Final = "headers"
_ALL: Final = "coalesce(_headers, CAST(map() AS MAP<STRING, STRING>))"


@dataclass(frozen=True, slots=True)
class HeaderChange:
    """One header; without a value it is removed."""

    name: str
    value: Expression | None
    item: Item


def with_headers(script: Script, query: Query) -> Query:
    """The query with its SET_HEADER and REMOVE_HEADER apart from its columns. Raises InvalidSyntax for a UNION: each of
    its parts would have headers of its own."""
    select = query.first
    headers = tuple(item for item in select.items if _call(script, item) is not None)
    if not headers:
        return query
    if query.unions:
        hint = "put the UNION into a query inside: FROM (… UNION ALL …) AS x"
        raise script.error("headers are set in a single SELECT", headers[0].span, hint=hint)
    items = tuple(item for item in select.items if item not in headers)
    if not items:
        raise script.error("a record has a value beside its headers", headers[0].span, hint="name a column more")
    return replace(query, first=replace(select, items=items, headers=headers))


def refuse_headers(script: Script, select: Select) -> None:
    """Raises InvalidSyntax where rows are not those of records any more, so that there is nothing to set."""
    clauses = (select.window, select.qualify, ranked_source(select))
    is_plain = not (select.is_distinct or is_grouped(select) or any(map(is_over, select.items)))
    if not is_plain or any(clause is not None for clause in clauses) or isinstance(select.source, OperatorCall):
        hint = "put the other one into a query inside: FROM (SELECT …) AS x"
        raise script.error("headers are set beside plain columns and WHERE only", select.headers[0].span, hint=hint)


def header_changes(script: Script, select: Select) -> list[HeaderChange]:
    """Raises InvalidSyntax for what sets no header, or one twice."""
    changes = [_change(script, item) for item in select.headers]
    for number, change in enumerate(changes):
        if any(change.name == other.name for other in changes[:number]):
            raise script.error(f"the header {change.name!r} stands here twice", change.item.span)
    return changes


def header_column(writer: Writer, changes: Sequence[HeaderChange], *, has_headers: bool) -> Piece:
    """The map of headers. `has_headers`: the rows have those that their records came with."""
    first = changes[0].item
    set_ = [change for change in changes if change.value is not None]
    if not has_headers and len(set_) < len(changes):
        removed = next(change for change in changes if change.value is None)
        hint = "headers are there right behind a topic, and through WHERE: remove them in a query inside"
        raise writer.script.error("these rows have no headers any more", removed.item.span, hint=hint)
    names = ", ".join(print_string(change.name) for change in changes)
    kept = [f"map_filter({_ALL}, (name, value) -> name NOT IN ({names}))"] if has_headers else []
    pairs = [f"{print_string(one.name)}, CAST({writer.expression(one.value)} AS STRING)" for one in set_ if one.value]
    parts = [*kept, *([f"map({', '.join(pairs)})"] if pairs else [])]
    text = parts[0] if len(parts) == 1 else f"map_concat({', '.join(parts)})"
    return Piece(f"{text} AS {COLUMN}", first.span)


def _call(script: Script, item: Item) -> Cursor | None:
    """Behind the opening bracket, and up to the closing one, of an item that is nothing but such a call."""
    span = item.expression.span
    inside = [index for index, token in enumerate(script.tokens) if span.start <= token.start < span.end]
    cursor = Cursor(script, inside[0], inside[-1] + 1)
    if script.tokens[inside[0]].text.lower() not in HEADER_FUNCTIONS or not cursor.at("(", ahead=1):
        return None
    inner = cursor.part(cursor.index + 2, cursor.stop)
    return inner.part(inner.index, cursor.stop - 1) if inner.closing() == cursor.stop - 1 else None


def _change(script: Script, item: Item) -> HeaderChange:
    if item.alias is not None or item.is_key:
        raise script.error(
            "a header is no column, so it has no name", item.span, hint="leave out what stands behind it"
        )
    is_set = item.text.lower().startswith("set_header")
    cursor = _call(script, item)
    name = None if cursor is None else cursor.string()
    if cursor is None or name is None or (is_set and not cursor.accept(",")):
        hint = "write SET_HEADER('name', value) or REMOVE_HEADER('name')"
        raise script.error("the name of a header is a text, and what it is set to follows", item.span, hint=hint)
    value = read_expression(cursor) if is_set else None
    if not cursor.done():
        raise cursor.failure(")")
    return HeaderChange(name, value, item)

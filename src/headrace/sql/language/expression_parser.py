"""Expressions, with the queries and the OVER clauses inside them as trees of their own.

Spark's grammar reads the rest. It never sees what is inside a subquery or an OVER: in their place it gets a column
with a name of ours, or nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from headrace.sql.language.cursor import Cursor
from headrace.sql.language.dialect import Tokens, read_tree
from headrace.sql.language.durations import read_duration
from headrace.sql.language.script import Span, span_of
from headrace.sql.language.tree import QUERY_MARK, Bound, BoundKind, Expression, Frame, Over, Query, SortKey

# What ends an expression unless it stands in brackets: no inner part is looked for behind it.
_ENDS = (
    ",",
    ";",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "QUALIFY",
    "UNION",
    "JOIN",
    "EMIT",
    "WINDOW",
    "AS",
)
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class _Inner:
    """A part that is read by us: its tokens between the brackets, and its tree."""

    start: int
    stop: int
    span: Span
    tree: Query | Over


def read_expression(cursor: Cursor) -> Expression:
    """Raises InvalidSyntax where no expression stands, or where it breaks off."""
    start = cursor.index
    inners = _inner_parts(cursor)
    tree, cursor.index = read_tree(cursor.script, _tokens(cursor, inners), cursor.stop)
    span = cursor.since(start)
    inside = [inner for inner in inners if inner.stop < cursor.index]
    return Expression(cursor.script.slice(span), span, tree, _pieces(cursor, span, inside))


def read_expressions(cursor: Cursor) -> tuple[Expression, ...]:
    """One or more, between commas."""
    return cursor.several(read_expression)


def read_sort_keys(cursor: Cursor) -> tuple[SortKey, ...]:
    """What stands behind ORDER BY."""
    return cursor.several(_sort_key)


def _sort_key(cursor: Cursor) -> SortKey:
    expression = read_expression(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    if not cursor.accept("NULLS"):
        return SortKey(expression, descending)
    if cursor.accept("FIRST"):
        return SortKey(expression, descending, "first")
    cursor.expect("LAST")
    return SortKey(expression, descending, "last")


def _inner_parts(cursor: Cursor) -> list[_Inner]:
    """Subqueries and OVER clauses from here on, up to what may be the end of the expression."""
    found: list[_Inner] = []
    index, depth = cursor.index, 0
    while index < cursor.stop:
        here = cursor.part(index, cursor.stop)
        sign = cursor.script.tokens[index].text
        if depth == 0 and (sign in _CLOSING or _ends(cursor, here, index)):
            break
        inner = _inner(here, index)
        if inner is not None:
            found.append(inner)
            index = inner.stop + 1
            continue
        depth += (sign in _OPENING) - (sign in _CLOSING)
        index += 1
    return found


def _ends(cursor: Cursor, here: Cursor, index: int) -> bool:
    """`a IS DISTINCT FROM b` goes on."""
    is_distinct_from = index > cursor.index and cursor.part(index - 1, cursor.stop).at("DISTINCT", "FROM")
    return any(here.at(word) for word in _ENDS) and not is_distinct_from


def _inner(here: Cursor, index: int) -> _Inner | None:
    if here.at("OVER", "("):
        here.index = index + 2
        stop = here.closing()
        over = _over(here.part(index + 2, stop), span_of(here.script.tokens[index]))
        return _Inner(index + 2, stop, _between(here, index + 1, stop), over)
    if here.at("(", "SELECT") or here.at("(", "WITH"):
        here.index = index + 1
        stop = here.closing()
        return _Inner(index + 1, stop, _between(here, index, stop), here.part(index + 1, stop).query())
    return None


def _between(cursor: Cursor, opening: int, closing: int) -> Span:
    """The characters between two brackets."""
    return Span(span_of(cursor.script.tokens[opening]).end, cursor.script.tokens[closing].start)


def _tokens(cursor: Cursor, inners: list[_Inner]) -> Tokens:
    """The tokens for Spark's grammar, inner parts replaced."""
    tokens: list[Token] = []
    indexes: list[int] = []
    index = cursor.index
    for inner in inners:
        tokens += cursor.script.tokens[index : inner.start]
        indexes += range(index, inner.start)
        if isinstance(inner.tree, Query):
            tokens.append(_mark(cursor.script.tokens[inner.start]))
            indexes.append(inner.start)
        index = inner.stop
    return Tokens([*tokens, *cursor.script.tokens[index : cursor.stop]], [*indexes, *range(index, cursor.stop)])


def _mark(token: Token) -> Token:
    return Token(TokenType.VAR, QUERY_MARK, token.line, token.col, token.start, token.end)


def _pieces(cursor: Cursor, span: Span, inners: list[_Inner]) -> tuple[str | Query | Over, ...]:
    pieces: list[str | Query | Over] = []
    start = span.start
    for inner in inners:
        pieces += [cursor.script.slice(Span(start, inner.span.start)), inner.tree]
        start = inner.span.end
    return (*pieces, cursor.script.slice(Span(start, span.end)))


def _over(cursor: Cursor, span: Span) -> Over:
    """Called between the brackets of OVER (…)."""
    buffer_rows = _buffer_rows(cursor)
    partition = read_expressions(cursor) if cursor.accept("PARTITION BY") else ()
    order = read_sort_keys(cursor) if cursor.accept("ORDER BY") else ()
    frame = _frame(cursor)
    expire_after = None
    if cursor.accept("EXPIRE", "AFTER"):
        expire_after = read_duration(cursor, "INACTIVITY")
        cursor.accept("INACTIVITY")
    if not cursor.done():
        raise cursor.failure("PARTITION BY", "ORDER BY", "ROWS", "RANGE", "EXPIRE AFTER", ")")
    return Over(partition, order, frame, buffer_rows, expire_after, span)


def _buffer_rows(cursor: Cursor) -> int | None:
    if not cursor.accept("ROWS", "WINDOW"):
        return None
    cursor.expect("BUFFER")
    count = cursor.integer("a number of rows")
    cursor.expect("ROWS")
    return count


def _frame(cursor: Cursor) -> Frame | None:
    if cursor.accept("ROWS"):
        return Frame("rows", *_bounds(cursor))
    if cursor.accept("RANGE"):
        return Frame("range", *_bounds(cursor))
    return None


def _bounds(cursor: Cursor) -> tuple[Bound, Bound | None]:
    if not cursor.accept("BETWEEN"):
        return _bound(cursor), None
    start = _bound(cursor)
    cursor.expect("AND")
    return start, _bound(cursor)


def _bound(cursor: Cursor) -> Bound:
    fixed: tuple[BoundKind, ...] = ("unbounded preceding", "unbounded following", "current row")
    for kind in fixed:
        if cursor.accept(*kind.upper().split()):
            return Bound(kind)
    amount = read_expression(cursor)
    if cursor.accept("PRECEDING"):
        return Bound("preceding", amount)
    if cursor.accept("FOLLOWING"):
        return Bound("following", amount)
    raise cursor.failure("PRECEDING", "FOLLOWING")

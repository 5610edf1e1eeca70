"""Conditions with a query inside: IN and EXISTS over a table look rows up, and keep those of the stream that have a
partner, or have none.

WHERE k IN (SELECT k FROM l WHERE v > 3)             base_lookup: lookup-join kind=semi
WHERE NOT EXISTS (SELECT 1 FROM l WHERE l.k = t.k)   base_lookup: lookup-join kind=anti
WHERE k NOT IN (SELECT k FROM l WHERE v > 3)         base_lookup_table: filter, base_lookup: lookup-join kind=not_in
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from headrace.errors import InvalidSyntax
from headrace.graph.document import Json
from headrace.sql.conjuncts import conjuncts
from headrace.sql.joins import JoinSide, JoinStep
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.dialect import aggregates_in, is_star
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import QUERY_MARK, Expression, Join, Query, Reference, Select
from headrace.sql.steps import Piece

_AS_JOIN = "write a JOIN, or put IN or EXISTS between the ANDs of WHERE"
# Brackets around a query behind these hold many values, not one.
_OF_MANY = (exp.In, exp.Any, exp.All, exp.Exists)


@dataclass(frozen=True, slots=True)
class Subquery:
    """A condition of its own between the ANDs of WHERE. `value` is what stands before IN."""

    kind: Literal["semi", "anti", "not_in"]
    query: Query
    value: Expression | None
    span: Span

    @property
    def select(self) -> Select:
        return self.query.first

    @property
    def expressions(self) -> tuple[Expression | None, ...]:
        """All that must be able to run."""
        return (self.value, *inner_expressions(self.query))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What stands between the ANDs of WHERE: without a query, as one, and with queries that are values."""

    plain: tuple[Expression, ...] = ()
    lookups: tuple[Subquery, ...] = ()
    valued: tuple[Expression, ...] = ()


def inner_expressions(query: Query) -> tuple[Expression | None, ...]:
    return (query.first.condition, *(item.expression for item in query.first.items))


def split_condition(script: Script, condition: Expression | None) -> Conditions:
    """Raises InvalidSyntax for queries that are neither a condition of their own nor a value."""
    if condition is None:
        return Conditions()
    if not condition.queries:
        return Conditions((condition,))
    parts = conjuncts(script, condition)
    plain = tuple(part for part in parts if not part.queries)
    valued = tuple(part for part in parts if part.queries and are_values(part))
    lookups = [_subquery(script, part) for part in parts if part.queries and not are_values(part)]
    return Conditions(plain, tuple(lookups), valued)


def are_values(expression: Expression) -> bool:
    """Whether each query in an expression stands for one value: it has brackets of its own."""
    marks = [column for column in expression.tree.find_all(exp.Column) if column.name == QUERY_MARK]
    alone = [mark for mark in marks if isinstance(mark.parent, exp.Paren)]
    are_single = not any(isinstance(mark.parent and mark.parent.parent, _OF_MANY) for mark in alone)
    return bool(marks) and len(alone) == len(marks) == len(expression.queries) and are_single


def refused_subquery(script: Script, part: Expression) -> InvalidSyntax:
    """What to raise for a query that no lookup stands for."""
    message = "a subquery can only be a condition of its own in WHERE, [NOT] IN (SELECT …) or [NOT] EXISTS (SELECT …)"
    return script.error(f"{message}, or a value, in brackets of its own", part.span, hint=_AS_JOIN)


def _subquery(script: Script, part: Expression) -> Subquery:
    tokens = script.tokens
    inside = [index for index, token in enumerate(tokens) if part.span.start <= token.start < part.span.end]
    start, stop = inside[0], inside[-1] + 1
    cursor = Cursor(script, start, stop)
    is_not = cursor.accept("NOT")
    if cursor.at("EXISTS", "(") and len(part.queries) == 1 and _closes_at_end(cursor, 2):
        return Subquery("anti" if is_not else "semi", part.queries[0], None, part.span)
    place = next((i for i in range(start, stop) if cursor.part(i, stop).at("IN", "(")), None)
    is_alone = isinstance(part.tree.this if isinstance(part.tree, exp.Not) else part.tree, exp.In)
    if place is None or not is_alone or len(part.queries) != 1 or not _closes_at_end(cursor.part(place, stop), 2):
        raise refused_subquery(script, part)
    is_not_in = cursor.part(place - 1, stop).at("NOT")
    if is_not and is_not_in:
        raise refused_subquery(script, part)
    value = read_expression(Cursor(script, start + is_not, place - is_not_in))
    return Subquery("not_in" if is_not or is_not_in else "semi", part.queries[0], value, part.span)


def _closes_at_end(cursor: Cursor, opened: int) -> bool:
    """Whether the bracket that opens before so many tokens on is closed by the last one."""
    inner = cursor.part(cursor.index + opened, cursor.stop)
    return inner.closing() == cursor.stop - 1


class LookupStep(JoinStep):
    """The lookup that a subquery means. Only the stream's columns come out, so none of the table's clash with them.

    Raises InvalidSyntax for what is no lookup by an equality.
    """

    def __init__(self, script: Script, subquery: Subquery, left: JoinSide, right: JoinSide, source: Reference) -> None:
        _refuse_clauses(script, subquery)
        self._subquery = subquery
        join = Join("inner", False, source, source, subquery.select.condition, (), None, None, subquery.span)
        super().__init__(script, join, left, right)

    @property
    def table_conditions(self) -> list[Expression]:
        """Which rows of the table are meant, where these are to be filtered before: NOT IN compares with the rest."""
        return list(self._parts) if self._is_plain_not_in() else []

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The conditions that are checked for each pair of rows: a bare name is the table's, if it can be."""
        inner = () if self._is_plain_not_in() else self._inner_pieces()
        value = self._subquery.value
        if value is None:
            return inner
        item = self._subquery.select.items[0].expression
        compared = f"{self._sided(value, 'left')} = {self._sided(item, 'right')}"
        # What is not known to be different keeps a row out.
        is_unknown_equal = self._subquery.kind == "not_in" and not self._is_plain_not_in()
        text = f"coalesce({compared}, TRUE)" if is_unknown_equal else compared
        return (Piece(text, self._subquery.span), *inner)

    def config(self) -> dict[str, Json]:
        if not self.pieces:
            hint = "write what the row of the table has to do with that of the stream: WHERE table.k = stream.k"
            raise self._error("this EXISTS is the same for every row", hint)
        kind = self._subquery.kind
        if kind == "not_in" and not self._is_plain_not_in():
            kind = "anti"
        return {"on": " AND ".join(piece.text for piece in self.pieces), "kind": kind}

    def _inner_pieces(self) -> tuple[Piece, ...]:
        return tuple(Piece(self._sided(part, "right"), part.span) for part in self._parts)

    def _is_plain_not_in(self) -> bool:
        """Whether it is a NOT IN whose query says nothing about the row of the stream."""
        if self._subquery.kind != "not_in":
            return False
        named = [one for part in self._parts for one in self._columns_in(part, part.tree, "right")]
        return all(one.side == "right" for one in named)

    def _clashes(self) -> dict[str, str]:
        return {}


def table_of(script: Script, query: Query, span: Span) -> Reference:
    """What a subquery reads. Raises InvalidSyntax for more than one table."""
    source = query.first.source
    if not isinstance(source, Reference):
        raise script.error("a subquery looks rows up in one table", span, hint=_AS_JOIN)
    return source


def refuse_stream(script: Script, span: Span, name: str) -> InvalidSyntax:
    """What to raise for a subquery over a stream."""
    hint = f"join it, within a time: JOIN {name} ON … WITHIN 10 MINUTES; or write its rows to a table"
    return script.error(f"{name} is a stream, of which a subquery would keep every row for ever", span, hint=hint)


def refuse_clauses(script: Script, query: Query, span: Span) -> None:
    """Raises InvalidSyntax for what is more than a lookup of rows."""
    select = query.first
    clauses = (select.window, select.having, select.qualify, select.emit, select.output, *select.keys)
    if query.tables or query.unions or query.order or query.limit is not None or any(c is not None for c in clauses):
        raise script.error("a subquery has SELECT, FROM and WHERE only", span, hint=_AS_JOIN)
    for item in select.items:
        if aggregates_in(item.expression.tree):
            message = "a table is looked up row by row: a subquery cannot aggregate it"
            raise script.error(message, item.span, hint="make a table of the aggregates with CREATE TABLE … AS")


def _refuse_clauses(script: Script, subquery: Subquery) -> None:
    refuse_clauses(script, subquery.query, subquery.span)
    items = subquery.select.items
    if subquery.value is not None and (len(items) != 1 or is_star(items[0].expression.tree)):
        raise script.error("IN compares with one column", subquery.span, hint="name it: IN (SELECT column FROM table)")

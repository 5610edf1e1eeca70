"""Conditions with a query inside: IN and EXISTS over a table look rows up, and keep those of the stream that have a
partner, or have none.

WHERE k IN (SELECT k FROM l WHERE v > 3)             base_lookup: lookup-join kind=semi
WHERE NOT EXISTS (SELECT 1 FROM l WHERE l.k = t.k)   base_lookup: lookup-join kind=anti
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
from headrace.sql.language.tree import Expression, Join, Query, Reference, Select
from headrace.sql.steps import Piece

_NOT_IN = "NOT IN lets no row through where a null is among the values, and this cannot be told of a row"
_AS_JOIN = "write a JOIN, or put IN or EXISTS between the ANDs of WHERE"


@dataclass(frozen=True, slots=True)
class Subquery:
    """A condition of its own between the ANDs of WHERE. `value` is what stands before IN."""

    kind: Literal["semi", "anti"]
    query: Query
    value: Expression | None
    span: Span

    @property
    def select(self) -> Select:
        return self.query.first

    @property
    def expressions(self) -> tuple[Expression | None, ...]:
        """All that must be able to run."""
        return (self.value, self.select.condition, *(item.expression for item in self.select.items))


def split_condition(script: Script, condition: Expression | None) -> tuple[tuple[Expression, ...], list[Subquery]]:
    """The conditions without a query, and those that are one. Raises InvalidSyntax for queries elsewhere."""
    if condition is None or not condition.queries:
        return (() if condition is None else (condition,)), []
    parts = conjuncts(script, condition)
    plain = tuple(part for part in parts if not part.queries)
    return plain, [_subquery(script, part) for part in parts if part.queries]


def _refused(script: Script, part: Expression) -> InvalidSyntax:
    message = "a subquery can only be a condition of its own in WHERE: x IN (SELECT …), [NOT] EXISTS (SELECT …)"
    return script.error(message, part.span, hint=_AS_JOIN)


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
    if (
        place is None
        or is_not
        or not is_alone
        or len(part.queries) != 1
        or not _closes_at_end(cursor.part(place, stop), 2)
    ):
        raise _refused(script, part)
    if cursor.part(place - 1, stop).at("NOT"):
        hint = "write NOT EXISTS (SELECT 1 FROM table WHERE table.column = stream.column), which keeps rows without one"
        raise script.error(_NOT_IN, part.span, hint=hint)
    return Subquery("semi", part.queries[0], read_expression(Cursor(script, start, place)), part.span)


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
    def pieces(self) -> tuple[Piece, ...]:
        """The conditions that are checked for each pair of rows: a bare name is the table's, if it can be."""
        inner = tuple(Piece(self._sided(part, "right"), part.span) for part in self._parts)
        value = self._subquery.value
        if value is None:
            return inner
        item = self._subquery.select.items[0].expression
        return (Piece(f"{self._sided(value, 'left')} = {self._sided(item, 'right')}", self._subquery.span), *inner)

    def config(self) -> dict[str, Json]:
        if not self.pieces:
            hint = "write what the row of the table has to do with that of the stream: WHERE table.k = stream.k"
            raise self._error("this EXISTS is the same for every row", hint)
        return {"on": " AND ".join(piece.text for piece in self.pieces), "kind": self._subquery.kind}

    def _clashes(self) -> dict[str, str]:
        return {}


def table_of(script: Script, subquery: Subquery) -> Reference:
    """What a subquery reads. Raises InvalidSyntax for more than one table."""
    source = subquery.select.source
    if not isinstance(source, Reference):
        raise script.error("a subquery looks rows up in one table", subquery.span, hint=_AS_JOIN)
    return source


def refuse_stream(script: Script, subquery: Subquery, name: str) -> InvalidSyntax:
    """What to raise for a subquery over a stream."""
    hint = f"join it, within a time: JOIN {name} ON … WITHIN 10 MINUTES; or write its rows to a table"
    return script.error(
        f"{name} is a stream, of which a subquery would keep every row for ever", subquery.span, hint=hint
    )


def _refuse_clauses(script: Script, subquery: Subquery) -> None:
    query, select = subquery.query, subquery.select
    clauses = (select.window, select.having, select.qualify, select.emit, select.output, *select.keys)
    if query.tables or query.unions or query.order or query.limit is not None or any(c is not None for c in clauses):
        raise script.error("a subquery has SELECT, FROM and WHERE only", subquery.span, hint=_AS_JOIN)
    for item in select.items:
        if aggregates_in(item.expression.tree):
            message = "a table is looked up row by row: a subquery cannot aggregate it"
            raise script.error(message, item.span, hint="make a table of the aggregates with CREATE TABLE … AS")
    if subquery.value is not None and (len(select.items) != 1 or is_star(select.items[0].expression.tree)):
        raise script.error("IN compares with one column", subquery.span, hint="name it: IN (SELECT column FROM table)")

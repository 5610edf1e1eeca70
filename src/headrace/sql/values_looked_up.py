"""Queries that are values: the column of the one row of a table that belongs to each row of the stream.

SELECT symbol, (SELECT venue FROM limits AS l WHERE l.symbol = t.symbol) AS venue FROM trades AS t

base_value_table: select, of the table; base_value: lookup-join kind=left, which has the value as a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.joins import JoinSide, JoinStep
from headrace.sql.language.dialect import is_star
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression, Join, Query, Reference
from headrace.sql.language.values import print_name
from headrace.sql.steps import Piece, Writer
from headrace.sql.subqueries import refuse_clauses


class ValueStep(JoinStep):
    """The lookup of one value, which it calls `made`. `keys` are the columns that tell rows of the table apart.

    Raises InvalidSyntax where there could be several rows, of which SQL would want one.
    """

    is_lookup = True

    def __init__(
        self, script: Script, query: Query, sides: tuple[JoinSide, JoinSide], source: Reference, made: str
    ) -> None:
        refuse_clauses(script, query, query.span)
        items = query.first.items
        if len(items) != 1 or is_star(items[0].expression.tree):
            raise script.error(
                "a subquery that is a value has one column", query.span, hint="name it: (SELECT column …"
            )
        self._made = made
        self._value = items[0].expression
        join = Join("left", False, source, source, query.first.condition, (), None, None, query.span)
        super().__init__(script, join, *sides)

    def require_one_row(self, table: str, keys: Iterable[str] | None) -> None:
        """Raises InvalidSyntax unless the condition says which row of the table, by all of its key."""
        bound = {name for part in self._parts for name in self._bound_by(part)}
        wanted = None if keys is None else [key for key in keys if key.lower() not in bound]
        if wanted is None or wanted:
            missing = "" if wanted is None else f": its key {', '.join(wanted)} is not compared with ="
            hint = f"compare the whole key of the table: WHERE {table}.{(wanted or ['key'])[0]} = stream.column"
            raise self._error(f"this subquery could give several rows of {table}, and a value is one{missing}", hint)

    @property
    def right_columns(self) -> list[str] | None:
        """The value, and beside it what it is found by, under names that no stream has."""
        right = self._sides["right"]
        value = Writer(self._script, right.names).expression(self._value)
        return [*(self._right_item(name) for name in self._read()), f"{value} AS {print_name(self._made)}"]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(Piece(self._sided(part, "right"), part.span) for part in self._parts)

    def config(self) -> dict[str, Json]:
        return {"on": " AND ".join(piece.text for piece in self.pieces), "kind": "left"}

    def _read(self) -> list[str]:
        """The columns of the table that the condition names."""
        schema = self._sides["right"].schema
        named = [one for part in self._parts for one in self._columns_in(part, part.tree, "right")]
        read = {one.column.lower() for one in named if one.side == "right"}
        return [] if schema is None else [name for name in schema.names if name.lower() in read]

    def _bound_by(self, part: Expression) -> Iterator[str]:
        """The column of the table that must equal something of the stream."""
        if not isinstance(part.tree, exp.EQ):
            return
        for own, other in ((part.tree.left, part.tree.right), (part.tree.right, part.tree.left)):
            columns, others = (self._columns_in(part, tree, "right") for tree in (own, other))
            if isinstance(own, exp.Column) and columns[0].side == "right" and {one.side for one in others} == {"left"}:
                yield columns[0].column.lower()

    def _clashes(self) -> dict[str, str]:
        schema = self._sides["right"].schema
        return {} if schema is None else {name.lower(): f"{self._made}_{name}" for name in schema.names}

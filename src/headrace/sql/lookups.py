"""What a SELECT looks up in tables before its own steps: IN and EXISTS of its WHERE, and queries that are values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from headrace.graph.document import Json
from headrace.operators.table_keys import key_columns
from headrace.sql.analysis import Analysis, Origin
from headrace.sql.assembly import Assembly, Output
from headrace.sql.joins import JoinSide
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Expression, Query, Reference, Relation, Select
from headrace.sql.rows import Place, Rows
from headrace.sql.steps import Writer, filter_steps
from headrace.sql.subqueries import LookupStep, Subquery, refuse_stream, split_condition, table_of
from headrace.sql.values_looked_up import ValueStep


class Lookups:
    """`rows` makes the rows of a relation."""

    def __init__(
        self, script: Script, assembly: Assembly, analysis: Analysis | None, rows: Callable[[Relation, Place], Rows]
    ) -> None:
        self._script = script
        self._assembly = assembly
        self._analysis = analysis
        self._rows = rows

    def before(self, select: Select, rows: Rows, place: Place) -> tuple[Select, Rows]:
        """Without the conditions of WHERE that hold subqueries: rows for which those do not hold are left out before,
        and queries that are values are columns of the rows."""
        conditions = split_condition(self._script, select.condition)
        holders = [*conditions.valued, *(item.expression for item in select.items)]
        values = [query for one in holders for query in one.queries]
        if not conditions.lookups and not values:
            return select, rows
        rows = self._filtered(select, conditions.plain, rows, place.inside("filter"))
        for number, subquery in enumerate(conditions.lookups, start=1):
            rows = self._looked_up(subquery, rows, _numbered(place, "lookup", number))
        if values:
            rows = self._with_values(values, rows, place)
        rows = self._filtered(select, conditions.valued, rows, place.inside("where"))
        return replace(select, condition=None), rows

    def _filtered(self, select: Select, conditions: Sequence[Expression], rows: Rows, place: Place) -> Rows:
        """The rows for which conditions hold."""
        writer = Writer(self._script, rows.names)
        steps = [step for one in conditions for step in filter_steps(writer, replace(select, condition=one))]
        if not steps:
            return rows
        pieces = tuple(piece for step in steps for piece in step.pieces)
        config: dict[str, Json] = {"condition": " AND ".join(piece.text for piece in pieces)}
        origin = Origin(place.name.span, pieces)
        return replace(rows, output=self._assembly.add(place.base, "filter", config, [("in", rows.output)], origin))

    def _looked_up(self, subquery: Subquery, rows: Rows, place: Place) -> Rows:
        source, table = self._table(subquery.query, subquery.span, place)
        step = LookupStep(self._script, subquery, self._side(rows), self._side(table), source)
        right = self._filtered(subquery.select, step.table_conditions, table, place.inside("table"))
        sides, origin = [("left", rows.output), ("right", right.output)], Origin(subquery.span, step.pieces)
        return replace(rows, output=self._assembly.add(place.base, "lookup-join", step.config(), sides, origin))

    def _with_values(self, queries: Sequence[Query], rows: Rows, place: Place) -> Rows:
        schema = None if self._analysis is None else self._analysis.schema(rows.output.node)
        # What * means: not the columns that are added here.
        own = {} if schema is None else dict.fromkeys(("", *rows.names.qualifiers), schema.names)
        rows = replace(rows, names=replace(rows.names, columns={**own, **rows.names.columns}))
        for number, query in enumerate(queries, start=1):
            rows = self._with_value(query, rows, _numbered(place, "value", number))
        return rows

    def _with_value(self, query: Query, rows: Rows, place: Place) -> Rows:
        source, table = self._table(query, query.span, place)
        step = ValueStep(self._script, query, (self._side(rows), self._side(table)), source, place.base)
        if self._analysis is not None:
            step.require_one_row((source.alias or source.name).text, self._key_of(table.output))
        columns: dict[str, Json] = {"columns": list[Json](step.right_columns or [])}
        origin = Origin(query.span, step.pieces)
        right = self._assembly.add(f"{place.base}_table", "select", columns, [("in", table.output)], origin)
        sides = [("left", rows.output), ("right", right)]
        output = self._assembly.add(place.base, "lookup-join", step.config(), sides, origin)
        values = {**rows.names.values, query.span.start: place.base}
        return Rows(output, replace(rows.names, values=values))

    def _table(self, query: Query, span: Span, place: Place) -> tuple[Reference, Rows]:
        source = table_of(self._script, query, span)
        table = self._rows(source, place)
        if self._analysis is not None and not self._assembly.is_table(table.output.node):
            raise refuse_stream(self._script, span, source.name.text)
        return source, table

    def _side(self, rows: Rows) -> JoinSide:
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        return JoinSide(rows.names, schema, self._assembly.is_table(rows.output.node))

    def _key_of(self, table: Output) -> tuple[str, ...] | None:
        """The columns that tell the rows of a table apart; None where they are not known, as of a view."""
        node = self._assembly.node(table.node)
        return key_columns(str(node.config["key"])) if node.operator == "table" else None


def _numbered(place: Place, part: str, number: int) -> Place:
    return place.inside(part if number == 1 else f"{part}_{number}")

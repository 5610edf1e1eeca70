"""Select items: the columns they make, the columns they read, and the rows that come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import (
    Expression,
    check_columns,
    parse_expression,
    refuse_aggregates,
    refuse_generators,
    sql,
)
from headrace.operators.system_columns import refuse_system_names, visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def projected(items: Iterable[str], source: Schema) -> Schema:
    """The schema of `SELECT items`. Raises InvalidInput with the place where an item does not fit."""
    expressions = [parse_expression(item) for item in items]
    columns: list[Column] = []
    for expression in expressions:
        columns += _output(expression, source, columns)
    refuse_doubles(columns)
    refuse_system_names(column.name for column in columns)
    return Schema(tuple(columns), event_time=_event_time(expressions, source))


def columns_read(items: Iterable[str], needed: frozenset[str]) -> frozenset[str]:
    """Spark resolves every item, so all count; what `*` passes on counts only where it is needed."""
    expressions = [parse_expression(item) for item in items]
    passed = needed if any(expression.is_star for expression in expressions) else frozenset()
    return passed.union(*(expression.columns for expression in expressions))


def project(frame: DataFrame, items: Sequence[str]) -> DataFrame:
    columns: list[str] = []
    for expression in map(parse_expression, items):
        if expression.is_star:
            columns += map(backquoted, _kept(expression, visible(frame.columns)))
        else:
            columns.append(expression.text)
    return frame.selectExpr(*columns)


def row_columns(items: Iterable[str], source: Schema) -> tuple[tuple[str, str], ...] | None:
    """(name, expression) of each column of one row; None where an item makes several rows of it."""
    columns: list[tuple[str, str]] = []
    for expression in map(parse_expression, items):
        if expression.tree.find(exp.UDTF):
            return None
        if expression.is_star:
            columns += [(name, backquoted(name)) for name in _kept(expression, source.names)]
        else:
            columns.append((expression.name or expression.text, expression.text))
    return tuple(columns)


def kept_names(items: Iterable[str], source: Schema) -> dict[str, str]:
    """Of the columns that come out, those which are columns of the input: under which name they were."""
    kept: dict[str, str] = {}
    for item in map(parse_expression, items):
        if item.is_star:
            kept.update({name: name for name in _kept(item, source.names)})
        elif item.column is not None and item.name is not None and (found := source.find(item.column)):
            kept[item.name] = found.name
    return kept


def with_one_row_where(condition: str, item: str) -> str:
    """The same item; but where the condition holds, an `explode` makes one row of a null, whatever the array is."""
    expression = parse_expression(item)
    tree = expression.tree
    if not isinstance(tree, exp.Explode) or isinstance(tree, exp.ExplodeOuter):
        return item
    return f"explode(if({condition}, array(NULL), {sql(tree.this)})) AS {backquoted(expression.name or item)}"


def refuse_doubles(columns: Iterable[Column]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            raise InvalidInput(f"the column {column.name!r} comes out twice", hint="rename one with AS")
        seen.add(column.name.lower())


def _output(item: Expression, source: Schema, earlier: list[Column]) -> list[Column]:
    """The columns that an item makes. It may refer to the input, and to new names given further left."""
    named = tuple(column for column in earlier if source.find(column.name) is None)
    scope = Schema((*source.columns, *named), source.hidden)
    refuse_aggregates(item, "a select")
    refuse_generators(item, "a select", allowed=("explode", "explode_outer"))
    check_columns(item, scope)
    if item.is_star:
        return list(source.keep(_kept(item, source.names)))
    if item.name is None:
        raise InvalidInput(f"the column {item.text!r} has no name", hint=f"write `{item.text} AS name`")
    check_types(item, scope)
    return [Column(item.name, type_of(item, scope))]


def _kept(star: Expression, names: Iterable[str]) -> list[str]:
    """The columns that `*` or `* EXCEPT (…)` stands for."""
    if star.tree.args.get("replace") or star.tree.args.get("rename"):
        raise InvalidInput(f"{star.text!r}: after * only EXCEPT is allowed", hint="add `expression AS name` items")
    left_out = {column.name.lower() for column in star.tree.args.get("except_") or ()}
    return [name for name in names if name.lower() not in left_out]


def _event_time(items: Iterable[Expression], source: Schema) -> str | None:
    """The event-time column under its new name, if it is kept."""
    if source.event_time is None:
        return None
    for item in items:
        if item.is_star and source.event_time in _kept(item, source.names):
            return source.event_time
        if item.column == source.event_time.lower():
            return item.name
    return None

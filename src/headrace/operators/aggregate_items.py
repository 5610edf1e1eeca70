"""`aggregate AS name` items of relational operators: the columns they make, and the text that Spark runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field
from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.schema import Column, Schema
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import (
    Expression,
    aggregates,
    check_columns,
    parse_expression,
    place_of,
    sql,
    whole_call,
)
from headrace.operators.functions import spark_text
from headrace.operators.settings import SqlExpression

Aggregates = Annotated[
    list[SqlExpression],
    Field(min_length=1, description="`aggregate AS name` items, such as `avg(battery) AS battery`."),
]


def aggregate_columns(items: Iterable[str], schema: Schema, keys: Sequence[Column]) -> tuple[Column, ...]:
    """Raises InvalidInput with the place for an item that is no named aggregate of these rows."""
    return tuple(_column(parse_expression(item), schema, {key.name.lower() for key in keys}) for item in items)


def columns_aggregated(items: Iterable[str]) -> frozenset[str]:
    """The columns that the items read."""
    return frozenset[str]().union(*(parse_expression(item).columns for item in items))


def spark_aggregates(items: Iterable[str]) -> list[str]:
    """The items as a streaming plan takes them: what it refuses is written as something that comes out the same."""
    return [_without_distinct(parse_expression(spark_text(item))) for item in items]


def _column(item: Expression, schema: Schema, keys: set[str]) -> Column:
    if item.alias is None:
        raise InvalidInput(f"the aggregate {item.text!r} has no name", hint=f"write `{item.text} AS name`")
    calls = list(aggregates(item.tree))
    if not calls:
        raise InvalidSyntax(f"{item.text!r} holds no aggregate", place=place_of(item, item.tree))
    check_columns(item, schema)
    _refuse_distinct(item)
    _refuse_bare_columns(item, calls, keys)
    check_types(item, schema)
    return Column(item.alias, type_of(item, schema))


def _refuse_distinct(item: Expression) -> None:
    for distinct in item.tree.find_all(exp.Distinct):
        if not isinstance(distinct.parent, exp.Count):
            hint = "count(DISTINCT …) and collect_set(…) work on streams"
            raise InvalidSyntax("DISTINCT can only stand in count", place=place_of(item, distinct), hint=hint)


def _refuse_bare_columns(item: Expression, calls: list[exp.Expr], keys: set[str]) -> None:
    inside = {id(column) for call in calls for column in whole_call(call).find_all(exp.Column)}
    for column in item.tree.find_all(exp.Column):
        if id(column) not in inside and column.parts[0].name.lower() not in keys:
            raise InvalidSyntax(
                f"{sql(column)} stands outside of an aggregate and is no key", place=place_of(item, column)
            )


def _scope(call: exp.Expr) -> exp.Expr:
    """`sum(a) FILTER (WHERE b)` aggregates b's rows too."""
    return call.parent if isinstance(call.parent, exp.Filter) else call


def _without_distinct(item: Expression) -> str:
    """count(DISTINCT a) is the size of the set of a: both leave nulls out."""
    if item.tree.find(exp.Distinct) is None:
        return item.text
    tree = exp.alias_(item.tree.copy(), item.alias, quoted=True)
    for count in [call for call in tree.find_all(exp.Count) if isinstance(call.this, exp.Distinct)]:
        scope = _scope(count)
        found: exp.Expr = exp.func("collect_set", _distinct_value(count.this.expressions))
        if scope is not count:
            found = exp.Filter(this=found, expression=scope.expression.copy())
        scope.replace(exp.func("size", found, dialect="spark"))
    return sql(tree)


def _distinct_value(columns: Sequence[exp.Expr]) -> exp.Expr:
    """Of several columns a row counts where none of them is null."""
    if len(columns) == 1:
        return columns[0].copy()
    known = exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(c.copy()), expression=exp.Null())) for c in columns))
    return exp.If(this=known, true=exp.func("struct", *(column.copy() for column in columns), dialect="spark"))

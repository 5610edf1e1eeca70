"""Aggregates of serial windows: of a column, as `aggregate AS name` items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, is_numeric
from headrace.operators.aggregates.kind import Aggregate
from headrace.operators.aggregates.registry import kind_of
from headrace.operators.expressions import check_columns, parse_expression

Function: TypeAlias = Literal["count", "sum", "avg", "min", "max"]
FUNCTIONS: Final[tuple[Function, ...]] = ("count", "sum", "avg", "min", "max")
_NODES: Final[dict[type[exp.Expr], Function]] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
AGGREGATES: Final = "`aggregate AS name` items: count(*), or count, sum, avg, min or max of a column."


def parse_aggregates(
    items: Sequence[str], schema: Schema, functions: Sequence[Function] = FUNCTIONS
) -> list[Aggregate]:
    """Raises InvalidInput for an item that is no aggregate of these functions over a column."""
    return [_parse(item, schema, functions) for item in items]


def _parse(text: str, schema: Schema, functions: Sequence[Function]) -> Aggregate:
    item = parse_expression(text)
    function = _NODES.get(type(item.tree))
    if item.alias is None:
        raise InvalidInput(f"the aggregate {text!r} has no name", hint=f"write `{text} AS name`")
    plain = isinstance(item.tree.this, exp.Column | exp.Star)
    if function is None or function not in functions or not plain:
        raise InvalidInput(f"{text!r} is no aggregate of a column", valid=functions)
    if isinstance(item.tree.this, exp.Star):
        kind, type_ = kind_of("count", ())
        return Aggregate(kind, function, None, item.alias, type_)
    check_columns(item, schema)
    column = schema.require(item.tree.this.name)
    _check_type(function, column, text)
    kind, type_ = kind_of(function, (column.type,))
    return Aggregate(kind, function, column.name, item.alias, type_)


def _check_type(function: Function, column: Column, text: str) -> None:
    if function == "count":
        return
    if not is_numeric(column.type) and not (function in ("min", "max") and column.type in ("TIMESTAMP", "DATE")):
        raise InvalidInput(f"{text!r}: {column.name} is {column.type}")
    if column.type.startswith("DECIMAL"):
        raise InvalidInput(f"{text!r}: {column.name} is {column.type}", hint="cast it to DOUBLE in a select before")

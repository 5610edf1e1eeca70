"""Whether a join can run in a chain: only where it means exactly what it means in Spark's plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import EXACT, INTEGERS
from headrace.operators.expression_types import type_of
from headrace.operators.expressions import Expression, parse_expression, sql
from headrace.operators.join_sides import SIDES, Condition, conjuncts, read_condition, within_row

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

_EQUALITY = (exp.EQ, exp.NEQ)
_ORDER = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def why_not(config: JoinConfig, inputs: Mapping[str, Schema]) -> str | None:
    """Why this join cannot run as `JoinRows`, in words for a plan; None if it can.

    Called for joins that are valid in Spark's plan. Raises InvalidInput and InvalidSyntax as their validation does.
    """
    if config.kind != "inner":
        return f"it is a {config.kind} join"
    if config.every is not None:
        return "its windows overlap"
    condition = read_condition(config.on, inputs)
    checks = (
        _times_missing(inputs),
        _types_unknown(inputs),
        _keys_inexact(condition, inputs),
        _rest(condition, inputs),
    )
    return next((reason for reason in checks if reason is not None), None)


def _times_missing(inputs: Mapping[str, Schema]) -> str | None:
    for side in SIDES:
        time = inputs[side].find(inputs[side].event_time or "")
        if time is None or time.type != "TIMESTAMP":
            return f"the event time of the {side} is no column of it"
    return None


def _types_unknown(inputs: Mapping[str, Schema]) -> str | None:
    try:
        for column in (column for side in SIDES for column in inputs[side]):
            arrow_type(column.type)
    except InvalidInput as error:
        return error.message
    return None


def _keys_inexact(condition: Condition, inputs: Mapping[str, Schema]) -> str | None:
    if not condition.keys:
        return "no column of the left equals one of the right: only expressions do"
    for names in condition.keys:
        left, right = (inputs[side].require(name) for side, name in zip(SIDES, names, strict=True))
        if left.type != right.type:
            return f"{left.name!r} is {left.type} on the left, {right.name!r} {right.type} on the right"
        if left.type not in EXACT:
            return f"keys of type {left.type} are left to Spark"
    return None


def _rest(condition: Condition, inputs: Mapping[str, Schema]) -> str | None:
    """What else the condition says, on the row of both sides. Hidden columns are not there, but for event time."""
    visible = [Column(within_row(side, column.name), column.type) for side in SIDES for column in inputs[side].carried]
    both, whole = Schema(tuple(visible)), parse_expression(condition.text)
    if missing := sorted(name for name in whole.columns if both.find(name) is None):
        return f"the column {missing[0]!r} does not come along"
    # Of what a backslash means in a text there are several opinions.
    if "\\" in condition.text:
        return "a backslash is left to Spark"
    for part in conjuncts(whole.tree):
        if not _is_condition(part, both):
            return f"{sql(part)} is left to Spark"
    return None


def _is_condition(tree: exp.Expr, schema: Schema) -> bool:
    match tree:
        case exp.Paren() | exp.Not():
            return _is_condition(tree.this, schema)
        case exp.And() | exp.Or():
            return _is_condition(tree.this, schema) and _is_condition(tree.expression, schema)
        case exp.Is():
            return _is_plain(tree.this) and isinstance(tree.expression, exp.Null)
        case exp.Column():
            return _operand_type(tree, schema) == "BOOLEAN"
    return isinstance(tree, (*_EQUALITY, *_ORDER)) and _is_comparison(tree, schema)


def _is_comparison(tree: exp.Expr, schema: Schema) -> bool:
    left, right = (_operand_type(operand, schema) for operand in (tree.this, tree.expression))
    if left in INTEGERS and right in INTEGERS:
        return True
    return left == right and left in EXACT and (left != "BOOLEAN" or isinstance(tree, _EQUALITY))


def _operand_type(tree: exp.Expr, schema: Schema) -> str | None:
    """None for what is neither a column of its own nor a literal without surprises."""
    tree = tree.unnest()
    is_literal = isinstance(tree, exp.Literal) and (tree.is_string or str(tree.this).isdigit())
    if _is_plain(tree) or is_literal:
        return type_of(Expression("", tree), schema)
    return None


def _is_plain(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Column) and len(tree.parts) == 1

"""Conditions of serial operators, evaluated on Arrow columns: comparisons, AND, OR, NOT, IN, IS NULL, arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.schema import UNKNOWN, Schema
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import Expression, check_columns, parse_expression, place_of, refuse_aggregates

_BINARY: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: pc.equal,
    exp.NEQ: pc.not_equal,
    exp.GT: pc.greater,
    exp.GTE: pc.greater_equal,
    exp.LT: pc.less,
    exp.LTE: pc.less_equal,
    exp.And: pc.and_kleene,
    exp.Or: pc.or_kleene,
    exp.Add: pc.add,
    exp.Sub: pc.subtract,
    exp.Mul: pc.multiply,
    exp.Div: lambda left, right: pc.divide(pc.cast(left, pa.float64()), pc.cast(right, pa.float64())),
}


def check_condition(text: str, schema: Schema, where: str) -> Expression:
    """A condition that can be evaluated here. Raises InvalidInput or InvalidSyntax with the place."""
    condition = parse_expression(text)
    refuse_aggregates(condition, where)
    check_columns(condition, schema)
    check_types(condition, schema)
    if type_of(condition, schema) not in ("BOOLEAN", UNKNOWN):
        raise InvalidInput(f"the condition {text!r} is {type_of(condition, schema)}, not BOOLEAN")
    for part in condition.tree.walk():
        if not isinstance(part, _KNOWN):
            what = part.sql("spark")
            hint = "comparisons, AND, OR, NOT, IN, IS NULL and arithmetic can; compute more in a select before"
            raise InvalidSyntax(f"{what} cannot stand in {where}", place=place_of(condition, part), hint=hint)
    return condition


def holds(text: str, rows: pa.RecordBatch) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For which rows the condition is true: false and null are both no."""
    found = _value(parse_expression(text).tree, rows)
    if isinstance(found, pa.Scalar):
        return np.full(rows.num_rows, bool(found.as_py()))
    result: np.ndarray[Any, np.dtype[np.bool_]] = found.fill_null(False).to_numpy(zero_copy_only=False)
    return result


def _value(tree: exp.Expr, rows: pa.RecordBatch) -> Any:  # noqa: PLR0911  (one for each kind)
    if type(tree) in _BINARY:
        return _BINARY[type(tree)](_value(tree.this, rows), _value(tree.expression, rows))
    match tree:
        case exp.Paren():
            return _value(tree.this, rows)
        case exp.Column():
            return rows.column(_spelled(tree.name, rows))
        case exp.Not():
            return pc.invert(_value(tree.this, rows))
        case exp.Neg():
            return pc.negate(_value(tree.this, rows))
        case exp.Is():
            return pc.is_null(_value(tree.this, rows))
        case exp.In():
            return pc.is_in(
                _value(tree.this, rows), pa.array([_value(item, rows).as_py() for item in tree.expressions])
            )
        case exp.Boolean():
            return pa.scalar(bool(tree.this))
        case exp.Literal():
            return pa.scalar(str(tree.this)) if tree.is_string else pa.scalar(_number(str(tree.this)))
    raise InvalidInput(f"{tree.sql('spark')} cannot be evaluated here")


_KNOWN = (
    *_BINARY, exp.Paren, exp.Column, exp.Not, exp.Neg, exp.Is, exp.In, exp.Boolean, exp.Literal, exp.Null,
    exp.Identifier,
)  # fmt: skip


def _spelled(name: str, rows: pa.RecordBatch) -> str:
    return next(column for column in rows.schema.names if column.lower() == name.lower())


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)

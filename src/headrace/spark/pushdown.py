"""From the filters that follow a source to its prefilter: the part of them that Arrow decides as Spark does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlglot import exp

from headrace.graph.schema import Schema
from headrace.operators.expressions import parse_expression
from headrace.spark.prefilter import Prefilter

_INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
# A literal that is longer may not be the same number as a double.
_NUMBER_CHARACTERS_MAX: Final = 30

_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED: Final = {"<": ">", "<=": ">=", "=": "=", "!=": "!=", ">": "<", ">=": "<="}
_OPPOSITE: Final = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">": "<=", ">=": "<", "is null": "is not null"}


def prefilter_of(conditions: Sequence[str | None], schema: Schema) -> Prefilter | None:
    """What a row must fulfil for at least one of the conditions to hold (None: always); None where all rows may."""
    parts = [None if text is None else _translate(parse_expression(text).tree, schema) for text in conditions]
    return None if any(part is None for part in parts) else ["or", *(part for part in parts if part is not None)]


def whole_filter(condition: str, schema: Schema) -> Prefilter | None:
    """A prefilter that lets through just the rows for which the condition is true; None where Arrow cannot say."""
    return _translate(parse_expression(condition).tree, schema, whole=True)


def plain_column(expression: str, schema: Schema) -> str | None:
    """The column, as the schema names it, that the expression consists of; None where it is more."""
    found = _column(parse_expression(expression).tree, schema)
    return None if found is None else found[0]


def _translate(tree: exp.Expr, schema: Schema, *, whole: bool = False) -> Prefilter | None:
    """A prefilter that lets through at least the rows for which the tree is true; None where none is known.

    Where the `whole` is wanted, it lets through no others.
    """
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        sides = [_translate(side, schema, whole=whole) for side in (tree.left, tree.right)]
        known = [side for side in sides if side is not None]
        return ["and", *known] if len(known) == len(sides) or (known and not whole) else None
    if isinstance(tree, exp.Or):
        left, right = (_translate(side, schema, whole=whole) for side in (tree.left, tree.right))
        return None if left is None or right is None else ["or", left, right]
    if isinstance(tree, exp.Not):
        return _negated(tree.this.unnest(), schema, whole=whole)
    return _exact(tree, schema)


def _negated(tree: exp.Expr, schema: Schema, *, whole: bool) -> Prefilter | None:
    """De Morgan, down to comparisons; what is not exact cannot be turned round."""
    if isinstance(tree, exp.And | exp.Or):
        other = exp.Or if isinstance(tree, exp.And) else exp.And
        turned = other(this=exp.Not(this=tree.left), expression=exp.Not(this=tree.right))
        return _translate(turned, schema, whole=whole)
    if isinstance(tree, exp.Not):
        return _translate(tree.this, schema, whole=whole)
    found = _exact(tree, schema)
    return [_OPPOSITE[found[0]], *found[1:]] if found is not None and found[0] in _OPPOSITE else None


def _exact(tree: exp.Expr, schema: Schema) -> Prefilter | None:
    """One comparison of a column with a literal, true for just the rows for which it is true in Spark."""
    if type(tree) in _COMPARISONS:
        operator = _COMPARISONS[type(tree)]
        compared = _compared(operator, tree.this, tree.expression, schema)
        return compared or _compared(_MIRRORED[operator], tree.expression, tree.this, schema)
    if isinstance(tree, exp.Between):
        low = _compared(">=", tree.this, tree.args["low"], schema)
        high = _compared("<=", tree.this, tree.args["high"], schema)
        return None if low is None or high is None else ["and", low, high]
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        column = _column(tree.this, schema)
        return None if column is None else ["is null", column[0]]
    if isinstance(tree, exp.In) and tree.expressions:
        parts = [_compared("=", tree.this, literal, schema) for literal in tree.expressions]
        known = [part for part in parts if part is not None]
        return ["in", known[0][1], [part[2] for part in known]] if len(known) == len(parts) else None
    column = _column(tree, schema)
    return ["=", column[0], True] if column is not None and column[1] == "BOOLEAN" else None


def _compared(operator: str, column_tree: exp.Expr, literal_tree: exp.Expr, schema: Schema) -> Prefilter | None:
    column = _column(column_tree, schema)
    literal = None if column is None else _literal(literal_tree, column[1])
    return None if column is None or literal is None else [operator, column[0], literal]


def _column(tree: exp.Expr, schema: Schema) -> tuple[str, str] | None:
    """(name as in the schema, type) of a plain column."""
    tree = tree.unnest()
    found = schema.find(tree.name) if isinstance(tree, exp.Column) and len(tree.parts) == 1 else None
    return None if found is None else (found.name, found.type)


def _literal(tree: exp.Expr, type_: str) -> Any | None:
    """The literal as a value of the column's type, where Spark compares in that very type."""
    tree = tree.unnest()
    sign, tree = (-1, tree.this) if isinstance(tree, exp.Neg) else (1, tree)
    if isinstance(tree, exp.Boolean):
        return tree.this if type_ == "BOOLEAN" and sign == 1 else None
    if not isinstance(tree, exp.Literal):
        return None
    if tree.is_string:
        return tree.this if type_ == "STRING" and sign == 1 else None
    reader = _number_reader(type_)
    return None if reader is None or len(tree.this) > _NUMBER_CHARACTERS_MAX else reader(tree.this, sign)


def _number_reader(type_: str) -> Callable[[str, int], Any | None] | None:
    if type_ == "DOUBLE":
        return lambda text, sign: sign * float(text)
    bits = _INTEGERS.get(type_)
    return None if bits is None else lambda text, sign: _integer(text, sign, bits)


def _integer(text: str, sign: int, bits: int) -> int | None:
    value = sign * int(text) if text.isdigit() else None
    return value if value is not None and abs(value) < 1 << (bits - 1) else None

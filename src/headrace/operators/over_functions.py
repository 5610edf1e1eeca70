"""Functions of a row and those before it that are no aggregates: a value of another row, or a number in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa
from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.places import place_at
from headrace.graph.schema import Column, Schema, is_numeric
from headrace.operators.aggregates import FUNCTIONS, Aggregate, parse_aggregates
from headrace.operators.arrow_types import arrow_type
from headrace.operators.expressions import Expression, check_columns, parse_expression, sql

Pick = Literal["first_value", "last_value", "lag"]
Number = Literal["row_number", "rank", "dense_rank"]

# So many rows of every key are kept for it.
LAG_ROWS_MAX = 10_000
_PICKS: Final[dict[type[exp.Expr], Pick]] = {
    exp.FirstValue: "first_value",
    exp.First: "first_value",
    exp.LastValue: "last_value",
    exp.Last: "last_value",
    exp.Lag: "lag",
}
_NUMBERS: Final[dict[type[exp.Expr], Number]] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
FRAME_FUNCTIONS: Final = (*FUNCTIONS, "first_value", "last_value")
RUNNING_FUNCTIONS: Final = (*FRAME_FUNCTIONS, "lag", "row_number", "rank", "dense_rank")


@dataclass(frozen=True, slots=True)
class Picked:
    """`first_value(column)`, `last_value(column)` or `lag(column, offset, default)`: the value of one row.

    With `ignores_nulls` rows count only where they have a value.
    """

    function: Pick
    column: str
    name: str
    type: str
    ignores_nulls: bool = False
    offset: int = 1
    default: Any = None


@dataclass(frozen=True, slots=True)
class Numbered:
    """`row_number()`, `rank()` or `dense_rank()`."""

    function: Number
    name: str
    type: str = "INT"


Function: TypeAlias = Aggregate | Picked | Numbered


def parse_functions(items: Sequence[str], schema: Schema, functions: Sequence[str]) -> list[Function]:
    """Raises InvalidInput for an item that is none of these functions."""
    return [_parse(item, schema, functions) for item in items]


def parse_frame_functions(items: Sequence[str], schema: Schema) -> list[Aggregate | Picked]:
    """Those over some rows before each one. Raises InvalidInput for an item that is none of them."""
    found = parse_functions(items, schema, FRAME_FUNCTIONS)
    return [function for function in found if not isinstance(function, Numbered)]


def _parse(text: str, schema: Schema, functions: Sequence[str]) -> Function:
    item = parse_expression(text)
    ignores_nulls = isinstance(item.tree, exp.IgnoreNulls)
    call = item.tree.this if isinstance(item.tree, exp.IgnoreNulls | exp.RespectNulls) else item.tree
    name = _PICKS.get(type(call)) or _NUMBERS.get(type(call))
    if name is None and not ignores_nulls:
        return _aggregate(text, item, schema, functions)
    if item.alias is None:
        raise _fault(text, f"{text!r} has no name", hint=f"write `{text} AS name`")
    if name not in functions:
        raise _fault(text, f"{text!r} is none of the functions here", valid=functions)
    number, pick = _NUMBERS.get(type(call)), _PICKS.get(type(call))
    if pick is not None:
        return _picked(pick, item, call, schema, ignores_nulls=ignores_nulls)
    if number is None or ignores_nulls or call.args.get("expressions"):
        raise _fault(text, f"{text!r} numbers rows, and takes nothing", hint=f"write {name}()")
    return Numbered(number, item.alias)


def _aggregate(text: str, item: Expression, schema: Schema, functions: Sequence[str]) -> Aggregate:
    if item.tree.args.get("expressions"):
        raise _fault(text, f"{text!r}: an aggregate here takes one column")
    try:
        return parse_aggregates([text], schema)[0]
    except InvalidInput as error:
        if error.valid == FUNCTIONS:
            raise _fault(text, error.message, valid=functions) from None
        raise


def _picked(pick: Pick, item: Expression, call: exp.Expr, schema: Schema, *, ignores_nulls: bool) -> Picked:
    text = item.text
    if not isinstance(call.this, exp.Column):
        raise _fault(text, f"{text!r} takes a column", hint="compute it in a select before")
    check_columns(item, schema)
    column = schema.require(call.this.name)
    if column.type.startswith("ARRAY<"):
        raise _fault(text, f"{text!r}: {column.name} is {column.type}", hint="take values out of it in a select before")
    made = Picked(pick, column.name, item.alias or "", column.type, ignores_nulls)
    if pick != "lag":
        return made
    if ignores_nulls:
        hint = "last_value(x) IGNORE NULLS finds the last value that there is"
        raise _fault(text, f"{text!r}: lag counts all rows, and cannot leave out nulls", hint=hint)
    offset = _offset(text, call.args.get("offset"))
    return Picked(pick, column.name, made.name, column.type, False, offset, _default(text, column, call))


def _offset(text: str, tree: exp.Expr | None) -> int:
    if tree is None:
        return 1
    if not isinstance(tree, exp.Literal) or not tree.is_int or not 1 <= int(tree.name) <= LAG_ROWS_MAX:
        message = f"{text!r}: lag looks back by a number of rows, from 1 to {LAG_ROWS_MAX}"
        raise _fault(text, message, hint="write lag(x, 1)")
    return int(tree.name)


def _default(text: str, column: Column, call: exp.Expr) -> Any:
    """What stands where no row is so far back, as Spark would cast it to the type of the column."""
    tree = call.args.get("default")
    if tree is None or isinstance(tree, exp.Null):
        return None
    try:
        value = _literal(tree, column.type)
        return pa.scalar(value, arrow_type(column.type)).as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, OverflowError):
        hint = "write a number or a text of that type, or leave it out"
        message = f"{text!r}: {sql(tree)} is no value of {column.name}, which is {column.type}"
        raise _fault(text, message, hint=hint) from None


def _literal(tree: exp.Expr, kind: str) -> Any:
    """Raises ValueError for what is no plain value of this kind."""
    if kind == "BOOLEAN" and isinstance(tree, exp.Boolean):
        return bool(tree.this)
    sign, number = (-1, tree.this) if isinstance(tree, exp.Neg) else (1, tree)
    if not isinstance(number, exp.Literal) or number.is_string != (kind == "STRING"):
        raise ValueError(kind)
    if kind == "STRING":
        if sign < 0:
            raise ValueError(kind)
        return number.name
    if not is_numeric(kind) or kind.startswith("DECIMAL"):
        raise ValueError(kind)
    return sign * (float(number.name) if kind in ("FLOAT", "DOUBLE") else int(number.name))


def _fault(text: str, message: str, *, valid: Sequence[str] = (), hint: str | None = None) -> InvalidInput:
    return InvalidInput(message, place=place_at(text, 0, len(text)), valid=tuple(valid), hint=hint)

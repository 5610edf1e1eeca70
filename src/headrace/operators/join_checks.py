"""Whether a join can run in a chain: only where it means exactly what it means in Spark's plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Planner
from headrace.operators.expressions import parse_expression, sql
from headrace.operators.join_sides import SIDES, Condition, conjuncts, exact_keys, read_condition, within_row
from headrace.operators.row_forms import RowForms

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig


def why_not(config: JoinConfig, inputs: Mapping[str, Schema]) -> str | None:
    """Why this join cannot run as `JoinRows`, in words for a plan; None if it can.

    Called for joins that are valid in Spark's plan. Raises InvalidInput and InvalidSyntax as their validation does.
    """
    condition = read_condition(config.on, inputs)
    checks = (
        _times_missing(inputs),
        _types_unknown(inputs),
        _keys_inexact(condition, inputs),
        _rest(config.on, condition, inputs),
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
    if exact_keys(condition, inputs):
        return None
    left, right = (inputs[side].require(name) for side, name in zip(SIDES, condition.keys[0], strict=True))
    if left.type != right.type:
        return f"{left.name!r} is {left.type} on the left, {right.name!r} {right.type} on the right"
    return f"keys of type {left.type} are left to Spark"


def _rest(written: str, condition: Condition, inputs: Mapping[str, Schema]) -> str | None:
    """What else the condition says, on the row of both sides. Hidden columns are not there, but for event time."""
    both, whole = _row_of_both(inputs), parse_expression(condition.text)
    if missing := sorted(name for name in whole.columns if both.find(name) is None):
        return f"the column {missing[0]!r} does not come along"
    planner = Planner(condition.text, RowForms.of(both).scope)
    parts = zip(conjuncts(whole.tree), conjuncts(parse_expression(written).tree), strict=True)
    for part, as_written in parts:
        form = planner.planned(part)
        if form is None or form[1] != "BOOLEAN":
            return f"{sql(as_written)} is left to Spark"
    return None


def condition_form(condition: Condition, inputs: Mapping[str, Schema]) -> Form:
    """The whole condition, on the row of both sides; only where `why_not` has nothing against it."""
    form = Planner(condition.text, RowForms.of(_row_of_both(inputs)).scope).planned(
        parse_expression(condition.text).tree
    )
    if form is None:
        raise AssertionError(f"{condition.text} has no form")
    return form


def _row_of_both(inputs: Mapping[str, Schema]) -> Schema:
    columns = (Column(within_row(side, column.name), column.type) for side in SIDES for column in inputs[side].carried)
    return Schema(tuple(columns))

"""Whether a lookup join can run in a chain: only where it means exactly what it means in Spark's plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Planner, columns_of, may_raise, substituted
from headrace.operators.columnar.forms import COLUMN
from headrace.operators.columnar.types import EXACT
from headrace.operators.expressions import parse_expression
from headrace.operators.join_sides import SIDES, Condition, Side, conjuncts, read_condition, within_row

if TYPE_CHECKING:
    from headrace.operators.lookup_join import LookupJoinConfig


@dataclass(frozen=True, slots=True)
class LookupForms:
    """The condition of a lookup: what must be equal, by side and of its columns; and what else must hold for a pair,
    of columns as they are called in a row of both, whose sides and names `reads` tells."""

    keys: Mapping[Side, tuple[Form, ...]]
    rest: Form | None
    reads: Mapping[str, tuple[Side, str]]


def lookup_forms(config: LookupJoinConfig, inputs: Mapping[str, Schema]) -> LookupForms | None:
    """None where the lookup is left to Spark: also where it spreads the table, which may be a large one.

    Called for lookups that are valid in Spark's plan. Raises InvalidInput and InvalidSyntax as their validation does.
    """
    condition = read_condition(config.on, inputs)
    if config.kind == "not_in" or config.spread != "whole" or not _have_types(inputs):
        return None
    if not config.adds_nothing and (_shares_unlike(condition, inputs) or _hides_time(inputs)):
        return None
    return _forms(condition, inputs)


def _have_types(inputs: Mapping[str, Schema]) -> bool:
    try:
        for column in (column for side in SIDES for column in inputs[side].carried):
            arrow_type(column.type)
    except InvalidInput:
        return False
    return True


def _shares_unlike(condition: Condition, inputs: Mapping[str, Schema]) -> bool:
    """Whether a column that comes once for both sides has two types: Spark gives it a third one."""
    shared = [names for names in condition.keys if names[0].lower() == names[1].lower()]
    return any(inputs["left"].require(left).type != inputs["right"].require(right).type for left, right in shared)


def _hides_time(inputs: Mapping[str, Schema]) -> bool:
    """Whether an event time that can only be named has the name of a column of the table."""
    left, right = inputs["left"], inputs["right"]
    is_hidden = left.event_time is not None and left.event_time not in left.names
    return is_hidden and right.find(left.event_time or "") is not None


def _forms(condition: Condition, inputs: Mapping[str, Schema]) -> LookupForms | None:
    both = [(side, column) for side in SIDES for column in inputs[side].carried]
    reads = {within_row(side, column.name): (side, column.name) for side, column in both}
    scope = {name.lower(): (COLUMN, column.type, name) for name, (_, column) in zip(reads, both, strict=True)}
    planner = Planner(condition.text, scope)
    keys: dict[Side, list[Form]] = {"left": [], "right": []}
    rest: list[Form] = []
    for part in conjuncts(parse_expression(condition.text).tree):
        form = planner.planned(part)
        # Spark asks parts of a condition for rows that have no partner, too.
        if form is None or form[1] != "BOOLEAN" or may_raise(form):
            return None
        sides = _equal_sides(form, reads)
        if sides is None:
            rest.append(form)
            continue
        for side in SIDES:
            keys[side].append(sides[side])
    if not keys["left"]:
        return None
    own = {name: (COLUMN, column.type, column.name) for name, (_, column) in zip(reads, both, strict=True)}
    of_sides = {side: tuple(substituted(form, own) for form in keys[side]) for side in SIDES}
    whole = reduce(lambda one, other: ("and", "BOOLEAN", one, other), rest) if rest else None
    return LookupForms(of_sides, whole, reads)


def _equal_sides(form: Form, reads: Mapping[str, tuple[Side, str]]) -> dict[Side, Form] | None:
    """The two sides of an equality that rows can be found by; None for any other condition."""
    if form[0] != "=" or form[2][1] not in EXACT:
        return None
    found = {frozenset(reads[name][0] for name in columns_of(part)): part for part in form[2:]}
    if found.keys() != {frozenset({side}) for side in SIDES}:
        return None
    return {side: found[frozenset({side})] for side in SIDES}

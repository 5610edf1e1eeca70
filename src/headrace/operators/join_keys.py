"""What must be equal in a join, as columns of each side: so that no expression, and no type, keeps it out of lanes.

    abs(left.id) = right.k        becomes     left._join_key_0 = right._join_key_0, with abs(id) and k under that name

Keys of two types become the type that both fit in. Values that are equal to Spark though their bytes differ (NaN, the
zero below zero, decimals) become texts that are equal just where the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.columnar import Planner
from headrace.operators.columnar.types import EXACT, INTEGERS, NotExact, common_type, decimal_of
from headrace.operators.expression_types import type_of
from headrace.operators.expressions import Expression, parse_expression, sql
from headrace.operators.join_checks import why_not
from headrace.operators.join_sides import KEY_PREFIX, SIDES, Side, compared_sides, conjuncts, exact_keys, read_condition
from headrace.operators.join_sides import within_row as beside
from headrace.operators.projection import projected
from headrace.operators.row_forms import RowForms

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

_REALS: Final = ("FLOAT", "DOUBLE")
_TIMES: Final = ("DATE", "TIMESTAMP")


@dataclass(slots=True)
class KeyColumns:
    """A condition that needs more columns: `columns` are those to make of each side's rows, as items of a select.
    `behind` are conditions over the columns of both that only Spark can compute, for the pairs."""

    columns: dict[Side, list[str]] = field(default_factory=lambda: {side: [] for side in SIDES})
    parts: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def on(self) -> str:
        return " AND ".join(self.parts)

    def add(self, left: str, right: str) -> None:
        """One more key, of expressions over the rows of each side."""
        name = f"{KEY_PREFIX}{self.count}"
        self.count += 1
        for side, text in zip(SIDES, (left, right), strict=True):
            self.columns[side].append(f"{text} AS {backquoted(name)}")
        self.parts.insert(0, f"left.{backquoted(name)} = right.{backquoted(name)}")


def key_columns(on: str, kind: str, inputs: Mapping[str, Schema]) -> KeyColumns | None:
    """None where the condition needs none, or where nothing is gained: with types that are not known, texts with
    backslashes, and what only Spark can compute of pairs in an outer join."""
    condition, whole = read_condition(on, inputs), parse_expression(on)
    if "\\" in on:
        return None
    keys = exact_keys(condition, inputs)
    shared = {left.lower() for left, right in condition.keys if left.lower() == right.lower()}
    made = KeyColumns()
    for part in conjuncts(whole.tree):
        sides = compared_sides(part)
        is_needed = not keys or not _is_exact(part, inputs)
        if sides is not None and is_needed:
            texts = _as_keys(sides, inputs)
            if texts is not None:
                made.add(*texts)
                if _names_shared(part, shared):
                    if kind != "inner" or not _is_exact(part, inputs):
                        return None
                    made.parts.append(sql(part))
                continue
        if _is_exact(part, inputs):
            made.parts.append(sql(part))
        elif kind == "inner":
            made.behind.append(_of_pairs(part, inputs))
        else:
            return None
    return made if (made.count or made.behind) and (keys or made.count) else None


def why_in_spark(config: JoinConfig, inputs: Mapping[str, Schema]) -> str | None:
    """Why a join cannot run in lanes, even with columns made for its keys; None if it can."""
    reason = why_not(config, inputs)
    found = None if reason is None else key_columns(config.on, config.kind, inputs)
    if found is None:
        return reason
    made: dict[str, Schema] = {
        side: replace(projected(["*", *found.columns[side]], inputs[side]), event_time=inputs[side].event_time)
        for side in SIDES
    }
    return why_not(config.model_copy(update={"on": found.on}), made)


def _is_exact(part: exp.Expr, inputs: Mapping[str, Schema]) -> bool:
    """Whether it can be computed of pairs as Spark does."""
    tree = _renamed(part, inputs)
    columns = (Column(beside(side, column.name), column.type) for side in SIDES for column in inputs[side].carried)
    form = Planner(sql(tree), RowForms.of(Schema(tuple(columns))).scope).planned(tree)
    return form is not None and form[1] == "BOOLEAN"


def _renamed(part: exp.Expr, inputs: Mapping[str, Schema]) -> exp.Expr:
    """With the names that columns have in a row of both sides."""

    def named(side: Side, name: str) -> str:
        found = inputs[side].find(name)
        return beside(side, name if found is None else found.name)

    return _with_names(part, named)


def _of_pairs(part: exp.Expr, inputs: Mapping[str, Schema]) -> str:
    """The same with the names that columns have behind the join."""
    return sql(_with_names(part, lambda side, name: inputs[side].require(name).name))


def _with_names(part: exp.Expr, named: Callable[[Side, str], str]) -> exp.Expr:
    copied = exp.Paren(this=part.copy())
    for column in list(copied.find_all(exp.Column)):
        first, second, *more = column.parts
        side: Side = "left" if first.name.lower() == "left" else "right"
        own = exp.to_identifier(named(side, second.name), quoted=True)
        column.replace(_dotted(own, [one.copy() for one in more]))
    whole: exp.Expr = copied.this
    return whole


def _dotted(column: exp.Expr, fields: Iterable[exp.Expr]) -> exp.Expr:
    found: exp.Expr = exp.Column(this=column)
    for one in fields:
        found = exp.Dot(this=found, expression=one)
    return found


def _names_shared(part: exp.Expr, shared: set[str]) -> bool:
    """Whether it makes columns of one name equal, which come out once."""
    columns = [side.unnest() for side in (part.this, part.expression)]
    return all(isinstance(one, exp.Column) and len(one.parts) == 2 and one.name.lower() in shared for one in columns)


def _as_keys(sides: tuple[exp.Expr, exp.Expr], inputs: Mapping[str, Schema]) -> tuple[str, str] | None:
    """The expressions of the left and the right as keys of one exact type; None where their types are not known."""
    trees = [_with_names(tree, lambda side, name: inputs[side].require(name).name) for tree in sides]
    types = [type_of(Expression("", tree), inputs[side]) for side, tree in zip(SIDES, trees, strict=True)]
    common = _common(*types)
    if common is None:
        return None
    left, right = (_as_key(sql(tree), type_, common) for tree, type_ in zip(trees, types, strict=True))
    return left, right


def _common(left: str, right: str) -> str | None:
    """The type that Spark compares both in; None where it is not sure, or reads texts as something else."""
    if left == right:
        return left if left in (*EXACT, *_REALS, "BINARY") or decimal_of(left) else None
    if left in _TIMES and right in _TIMES:
        return "TIMESTAMP"
    if left in (*INTEGERS, *_REALS) and right in (*INTEGERS, *_REALS):
        return max(left, right, key=INTEGERS.index) if {left, right} <= {*INTEGERS} else "DOUBLE"
    try:
        return common_type([left, right])
    except NotExact:
        return None


def _as_key(text: str, type_: str, common: str) -> str:
    if common in EXACT:
        return text if type_ == common else f"CAST({text} AS {common})"
    if common == "BINARY":
        return f"CAST(hex({text}) AS STRING)"
    # The sum has no zero below zero.
    value = f"CAST({text} AS DOUBLE) + CAST(0 AS DOUBLE)" if common in _REALS else f"CAST({text} AS {common})"
    return f"CAST({value} AS STRING)"

"""A condition taken apart at its ANDs, and the parts of it that bound the time between two joined rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import interval_ms
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.query_parser import read_query
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression

Side = Literal["left", "right"]


def conjuncts(script: Script, condition: Expression) -> list[Expression]:
    """The parts that AND holds together, from left to right; the whole where an OR stands beside them."""
    tokens = script.tokens
    inside = [index for index, token in enumerate(tokens) if condition.span.start <= token.start < condition.span.end]
    start, stop = inside[0], inside[-1] + 1
    splits = _splits(Cursor(script, start, stop))
    if splits is None:
        return [condition]
    ends = [*splits, stop]
    starts = [start, *(split + 1 for split in splits)]
    return [read_expression(Cursor(script, first, last, read_query)) for first, last in zip(starts, ends, strict=True)]


def _splits(cursor: Cursor) -> list[int] | None:
    """Indexes of the ANDs outside of brackets, CASE and BETWEEN; None where an OR stands there."""
    found: list[int] = []
    depth, betweens = 0, 0
    while not cursor.done():
        if cursor.at("(") or cursor.at("CASE") or cursor.at("["):
            depth += 1
        elif cursor.at(")") or cursor.at("END") or cursor.at("]"):
            depth -= 1
        elif depth == 0 and cursor.at("OR"):
            return None
        elif depth == 0 and cursor.at("BETWEEN"):
            betweens += 1
        elif depth == 0 and cursor.at("AND") and betweens:
            betweens -= 1
        elif depth == 0 and cursor.at("AND"):
            found.append(cursor.index)
        cursor.index += 1
    return found


@dataclass(frozen=True, slots=True)
class Moment:
    """The event time of a side, moved by an interval."""

    side: Side
    column: str
    offset_ms: int


@dataclass(frozen=True, slots=True)
class TimeBound:
    """At most one of both: how much earlier, or later, than the left row the right one may be at most.

    `is_exact` fails for < and >, and where the bound is on the other side of the left row: then the condition has to
    be checked as well.
    """

    before_ms: int | None
    after_ms: int | None
    is_exact: bool = True


def moment(tree: exp.Expr, sides: dict[str, Side]) -> Moment | None:
    """`a.ts`, `a.ts + INTERVAL '5' MINUTE`: None for anything else. `sides` maps qualifiers to sides."""
    if isinstance(tree, exp.Paren):
        return moment(tree.this, sides)
    if isinstance(tree, exp.Column) and len(tree.parts) == 2 and tree.parts[0].name.lower() in sides:
        return Moment(sides[tree.parts[0].name.lower()], tree.name.lower(), 0)
    if isinstance(tree, exp.Add | exp.Sub) and isinstance(tree.expression, exp.Interval):
        base = moment(tree.this, sides)
        offset_ms = _interval_ms(tree.expression)
        if base is None or offset_ms is None:
            return None
        sign = 1 if isinstance(tree, exp.Add) else -1
        return Moment(base.side, base.column, base.offset_ms + sign * offset_ms)
    return None


def _interval_ms(interval: exp.Interval) -> int | None:
    try:
        return interval_ms(interval.sql(dialect="spark"))
    except InvalidInput:
        return None


def compared(tree: exp.Expr) -> list[tuple[exp.Expr, exp.Expr, bool]]:
    """`(later, earlier, strict)` pairs that a comparison or a BETWEEN means: later >= earlier."""
    match tree:
        case exp.Paren():
            return compared(tree.this)
        case exp.Between():
            low, high = tree.args["low"], tree.args["high"]
            return [(tree.this, low, False), (high, tree.this, False)]
        case exp.GTE() | exp.GT():
            return [(tree.this, tree.expression, isinstance(tree, exp.GT))]
        case exp.LTE() | exp.LT():
            return [(tree.expression, tree.this, isinstance(tree, exp.LT))]
        case _:
            return []


def time_bound(later: Moment, earlier: Moment, *, strict: bool) -> TimeBound:
    """What `later >= earlier` says about the right row's time beside the left one's."""
    gap_ms = earlier.offset_ms - later.offset_ms
    if later.side == "right":  # right - left >= gap
        return TimeBound(max(0, -gap_ms), None, not strict and gap_ms <= 0)
    return TimeBound(None, max(0, -gap_ms), not strict and gap_ms <= 0)

"""From the filters that follow a source to its prefilter: the part of them that Arrow decides as Spark does, at little
cost and without errors."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headrace.graph.schema import Schema
from headrace.operators.columnar import Form, Planner, is_cheap, may_raise, scope_of
from headrace.operators.expressions import parse_expression


def prefilter_of(conditions: Sequence[str | None], schema: Schema) -> Form | None:
    """What a row must fulfil for at least one of the conditions to hold (None: always); None where all rows may."""
    parts = [None if text is None else _weakened(text, schema) for text in conditions]
    return None if any(part is None for part in parts) else ("or", "BOOLEAN", *parts)


def is_whole_prefilter(condition: str, schema: Schema) -> bool:
    """Whether the prefilter of the condition lets through just the rows for which it is true."""
    return _whole(parse_expression(condition).tree, Planner(condition, scope_of(schema))) is not None


def _weakened(text: str, schema: Schema) -> Form | None:
    return _translate(parse_expression(text).tree, Planner(text, scope_of(schema)))


def _whole(tree: exp.Expr, planner: Planner) -> Form | None:
    found = planner.planned(tree)
    return found if found is not None and found[1] == "BOOLEAN" and is_cheap(found) and not may_raise(found) else None


def _translate(tree: exp.Expr, planner: Planner) -> Form | None:
    """A condition that holds at least for the rows for which the tree is true; None where none is known."""
    tree = tree.unnest()
    whole = _whole(tree, planner)
    if whole is not None:
        return whole
    if isinstance(tree, exp.And):
        known = [part for side in (tree.left, tree.right) if (part := _translate(side, planner)) is not None]
        return ("and", "BOOLEAN", *known) if known else None
    if isinstance(tree, exp.Or):
        left, right = (_translate(side, planner) for side in (tree.left, tree.right))
        return None if left is None or right is None else ("or", "BOOLEAN", left, right)
    return _negated(tree.this.unnest(), planner) if isinstance(tree, exp.Not) else None


def _negated(tree: exp.Expr, planner: Planner) -> Form | None:
    """De Morgan: what is not exact cannot be turned round, but parts of it can."""
    if isinstance(tree, exp.And | exp.Or):
        other = exp.Or if isinstance(tree, exp.And) else exp.And
        turned = other(this=exp.Not(this=tree.left), expression=exp.Not(this=tree.right))
        return _translate(turned, planner)
    return _translate(tree.this, planner) if isinstance(tree, exp.Not) else None

"""Expressions that a pipeline can run: no subqueries, no OVER, no functions that Spark does not have."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from headrace.errors import InvalidInput, did_you_mean
from headrace.sql.function_aliases import HINTS
from headrace.sql.functions import SPARK_FUNCTIONS, is_function
from headrace.sql.language.dialect import functions_in, refused_in, spelled
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression

HEADER_FUNCTIONS: Final = frozenset({"set_header", "remove_header"})


def check_expression(script: Script, expression: Expression, *, allows_over: bool = False) -> None:
    """Raises InvalidSyntax for what cannot run, at its place."""
    if expression.queries:
        message = "a subquery can stand in WHERE and in the SELECT list only"
        raise script.error(message, expression.span, hint="write a LEFT JOIN with the table, and use its column")
    if not allows_over:
        _refuse_over(script, expression)
    refused = refused_in(expression.tree)
    if refused:
        raise script.error(f"{refused} cannot stand in a pipeline's expression", expression.span)
    for name, span in functions_in(expression.tree):
        if name.lower() in HEADER_FUNCTIONS:
            hint = "write it alone, between the commas of the SELECT list of INSERT INTO or CREATE STREAM … AS"
            raise script.error(f"{name} makes no value: it is for records that are written", span, hint=hint)
        try:
            is_known = is_function(name)
        except InvalidInput as error:
            raise script.error(error.message, span, valid=error.valid, hint=error.hint) from error
        if not is_known:
            raise script.error(f"unknown function {name!r}", span, hint=_hint(name.lower()))


def _refuse_over(script: Script, expression: Expression) -> None:
    """Raises InvalidSyntax for a function with OVER, by its name."""
    over = expression.tree.find(exp.Window)
    if over is not None:
        name = spelled(over.this).partition("(")[0].upper()
        hint = "give it a name in a query inside: FROM (SELECT *, sum(x) OVER (…) AS total FROM …) AS y"
        raise script.error(f"{name}(…) OVER (…) stands in the SELECT list only", expression.span, hint=hint)


# How Flink's older SQL names the bounds of a window.
_BOUND: Final = re.compile(r"(tumble|hop|session|cumulate)_(start|end|rowtime)")


def _hint(name: str) -> str | None:
    if _BOUND.fullmatch(name):
        bound = "_window_end" if name.endswith("_end") else "_window_start"
        return f"write FROM stream WINDOW TUMBLING(1m) or FROM TUMBLE(…), and name {bound}"
    other = HINTS.get(name)
    return f"Spark calls it {other}" if other else did_you_mean(name, SPARK_FUNCTIONS)

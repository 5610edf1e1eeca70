"""Expressions that a pipeline can run: no subqueries, no OVER, no functions that Spark does not have."""

from __future__ import annotations

from headrace.errors import did_you_mean
from headrace.sql.functions import SPARK_FUNCTIONS, is_function
from headrace.sql.language.dialect import functions_in, refused_in
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression


def check_expression(script: Script, expression: Expression) -> None:
    """Raises InvalidSyntax for what cannot run, at its place."""
    refused = "a subquery" if expression.queries else refused_in(expression.tree)
    if refused:
        raise script.error(f"{refused} cannot stand in a pipeline's expression", expression.span)
    for name, span in functions_in(expression.tree):
        if not is_function(name):
            hint = did_you_mean(name.lower(), SPARK_FUNCTIONS)
            raise script.error(f"unknown function {name!r}", span, hint=hint)

"""What can be written and read but not run yet: refused by its name, at its place, with the reason."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from headrace.errors import InvalidSyntax
from headrace.sql.expressions import check_expression
from headrace.sql.language.pattern_tree import MatchRecognize, PatternSource
from headrace.sql.language.script import Script, Span
from headrace.sql.language.statement_tree import (
    Ask,
    Delete,
    Describe,
    Drop,
    Explain,
    Insert,
    InsertValues,
    PipelineAction,
    Show,
    Statement,
    Update,
)
from headrace.sql.language.tree import Expression, Query, Reference, Relation, Select, Windowed
from headrace.sql.over_calls import is_over
from headrace.sql.subqueries import are_values, inner_expressions, refused_subquery, split_condition
from headrace.sql.window_steps import is_grouped


def refuse_statement(script: Script, statement: Statement) -> InvalidSyntax:
    """What to raise for a statement that makes no part of a pipeline."""
    start = _first_word(script, statement.span)
    match statement:
        case Ask():
            hint = "write INSERT INTO name SELECT …, CREATE STREAM name AS SELECT … or CREATE VIEW name AS SELECT …"
            return script.error("this SELECT has no target", start, hint=hint)
        case Show() | Describe() | Drop() | Explain() | PipelineAction():
            hint = "run it on its own, in the shell of `headrace sql` or as its only statement"
            word = script.slice(start).upper()
            return script.error(f"{word} is no part of a pipeline", start, hint=hint)
        case Update() | Delete():
            hint = "name a stream behind FROM or USING; without one, run it on its own in the shell of `headrace sql`"
            return script.error(f"this {script.slice(start).upper()} is no part of a pipeline", start, hint=hint)
        case InsertValues():
            hint = "run it on its own, in the shell of `headrace sql` or as its only statement"
            return script.error("VALUES is no part of a pipeline", start, hint=hint)
        case _:
            raise AssertionError(f"this statement can run: {statement!r}")


def refuse_events(script: Script, insert: Insert) -> None:
    if insert.events not in (None, "current"):
        message = f"INSERT {insert.events.upper()} EVENTS cannot run yet: windows put out current rows only"
        raise script.error(message, insert.target.span)


def refuse_query(script: Script, query: Query) -> None:
    """Raises InvalidSyntax for what goes around the SELECTs of a query and cannot run."""
    *before, _ = [union.is_all for union in query.unions] or [True]
    if not all(before):
        hint = "put the UNION into a query of its own: FROM (… UNION …) AS x"
        place = _first_word(script, query.unions[before.index(False)].select.span)
        raise script.error("UNION leaves out doubles of all parts: it is the last", place, hint=hint)
    if query.order:
        hint = "ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) keeps the top rows; OVER and EMIT FINAL go by event time"
        raise script.error("a stream has no end, so ORDER BY cannot sort it", query.order[0].expression.span, hint=hint)
    if query.limit is not None:
        hint = "leave LIMIT out; SELECT … LIMIT 5 on its own shows the first rows"
        raise script.error("LIMIT cannot stand here: a stream has no end", _first_word(script, query.span), hint=hint)


def refuse_select(script: Script, select: Select) -> None:
    """Raises InvalidSyntax for clauses and expressions of a SELECT that cannot run."""
    over = next(filter(is_over, select.items), None)
    if select.qualify is not None and over is not None:
        hint = "put one of them into a query inside: FROM (SELECT …) AS x"
        raise script.error("QUALIFY cannot stand beside OVER", over.span, hint=hint)
    if select.qualify is not None and (select.window is not None or is_grouped(select)):
        raise script.error("QUALIFY cannot stand beside groups", select.qualify.span)
    for item in select.items:
        if is_over(item) and not item.expression.queries:
            check_expression(script, item.expression, allows_over=True)
        else:
            _check_with_values(script, select, item.expression)
    conditions = split_condition(script, select.condition)
    for valued in conditions.valued:
        _check_with_values(script, select, valued)
    inside = [one for subquery in conditions.lookups for one in subquery.expressions]
    for expression in (*conditions.plain, *inside, *select.keys, select.having):
        if expression is not None:
            check_expression(script, expression)


def _check_with_values(script: Script, select: Select, expression: Expression) -> None:
    """Raises InvalidSyntax for what cannot run in an expression, and in the queries that are values of it."""
    if not expression.queries:
        check_expression(script, expression)
        return
    if not are_values(expression):
        raise refused_subquery(script, expression)
    if select.window is not None or select.qualify is not None or is_grouped(select) or any(map(is_over, select.items)):
        hint = "put it into a query inside: FROM (SELECT …, (SELECT …) AS name FROM …) AS x"
        raise script.error("a subquery that is a value stands beside plain columns only", expression.span, hint=hint)
    check_expression(script, replace(expression, pieces=()))
    for inner in (one for query in expression.queries for one in inner_expressions(query)):
        if inner is not None:
            check_expression(script, inner)


def refuse_ranked_subqueries(script: Script, select: Select) -> None:
    """Raises InvalidSyntax for a subquery in a SELECT that ranks its rows, or that bounds the rank."""
    for expression in (select.condition, *(item.expression for item in select.items)):
        if expression is not None and expression.queries:
            hint = "put it into a query of its own, inside or around: FROM (SELECT … WHERE … IN (SELECT …)) AS x"
            raise script.error("a subquery cannot stand beside ROW_NUMBER()", expression.span, hint=hint)


def refuse_output(script: Script, select: Select) -> None:
    """Raises InvalidSyntax where OUTPUT has no exact meaning in a stream of micro-batches."""
    output = select.output
    if output is None:
        return
    if output.which == "snapshot" and output.every is None:
        hint = "write EVERY 10 SECONDS; LAST EVERY 5 EVENTS gives the newest row of five"
        raise script.error("OUTPUT SNAPSHOT goes by time: rows of all keys have no order", output.span, hint=hint)
    if select.window is not None or is_grouped(select):
        hint = "write the groups with CREATE STREAM … AS, and let OUTPUT choose among the rows of that stream"
        message = "OUTPUT cannot stand beside groups: which rows come, and in which order, depends on the micro-batches"
        raise script.error(message, output.span, hint=hint)
    is_beside = select.is_distinct or select.qualify is not None or any(map(is_over, select.items))
    if is_beside or any(item.expression.tree.find(exp.UDTF) for item in select.items):
        hint = "put the other one into a query inside: FROM (SELECT …) AS x"
        raise script.error("OUTPUT stands beside plain columns and WHERE only", output.span, hint=hint)


def refuse_source(script: Script, source: Relation) -> InvalidSyntax:
    """What to raise for a relation that cannot be read yet."""
    match source:
        case PatternSource() | MatchRecognize():
            return script.error("patterns cannot run yet", source.span)
        case Windowed():
            return script.error("a window stands behind GROUP BY", source.window.span)
        case Reference() if source.as_of is not None:
            hint = "leave it out: a JOIN sees the table as it is when the row comes"
            return script.error(
                "FOR SYSTEM_TIME AS OF cannot run: tables keep no old versions", source.name.span, hint=hint
            )
        case _:
            raise AssertionError(f"this source can run: {source!r}")


def _first_word(script: Script, span: Span) -> Span:
    return Span(span.start, span.start + len(script.slice(span).split(maxsplit=1)[0]))

"""Queries in the one notation that is printed, a clause per line."""

from __future__ import annotations

from headrace.sql.language.layout import called, indented, listed
from headrace.sql.language.pattern_tree import MatchRecognize, PatternSource
from headrace.sql.language.print_expressions import ExpressionPrinter, printed_duration
from headrace.sql.language.print_patterns import print_match, print_pattern
from headrace.sql.language.print_windows import print_window
from headrace.sql.language.tree import (
    Derived,
    EmitClause,
    Join,
    Name,
    OperatorCall,
    OutputRate,
    Query,
    Reference,
    Relation,
    Select,
    Windowed,
    Within,
)
from headrace.sql.language.values import print_label, print_name, print_value


def print_query(query: Query) -> str:
    return "\n".join(query_lines(query))


def query_lines(query: Query) -> list[str]:
    lines = _table_lines(query)
    lines += _select_lines(query.first)
    for union in query.unions:
        lines.append("UNION ALL" if union.is_all else "UNION")
        lines += _select_lines(union.select)
    if query.order:
        lines.append(f"ORDER BY {EXPRESSIONS.sort_keys(query.order)}")
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    return lines


EXPRESSIONS = ExpressionPrinter(print_query)


def _table_lines(query: Query) -> list[str]:
    lines: list[str] = []
    for index, table in enumerate(query.tables):
        word = "WITH " if index == 0 else ""
        end = ")" if index == len(query.tables) - 1 else "),"
        lines += [f"{word}{print_name(table.name.text)} AS (", *indented(query_lines(table.query)), end]
    return lines


def _select_lines(select: Select) -> list[str]:
    word = "SELECT DISTINCT" if select.is_distinct else "SELECT"
    lines = listed(word, [EXPRESSIONS.item(item) for item in select.items])
    source = _relation_lines(select.source)
    lines += [f"FROM {source[0]}", *source[1:]]
    if select.condition is not None:
        lines.append(f"WHERE {EXPRESSIONS.expression(select.condition)}")
    if select.keys:
        lines.append(f"GROUP BY {EXPRESSIONS.expressions(select.keys)}")
    if select.window is not None:
        lines.append(print_window(select.window, EXPRESSIONS))
    if select.having is not None:
        lines.append(f"HAVING {EXPRESSIONS.expression(select.having)}")
    if select.qualify is not None:
        lines.append(f"QUALIFY {EXPRESSIONS.expression(select.qualify)}")
    return [*lines, *_emit_lines(select.emit), *_output_lines(select.output)]


def _emit_lines(emit: EmitClause | None) -> list[str]:
    if emit is None:
        return []
    timeout = f" TIMEOUT {printed_duration(emit.timeout)}" if emit.timeout is not None else ""
    return [f"EMIT {emit.when.upper()}{timeout}"]


def _output_lines(output: OutputRate | None) -> list[str]:
    if output is None:
        return []
    every = f"{output.every_events} EVENTS" if output.every is None else printed_duration(output.every)
    return [f"OUTPUT {output.which.upper()} EVERY {every}"]


def _relation_lines(relation: Relation) -> list[str]:
    match relation:
        case Reference():
            return [print_reference(relation)]
        case OperatorCall():
            return _call_lines(relation)
        case Derived():
            return _ended(["(", *indented(query_lines(relation.query)), ")"], _alias(relation.alias))
        case Windowed():
            return _windowed_lines(relation)
        case Join():
            return _join_lines(relation)
        case PatternSource():
            return [print_pattern(relation, EXPRESSIONS)]
        case MatchRecognize():
            before = _relation_lines(relation.source)
            lines = print_match(relation, EXPRESSIONS)
            return _ended([*before[:-1], f"{before[-1]} {lines[0]}", *lines[1:]], _alias(relation.alias))


def print_reference(reference: Reference) -> str:
    name = print_name(reference.name.text)
    port = "" if reference.port == "out" else f".{print_label(reference.port)}"
    as_of = "" if reference.as_of is None else f" FOR SYSTEM_TIME AS OF {EXPRESSIONS.expression(reference.as_of)}"
    return f"{name}{port}{as_of}{_alias(reference.alias)}"


def _windowed_lines(windowed: Windowed) -> list[str]:
    return _ended(_relation_lines(windowed.source), f" {print_window(windowed.window, EXPRESSIONS)}")


def _call_lines(call: OperatorCall) -> list[str]:
    inputs = [_input(port, reference) for port, reference in call.inputs]
    settings = [f"{print_label(setting.name.text)} => {print_value(setting.value)}" for setting in call.settings]
    return called(print_name(call.operator.text), [*inputs, *settings])


def _input(port: str, reference: Reference) -> str:
    table = f"TABLE {print_reference(reference)}"
    return table if port == "in" else f"{print_label(port)} => {table}"


def _join_lines(join: Join) -> list[str]:
    right = _relation_lines(join.right)
    asof = "ASOF " if join.is_asof else ""
    kind = "" if join.kind == "inner" else f"{join.kind.upper()} "
    return [*_relation_lines(join.left), *_ended([f"{asof}{kind}JOIN {right[0]}", *right[1:]], _join_bounds(join))]


def _join_bounds(join: Join) -> str:
    parts = []
    if join.condition is not None:
        parts.append(f" ON {EXPRESSIONS.expression(join.condition)}")
    if join.using:
        parts.append(f" USING ({', '.join(print_name(name.text) for name in join.using)})")
    if join.within is not None:
        parts.append(f" WITHIN {_within(join.within)}")
    if join.retention is not None:
        parts.append(f" RETENTION {printed_duration(join.retention)}")
    return "".join(parts)


def _within(within: Within) -> str:
    if within.before == within.after:
        return printed_duration(within.before)
    return f"({printed_duration(within.before)}, {printed_duration(within.after)})"


def _alias(alias: Name | None) -> str:
    return "" if alias is None else f" AS {print_name(alias.text)}"


def _ended(lines: list[str], end: str) -> list[str]:
    return [*lines[:-1], f"{lines[-1]}{end}"]

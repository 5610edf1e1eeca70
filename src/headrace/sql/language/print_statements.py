"""Statements in the one notation that is printed: `read_entries(print_entries(entries)) == entries`."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.sql.language.annotations import print_annotation
from headrace.sql.language.durations import print_interval
from headrace.sql.language.layout import bracketed, indented
from headrace.sql.language.print_expressions import printed_duration
from headrace.sql.language.print_queries import EXPRESSIONS, print_reference, query_lines
from headrace.sql.language.statement_tree import (
    Ask,
    ColumnDefinition,
    Create,
    CreateAs,
    CreateFunction,
    CreateTrigger,
    CreateView,
    Definition,
    Delete,
    Describe,
    Drop,
    Entry,
    Explain,
    Insert,
    InsertValues,
    Partition,
    PipelineAction,
    Show,
    Statement,
    Update,
    Upsert,
    Watermark,
)
from headrace.sql.language.tree import Expression, Name, Option
from headrace.sql.language.values import print_exact, print_name, print_string, print_value


def print_entries(entries: Iterable[Entry]) -> str:
    """A script, with a blank line between two statements."""
    return "\n\n".join(map(_entry, entries)) + "\n"


def _entry(entry: Entry) -> str:
    comments = [print_annotation(annotation.key, annotation.value) for annotation in entry.annotations]
    return "\n".join([*comments, print_statement(entry.statement) + ";"])


def print_statement(statement: Statement) -> str:
    """Without the semicolon."""
    return "\n".join(_lines(statement))


def _lines(statement: Statement) -> list[str]:
    match statement:
        case Create() | CreateAs() | CreateView() | CreateFunction() | CreateTrigger():
            return _definition_lines(statement)
        case Insert():
            events = f" {statement.events.upper()} EVENTS" if statement.events else ""
            return [f"INSERT{events} INTO {print_name(statement.target.text)}", *query_lines(statement.query)]
        case InsertValues():
            return _values_lines(statement)
        case Upsert():
            on = [] if statement.condition is None else [f"ON {EXPRESSIONS.expression(statement.condition)}"]
            return [f"UPSERT INTO {print_name(statement.target.text)}", *query_lines(statement.query), *on]
        case Update() | Delete():
            return _change_lines(statement)
        case Partition():
            return _partition_lines(statement)
        case Ask():
            return query_lines(statement.query)
        case Show() | Describe() | Drop() | Explain() | PipelineAction():
            return _operation_lines(statement)


def _definition_lines(statement: Definition) -> list[str]:
    match statement:
        case Create():
            return _create_lines(statement)
        case CreateAs():
            head = [f"CREATE {_kind(statement.is_table)} {print_name(statement.name.text)}"]
            return [*_as(_with_options(head, statement.options)), *query_lines(statement.query)]
        case CreateView():
            return [f"CREATE VIEW {print_name(statement.name.text)} AS", *query_lines(statement.query)]
        case CreateFunction():
            return [f"CREATE FUNCTION {print_name(statement.name.text)} AS {print_string(statement.place.text)}"]
        case CreateTrigger():
            return [f"CREATE TRIGGER {print_name(statement.name.text)} AT {_schedule(statement)}"]


def _create_lines(statement: Create) -> list[str]:
    head = [f"CREATE {_kind(statement.is_table)} {print_name(statement.name.text)}"]
    columns = [_column(column) for column in statement.columns]
    if statement.watermark is not None:
        columns.append(print_watermark(statement.watermark))
    if columns:
        head = bracketed(head[0], columns, one_line=False)
    return _with_options(head, statement.options)


def _kind(is_table: bool) -> str:
    return "TABLE" if is_table else "STREAM"


def _column(column: ColumnDefinition) -> str:
    type_ = "" if column.type is None else f" {column.type}"
    expression = "" if column.expression is None else f" AS {EXPRESSIONS.expression(column.expression)}"
    return f"{print_name(column.name.text)}{type_}{expression}{' PRIMARY KEY' if column.is_key else ''}"


def print_watermark(watermark: Watermark) -> str:
    column = print_name(watermark.column.text)
    delay = "" if watermark.delay is None else f" - {_interval(watermark.delay)}"
    idle = "" if watermark.idle_after is None else f" IDLE AFTER {_interval(watermark.idle_after)}"
    return f"WATERMARK FOR {column} AS {column}{delay}{idle}"


def _interval(duration: str) -> str:
    return print_interval(duration) or print_string(duration)


def _with_options(head: list[str], options: tuple[Option, ...]) -> list[str]:
    if not options:
        return head
    return [*head[:-1], *bracketed(f"{head[-1]} WITH", [_option(option) for option in options], one_line=True)]


def _option(option: Option) -> str:
    value = print_exact(option.value) if option.exact else print_value(option.value)
    return f"{print_option_name(option.name.text)} = {value}"


def print_option_name(name: str) -> str:
    return print_name(name) if name.isidentifier() else print_string(name)


def _as(lines: list[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]} AS"]


def _schedule(trigger: CreateTrigger) -> str:
    if trigger.every is not None:
        return f"EVERY {printed_duration(trigger.every)}"
    return "START" if trigger.cron is None else f"CRON {print_string(trigger.cron)}"


def _change_lines(statement: Update | Delete) -> list[str]:
    target, condition = print_name(statement.target.text), f"WHERE {EXPRESSIONS.expression(statement.condition)}"
    word = "USING" if isinstance(statement, Delete) else "FROM"
    source = [] if statement.source is None else [f"{word} {print_reference(statement.source)}"]
    if isinstance(statement, Delete):
        return [" ".join(("DELETE FROM", target)), *source, condition]
    assignments = ", ".join(_assignment(column, value) for column, value in statement.assignments)
    return [f"UPDATE {target}", f"SET {assignments}", *source, condition]


def _values_lines(statement: InsertValues) -> list[str]:
    columns = ", ".join(print_name(column.text) for column in statement.columns)
    rows = [f"({', '.join(EXPRESSIONS.expression(value) for value in row)})" for row in statement.rows]
    head = f"INSERT INTO {print_name(statement.target.text)}{f' ({columns})' if columns else ''}"
    return [head, f"VALUES {', '.join(rows)}"]


def _assignment(column: Name, value: Expression) -> str:
    return f"{print_name(column.text)} = {EXPRESSIONS.expression(value)}"


def _partition_lines(partition: Partition) -> list[str]:
    keys = (f"{EXPRESSIONS.expression(key.expression)} OF {print_name(key.stream.text)}" for key in partition.keys)
    inner = [line for statement in partition.statements for line in indented(_ended(_lines(statement)))]
    return [f"PARTITION WITH ({', '.join(keys)})", "BEGIN", *inner, "END"]


def _ended(lines: list[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]};"]


def _operation_lines(statement: Show | Describe | Drop | Explain | PipelineAction) -> list[str]:
    match statement:
        case Show():
            of = "" if statement.of is None else f" {print_name(statement.of.text)}"
            return [f"SHOW {statement.what.upper()}{of}"]
        case Describe():
            return [f"DESCRIBE {print_name(statement.name.text)}"]
        case Drop():
            return [f"DROP TABLE {print_name(statement.name.text)}"]
        case Explain():
            word = "EXPLAIN" if statement.what == "graph" else f"EXPLAIN {statement.what.upper()}"
            if isinstance(statement.of, Name):
                return [f"{word} PIPELINE {print_name(statement.of.text)}"]
            return [word, *_lines(statement.of)]
        case PipelineAction():
            words = f"{statement.action.upper()} PIPELINE {print_name(statement.name.text)}"
            return [f"{words}{_version(statement)}{_begin(statement)}"]


def _begin(statement: PipelineAction) -> str:
    return "" if statement.begin is None else f" BEGIN {statement.begin.replace('-', ' ').upper()}"


def _version(statement: PipelineAction) -> str:
    if statement.version is None:
        return ""
    return f"{' TO' if statement.action == 'rollback' else ''} VERSION {statement.version}"

"""The columns and the options of CREATE STREAM and CREATE TABLE."""

from __future__ import annotations

from dataclasses import replace

from headrace.errors import InvalidInput
from headrace.graph.schema import parse_type
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import read_inline_duration
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.pointers import type_pointer
from headrace.sql.language.statement_tree import ColumnDefinition, Watermark
from headrace.sql.language.tree import Name, Option
from headrace.sql.language.values import read_value

_TYPE_ENDS = (",", ")", "PRIMARY KEY")


def read_columns(cursor: Cursor) -> tuple[tuple[ColumnDefinition, ...], Watermark | None]:
    """Called behind the opening bracket; the closing one is read. Raises InvalidSyntax for what is defined twice."""
    columns: list[ColumnDefinition] = []
    watermark: Watermark | None = None
    while True:
        if cursor.at("WATERMARK", "FOR"):
            _refuse_second(cursor, watermark)
            watermark = _watermark(cursor)
        elif cursor.accept("PRIMARY KEY"):
            columns = _with_keys(cursor, columns)
        else:
            columns.append(_column(cursor, columns))
        if cursor.accept(")"):
            return tuple(columns), watermark
        if not cursor.accept(","):
            raise cursor.failure(",", ")")


def read_options(cursor: Cursor) -> tuple[Option, ...]:
    """Called behind WITH: `(name = value, 'dotted.name' = value, …)`."""
    cursor.expect("(")
    options: list[Option] = []
    while not cursor.accept(")"):
        if options and not cursor.accept(","):
            raise cursor.failure(",", ")")
        options.append(_option(cursor, options))
    return tuple(options)


def _option(cursor: Cursor, known: list[Option]) -> Option:
    start = cursor.index
    name = _option_name(cursor)
    if any(option.name.text == name.text for option in known):
        raise cursor.script.error(f"the option {name.text!r} is given twice", name.span)
    cursor.expect("=")
    value, exact = read_value(cursor)
    return Option(name, value, exact, cursor.since(start))


def _option_name(cursor: Cursor) -> Name:
    """`format`, `late.policy` or 'late.policy'."""
    start = cursor.index
    text = cursor.string()
    if text is None:
        parts = [_option_word(cursor)]
        while cursor.accept("."):
            parts.append(_option_word(cursor))
        text = ".".join(parts)
    return Name(text, cursor.since(start))


def _option_word(cursor: Cursor) -> str:
    return cursor.label("the name of an option").text


def _column(cursor: Cursor, known: list[ColumnDefinition]) -> ColumnDefinition:
    start = cursor.index
    name = cursor.label("the name of a column")
    if any(column.name.text.lower() == name.text.lower() for column in known):
        raise cursor.script.error(f"the column {name.text!r} is defined twice", name.span)
    if cursor.accept("AS"):
        expression = read_expression(cursor)
        return ColumnDefinition(name, None, expression, False, cursor.since(start))
    has_type = not any(cursor.at(end) for end in _TYPE_ENDS)
    type_ = _type(cursor) if has_type else None
    span = cursor.since(start)
    return ColumnDefinition(name, type_, None, cursor.accept("PRIMARY KEY"), span)


def _with_keys(cursor: Cursor, columns: list[ColumnDefinition]) -> list[ColumnDefinition]:
    """`PRIMARY KEY (a, b)` as an entry of its own."""
    cursor.expect("(")
    keys = cursor.names("the name of a column")
    cursor.expect(")")
    known = {column.name.text.lower() for column in columns}
    for key in keys:
        if key.text.lower() not in known:
            valid = tuple(column.name.text for column in columns)
            raise cursor.script.error(f"unknown column {key.text!r}", key.span, valid=valid)
    folded = {key.text.lower() for key in keys}
    return [replace(column, is_key=column.is_key or column.name.text.lower() in folded) for column in columns]


def _type(cursor: Cursor) -> str:
    start = cursor.index
    depth = 0
    while (token := cursor.peek()) is not None:
        if depth == 0 and any(cursor.at(end) for end in _TYPE_ENDS):
            break
        # A token may close two types at once: >>.
        depth += token.text.count("<") + token.text.count("(") - token.text.count(">") - token.text.count(")")
        cursor.index += 1
    if cursor.index == start:
        raise cursor.failure("a type", "AS")
    try:
        return parse_type(cursor.script.slice(cursor.since(start)))
    except InvalidInput as error:
        span = cursor.since(start)
        hint = type_pointer(cursor.script.slice(span)) or error.hint
        raise cursor.script.error(error.message, span, valid=error.valid, hint=hint) from error


def _watermark(cursor: Cursor) -> Watermark:
    """`WATERMARK FOR ts AS ts - INTERVAL '5' SECOND IDLE AFTER '30' SECOND`; delay and idle time may be left out."""
    start = cursor.index
    cursor.expect("WATERMARK", "FOR")
    column = cursor.label("the name of a time column")
    cursor.expect("AS")
    if cursor.label(column.text).text.lower() != column.text.lower():
        cursor.index -= 1
        raise cursor.failure(column.text)
    delay = read_inline_duration(cursor) if cursor.accept("-") else None
    idle_after = read_inline_duration(cursor) if cursor.accept("IDLE", "AFTER") else None
    return Watermark(column, delay, idle_after, cursor.since(start))


def _refuse_second(cursor: Cursor, watermark: Watermark | None) -> None:
    if watermark is not None:
        raise cursor.script.error("a stream has one watermark", cursor.here())

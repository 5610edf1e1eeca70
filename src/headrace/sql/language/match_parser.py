"""MATCH_RECOGNIZE (…) behind a source."""

from __future__ import annotations

from dataclasses import replace

from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import read_inline_duration
from headrace.sql.language.expression_parser import read_expression, read_expressions, read_sort_keys
from headrace.sql.language.pattern_parser import read_quantifier
from headrace.sql.language.pattern_tree import (
    MatchRecognize,
    MatchRows,
    Quantifier,
    RowAnchor,
    RowExclusion,
    RowParts,
    RowPattern,
    RowRepeat,
    RowVariable,
    Skip,
)
from headrace.sql.language.tree import Derived, Expression, Item, Name, Reference


def read_match(cursor: Cursor, source: Reference | Derived) -> MatchRecognize:
    """Called at the word MATCH_RECOGNIZE; the alias behind the bracket is left to the caller."""
    start = cursor.index
    cursor.expect("MATCH_RECOGNIZE", "(")
    partition = read_expressions(cursor) if cursor.accept("PARTITION BY") else ()
    order = read_sort_keys(cursor) if cursor.accept("ORDER BY") else ()
    measures = cursor.several(_measure) if cursor.accept("MEASURES") else ()
    rows = _rows(cursor)
    skip = _skip(cursor)
    cursor.expect("PATTERN", "(")
    pattern = _alternatives(cursor)
    cursor.expect(")")
    within = read_inline_duration(cursor) if cursor.accept("WITHIN") else None
    subsets = cursor.several(_subset) if cursor.accept("SUBSET") else ()
    defines = cursor.several(_define) if cursor.accept("DEFINE") else ()
    if not cursor.accept(")"):
        raise cursor.failure("WITHIN", "SUBSET", "DEFINE", ")")
    span = cursor.since(start)
    return MatchRecognize(source, partition, order, measures, rows, skip, pattern, within, subsets, defines, None, span)


def _measure(cursor: Cursor) -> Item:
    """`expression AS name`: a measure needs its name."""
    start = cursor.index
    expression = read_expression(cursor)
    cursor.expect("AS")
    alias = cursor.name("a name")
    span = cursor.since(start)
    return Item(expression, alias, False, cursor.script.slice(span), span)


def _rows(cursor: Cursor) -> MatchRows:
    if cursor.accept("ALL", "ROWS", "PER", "MATCH"):
        return "all"
    if cursor.accept("ONE"):
        if not cursor.accept("ROW"):
            raise cursor.failure("ROW")
        cursor.expect("PER", "MATCH")
    return "one"


def _skip(cursor: Cursor) -> Skip:
    if not cursor.accept("AFTER"):
        return Skip("past last row")
    cursor.expect("MATCH", "SKIP")
    if cursor.accept("PAST", "LAST", "ROW"):
        return Skip("past last row")
    cursor.expect("TO")
    if cursor.accept("NEXT", "ROW"):
        return Skip("to next row")
    if cursor.accept("FIRST"):
        return Skip("to first", cursor.name("a variable of the pattern"))
    cursor.accept("LAST")
    return Skip("to last", cursor.name("a variable of the pattern"))


def _alternatives(cursor: Cursor) -> RowPattern:
    parts = [_sequence(cursor)]
    while cursor.accept("|"):
        parts.append(_sequence(cursor))
    return parts[0] if len(parts) == 1 else RowParts("or", tuple(parts))


def _sequence(cursor: Cursor) -> RowPattern:
    parts = [_repeated(cursor)]
    while _at_part(cursor):
        parts.append(_repeated(cursor))
    return parts[0] if len(parts) == 1 else RowParts("then", tuple(parts))


def _at_part(cursor: Cursor) -> bool:
    return cursor.at_name() or any(cursor.at(sign) for sign in ("(", "{", "^", "$"))


def _repeated(cursor: Cursor) -> RowPattern:
    part = _part(cursor)
    if cursor.accept("??"):
        return RowRepeat(part, Quantifier(0, 1, is_greedy=False))
    quantifier = read_quantifier(cursor)
    if quantifier is None:
        return part
    return RowRepeat(part, replace(quantifier, is_greedy=not cursor.accept("?")))


def _part(cursor: Cursor) -> RowPattern:
    if cursor.accept("^"):
        return RowAnchor("^")
    if cursor.accept("$"):
        return RowAnchor("$")
    if cursor.accept("{", "-"):
        inner = _alternatives(cursor)
        cursor.expect("-", "}")
        return RowExclusion(inner)
    if cursor.accept("PERMUTE", "("):
        return _permutation(cursor)
    if cursor.accept("("):
        inner = _alternatives(cursor)
        cursor.expect(")")
        return inner
    return RowVariable(cursor.name("a variable of the pattern"))


def _permutation(cursor: Cursor) -> RowParts:
    parts = cursor.several(_alternatives)
    cursor.expect(")")
    return RowParts("permute", parts)


def _subset(cursor: Cursor) -> tuple[Name, tuple[Name, ...]]:
    name = cursor.name("the name of a subset")
    cursor.expect("=", "(")
    members = cursor.names("a variable of the pattern")
    cursor.expect(")")
    return name, members


def _define(cursor: Cursor) -> tuple[Name, Expression]:
    name = cursor.name("a variable of the pattern")
    cursor.expect("AS")
    return name, read_expression(cursor)

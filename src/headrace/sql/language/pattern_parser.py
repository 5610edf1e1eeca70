"""PATTERN (…) and SEQUENCE (…) behind FROM."""

from __future__ import annotations

from typing import Literal

from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import read_inline_duration
from headrace.sql.language.expression_parser import read_expression, read_expressions
from headrace.sql.language.pattern_tree import (
    AbsenceStep,
    EventStep,
    EveryStep,
    LogicalStep,
    NextSteps,
    PatternSource,
    PatternStep,
    Quantifier,
)
from headrace.sql.language.tree import Expression


def read_pattern(cursor: Cursor) -> PatternSource:
    """`PATTERN (EVERY e1=a[x > 1] -> e2=b{2,5}) WITHIN 10 MINUTES PARTITION BY key`; WITHIN may stand inside too."""
    start = cursor.index
    is_strict = cursor.at("SEQUENCE")
    cursor.index += 1
    cursor.expect("(")
    step = _next_steps(cursor)
    within = _within(cursor)
    if not cursor.accept(")"):
        raise cursor.failure("->", "AND", "OR", "WITHIN", ")")
    within = _within(cursor) or within
    partition = read_expressions(cursor) if cursor.accept("PARTITION BY") else ()
    within = within or _within(cursor)
    return PatternSource(is_strict, step, within, partition, cursor.since(start))


def read_quantifier(cursor: Cursor) -> Quantifier | None:
    """`+`, `*`, `?`, `{2}`, `{2,}`, `{,5}`, `{2,5}`, if one stands here."""
    for sign, least, most in (("+", 1, None), ("*", 0, None), ("?", 0, 1)):
        if cursor.accept(sign):
            return Quantifier(least, most)
    if not cursor.at("{") or cursor.at("{", "-"):
        return None
    opening = cursor.here()
    cursor.expect("{")
    quantifier = _counts(cursor)
    cursor.expect("}")
    if quantifier.most is not None and quantifier.most < max(1, quantifier.least):
        raise cursor.script.error("the counts are the wrong way round", opening)
    return quantifier


def _counts(cursor: Cursor) -> Quantifier:
    if cursor.accept(","):
        return Quantifier(0, cursor.integer("a count"))
    least = cursor.integer("a count")
    if not cursor.accept(","):
        return Quantifier(least, least)
    return Quantifier(least, None if cursor.at("}") else cursor.integer("a count"))


def _within(cursor: Cursor) -> str | None:
    return read_inline_duration(cursor) if cursor.accept("WITHIN") else None


def _next_steps(cursor: Cursor) -> PatternStep:
    steps = [_logical(cursor)]
    while cursor.accept("->"):
        steps.append(_logical(cursor))
    return steps[0] if len(steps) == 1 else NextSteps(tuple(steps))


def _logical(cursor: Cursor) -> PatternStep:
    first = _unit(cursor)
    words: tuple[Literal["and", "or"], ...] = ("and", "or")
    word = next((word for word in words if cursor.at(word.upper())), None)
    if word is None:
        return first
    steps = [first]
    while cursor.accept(word.upper()):
        steps.append(_unit(cursor))
    if cursor.at("AND") or cursor.at("OR"):
        raise cursor.script.error("put brackets around what belongs together: AND and OR stand mixed", cursor.here())
    return LogicalStep(word, tuple(steps))


def _unit(cursor: Cursor) -> PatternStep:
    if cursor.accept("EVERY"):
        return EveryStep(_unit(cursor))
    if cursor.accept("NOT"):
        return _absence(cursor)
    if cursor.accept("("):
        step = _next_steps(cursor)
        cursor.expect(")")
        return step
    return _event(cursor)


def _absence(cursor: Cursor) -> AbsenceStep:
    stream = cursor.name("the name of a stream")
    condition = _condition(cursor)
    return AbsenceStep(stream, condition, read_inline_duration(cursor) if cursor.accept("FOR") else None)


def _event(cursor: Cursor) -> EventStep:
    stream = cursor.name("an event such as e1=stream")
    name = None
    if cursor.accept("="):
        name, stream = stream, cursor.name("the name of a stream")
    return EventStep(name, stream, _condition(cursor), read_quantifier(cursor))


def _condition(cursor: Cursor) -> Expression | None:
    if not cursor.accept("["):
        return None
    condition = read_expression(cursor)
    cursor.expect("]")
    return condition

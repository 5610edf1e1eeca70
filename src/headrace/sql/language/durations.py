"""Durations in SQL's spellings. Configs hold one spelling: `10 seconds`."""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidInput
from headrace.operators.durations import canonical_duration, duration_ms
from headrace.sql.language.cursor import Cursor

DURATION_HINT = "write it as 10s, 5m, 10 SECONDS or INTERVAL '5' SECOND"

_INTERVAL = re.compile(r"INTERVAL\s*(?P<quote>['\"]?)(?P<inside>[^'\"]*)(?P=quote)(?P<unit>[\sA-Za-z]*)", re.IGNORECASE)
_QUOTED = re.compile(r"(?P<quote>['\"])(?P<inside>[^'\"]*)(?P=quote)(?P<unit>[\sA-Za-z]*)")
_PLAIN = re.compile(r"(\d+) ([a-z]+?)(s?)")


def read_duration(cursor: Cursor, *stops: str) -> str:
    """A duration up to one of the words or signs. Raises InvalidSyntax if it is none."""
    start = cursor.index
    while not cursor.done() and not any(cursor.at(stop) for stop in stops):
        cursor.index += 1
    if cursor.index == start:
        raise cursor.failure("a duration")
    return _duration(cursor, start)


def read_inline_duration(cursor: Cursor) -> str:
    """A duration that other words may follow. Raises InvalidSyntax if none stands here."""
    start = cursor.index
    cursor.accept("INTERVAL")
    while (token := cursor.peek()) is not None and _counts(token):
        cursor.index += 1
        if cursor.at("::"):  # 30s is cut into 30, :: and s
            cursor.index += 2
        elif (unit := cursor.peek()) is not None and _is_unit(unit.text):
            cursor.index += 1
    if cursor.index == start:
        raise cursor.failure("a duration")
    return _duration(cursor, start)


def at_duration(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a duration may begin there."""
    token = cursor.peek(ahead)
    return token is not None and (cursor.at("INTERVAL", ahead=ahead) or _counts(token))


def _counts(token: Token) -> bool:
    """10, '10', 10m."""
    return (
        token.token_type in (TokenType.NUMBER, TokenType.STRING)
        or re.fullmatch(r"\d+[a-zA-Z]+", token.text) is not None
    )


def _is_unit(word: str) -> bool:
    try:
        canonical_duration(f"1 {word}")
    except InvalidInput:
        return False
    return True


def _duration(cursor: Cursor, start: int) -> str:
    span = cursor.since(start)
    written = cursor.script.slice(span)
    try:
        return canonical_duration(_without_interval(written))
    except InvalidInput as error:
        raise cursor.script.error(f"{written!r} is no duration", span, hint=DURATION_HINT) from error


def interval_ms(written: str) -> int:
    """`INTERVAL '5' MINUTE` as milliseconds. Raises InvalidInput if it is no fixed time, such as a month."""
    return duration_ms(_without_interval(written))


def print_duration(duration: str) -> str | None:
    """`10 seconds` → `10 SECONDS`; None if the config spells it in another way."""
    return duration.upper() if _is_plain(duration) else None


def print_interval(duration: str) -> str | None:
    """`10 seconds` → `INTERVAL '10' SECOND`; None if the config spells it in another way."""
    match = _PLAIN.fullmatch(duration) if _is_plain(duration) else None
    return f"INTERVAL '{match[1]}' {match[2].upper()}" if match else None


def _without_interval(written: str) -> str:
    """`INTERVAL '5' SECOND` and `'5' SECOND` → `5 SECOND`, `INTERVAL '5 seconds'` → `5 seconds`."""
    match = _INTERVAL.fullmatch(written) or _QUOTED.fullmatch(written)
    return f"{match['inside']} {match['unit']}".strip() if match else written


def _is_plain(duration: str) -> bool:
    """One count and one unit, spelled as `read_duration` gives it."""
    try:
        return _PLAIN.fullmatch(duration) is not None and canonical_duration(duration) == duration
    except InvalidInput:
        return False

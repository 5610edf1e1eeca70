"""The text of a script cut into tokens, and the places in it that errors point at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidSyntax, Place
from headrace.graph.places import place_at

SCRIPT_CHARACTERS_MAX = 1_000_000

# Comments, quoted parts, and at last a quote that stays open.
_QUOTED = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'|\"[^\"]*\"|`[^`]*`|(?P<open>['\"`].*)", re.DOTALL)
_MISSING = re.compile(r"Missing (?P<delimiter>\S+) from \d+:(?P<start>\d+)")


class _Tokenizer(Spark.Tokenizer):
    """Spark's, but EXPLAIN and SHOW are words like others and do not swallow what follows."""

    COMMANDS: ClassVar[set[TokenType]] = set()


class _Dialect(Spark):
    Tokenizer = _Tokenizer


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a script, from `start` up to but not including `end`."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        return Span(self.start, other.end)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A text that people wrote, and the parts of it that are replaced, in their order, before it is read."""

    written: str
    parts: tuple[tuple[Span, str], ...]

    @property
    def text(self) -> str:
        """What is read."""
        pieces, start = [], 0
        for span, new in self.parts:
            pieces += [self.written[start : span.start], new]
            start = span.end
        return "".join((*pieces, self.written[start:]))

    def written_at(self, position: int) -> int:
        """Where a position of the text that is read stands in the one that was written."""
        shift = 0
        for span, new in self.parts:
            start = span.start + shift
            if position <= start:
                break
            if position < start + len(new):
                return span.start
            shift += len(new) - (span.end - span.start)
        return position - shift


@dataclass(frozen=True, slots=True)
class Script:
    """A text and its tokens. Comments are no tokens. Errors show what people wrote, where that differs."""

    text: str
    tokens: tuple[Token, ...]
    rewriting: Rewriting | None = None

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def place(self, span: Span) -> Place:
        if self.rewriting is None:
            return place_at(self.text, span.start, span.end - span.start)
        start = self.rewriting.written_at(span.start)
        return place_at(self.rewriting.written, start, self.rewriting.written_at(span.end) - start)

    def spot(self, index: int, stop: int) -> Span:
        """Token `index`, or the end of the text before token `stop` if there is none."""
        if index < stop:
            return span_of(self.tokens[index])
        end = self.tokens[stop - 1].end + 1 if 0 < stop <= len(self.tokens) else 0
        return Span(end, end + 1)

    def describe(self, index: int, stop: int) -> str:
        return repr(self.slice(span_of(self.tokens[index]))) if index < stop else "the end of the statement"

    def error(self, message: str, span: Span, *, valid: tuple[str, ...] = (), hint: str | None = None) -> InvalidSyntax:
        return InvalidSyntax(message, place=self.place(span), valid=valid, hint=hint)


def read_script(text: str, rewriting: Rewriting | None = None) -> Script:
    """Cuts a text into tokens; `rewriting` says how it was made of another one.

    Raises InvalidSyntax where a quote stays open or the text is too long.
    """
    if len(text) > SCRIPT_CHARACTERS_MAX:
        raise InvalidSyntax(f"the SQL has {len(text)} characters; at most {SCRIPT_CHARACTERS_MAX} are read")
    try:
        return Script(text, tuple(_Dialect().tokenize(text)), rewriting)
    except SqlglotError as error:
        raise _unreadable(text, error) from error


def span_of(token: Token) -> Span:
    return Span(token.start, token.end + 1)


def _unreadable(text: str, error: SqlglotError) -> InvalidSyntax:
    missing = _MISSING.search(f"{error} {error.__cause__}")
    if missing is not None:
        start = min(int(missing["start"]), max(0, len(text) - 1))
        message = f"the quote that opens here is never closed: {missing['delimiter']} is missing"
    elif text.rfind("/*") > text.rfind("*/"):
        start, message = text.rfind("/*"), "the comment that opens here is never closed: */ is missing"
    elif (open_quote := _open_quote(text)) is not None:
        start, message = open_quote, f"the quote that opens here is never closed: {text[open_quote]} is missing"
    else:
        start, message = 0, f"the SQL cannot be read: {error.__cause__ or error}"
    hint = None if "quote" not in message else "a quote inside of a text is written twice: 'it''s'"
    return InvalidSyntax(message, place=place_at(text, start), hint=hint)


def _open_quote(text: str) -> int | None:
    """Where a quote opens that nothing closes."""
    last = None
    for part in _QUOTED.finditer(text):
        last = part
    is_open = last is not None and last.end() == len(text) and last["open"] is not None
    return last.start() if is_open and last is not None else None

"""Text notation as tokens, each with its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

from headrace.errors import InvalidSyntax
from headrace.graph.document import Json
from headrace.graph.places import place_at

MAX_TEXT_CHARACTERS = 1_000_000

Kind = Literal["word", "value", "name", "reference", "!", "end of chain", "end"]

ID = r"[A-Za-z_][A-Za-z0-9_-]*"
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}

_SKIPPED = re.compile(r"[^\S\r\n]+|#[^\r\n]*")
_END_OF_CHAIN = re.compile(r"\r\n|\r|\n|;")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_REFERENCE = re.compile(rf"@({ID})(?:\.({ID}))?")
_WORD = re.compile(r'[^\s!;"@=\[\]{},#][^\s!;"@=\[\]{},]*')


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is what a value stands for; of a reference `text` is the id and `port` the port."""

    kind: Kind
    text: str
    start: int
    length: int
    value: Json = None
    port: str | None = None

    @property
    def is_line_end(self) -> bool:
        return self.kind == "end of chain" and self.text != ";"

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else "the end of the line" if self.is_line_end else repr(self.text)


def tokens(text: str) -> list[Token]:
    """The last token is the end; an end of line next to a "!" is left out, for there the chain goes on.

    Raises InvalidSyntax with the place of the first character that fits nothing.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        raise InvalidSyntax(f"a text of {len(text)} characters; {MAX_TEXT_CHARACTERS} are allowed")
    found: list[Token] = []
    for token in (*_scan(text), Token("end", "", len(text), 0)):
        if token.kind == "!" and found and found[-1].is_line_end:
            found.pop()
        goes_on = token.is_line_end and found and (found[-1].kind == "!" or found[-1].is_line_end)
        if not goes_on:
            found.append(token)
    return found


def _scan(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        if skipped := _SKIPPED.match(text, position):
            position = skipped.end()
            continue
        token = _token(text, position)
        yield token
        position += token.length


def _token(text: str, start: int) -> Token:
    if end := _END_OF_CHAIN.match(text, start):
        return Token("end of chain", end[0], start, len(end[0]))
    if text[start] == "!":
        return Token("!", "!", start, 1)
    if text[start] in '"[{':
        return _json(text, start)
    if reference := _REFERENCE.match(text, start):
        return Token("reference", reference[1], start, len(reference[0]), port=reference[2])
    if name := _NAME.match(text, start):
        return Token("name", name[1], start, len(name[0]))
    if word := _WORD.match(text, start):
        return _word(text, start, word[0])
    hint = 'after @ comes the id of a node: "@cheap"' if text[start] == "@" else 'put it in quotes: "…"'
    raise InvalidSyntax(f"unexpected {text[start]!r}", place=place_at(text, start), hint=hint)


def _word(text: str, start: int, word: str) -> Token:
    if word in CONSTANTS:
        return Token("value", word, start, len(word), CONSTANTS[word])
    if NUMBER.fullmatch(word):
        return Token("value", word, start, len(word), _decoded(text, start)[0])
    return Token("word", word, start, len(word), word)


def _json(text: str, start: int) -> Token:
    value, end = _decoded(text, start)
    return Token("value", text[start:end], start, end - start, value)


def _decoded(text: str, start: int) -> tuple[Json, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        cause = f"{error.msg[0].lower()}{error.msg[1:]}"
        raise InvalidSyntax(cause, place=place_at(text, min(error.pos, len(text)))) from None
    except (ValueError, RecursionError) as error:
        raise InvalidSyntax(f"a value that cannot be read: {error}", place=place_at(text, start)) from None
    return value, end


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is too large")
    return value


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)

"""The words of a .proto text, one after the other, with their places for errors."""

from __future__ import annotations

import ast
import re
from typing import Final

from headrace.errors import InvalidInput, Place

_TOKEN: Final = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<token>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|[A-Za-z_.][A-Za-z0-9_.]*|[0-9][A-Za-z0-9_.]*|[-+{}\[\]()<>;=,:/])",
    re.DOTALL,
)


class ProtoTokens:
    """A cursor over the words. What does not fit is an InvalidInput with its place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: list[int] = []
        self.tokens = self._tokenized()
        self.index = 0

    def peek(self) -> str:
        return self.tokens[self.index] if self.index < len(self.tokens) else ""

    def next(self) -> str:
        if self.index >= len(self.tokens):
            raise self._error("the .proto text ends too early", max(0, len(self._text) - 1))
        self.index += 1
        return self.tokens[self.index - 1]

    def accept(self, token: str) -> bool:
        found = self.peek() == token
        self.index += found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.failure(repr(token))

    def failure(self, expected: str, back: int = 0) -> InvalidInput:
        index = self.index - back
        if index >= len(self.tokens):
            return self._error(f"the .proto text ends where {expected} is expected", max(0, len(self._text) - 1))
        return self._error(f"expected {expected} but found {self.tokens[index]!r}", self._places[index])

    def _error(self, message: str, position: int) -> InvalidInput:
        line = self._text.count("\n", 0, position) + 1
        column = position - (self._text.rfind("\n", 0, position) + 1) + 1
        return InvalidInput(message, place=Place(line, column, self._text))

    def identifier(self) -> str:
        word = self.next()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", word):
            raise self.failure("a name", back=1)
        return word

    def number(self) -> int:
        sign = -1 if self.accept("-") else 1
        word = self.next()
        try:
            return sign * int(word, 8 if re.fullmatch(r"0[0-7]+", word) else 0)
        except ValueError:
            raise self.failure("a number", back=1) from None

    def string(self) -> str:
        word = self.next()
        if word[0] not in "\"'":
            raise self.failure("a text in quotes", back=1)
        return unquoted(word)

    def _tokenized(self) -> list[str]:
        tokens: list[str] = []
        position = 0
        while position < len(self._text):
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise self._error(f"unexpected {self._text[position]!r}", position)
            if match["token"] is not None:
                tokens.append(match["token"])
                self._places.append(position)
            position = match.end()
        return tokens


def unquoted(token: str) -> str:
    try:
        return str(ast.literal_eval(token))
    except (ValueError, SyntaxError):
        return token.strip("\"'")

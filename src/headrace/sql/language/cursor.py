"""A position in one statement, moved forward by the parser's methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidSyntax
from headrace.sql.language.pointers import pointer
from headrace.sql.language.script import Script, Span, span_of
from headrace.sql.language.tree import Name, Query

# Words that cannot stand as a bare name or alias, because they go on with the statement.
RESERVED = frozenset({
    "AS", "ASOF", "BY", "CREATE", "CROSS", "EMIT", "EXCEPT", "FROM", "FULL", "GROUP", "GROUP BY", "HAVING", "INNER",
    "INSERT", "INTERSECT", "INTO", "JOIN", "LATERAL", "LEFT", "LIMIT", "MATCH_RECOGNIZE", "NATURAL", "ON", "ORDER BY",
    "OUTPUT", "PARTITION BY", "PRIMARY KEY", "QUALIFY", "RIGHT", "SELECT", "TABLE", "UNION", "USING", "WHERE",
    "WINDOW", "WITH", "WITHIN",
})  # fmt: skip

_LITERALS = frozenset({TokenType.STRING, TokenType.NUMBER, TokenType.RAW_STRING, TokenType.HEX_STRING})
_INTEGER = re.compile(r"[0-9]{1,18}")
NESTING = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_NAME = re.compile(r"[^\W\d]\w*")


T = TypeVar("T")
QueryReader: TypeAlias = "Callable[[Cursor], Query]"


class Cursor:
    """The tokens of one statement, without its semicolon. `index` is the next token to read."""

    def __init__(self, script: Script, start: int, stop: int, read_query: QueryReader | None = None) -> None:
        self.script = script
        self.index = start
        self.stop = stop
        self.start = start
        self._read_query = read_query

    def part(self, start: int, stop: int) -> Cursor:
        """A cursor over some of the same tokens."""
        return Cursor(self.script, start, stop, self._read_query)

    def query(self) -> Query:
        """A query up to the end. Raises InvalidSyntax where none can stand: only statements hold queries."""
        if self._read_query is None:
            raise self.script.error("a subquery cannot stand here", self.here())
        return self._read_query(self)

    def closing(self) -> int:
        """The index of the bracket that closes the one before the cursor. Raises InvalidSyntax if there is none."""
        depth = 1
        for index in range(self.index, self.stop):
            depth += NESTING.get(self.script.tokens[index].token_type, 0)
            if depth == 0:
                return index
        raise self.script.error("this bracket is never closed", span_of(self.script.tokens[self.index - 1]))

    def peek(self, ahead: int = 0) -> Token | None:
        index = self.index + ahead
        return self.script.tokens[index] if index < self.stop else None

    def at(self, *words: str, ahead: int = 0) -> bool:
        """Whether the next tokens are these words or signs, in any case."""
        return all(_words(self.peek(ahead + index)) == word for index, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        if not self.at(*words):
            return False
        self.index += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.failure(word)

    def done(self) -> bool:
        return self.index >= self.stop

    def here(self) -> Span:
        return self.script.spot(self.index, self.stop)

    def since(self, start: int) -> Span:
        """From token `start` to the last token read."""
        return span_of(self.script.tokens[start]).to(span_of(self.script.tokens[max(start, self.index - 1)]))

    def found(self) -> str:
        return self.script.describe(self.index, self.stop)

    def failure(self, *expected: str) -> InvalidSyntax:
        """What to raise where something else was expected."""
        if (foreign := self._foreign()) is not None:
            return foreign
        return self.script.error(f"expected {' or '.join(expected)} but found {self.found()}", self.here())

    def _foreign(self) -> InvalidSyntax | None:
        """What to raise for words of another SQL."""
        tokens, first = self.script.tokens, max(self.start, self.index - 1)
        before, found = (
            [_words(token) or "" for token in part]
            for part in (tokens[first : self.index], tokens[self.index : min(self.index + 2, self.stop)])
        )
        if (known := pointer(before, found)) is None:
            return None
        words, hint = known
        return self.script.error(f"{words} is not supported", self.here(), hint=hint)

    def name(self, what: str) -> Name:
        """A bare or back-quoted name. Raises InvalidSyntax that says what the name is for."""
        if not self.at_name():
            raise self._reserved(what) if self._at_word() else self.failure(what)
        return self._take_name()

    def _reserved(self, what: str) -> InvalidSyntax:
        if (foreign := self._foreign()) is not None:
            return foreign
        word = self.found().strip("'")
        hint = f"write `{word}` in backquotes, or choose another name"
        message = f"expected {what}, and {word.upper()} is a word of the language"
        return self.script.error(message, self.here(), hint=hint)

    def label(self, what: str) -> Name:
        """A name where no clause can begin, so that even LEFT and RIGHT need no quotes."""
        if not self._at_word():
            raise self.failure(what)
        return self._take_name()

    def at_name(self) -> bool:
        return self._at_word() and _words(self.peek()) not in RESERVED

    def _at_word(self) -> bool:
        token = self.peek()
        if token is None or token.token_type in _LITERALS:
            return False
        return token.token_type is TokenType.IDENTIFIER or _NAME.fullmatch(token.text) is not None

    def _take_name(self) -> Name:
        token = self.script.tokens[self.index]
        self.index += 1
        return Name(token.text, span_of(token))

    def several(self, read: Callable[[Cursor], T]) -> tuple[T, ...]:
        """One or more of a thing, between commas."""
        found = [read(self)]
        while self.accept(","):
            found.append(read(self))
        return tuple(found)

    def names(self, what: str) -> tuple[Name, ...]:
        return self.several(lambda cursor: cursor.name(what))

    def integer(self, what: str) -> int:
        """A whole number. Raises InvalidSyntax that says what it is for."""
        token = self.peek()
        if token is None or token.token_type is not TokenType.NUMBER or not _INTEGER.fullmatch(token.text):
            raise self.failure(what)
        self.index += 1
        return int(token.text)

    def string(self) -> str | None:
        """A quoted text, '' standing for a quote inside; None if something else stands here."""
        token = self.peek()
        if token is None or token.token_type is not TokenType.STRING:
            return None
        parts = [token.text]
        self.index += 1
        while (after := self.peek()) and after.token_type is TokenType.STRING and after.start == token.end + 1:
            parts.append(after.text)
            token = after
            self.index += 1
        return "'".join(parts)


def _words(token: Token | None) -> str | None:
    """A token in one spelling: upper case, single spaces; quoted names and literals are no words."""
    if token is None or token.token_type in _LITERALS or token.token_type is TokenType.IDENTIFIER:
        return None
    return " ".join(token.text.upper().split())

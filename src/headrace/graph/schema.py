"""Columns and their types, as pipelines see them: Spark's DDL types in one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from headrace.errors import InvalidInput, did_you_mean

# The type of a column that only Spark's analyser can tell; it fits everything.
UNKNOWN = "UNKNOWN"
# The hidden column of rows that may retract others: 1 for a row that holds, −1 for one that holds no longer.
WEIGHT = "_weight"

_SIMPLE = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "STRING",
    "BINARY",
    "DATE",
    "TIMESTAMP",
)
# For people: what can be written as a type.
TYPE_NAMES = (*_SIMPLE, "DECIMAL(p,s)", "ARRAY<…>", "MAP<…,…>", "STRUCT<…>")
_ALIASES = {
    "BOOL": "BOOLEAN", "BYTE": "TINYINT", "SHORT": "SMALLINT", "INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT",
    "FLOAT64": "DOUBLE", "VARCHAR": "STRING", "TEXT": "STRING", "BYTES": "BINARY", "DATETIME": "TIMESTAMP",
}  # fmt: skip
MAX_TYPE_DEPTH = 32
MAX_DECIMAL_DIGITS = 38  # Spark's own limit
NUMERIC = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})
_TOKEN = re.compile(r"\s*(`[^`]+`|[A-Za-z_][A-Za-z0-9_]*|\d+|[<>(),:])")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str

    def __str__(self) -> str:
        return f"{quoted(self.name)} {self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """Ordered columns. `str(schema)` is DDL that `Schema.parse` reads back.

    Two facts travel along and are no part of equality: `hidden` columns can be named but are not in `*`,
    and `event_time` is the column that a watermark was set on.
    """

    columns: tuple[Column, ...] = ()
    hidden: tuple[Column, ...] = field(default=(), compare=False)
    event_time: str | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        return ", ".join(str(column) for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def carried(self) -> Schema:
        """What a row has with it on its way: the visible columns; its weight, and the event time where that can only be
        named."""
        beside = tuple(column for column in self.hidden if column.name in (self.event_time, WEIGHT))
        return Schema((*self.columns, *beside), event_time=self.event_time)

    def find(self, name: str) -> Column | None:
        """By name, hidden ones included; case does not matter, as in Spark."""
        folded = name.lower()
        return next((column for column in (*self.columns, *self.hidden) if column.name.lower() == folded), None)

    def require(self, name: str) -> Column:
        column = self.find(name)
        if column is None:
            raise InvalidInput(f"unknown column {name!r}", valid=self.names, hint=did_you_mean(name, self.names))
        return column

    def keep(self, names: Iterable[str]) -> Schema:
        """The columns of these names, in the order of the schema; hidden ones stay hidden."""
        wanted = {name.lower() for name in names}
        visible = tuple(column for column in self.columns if column.name.lower() in wanted)
        hidden = tuple(column for column in self.hidden if column.name.lower() in wanted)
        return Schema(visible, hidden, self.event_time)

    @classmethod
    def parse(cls, ddl: str) -> Schema:
        """Reads `name TYPE, name TYPE, …`. Raises InvalidInput that names the bad word."""
        reader = _Reader(ddl)
        columns: list[Column] = []
        while reader.peek():
            name = reader.name()
            columns.append(Column(name, reader.type()))
            if reader.peek():
                reader.expect(",")
        seen: set[str] = set()
        for column in columns:
            if column.name.lower() in seen:
                raise InvalidInput(f"column {column.name!r} is defined twice in {ddl!r}")
            seen.add(column.name.lower())
        return cls(tuple(columns))


def parse_type(text: str) -> str:
    """A type in its one spelling: `parse_type('decimal(10, 2)') == 'DECIMAL(10,2)'`."""
    reader = _Reader(text)
    parsed = reader.type()
    if reader.peek():
        hint = "a type is one word, with what it is made of in brackets: DECIMAL(10,2), ARRAY<STRING>"
        raise InvalidInput(f"unexpected {reader.peek()!r} after the type {parsed} in {text!r}", hint=hint)
    return parsed


def fields_of(type_: str) -> dict[str, str]:
    """The fields of a STRUCT and their types, in their order; none of any other type."""
    return dict(_Reader(type_).fields()) if type_.startswith("STRUCT<") else {}


def is_numeric(type_: str) -> bool:
    return type_ in NUMERIC or type_.startswith("DECIMAL") or type_ == UNKNOWN


def quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"`{name}`"


def backquoted(name: str) -> str:
    """A column in an expression, also where its name is a word of SQL."""
    return f"`{name}`"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match:
            return match[1]
        return self.text[self.position :].strip()[:1]

    def next(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if not match:
            rest = self.text[self.position :].strip()
            cause = f"unexpected {rest[:10]!r} in the columns {self.text!r}"
            hint = "write columns like `drone STRING, battery DOUBLE`, and a name of other signs in backquotes"
            raise InvalidInput(cause if rest else f"the columns {self.text!r} end too early", hint=hint)
        self.position = match.end()
        return match[1]

    def expect(self, token: str) -> None:
        found = self.next()
        if found != token:
            raise InvalidInput(f"expected {token!r} but found {found!r} in the columns {self.text!r}")

    def name(self) -> str:
        token = self.next()
        if not re.match(r"[`A-Za-z_]", token):
            raise InvalidInput(f"expected a column name but found {token!r} in {self.text!r}")
        return token.strip("`")

    def type(self) -> str:
        self.depth += 1
        if self.depth > MAX_TYPE_DEPTH:
            raise InvalidInput(f"types nested deeper than {MAX_TYPE_DEPTH} in {self.text[:40]!r}…")
        parsed = self._type()
        self.depth -= 1
        return parsed

    def _type(self) -> str:
        word = self.next()
        upper = _ALIASES.get(word.upper(), word.upper())
        if upper in _SIMPLE:
            return upper
        if upper in ("DECIMAL", "NUMERIC"):
            return self._decimal()
        if upper == "ARRAY":
            return f"ARRAY<{self._inside(1)[0]}>"
        if upper == "MAP":
            key, value = self._inside(2)
            return f"MAP<{key},{value}>"
        if upper == "STRUCT":
            return self._struct()
        hint = did_you_mean(upper, _SIMPLE)
        raise InvalidInput(f"unknown type {word!r} in {self.text!r}", valid=TYPE_NAMES, hint=hint)

    def _decimal(self) -> str:
        if self.peek() != "(":
            return "DECIMAL(10,0)"
        self.expect("(")
        precision, scale = self._number(), 0
        if self.peek() == ",":
            self.expect(",")
            scale = self._number()
        self.expect(")")
        if not scale <= precision <= MAX_DECIMAL_DIGITS or precision == 0:
            raise InvalidInput(f"DECIMAL({precision},{scale}) in {self.text!r} needs 1 to {MAX_DECIMAL_DIGITS} digits")
        return f"DECIMAL({precision},{scale})"

    def _number(self) -> int:
        token = self.next()
        if not token.isdigit():
            raise InvalidInput(f"expected a number but found {token!r} in {self.text!r}")
        return int(token)

    def _inside(self, count: int) -> list[str]:
        self.expect("<")
        types = [self.type()]
        while len(types) < count:
            self.expect(",")
            types.append(self.type())
        self.expect(">")
        return types

    def fields(self) -> list[tuple[str, str]]:
        """Of a STRUCT as a whole."""
        self.expect("STRUCT")
        return self._fields()

    def _struct(self) -> str:
        return f"STRUCT<{','.join(f'{quoted(name)}:{type_}' for name, type_ in self._fields())}>"

    def _fields(self) -> list[tuple[str, str]]:
        self.expect("<")
        fields: list[tuple[str, str]] = []
        while self.peek() != ">":
            if fields:
                self.expect(",")
            name = self.name()
            if self.peek() == ":":
                self.expect(":")
            fields.append((name, self.type()))
        self.expect(">")
        return fields

"""Queries as a typed tree. Every part knows its span in the script, so that every error has a place.

Spans are no part of equality: two trees are equal when they mean the same, wherever they were written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.language.pattern_tree import MatchRecognize, PatternSource
from headrace.sql.language.script import Span

EmitWhen = Literal["final", "changes"]
JoinKind = Literal["inner", "left", "right", "full", "cross", "semi", "anti"]
OutputWhich = Literal["all", "first", "last", "snapshot"]
BoundKind = Literal["unbounded preceding", "preceding", "current row", "following", "unbounded following"]


@dataclass(frozen=True, slots=True)
class Name:
    """A name without its quotes."""

    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as it was written; `tree` is sqlglot's reading of it.

    `pieces` is the same text with the queries and OVER clauses inside it as trees of their own. In `tree` a query is
    the column QUERY_MARK and an OVER clause is empty.
    """

    text: str = field(compare=False)
    span: Span = field(compare=False)
    tree: exp.Expr = field(compare=False)
    pieces: tuple[str | Query | Over, ...]

    @property
    def queries(self) -> tuple[Query, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Query))

    @property
    def overs(self) -> tuple[Over, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Over))


QUERY_MARK = "headrace_query"


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a SELECT list: `expression [AS alias] [PRIMARY KEY]`. `text` is what was written before the key."""

    expression: Expression
    alias: Name | None
    is_key: bool
    text: str = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class SortKey:
    expression: Expression
    descending: bool = False
    nulls: Literal["first", "last"] | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a frame; `amount` where it is so many rows or so much time away."""

    kind: BoundKind
    amount: Expression | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    unit: Literal["rows", "range"]
    start: Bound
    end: Bound | None


@dataclass(frozen=True, slots=True)
class Over:
    """`OVER (PARTITION BY … ORDER BY … ROWS …)`, with `ROWS WINDOW BUFFER n ROWS` and `EXPIRE AFTER` of Velostream."""

    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    frame: Frame | None
    buffer_rows: int | None
    expire_after: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Option:
    """`name = value` in WITH, or `name => value` in an operator call.

    `exact` holds for a value written as JSON '…': it goes into the config as it is.
    """

    name: Name
    value: Json
    exact: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of any kind, from whichever notation; `settings` are named as `window_kinds` names them.

    `by_clock` holds for one over the time at which rows are processed, instead of a column.
    """

    kind: str
    time: Name | None
    settings: tuple[tuple[str, WindowValue], ...]
    span: Span = field(compare=False)
    by_clock: bool = False

    def get(self, name: str) -> WindowValue | None:
        return dict(self.settings).get(name)


WindowValue: TypeAlias = str | int | float | tuple[Name, ...] | tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """Rows of another node: `name`, or `name.port` for an output that is not `out`.

    `as_of` is the time at which a table is read: `FOR SYSTEM_TIME AS OF time`.
    """

    name: Name
    port: str = "out"
    alias: Name | None = None
    as_of: Expression | None = None


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """`operator(TABLE input, port => TABLE input, setting => value)`: any operator of the catalogue by its name."""

    operator: Name
    inputs: tuple[tuple[str, Reference], ...]
    settings: tuple[Option, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """A query in brackets, read like a stream."""

    query: Query
    alias: Name | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Windowed:
    """One side of a join, cut into windows. Alone behind FROM, the window is a clause of the SELECT instead."""

    source: Reference | Derived
    window: Window


@dataclass(frozen=True, slots=True)
class Within:
    """How far apart in time two joined rows may be: the right one before and after the left one."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Join:
    """`left KIND JOIN right ON …`, with the bounds that keep its state finite."""

    kind: JoinKind
    is_asof: bool
    left: Relation
    right: Relation
    condition: Expression | None
    using: tuple[Name, ...]
    within: Within | None
    retention: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class EmitClause:
    when: EmitWhen
    timeout: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OutputRate:
    """`OUTPUT which EVERY n EVENTS`, or every so much time: exactly one of the two is given."""

    which: OutputWhich
    every_events: int | None
    every: str | None
    span: Span = field(compare=False)
    key: Expression | None = None


@dataclass(frozen=True, slots=True)
class Select:
    is_distinct: bool
    items: tuple[Item, ...]
    source: Relation
    condition: Expression | None
    keys: tuple[Expression, ...]
    window: Window | None
    having: Expression | None
    qualify: Expression | None
    emit: EmitClause | None
    output: OutputRate | None
    span: Span = field(compare=False)
    headers: tuple[Item, ...] = ()
    computed: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Keys that are computed before the groups: one spelling of each, and its column."""


@dataclass(frozen=True, slots=True)
class CommonTable:
    """`name AS (query)` behind WITH."""

    name: Name
    query: Query


@dataclass(frozen=True, slots=True)
class Union:
    """One more SELECT behind UNION [ALL]."""

    is_all: bool
    select: Select


@dataclass(frozen=True, slots=True)
class Query:
    """`WITH … SELECT … UNION … ORDER BY … LIMIT …`."""

    tables: tuple[CommonTable, ...]
    first: Select
    unions: tuple[Union, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    span: Span = field(compare=False)


Relation: TypeAlias = Reference | OperatorCall | Derived | Windowed | Join | PatternSource | MatchRecognize

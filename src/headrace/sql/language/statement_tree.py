"""Statements as a typed tree, on top of the queries in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from headrace.sql.language.script import Span
from headrace.sql.language.tree import Expression, Name, Option, Query, Reference

Events = Literal["all", "current", "expired"]
ShowWhat = Literal["streams", "tables", "topics", "functions", "pipelines", "partitions", "schema"]
ExplainWhat = Literal["graph", "plan", "change"]
Action = Literal["start", "stop", "pause", "resume", "deploy", "rollback"]
Begin = Literal["latest", "last-commit", "earliest"]


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS column [- delay] [IDLE AFTER idle]`."""

    column: Name
    delay: str | None
    idle_after: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`name TYPE`, with `type` in its one spelling; or, of computed rows, `name AS expression` or only `name`."""

    name: Name
    type: str | None
    expression: Expression | None
    is_key: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Create:
    """A declared stream or table: a source where it is read, a sink where it is written."""

    is_table: bool
    name: Name
    columns: tuple[ColumnDefinition, ...]
    watermark: Watermark | None
    options: tuple[Option, ...]
    span: Span = field(compare=False)

    @property
    def keys(self) -> tuple[Name, ...]:
        return tuple(column.name for column in self.columns if column.is_key)


@dataclass(frozen=True, slots=True)
class CreateAs:
    """A topic, or a table, that holds the rows of a query, which later statements may read on."""

    is_table: bool
    name: Name
    options: tuple[Option, ...]
    query: Query
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CreateView:
    name: Name
    query: Query
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CreateTrigger:
    """A stream of ticks: `every` so often, by `cron`, or, with neither, once at the start."""

    name: Name
    every: str | None
    cron: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """A name for a Python function, which is found at `place`: `package.module:name` or `file.py:name`."""

    name: Name
    place: Name
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Insert:
    """`INSERT [ALL | CURRENT | EXPIRED EVENTS] INTO target query`."""

    target: Name
    events: Events | None
    query: Query
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class InsertValues:
    """`INSERT INTO table (a, b) VALUES (1, 2), …`: rows that are written at once. Without columns: all, in order."""

    target: Name
    columns: tuple[Name, ...]
    rows: tuple[tuple[Expression, ...], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Update:
    """By the rows of a stream behind FROM; without one, once and at once."""

    target: Name
    assignments: tuple[tuple[Name, Expression], ...]
    source: Reference | None
    condition: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Delete:
    """By the rows of a stream behind USING; without one, once and at once."""

    target: Name
    source: Reference | None
    condition: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Upsert:
    target: Name
    query: Query
    condition: Expression | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """`expression OF stream`."""

    expression: Expression
    stream: Name


@dataclass(frozen=True, slots=True)
class Partition:
    """`PARTITION WITH (key OF stream) BEGIN … END`: everything inside is per key."""

    keys: tuple[PartitionKey, ...]
    statements: tuple[Statement, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """A query on its own: answered at once."""

    query: Query
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Show:
    what: ShowWhat
    of: Name | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Describe:
    name: Name
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Drop:
    """`DROP TABLE name`."""

    name: Name
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Explain:
    """Of a statement, or of a pipeline by its name."""

    what: ExplainWhat
    of: Statement | Name
    span: Span = field(compare=False)

    @property
    def pipeline(self) -> str | None:
        """The name of the pipeline, where it is one."""
        return self.of.text if isinstance(self.of, Name) else None


@dataclass(frozen=True, slots=True)
class PipelineAction:
    """`START PIPELINE p`, `DEPLOY PIPELINE p VERSION 3 BEGIN LATEST`, `ROLLBACK PIPELINE p TO VERSION 2`.

    `begin` is where queries begin that cannot go on exactly.
    """

    action: Action
    name: Name
    version: int | None
    begin: Begin | None
    span: Span = field(compare=False)


Definition: TypeAlias = Create | CreateAs | CreateView | CreateFunction | CreateTrigger
Operation: TypeAlias = Show | Describe | Drop | Explain | PipelineAction | Ask
Statement: TypeAlias = Definition | Insert | InsertValues | Update | Delete | Upsert | Partition | Operation


@dataclass(frozen=True, slots=True)
class Annotation:
    """`-- @key value` above a statement."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Entry:
    statement: Statement
    annotations: tuple[Annotation, ...] = ()

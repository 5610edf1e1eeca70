"""Statements as a small typed tree. Every part knows its span in the script, so that every error has a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.script import Span

Emit = Literal["final", "changes"]


@dataclass(frozen=True, slots=True)
class Name:
    """A name without its quotes."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as it was written; `tree` is sqlglot's reading of it."""

    text: str
    span: Span
    tree: exp.Expr


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a SELECT list: `expression [AS alias]`."""

    expression: Expression
    alias: Name | None
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """Rows of another node: `name`, or `name.port` for an output that is not `out`."""

    name: Name
    port: str = "out"
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """`name = value` in WITH, or `name => value` in an operator call.

    `exact` holds for a value written as JSON '…': it goes into the config as it is.
    """

    name: Name
    value: Json
    span: Span
    exact: bool = False


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """`operator(TABLE input, port => TABLE input, setting => value)`: any operator of the catalogue by its name."""

    operator: Name
    inputs: tuple[tuple[str, Reference], ...]
    settings: tuple[Option, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Window:
    """A tumbling window, from whichever notation."""

    size: str
    time: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class EmitClause:
    when: Emit
    span: Span


@dataclass(frozen=True, slots=True)
class Select:
    items: tuple[Item, ...]
    source: Reference | OperatorCall
    condition: Expression | None
    keys: tuple[Expression, ...]
    window: Window | None
    having: Expression | None
    emit: EmitClause | None
    span: Span


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS column [- delay]`."""

    column: Name
    delay: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`name TYPE`, with `type` in its one spelling; or, of computed rows, `name AS expression` or only `name`."""

    name: Name
    type: str | None
    expression: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class CreateStream:
    """A declaration: a source where it is read, a sink where it is written."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    watermark: Watermark | None
    options: tuple[Option, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CreateStreamAs:
    """A topic that holds the rows of a SELECT, which later statements may read on."""

    name: Name
    options: tuple[Option, ...]
    select: Select
    span: Span


@dataclass(frozen=True, slots=True)
class CreateView:
    name: Name
    select: Select
    span: Span


@dataclass(frozen=True, slots=True)
class Insert:
    target: Name
    select: Select
    span: Span


Statement: TypeAlias = CreateStream | CreateStreamAs | CreateView | Insert

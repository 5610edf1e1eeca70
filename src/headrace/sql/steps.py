"""A SELECT as a chain of operators, in the order in which SQL means its clauses:

    FROM → WHERE (filter) → WINDOW and GROUP BY (a window or a group) → HAVING (filter) → SELECT list (select)

OUTPUT stands before the SELECT list, which makes one row of each: there the rows have their event time still.

Expressions go into configs as they were written, without the stream's name before a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from sqlglot import exp

from headrace.errors import did_you_mean
from headrace.graph.document import Json
from headrace.sql.language.dialect import (
    AggregateCall,
    Qualified,
    aggregates_in,
    bare_columns_in,
    columns_in,
    is_star,
    plain_column,
    qualified_in,
    spelled,
)
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Expression, Item, Name, Select
from headrace.sql.language.values import print_name

Role = Literal["filter", "keys", "window", "group", "having", "top", "values", "over", "output", "select"]


# The time of a row that windows and joins go by, whatever its column is called.
EVENT_TIME: Final = "_event_time"
# Columns that every stream has begin with it.
SYSTEM_PREFIX: Final = "_"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text in a config and the part of the script that it comes from."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Names:
    """What may stand before a column's name in one SELECT, in lower case, and columns that its rows name otherwise.

    `renamed` maps (qualifier, column), in lower case, to the column of the rows; `columns` maps a qualifier, where the
    rows have columns of others as well, to those of its own, as the rows name them. `event_time` is the column that
    `_event_time` means, where the rows have none of that name. `values` are the columns that hold the values of
    subqueries, by where these start.
    """

    qualifiers: frozenset[str] = frozenset()
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    event_time: str | None = None
    values: Mapping[int, str] = field(default_factory=dict)

    def require_own(self, script: Script, one: Qualified) -> None:
        """Raises InvalidSyntax for a column behind the name of a stream that does not have it, though another may."""
        own = self.columns.get(one.qualifier)
        column = self.renamed.get((one.qualifier, one.column.lower()), one.column).lower()
        if own is None or column in map(str.lower, own) or column.startswith(SYSTEM_PREFIX) or column == "*":
            return
        others = [name for name, columns in self.columns.items() if column in map(str.lower, columns)]
        hint = f"{one.column} is a column of {others[0]}: write {others[0]}.{one.column}" if others else None
        written = {new: old for (qualifier, old), new in self.renamed.items() if qualifier == one.qualifier}
        valid = tuple(f"{one.qualifier}.{written.get(name, name)}" for name in own)
        message = f"unknown column {f'{one.qualifier}.{one.column}'!r}"
        raise script.error(message, one.span, valid=valid, hint=hint or did_you_mean(one.column, own))

    @classmethod
    def of(cls, name: Name | None) -> Names:
        return cls(frozenset() if name is None else frozenset({name.text.lower()}))


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of the chain. The role makes its id: see `node_ids`. `span` is the clause that it stands for."""

    role: Role
    operator: str
    config: dict[str, Json]
    pieces: tuple[Piece, ...]
    span: Span | None = None


ALL_COLUMNS: Final = Step("select", "select", {"columns": ["*"]}, ())


def node_ids(base: str, steps: Iterable[Step], *, last_takes_base: bool) -> list[str]:
    """`alerts_filter`, `alerts_window`, …; the last one of a view is the view itself. Of several with one role all but
    the first have a number."""
    roles: list[str] = []
    ids: list[str] = []
    for step in steps:
        roles.append(step.role)
        number = roles.count(step.role)
        ids.append(f"{base}_{step.role}" if number == 1 else f"{base}_{step.role}_{number}")
    return [*ids[:-1], base] if last_takes_base and ids else ids


def plain_steps(
    script: Script, select: Select, names: Names, of_output: Mapping[str, Json] = MappingProxyType({})
) -> list[Step]:
    """The chain of a SELECT of single rows; `of_output` are settings of OUTPUT that no clause says.

    Raises InvalidSyntax for what only a window can do.
    """
    if select.emit is not None and select.emit.when == "final":
        hint = "leave it out: without a window every row goes on at once"
        raise script.error("EMIT FINAL needs a window", select.emit.span, hint=hint)
    writer = Writer(script, names)
    steps = [*filter_steps(writer, select), *_output_steps(writer, select, of_output)]
    pieces = tuple(Piece(text, item.span) for item in select.items for text in writer.columns(item))
    columns = [piece.text for piece in pieces]
    if columns != ["*"]:
        steps.append(Step("select", "select", {"columns": list[Json](columns)}, pieces))
    return steps


def filter_steps(writer: Writer, select: Select) -> list[Step]:
    """WHERE, if there is one."""
    condition = select.condition
    if condition is None:
        return []
    calls = aggregates_in(condition.tree)
    if calls:
        message = "an aggregate cannot stand in WHERE, which sees single rows"
        raise writer.script.error(message, calls[0].span, hint="write it in HAVING")
    text = writer.expression(condition)
    return [Step("filter", "filter", {"condition": text}, (Piece(text, condition.span),))]


def _output_steps(writer: Writer, select: Select, settings: Mapping[str, Json]) -> list[Step]:
    """OUTPUT, if there is one; `refusals` has seen to it that it can run."""
    if select.output is None:
        return []
    key = select.output.key
    name = None if key is None else writer.column(key)
    if key is not None and name is None:
        hint = "give it a name in a query inside, and partition by that"
        raise writer.script.error("OUTPUT for each key takes a column as the key", key.span, hint=hint)
    keys: dict[str, Json] = {} if name is None else {"keys": [name]}
    often: dict[str, Json] = {"rows": select.output.every_events, "every": select.output.every}
    told = {name: value for name, value in often.items() if value is not None}
    return [
        Step(
            "output", "output-rate", {"which": select.output.which, **told, **keys, **settings}, (), select.output.span
        )
    ]


class Writer:
    """Writes expressions of one SELECT into configs."""

    def __init__(self, script: Script, names: Names) -> None:
        self.script = script
        self.names = names

    @property
    def qualifiers(self) -> frozenset[str]:
        return self.names.qualifiers

    def column(self, expression: Expression) -> str | None:
        """The column of the rows, if the expression is nothing but a column."""
        name = plain_column(expression.tree, self.qualifiers)
        if name is None:
            return None
        self._refuse_names(expression)
        qualifier = expression.tree.parts[0].name.lower() if isinstance(expression.tree, exp.Column) else ""
        return self.names.renamed.get((qualifier, name.lower()), name)

    def columns_in(self, expression: Expression) -> list[tuple[str, Span]]:
        """The columns that an expression names, as the rows do, and where."""
        tree, renamed = expression.tree, self.names.renamed
        qualified = qualified_in(tree, self.qualifiers)
        found = [(renamed.get((one.qualifier, one.column.lower()), one.column), one.column_span) for one in qualified]
        return [*bare_columns_in(tree, self.qualifiers), *found]

    def spelling(self, tree: exp.Expr) -> str:
        """One for expressions that mean the same: without brackets around the whole, and without the stream's name."""
        return spelled(tree.unnest().copy().transform(self._as_of_rows))

    def _as_of_rows(self, tree: exp.Expr) -> exp.Expr:
        if not isinstance(tree, exp.Column) or len(tree.parts) != 2 or tree.table.lower() not in self.qualifiers:
            return tree
        return exp.column(self.names.renamed.get((tree.table.lower(), tree.name.lower()), tree.name))

    def columns(self, item: Item) -> list[str]:
        """What an entry of the SELECT list stands for: several columns for `a.*` behind a join."""
        tree = item.expression.tree
        if item.alias is None and self.names.event_time and plain_column(tree, self.qualifiers) == EVENT_TIME:
            hint = f"give it another name: `{EVENT_TIME} AS event_time`"
            raise self.script.error(f"{EVENT_TIME!r} is a system column", item.span, hint=hint)
        qualifier = tree.parts[0].name.lower() if isinstance(tree, exp.Column) else ""
        own = self.names.columns.get(qualifier) if is_star(tree) else None
        if own is not None and _leaves_out(tree):
            hint = f"name the columns that are meant, of {', '.join(own)}"
            raise self.script.error("* EXCEPT stands over one stream, without subqueries", item.span, hint=hint)
        return [self.text(item.expression, item.text, item.span)] if own is None else list(map(print_name, own))

    def expression(self, expression: Expression, replacements: Iterable[tuple[Span, str]] = ()) -> str:
        return self.text(expression, expression.text, expression.span, replacements)

    def call(self, call: AggregateCall) -> str:
        text = self.script.slice(call.span)
        return self.expression(Expression(text, call.span, call.tree, (text,)))

    def text(self, expression: Expression, text: str, span: Span, replacements: Iterable[tuple[Span, str]] = ()) -> str:
        """The text, which starts where `span` starts, with parts replaced and without the stream's name."""
        self._refuse_names(expression)
        replaced = [*replacements, *self._values(expression)]
        found = [(part.span, self._unqualified(part)) for part in qualified_in(expression.tree, self.qualifiers)]
        times = [(span, name) for span, name in self._event_times(expression) if not _within(span, found)]
        columns = [(part, new) for part, new in [*found, *times] if not _within(part, replaced)]
        return replace_spans(text, span.start, [*replaced, *columns])

    def _refuse_names(self, expression: Expression) -> None:
        self._refuse_ambiguous(expression)
        self._refuse_of_others(expression)

    def _refuse_of_others(self, expression: Expression) -> None:
        for one in qualified_in(expression.tree, self.qualifiers):
            self.names.require_own(self.script, one)

    def _refuse_ambiguous(self, expression: Expression) -> None:
        """Raises InvalidSyntax for a bare name that columns of several streams have, whose values differ."""
        clashing = {column: qualifier for qualifier, column in self.names.renamed}
        if not clashing:
            return
        for name, span in bare_columns_in(expression.tree, self.qualifiers):
            if name.lower() in clashing:
                hint = f"write the name of its stream before it, such as {clashing[name.lower()]}.{name}"
                raise self.script.error(f"{name!r} is a column of several streams here", span, hint=hint)

    def _values(self, expression: Expression) -> list[tuple[Span, str]]:
        """Where subqueries stand, and the columns that hold their values."""
        values = self.names.values
        return [
            (one.span, print_name(values[one.span.start])) for one in expression.queries if one.span.start in values
        ]

    def _event_times(self, expression: Expression) -> list[tuple[Span, str]]:
        """Where `_event_time` stands, and the column that it means."""
        time = self.names.event_time
        if time is None:
            return []
        columns = columns_in(expression.tree, self.qualifiers)
        return [(span, print_name(time)) for name, span in columns if name.lower() == EVENT_TIME]

    def _unqualified(self, part: Qualified) -> str:
        if self.names.event_time is not None and part.column.lower() == EVENT_TIME:
            return print_name(self.names.event_time)
        renamed = self.names.renamed.get((part.qualifier, part.column.lower()))
        return self.script.slice(part.column_span) if renamed is None else print_name(renamed)


def replace_spans(text: str, offset: int, replacements: Iterable[tuple[Span, str]]) -> str:
    """A text with parts replaced; spans count from the script's start, the text begins at `offset` of it."""
    for span, new in sorted(replacements, key=lambda pair: pair[0].start, reverse=True):
        text = text[: span.start - offset] + new + text[span.end - offset :]
    return text


def _leaves_out(tree: exp.Expr) -> bool:
    """Whether a * does not stand for all columns as they are."""
    return any(star.args.get(part) for star in tree.find_all(exp.Star) for part in ("except_", "replace", "rename"))


def _within(span: Span, replaced: list[tuple[Span, str]]) -> bool:
    return any(part.start <= span.start < part.end for part, _ in replaced)

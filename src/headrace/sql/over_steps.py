"""A SELECT with functions of the rows before each: `avg(x) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING)`.

Values that are no columns are computed first (base_values), then come the functions (base_over, base_over_2, … where
they look at different rows), then the SELECT list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.changes import Changes, require_ids
from headrace.sql.language.dialect import is_star
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Item, Select
from headrace.sql.language.values import print_name
from headrace.sql.over_calls import AGGREGATES, FRAMES, OverCall, call_text, is_over, over_calls, value_of
from headrace.sql.over_frames import Looked, bounded_frame, column_of, looked_at
from headrace.sql.steps import Names, Piece, Step, Writer, filter_steps

# The setting of each operator that holds its functions.
_FUNCTIONS = {"over-window": "aggregates", "over-latest": "aggregates", "over-running": "functions"}


def over_steps(
    script: Script, select: Select, names: Names, has_column: Callable[[str], bool], late: Mapping[str, Json]
) -> list[Step]:
    """By event time; `late` are settings for rows that come too late, `has_column` tells what the rows have.

    Raises InvalidSyntax for functions that cannot run, or look at rows that no operator looks at.
    """
    writer = Writer(script, names)
    return _OverList(writer, select, has_column, lambda call: looked_at(writer, call)).steps(late)


def over_latest_steps(
    script: Script, select: Select, names: Names, has_column: Callable[[str], bool], changes: Changes
) -> list[Step]:
    """The same over rows that are changes: the latest of each counts."""
    writer = Writer(script, names)
    steps = _OverList(writer, select, has_column, lambda call: _among_latest(writer, select, call, changes)).steps({})
    if sum(step.role == "over" for step in steps) > 1:
        hint = "put the other one into a query around this one"
        message = "over rows that are changes one SELECT looks at the same rows with every OVER"
        raise script.error(message, select.items[-1].span, hint=hint)
    return steps


def _among_latest(writer: Writer, select: Select, call: OverCall, changes: Changes) -> Looked:
    """Rows that are changes: each takes the place of the one before it with the same ids."""
    over = call.over
    if not isinstance(call.tree, AGGREGATES):
        valid = ("count", "sum", "avg", "min", "max")
        raise writer.script.error(f"over rows that are changes OVER has no {call.name}", call.span, valid=valid)
    using = [*over.partition, *([] if select.condition is None else [select.condition])]
    ids, frame = require_ids(writer, changes, using, select.items[0].span), bounded_frame(writer, over)
    if "rows" not in frame or not over.order or any(key.descending for key in over.order):
        hint = f"write ORDER BY and columns, then {FRAMES.partition(',')[0]}"
        raise writer.script.error(
            "over rows that are changes OVER looks at so many rows before each", over.span, hint=hint
        )
    keys: dict[str, Json] = {"keys": [column_of(writer, key) for key in over.partition]} if over.partition else {}
    by: list[Json] = [column_of(writer, key.expression) for key in over.order]
    return Looked("over-latest", {"ids": list[Json](ids), "by": by, **frame, **keys})


@dataclass(frozen=True, slots=True)
class _Column:
    """A function that an operator computes, under a name; `spelled` is equal where the same is meant."""

    name: str
    spelled: str
    text: Piece
    order: tuple[Piece, ...]


class _OverList:
    """The SELECT list: `look` says which rows a call looks at. Names that it makes up are those of no column."""

    def __init__(
        self, writer: Writer, select: Select, has_column: Callable[[str], bool], look: Callable[[OverCall], Looked]
    ) -> None:
        self._writer = writer
        self._select = select
        self._has_column = has_column
        self._look = look
        self._taken = {item.alias.text.lower() for item in select.items if item.alias}
        self._values: dict[str, tuple[str, Span]] = {}
        self._operators: list[tuple[Looked, list[_Column]]] = []

    def steps(self, settings: Mapping[str, Json]) -> list[Step]:
        items = [(item, self._texts(item)) for item in self._select.items]
        overs = [self._step(looked, columns, settings) for looked, columns in self._operators]
        return [*filter_steps(self._writer, self._select), *self._computed(), *overs, *self._selected(items)]

    def _texts(self, item: Item) -> list[str]:
        """What an item is when its functions are computed."""
        if not is_over(item):
            return self._writer.columns(item)
        calls = over_calls(self._writer.script, item)
        name = _alias(self._writer, item)
        if isinstance(item.expression.tree, exp.Window) and not self._has_column(name):
            return [print_name(self._function(calls[0], name))]
        made = [(call.span, print_name(self._function(call, None))) for call in calls]
        return [self._writer.text(item.expression, item.text, item.span, made)]

    def _function(self, call: OverCall, name: str | None) -> str:
        """The column that a call becomes; without a name one is made up."""
        looked, value = self._look(call), value_of(self._writer, call)
        column = None if value is None else print_name(self._value(value, call.span))
        spelled = call_text(self._writer, call, column)
        columns = self._columns(looked)
        if name is None:
            same = [one.name for one in columns if one.spelled == spelled]
            if same:
                return same[0]
            name = self._free("over")
        order = tuple(Piece(column_of(self._writer, key.expression), key.expression.span) for key in call.over.order)
        columns.append(_Column(name, spelled, Piece(f"{spelled} AS {print_name(name)}", call.span), order))
        return name

    def _columns(self, looked: Looked) -> list[_Column]:
        """Those of the operator that looks at these rows."""
        for index, (known, columns) in enumerate(self._operators):
            both = known.with_(looked)
            if both is not None:
                self._operators[index] = both, columns
                return columns
        self._operators.append((looked, []))
        return self._operators[-1][1]

    def _value(self, text: str, span: Span) -> str:
        """The column that a value is computed into."""
        if text not in self._values:
            self._values[text] = self._free("value"), span
        return self._values[text][0]

    def _free(self, word: str) -> str:
        number = 1
        while self._has_column(f"{word}_{number}") or f"{word}_{number}" in self._taken:
            number += 1
        self._taken.add(f"{word}_{number}")
        return f"{word}_{number}"

    def _computed(self) -> list[Step]:
        pieces = tuple(Piece(f"{text} AS {print_name(name)}", span) for text, (name, span) in self._values.items())
        columns: list[Json] = ["*", *(piece.text for piece in pieces)]
        return [Step("values", "select", {"columns": columns}, pieces)] if pieces else []

    def _step(self, looked: Looked, columns: list[_Column], settings: Mapping[str, Json]) -> Step:
        functions: list[Json] = [column.text.text for column in columns]
        config = {**looked.config, **settings, _FUNCTIONS[looked.operator]: functions}
        pieces = [column.text for column in columns]
        return Step("over", looked.operator, config, (*pieces, *columns[0].order))

    def _selected(self, items: list[tuple[Item, list[str]]]) -> list[Step]:
        made = [print_name(column.name) for _, columns in self._operators for column in columns]
        texts = [text for _, found in items for text in found]
        beside = [print_name(name) for name, _ in self._values.values()]
        if texts == ["*", *made]:
            # What the functions put out as it is.
            items, made = items[:1], []
        if len(items) == 1 and not beside and not made:
            return []
        beside += made
        pieces = tuple(
            Piece(_without(item, beside) if is_star(item.expression.tree) and text.startswith("*") else text, item.span)
            for item, found in items
            for text in found
        )
        return [Step("select", "select", {"columns": [piece.text for piece in pieces]}, pieces)]


def _without(item: Item, names: list[str]) -> str:
    """`*` without the columns that the SELECT list has beside it, or does not have at all."""
    stars = item.expression.tree.find_all(exp.Star)
    left_out = [print_name(column.name) for star in stars for column in star.args.get("except_") or ()]
    return f"* EXCEPT ({', '.join([*left_out, *names])})"


def _alias(writer: Writer, item: Item) -> str:
    if item.alias is None:
        message = "a function with OVER needs a name"
        raise writer.script.error(message, item.span, hint=f"write {item.text} AS name")
    return item.alias.text

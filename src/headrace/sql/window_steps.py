"""A SELECT with aggregates: a window, or a group of all rows so far, computes them; HAVING and the SELECT list work on
its output.

The output is `_window_start, _window_end`, the keys, then the aggregates under the names that the SELECT list gives
them; without a window only keys and aggregates. An aggregate without a name, or one that only HAVING uses, gets a name
made of its words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from headrace.graph.document import Json
from headrace.sql.changes import Changes, require_ids
from headrace.sql.language.dialect import (
    AggregateCall,
    aggregates_in,
    calls_in,
    has_aggregate_inside,
    is_column,
    is_star,
)
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Expression, Item, Name, Select, Window
from headrace.sql.language.values import print_name
from headrace.sql.language.windows import WINDOW_BOUNDS
from headrace.sql.late_options import LateOptions
from headrace.sql.steps import EVENT_TIME, Names, Piece, Role, Step, Writer, filter_steps
from headrace.sql.window_operators import (
    GROUPS,
    LATEST,
    RUNNING_KINDS,
    WindowOperator,
    takes_time,
    window_operator,
    window_settings,
)

MADE_NAME_CHARACTERS_MAX = 40
# Windows that emit in one way only: nothing to set.
_ALWAYS = ("gap-window", "length-window", GROUPS.name, LATEST.name)
# Flink's names for the bounds, which come with TUMBLE(TABLE …).
_OTHER_BOUNDS = {"window_start": "_window_start", "window_end": "_window_end"}


def window_steps(
    script: Script, select: Select, window: Window, names: Names, late: LateOptions | None = None
) -> list[Step]:
    """The chain of a SELECT with a window. Raises InvalidSyntax for columns that are neither key nor aggregate."""
    has_keys = bool(select.keys or window.get("columns"))
    operator = window_operator(window, select, has_keys=has_keys, keeps_late=late is not None)
    if operator is None:
        raise script.error(f"{window.kind} windows cannot run yet", window.span, valid=RUNNING_KINDS)
    settings = late.settings if late is not None and takes_time(window) else {}
    return _aggregate_steps(Writer(script, names), select, operator, window, settings)


def group_steps(script: Script, select: Select, names: Names, changes: Changes | None = None) -> list[Step]:
    """The chain of a SELECT that aggregates all rows so far; where those are changes, the latest of each.

    Raises InvalidSyntax as `window_steps` does, and for groups that a row could leave.
    """
    if select.emit is not None and select.emit.when == "final":
        hint = "write EMIT CHANGES, or add a window such as WINDOW TUMBLING(10s)"
        raise script.error("EMIT FINAL needs a window: a stream has no end", select.emit.span, hint=hint)
    writer = Writer(script, names)
    if changes is None:
        return _aggregate_steps(writer, select, GROUPS, None)
    using = [*select.keys, *([] if select.condition is None else [select.condition])]
    ids = require_ids(writer, changes, using, _span(select))
    return _aggregate_steps(writer, select, LATEST, None, {"ids": list[Json](ids)})


def is_grouped(select: Select) -> bool:
    """Whether a SELECT has groups or aggregates."""
    return bool(select.keys) or select.having is not None or any(aggregates_in(i.expression.tree) for i in select.items)


def _aggregate_steps(
    writer: Writer,
    select: Select,
    operator: WindowOperator,
    window: Window | None,
    settings: Mapping[str, Json] = MappingProxyType({}),
) -> list[Step]:
    """`settings` are those of the operator that no clause says."""
    steps = filter_steps(writer, select)
    output = _Output(writer, select, operator, window)
    having = output.condition(select.having) if select.having is not None else None
    columns = [output.column(item) for item in select.items]
    if not output.has_aggregates:
        hint = "add one to the SELECT list, such as count(*) AS events"
        what, span = ("GROUP BY", _span(select)) if window is None else ("a window", window.span)
        raise writer.script.error(f"{what} without an aggregate has nothing to compute", span, hint=hint)
    step = output.step()
    steps.append(replace(step, config={**step.config, **settings}))
    if having is not None:
        steps.append(Step("having", "filter", {"condition": having.text}, (having,)))
    if [column.text for column in columns] != output.names:
        steps.append(Step("select", "select", {"columns": [column.text for column in columns]}, tuple(columns)))
    return steps


class _Output:
    """What the window puts out: its bounds, the keys, the aggregates of the SELECT list, then those of HAVING."""

    def __init__(self, writer: Writer, select: Select, operator: WindowOperator, window: Window | None) -> None:
        self._writer = writer
        # Behind a window the name means the window's own time.
        own = replace(writer.names, event_time=None) if operator.output == "bounds" else writer.names
        self._behind = Writer(writer.script, own)
        self._select = select
        self._window = window
        self._operator = operator
        self._keys = _keys(writer, select, window)
        self._aggregates: dict[str, Piece] = {}
        self._names_by_call: dict[str, str] = {}
        self._names_by_item: dict[Item, str] = {}
        self._taken = {item.alias.text.lower() for item in select.items if item.alias}
        self._taken |= {key.text.lower() for key in self._keys}
        for item in select.items:
            self._add_item(item)

    @property
    def names(self) -> list[str]:
        return [*self._operator.first_columns(key.text for key in self._keys), *self._aggregates]

    @property
    def has_aggregates(self) -> bool:
        return bool(self._aggregates)

    def step(self) -> Step:
        window, emit = self._window, self._select.emit
        config = {} if window is None else window_settings(window, self._operator)
        if self._keys:
            config["keys"] = [key.text for key in self._keys]
        config["aggregates"] = [piece.text for piece in self._aggregates.values()]
        if emit is not None and self._operator.name not in _ALWAYS:
            config["emit"] = emit.when
        time = [Piece(window.time.text, window.time.span)] if window and window.time else []
        role: Role = "group" if window is None else "window"
        pieces = (*self._aggregates.values(), *time, *self._keys)
        return Step(role, self._operator.name, config, pieces, None if window is None else window.span)

    def column(self, item: Item) -> Piece:
        """An entry of the SELECT list over the window's output."""
        if is_star(item.expression.tree) and not self._operator.is_row_by_row:
            what = "aggregates" if self._window is None else "a window"
            raise self._writer.script.error(f"* cannot stand with {what}: name the columns", item.span)
        if item in self._names_by_item:
            return Piece(self._names_by_item[item], item.span)
        if is_bound(item.expression) and item.expression.tree.name.lower() in _OTHER_BOUNDS:
            alias = item.alias.text if item.alias else item.expression.tree.name
            return Piece(f"{_OTHER_BOUNDS[item.expression.tree.name.lower()]} AS {print_name(alias)}", item.span)
        self._require_known_columns(item.expression)
        text = self._behind.text(item.expression, item.text, item.span, self._named_in(item.expression))
        return Piece(text, item.span)

    def condition(self, having: Expression) -> Piece:
        """HAVING, with the names of its aggregates in their place."""
        text = self._behind.expression(having, self._named_in(having))
        self._require_known_columns(having)
        return Piece(text, having.span)

    def _named_in(self, expression: Expression) -> list[tuple[Span, str]]:
        """Where aggregates and computed keys stand, and what they are called in the output."""
        calls = [(call.span, self._name(call)) for call in aggregates_in(expression.tree)]
        return [*calls, *self._keys_in(expression)]

    def _keys_in(self, expression: Expression) -> list[tuple[Span, str]]:
        keys, within = dict(self._select.computed), [call.span for call in aggregates_in(expression.tree)]
        return [
            (span, print_name(keys[spelling]))
            for span, call in (calls_in(expression.tree) if keys else ())
            if (spelling := self._writer.spelling(call)) in keys
            and not any(part.start <= span.start < part.end for part in within)
        ]

    def _add_item(self, item: Item) -> None:
        calls = aggregates_in(item.expression.tree)
        if not calls:
            return
        if any(has_aggregate_inside(call) for call in calls):
            hint = "compute the inner one in a query of its own, in FROM"
            raise self._writer.script.error("an aggregate cannot stand in another", item.span, hint=hint)
        whole = calls[0] if calls[0].span == item.expression.span else None
        if whole is None and item.alias is not None and self._names_bounds(item.expression):
            # The bounds are known behind the window only: there the rest is computed.
            for call in calls:
                self._name(call)
            return
        if item.alias is not None:
            name = print_name(item.alias.text)
            text = self._writer.text(item.expression, item.text, item.span)
            self._aggregates[name] = Piece(text, item.span)
            if whole is not None:
                self._names_by_call.setdefault(whole.spelled, name)
        elif whole is not None:
            name = self._name(whole)
        else:
            hint = f"write {item.text} AS name"
            raise self._writer.script.error("an aggregate inside an expression needs a name", item.span, hint=hint)
        self._names_by_item[item] = name

    def _names_bounds(self, expression: Expression) -> bool:
        inside = [call.span for call in aggregates_in(expression.tree)]
        return any(
            name.lower() in WINDOW_BOUNDS and not any(part.start <= span.start < part.end for part in inside)
            for name, span in self._writer.columns_in(expression)
        )

    def _name(self, call: AggregateCall) -> str:
        """What the result of a call is named in the output; a call that is not there yet is added."""
        if call.spelled not in self._names_by_call:
            written = self._writer.call(call)
            name = self._free_name(written)
            self._aggregates[name] = Piece(f"{written} AS {name}", call.span)
            self._names_by_call[call.spelled] = name
        return self._names_by_call[call.spelled]

    def _free_name(self, written: str) -> str:
        words = "_".join(re.findall(r"[a-z_]\w*", written.lower()))[:MADE_NAME_CHARACTERS_MAX]
        name, number = words, 1
        while name in self._taken:
            number += 1
            name = f"{words}_{number}"
        self._taken.add(name)
        return print_name(name)

    def _require_known_columns(self, expression: Expression) -> None:
        """Raises InvalidSyntax for a column that the window does not put out."""
        if self._operator.is_row_by_row:
            return
        inside = [call.span for call in aggregates_in(expression.tree)]
        inside += [span for span, _ in self._keys_in(expression)]
        hidden = (EVENT_TIME,) if self._operator.output == "bounds" else ()
        known = {name.lower().strip("`") for name in (*self.names, *hidden)}
        for name, span in self._writer.columns_in(expression):
            if name.lower() not in known and not any(part.start <= span.start < part.end for part in inside):
                message = f"{name} is neither in GROUP BY nor in an aggregate"
                hint = f"add it to GROUP BY, or take one of its values: any_value({name}), max_by({name}, _offset)"
                raise self._writer.script.error(message, span, valid=tuple(self.names), hint=hint)


def _keys(writer: Writer, select: Select, window: Window | None) -> list[Piece]:
    """Those of GROUP BY, then those that only the window names."""
    keys = [_key(writer, key) for key in select.keys if not is_bound(key)]
    known = {key.text.lower() for key in keys}
    columns = window.get("columns") if window is not None and window.kind == "session" else None
    more = [part for part in columns if isinstance(part, Name)] if isinstance(columns, tuple) else []
    return [*keys, *(Piece(name.text, name.span) for name in more if name.text.lower() not in known)]


def _key(writer: Writer, key: Expression) -> Piece:
    name = writer.column(key)
    if name is None:
        raise AssertionError(f"this key is no column yet: {key.text}")
    return Piece(name, key.span)


def _span(select: Select) -> Span:
    return select.keys[0].span if select.keys else select.items[0].span


def is_bound(expression: Expression) -> bool:
    return is_column(expression.tree) and expression.tree.name.lower() in (*WINDOW_BOUNDS, *_OTHER_BOUNDS)

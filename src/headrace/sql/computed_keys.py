"""GROUP BY what is no column: an expression, an alias of the SELECT list, or a place in it.

SELECT upper(k) AS u, count(*) AS n FROM t GROUP BY upper(k)      u is computed first: base_keys, then grouped by
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from headrace.sql.language.dialect import aggregates_in, is_star
from headrace.sql.language.script import Span
from headrace.sql.language.tree import Expression, Item, Select
from headrace.sql.language.values import print_name
from headrace.sql.steps import Piece, Step, Writer
from headrace.sql.window_steps import MADE_NAME_CHARACTERS_MAX, is_bound


@dataclass(frozen=True, slots=True)
class ComputedKeys:
    """`select` groups by columns only; those in `names`, in lower case, are made by the `steps` before it.

    `time` is what those call the event time, where the rows have it beside their columns only.
    """

    select: Select
    names: frozenset[str]
    steps: tuple[Step, ...]
    time: str | None = None

    def before_groups(self, steps: list[Step]) -> list[Step]:
        """The chain of the select with the keys computed where its rows are chosen already."""
        first = sum(step.role == "filter" for step in steps)
        return [*steps[:first], *self.steps, *steps[first:]]


def computed_keys(
    writer: Writer, select: Select, has_column: Callable[[str], bool], hidden_time: str | None = None
) -> ComputedKeys:
    """`has_column` tells what the rows have, `hidden_time` is an event time beside their columns.

    Raises InvalidSyntax for aggregates as keys, and places that are none.
    """
    made: dict[str, tuple[Expression, str]] = {}
    taken = {item.alias.text.lower() for item in select.items if item.alias}
    keys: list[Expression] = []
    for written in select.keys:
        key = _meant(writer, select, written, has_column)
        if is_bound(key) or writer.column(key) is not None:
            keys.append(key)
            continue
        _refuse_aggregate(writer, key, written.span)
        spelling = writer.spelling(key.tree)
        if spelling not in made:
            made[spelling] = key, _name(writer, select, key, has_column, taken)
        keys.append(_column(made[spelling][1], written.span))
    by_spelling: dict[str, Expression] = {}
    for key in keys:
        by_spelling.setdefault(writer.spelling(key.tree), key)
    keys = list(by_spelling.values())
    if not made:
        return ComputedKeys(replace(select, keys=tuple(keys)), frozenset(), ())
    items = tuple(_item(item, made.get(writer.spelling(item.expression.tree))) for item in select.items)
    names = frozenset(name.lower() for _, name in made.values())
    time = None if hidden_time is None else _free(hidden_time.lstrip("_"), has_column, taken)
    step = _step(writer, made.values(), [] if time is None else [f"{hidden_time} AS {print_name(time)}"])
    computed = tuple((spelling, name) for spelling, (_, name) in made.items())
    return ComputedKeys(replace(select, keys=tuple(keys), items=items, computed=computed), names, (step,), time)


def _meant(writer: Writer, select: Select, key: Expression, has_column: Callable[[str], bool]) -> Expression:
    """What a key stands for: an entry of the SELECT list by its place or its alias, or what it says itself."""
    if isinstance(key.tree, exp.Literal) and key.tree.is_int:
        return _at_place(writer, select, key)
    column = writer.column(key)
    if column is None or is_bound(key) or has_column(column):
        return key
    aliased = [item for item in select.items if item.alias and item.alias.text.lower() == column.lower()]
    return aliased[0].expression if aliased else key


def _at_place(writer: Writer, select: Select, key: Expression) -> Expression:
    place, count = int(key.tree.name), len(select.items)
    if not 1 <= place <= count or is_star(select.items[place - 1].expression.tree):
        raise writer.script.error(
            f"the SELECT list has no column {place} to group by", key.span, hint="name the column"
        )
    return select.items[place - 1].expression


def _refuse_aggregate(writer: Writer, key: Expression, span: Span) -> None:
    if aggregates_in(key.tree):
        hint = "group what a query inside of FROM computes"
        raise writer.script.error("an aggregate cannot be a key: it is computed of the group", span, hint=hint)


def _name(writer: Writer, select: Select, key: Expression, has_column: Callable[[str], bool], taken: set[str]) -> str:
    """The alias that the SELECT list gives it, unless a column of the rows has that name; else its own words."""
    spelling = writer.spelling(key.tree)
    items = [item for item in select.items if item.alias and writer.spelling(item.expression.tree) == spelling]
    aliases = [item.alias.text for item in items if item.alias and not has_column(item.alias.text)]
    if aliases:
        return aliases[0]
    words = "_".join(re.findall(r"[a-z_]\w*", writer.expression(key).lower()))[:MADE_NAME_CHARACTERS_MAX] or "key"
    return _free(words, has_column, taken)


def _free(words: str, has_column: Callable[[str], bool], taken: set[str]) -> str:
    """The words, or with a number where something is called so; the name is taken afterwards."""
    name, number = words, 1
    while has_column(name) or name in taken:
        number += 1
        name = f"{words}_{number}"
    taken.add(name)
    return name


def _column(name: str, span: Span) -> Expression:
    """A column that stands where something else was written."""
    identifier = exp.to_identifier(name, quoted=True)
    identifier.meta.update(start=span.start, end=span.end - 1)
    return Expression(print_name(name), span, exp.Column(this=identifier), (print_name(name),))


def _item(item: Item, made: tuple[Expression, str] | None) -> Item:
    if made is None:
        return item
    name = print_name(made[1])
    alias = None if item.alias is None or item.alias.text == made[1] else item.alias
    text = name if alias is None else f"{name} AS {print_name(alias.text)}"
    return replace(item, expression=_column(made[1], item.span), alias=alias, text=text)


def _step(writer: Writer, made: Iterable[tuple[Expression, str]], times: list[str]) -> Step:
    pieces = tuple(Piece(f"{writer.expression(key)} AS {print_name(name)}", key.span) for key, name in made)
    return Step("keys", "select", {"columns": ["*", *times, *(piece.text for piece in pieces)]}, pieces)

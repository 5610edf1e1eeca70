"""The first rows of each key: ROW_NUMBER() with a bound, in a query around it or in QUALIFY.

SELECT … FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n <= 10
SELECT … FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) <= 10
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.conjuncts import conjuncts
from headrace.sql.language.dialect import is_column
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Derived, Expression, Item, Over, Select, SortKey
from headrace.sql.language.values import print_name
from headrace.sql.output_names import with_own_names
from headrace.sql.over_calls import is_over
from headrace.sql.steps import Names, Piece, Step, Writer, filter_steps, plain_steps

BOUND = "bound it: WHERE n <= 10 in the query around it, or QUALIFY ROW_NUMBER() OVER (…) <= 10"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A SELECT whose rows are ranked inside, by the item of its source that does so."""

    source: Derived
    item: Item

    @property
    def inner(self) -> Select:
        return self.source.query.first

    @property
    def without_rank(self) -> Select:
        return replace(self.inner, items=tuple(item for item in self.inner.items if item is not self.item))


def ranked_source(select: Select) -> Ranked | None:
    """What ranks the rows of a SELECT, if it reads a query that does so and looks at no other rows."""
    source = select.source
    if not isinstance(source, Derived) or source.query.unions:
        return None
    items = [item for item in source.query.first.items if is_over(item)]
    return Ranked(source, items[0]) if len(items) == 1 and is_row_number(items[0].expression.tree) else None


def is_row_number(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Window) and isinstance(tree.this, exp.RowNumber)


def ranking_steps(script: Script, ranked: Ranked, count: int, names: Names) -> list[Step]:
    """The chain of the SELECT inside: its rows, the first of them, and its columns with the rank."""
    inner, item = ranked.inner, ranked.item
    alias = _alias(script, item)
    for clause in (*inner.keys, inner.having, inner.qualify):
        if clause is not None:
            hint = "put the aggregates into a query of their own"
            raise script.error("ROW_NUMBER() cannot stand beside groups", item.span, hint=hint)
    writer = Writer(script, names)
    steps = [*filter_steps(writer, inner), _top_step(writer, item.expression, count, alias)]
    items = with_own_names(inner.items, names)
    texts = [_column(writer, one, item, alias) for one in items]
    if texts[0] == "*" and texts[1:] == [print_name(alias)]:
        return steps
    pieces = tuple(Piece(text, one.span) for text, one in zip(texts, items, strict=True))
    return [*steps, Step("select", "select", {"columns": list[Json](texts)}, pieces)]


def outer_steps(script: Script, select: Select, rest: list[Expression], names: Names) -> list[Step]:
    """The chain of the SELECT around: what else its WHERE asks, and its columns."""
    writer = Writer(script, names)
    texts = [writer.expression(part) for part in rest]
    pieces = tuple(Piece(text, part.span) for text, part in zip(texts, rest, strict=True))
    asked = [Step("filter", "filter", {"condition": " AND ".join(texts)}, pieces)] if rest else []
    return [*asked, *plain_steps(script, replace(select, condition=None), names)]


def qualified_steps(script: Script, select: Select, names: Names) -> list[Step]:
    """The chain of a SELECT with QUALIFY. Raises InvalidSyntax unless that bounds ROW_NUMBER()."""
    condition = select.qualify
    count = None if condition is None else _bound(condition.tree, is_row_number)
    if condition is None or count is None:
        raise script.error("QUALIFY can only bound ROW_NUMBER()", (condition or select).span, hint=BOUND)
    writer = Writer(script, names)
    columns = plain_steps(script, replace(select, condition=None), names)
    return [*filter_steps(writer, select), _top_step(writer, condition, count, None), *columns]


def bound_of(script: Script, select: Select, ranked: Ranked) -> tuple[int, list[Expression]] | None:
    """How many rows the WHERE of a SELECT lets through, and what else it asks; None where it has no bound for them."""
    name = _alias(script, ranked.item).lower()
    parts = [] if select.condition is None else conjuncts(script, select.condition)
    counts = [_bound(part.tree, lambda tree: is_column(tree) and tree.name.lower() == name) for part in parts]
    known = [count for count in counts if count is not None]
    if not known:
        return None
    return min(known), [part for part, count in zip(parts, counts, strict=True) if count is None]


def _alias(script: Script, item: Item) -> str:
    if item.alias is None:
        raise script.error("the rank needs a name", item.span, hint=f"write {item.text} AS n")
    return item.alias.text


def _column(writer: Writer, one: Item, rank: Item, alias: str) -> str:
    return print_name(alias) if one is rank else writer.text(one.expression, one.text, one.span)


def _bound(tree: exp.Expr, is_rank: Callable[[exp.Expr], bool]) -> int | None:
    """n of `rank <= n`, `rank < n + 1` and `rank = 1`."""
    if not isinstance(tree, exp.LTE | exp.LT | exp.EQ) or not is_rank(tree.this):
        return None
    if not isinstance(tree.expression, exp.Literal) or not tree.expression.is_int:
        return None
    number = int(tree.expression.name)
    if isinstance(tree, exp.EQ):
        return number if number == 1 else None
    return number if isinstance(tree, exp.LTE) else number - 1


def _top_step(writer: Writer, expression: Expression, count: int, rank: str | None) -> Step:
    over = expression.overs[0]
    keys = [_plain(writer, key) for key in over.partition]
    config: dict[str, Json] = {"n": count, "by": [_ranked_by(writer, key) for key in _order(writer, over)]}
    if keys:
        config["keys"] = list[Json](keys)
    if rank is not None:
        config["rank"] = rank
    return Step("top", "top-n", config, (Piece(expression.text, over.span),))


def _order(writer: Writer, over: Over) -> tuple[SortKey, ...]:
    if not over.order:
        hint = "write ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC)"
        raise writer.script.error("ROW_NUMBER() needs ORDER BY", over.span, hint=hint)
    return over.order


def _ranked_by(writer: Writer, key: SortKey) -> str:
    if key.nulls is not None and key.nulls != ("last" if key.descending else "first"):
        raise writer.script.error("nulls rank lowest: NULLS cannot say otherwise here", key.expression.span)
    column = _plain(writer, key.expression)
    return f"{column} DESC" if key.descending else column


def _plain(writer: Writer, expression: Expression) -> str:
    name = writer.column(expression)
    if name is None:
        hint = "give it a name in a query inside, and rank by that"
        raise writer.script.error("rows can only be ranked by columns", expression.span, hint=hint)
    return name

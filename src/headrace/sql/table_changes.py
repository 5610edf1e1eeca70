"""UPDATE, DELETE and UPSERT of a table by the rows of a stream: by which columns a row finds the row of the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headrace.operators.table_keys import key_columns
from headrace.sql.conjuncts import conjuncts
from headrace.sql.declarations import Declaration
from headrace.sql.language.dialect import Qualified, is_star, plain_name, qualified_in
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression, Item


@dataclass(frozen=True, slots=True)
class Match:
    """`table.key = stream.column`, whichever stands first."""

    key: str
    column: Qualified


def read_match(script: Script, condition: Expression, target: Declaration, source: str) -> tuple[Match, ...]:
    """A match for each column of the key, in its order.

    Raises InvalidSyntax unless the condition says which row of the table is meant, and nothing else.
    """
    table = target.statement.name.text
    keys = key_columns(str(target.required_key({})["key"]))
    pairs = [_compared(part, table.lower(), source.lower()) for part in conjuncts(script, condition)]
    found = {pair[0].column.lower(): pair[1] for pair in pairs if pair is not None}
    if len(pairs) != len(keys) or found.keys() != {key.lower() for key in keys}:
        wanted = " AND ".join(f"{table}.{key} = {source}.column" for key in keys)
        hint = f"write {wanted}; other conditions belong into a view of {source}"
        raise script.error("the key says which row of the table is meant", condition.span, hint=hint)
    return tuple(Match(key, found[key.lower()]) for key in keys)


def require_filled(script: Script, items: Sequence[Item], matches: Iterable[Match]) -> None:
    """Raises InvalidSyntax unless rows have in each column of the key what they are compared by."""
    for match in matches:
        column = match.column.column
        filled = _filled_with(script, items, match.key)
        if filled is not None and filled.lower() != column.lower():
            hint = f"the row of its key is replaced: select {column} AS {match.key}, or compare with it"
            message = f"{match.key} is compared with {match.column.qualifier}.{column} and filled with {filled}"
            raise script.error(message, match.column.span, hint=hint)


def _filled_with(script: Script, items: Sequence[Item], key: str) -> str | None:
    """The column, or the expression, that comes out under the name of a key; None where nothing does."""
    for item in items:
        column = plain_name(item.expression)
        name = item.alias or column
        if name is not None and name.text.lower() == key.lower():
            return script.slice(item.expression.span) if column is None else column.text
    return key if any(is_star(item.expression.tree) for item in items) else None


def _compared(condition: Expression, table: str, source: str) -> tuple[Qualified, Qualified] | None:
    """The columns of the table and of the stream that are to be equal; None for another condition."""
    sides = {one.qualifier: one for one in qualified_in(condition.tree, frozenset({table, source}))}
    is_equality = condition.tree.unnest().key == "eq" and len(sides) == 2
    return (sides[table], sides[source]) if is_equality else None

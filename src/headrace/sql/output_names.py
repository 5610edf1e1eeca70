"""What the columns of a SELECT list are called where the rows behind a join call them otherwise.

SELECT b.k FROM a LEFT JOIN b …         the rows have k, of a, and b_k; what comes out is called k
SELECT a.k, b.k FROM a LEFT JOIN b …    two cannot be called k: k and b_k come out
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from headrace.sql.language.dialect import is_star, plain_column, qualified_in
from headrace.sql.language.tree import Item, Name
from headrace.sql.language.values import print_name
from headrace.sql.steps import Names


def with_own_names(items: tuple[Item, ...], names: Names) -> tuple[Item, ...]:
    """The list with an alias for each column that has another name in the rows and can come out under its own."""
    if not names.renamed or any(is_star(item.expression.tree) for item in items):
        return items
    taken = Counter(_name(item, names).lower() for item in items)
    return tuple(_named(item, names) if taken[_name(item, names).lower()] == 1 else item for item in items)


def _name(item: Item, names: Names) -> str:
    """What an entry would be called if it had the choice."""
    if item.alias is not None:
        return item.alias.text
    return plain_column(item.expression.tree, names.qualifiers) or item.text


def _named(item: Item, names: Names) -> Item:
    qualified = qualified_in(item.expression.tree, names.qualifiers)
    column = plain_column(item.expression.tree, names.qualifiers)
    is_renamed = any((one.qualifier, one.column.lower()) in names.renamed for one in qualified)
    if item.alias is not None or column is None or not is_renamed:
        return item
    return replace(item, alias=Name(column, item.span), text=f"{item.text} AS {print_name(column)}")

"""UPDATE, DELETE and UPSERT of a table by the rows of a stream: by which column a row finds the row of the table."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.sql.declarations import Declaration
from headrace.sql.language.dialect import Qualified, qualified_in
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Expression


@dataclass(frozen=True, slots=True)
class Match:
    """`table.key = stream.column`, whichever stands first."""

    key: str
    column: Qualified


def read_match(script: Script, condition: Expression, target: Declaration, source: str) -> Match:
    """Raises InvalidSyntax unless the condition says which row of the table is meant, and nothing else."""
    table = target.statement.name.text
    key = str(target.required_key({})["key"])
    names = frozenset({table.lower(), source.lower()})
    found = {one.qualifier: one for one in qualified_in(condition.tree, names)}
    is_equality = condition.tree.unnest().key == "eq" and found.keys() == names
    if not is_equality or found[table.lower()].column.lower() != key.lower():
        hint = f"write {table}.{key} = {source}.column; other conditions belong into a view of {source}"
        raise script.error("the key says which row of the table is meant", condition.span, hint=hint)
    return Match(key, found[source.lower()])

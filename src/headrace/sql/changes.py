"""Rows that are changes: later ones take the place of earlier ones with the same ids. What reads them must know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from headrace.errors import HeadraceError
from headrace.graph.document import Document, Json, Node
from headrace.operators.expressions import parse_expression
from headrace.sql.language.dialect import columns_in
from headrace.sql.language.script import Span
from headrace.sql.language.tree import Expression
from headrace.sql.steps import Writer

AGGREGATES: Final = ("aggregate", "aggregate-latest")
# Operators whose rows tell of what they are changes, and the settings with the columns that do.
_IDS: Final = {**dict.fromkeys(AGGREGATES, ("keys",)), "over-latest": ("keys", "ids")}


@dataclass(frozen=True, slots=True)
class Changes:
    """`ids` name a row; None where no columns do, or where a row may go without a word."""

    ids: tuple[str, ...] | None

    def has(self, column: str) -> bool:
        return self.ids is not None and column.lower() in map(str.lower, self.ids)


def changes_of(document: Document, node_id: str) -> Changes | None:
    """What the rows of a node are changes of; None for rows that stay what they are, and for nodes elsewhere."""
    node = next((node for node in document.nodes if node.id == node_id), None)
    if node is None:
        return None
    # The first row of a key is there for good; of more, one may go without a word.
    settings = ("keys",) if node.operator == "top-n" and node.config.get("n") == 1 else _IDS.get(node.operator)
    if settings is not None:
        return Changes(tuple(dict.fromkeys(str(name) for setting in settings for name in _listed(node, setting))))
    if node.operator == "top-n" or node.config.get("emit") == "changes" or node.config.get("late") == "update_previous":
        return Changes(None)
    feeding = [changes_of(document, edge.source) for edge in document.inputs_of(node_id)]
    found = next((changes for changes in feeding if changes is not None), None)
    if found is None or node.operator != "select":
        # A filter keeps back the change that should take a row away.
        return None if found is None else Changes(None)
    return Changes(_kept(found, _listed(node, "columns")))


def require_ids(writer: Writer, changes: Changes, using: Iterable[Expression], span: Span) -> tuple[str, ...]:
    """What names a row. Raises InvalidSyntax where its changes could not be told from others, and for expressions over
    columns that may change where a row must stay in its group."""
    if not changes.ids:
        hint = "select the columns of its GROUP BY, without HAVING"
        raise writer.script.error("these rows are changes, and no columns tell of what", span, hint=hint)
    for name, place in (pair for one in using for pair in columns_in(one.tree, writer.qualifiers)):
        if not changes.has(name):
            message = f"{name} may change in these rows: groups and WHERE can use what names them"
            raise writer.script.error(message, place, valid=changes.ids)
    return changes.ids


def _kept(changes: Changes, items: Sequence[Json]) -> tuple[str, ...] | None:
    """The ids, if the items of a select keep all of them as they are."""
    plain = {item.lower().strip("`") for item in items if isinstance(item, str) and _is_plain(item)}
    return (
        changes.ids if "*" in plain or (changes.ids is not None and {i.lower() for i in changes.ids} <= plain) else None
    )


def _is_plain(item: str) -> bool:
    try:
        return item == "*" or parse_expression(item).text.strip("`").isidentifier()
    except HeadraceError:
        return False


def _listed(node: Node, setting: str) -> Sequence[Json]:
    values = node.config.get(setting, [])
    return values if isinstance(values, list) else []

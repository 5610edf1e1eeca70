"""Rows that are changes: later ones take the place of earlier ones with the same ids. What reads them must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headrace.errors import HeadraceError
from headrace.graph.document import Document, Json, Node
from headrace.operators.expressions import parse_expression

AGGREGATES: Final = ("aggregate", "aggregate-latest")


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
    if node.operator in AGGREGATES:
        return Changes(tuple(map(str, _listed(node, "keys"))))
    if node.operator == "top-n" or node.config.get("emit") == "changes":
        return Changes(None)
    feeding = [changes_of(document, edge.source) for edge in document.inputs_of(node_id)]
    found = next((changes for changes in feeding if changes is not None), None)
    if found is None or node.operator != "select":
        # A filter keeps back the change that should take a row away.
        return None if found is None else Changes(None)
    return Changes(_kept(found, _listed(node, "columns")))


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

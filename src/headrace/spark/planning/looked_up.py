"""Which lookups a chain can do, and what of the tables it is told."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.graph.document import Edge, Node
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columns import needed_columns
from headrace.operators.serial_chain import ChainTable
from headrace.spark.planning.ways import way_of


def looked_up(edges: Iterable[Edge], validated: Validated, catalogue: Catalogue) -> tuple[ChainTable, ...]:
    """What comes by these edges from tables: only those columns that are used, at least one."""
    needed = needed_columns(validated, catalogue)
    found: list[ChainTable] = []
    for edge in edges:
        schema = validated.schemas[edge.source]
        used = Schema(schema.keep(needed[edge.source]).columns or schema.columns[:1])
        found.append(ChainTable(edge.target, edge.target_port, edge.source, used))
    return tuple(found)


def can_ask(node: Node, beside: frozenset[str], validated: Validated, catalogue: Catalogue) -> bool:
    """Whether tasks can read what the node looks up, if it does: `beside` are tables and their steps.

    A union wants the same columns of all that it is led, and behind a lookup there are more than are used.
    """
    tables = {edge.source for edge in validated.document.inputs_of(node.id)} & beside
    is_read = all(way_of(name, validated, catalogue) is not None for name in tables)
    return is_read and not (tables and _leads_to_union(node.id, validated))


def _leads_to_union(node_id: str, validated: Validated) -> bool:
    behind = {edge.target for edge in validated.document.edges if edge.source == node_id}
    return any(validated.document.node(name).operator == "union" or _leads_to_union(name, validated) for name in behind)

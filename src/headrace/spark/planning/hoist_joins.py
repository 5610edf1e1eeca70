"""Expressions in the conditions of joins, taken out of their nodes: what must be equal is computed before the join, and
what only Spark computes of pairs filters them behind it.

    n: abs(left.id) = right.k     becomes     n__left: *, abs(id) AS _join_key_0 ─► n: left._join_key_0 = …
"""

from __future__ import annotations

from dataclasses import replace

from headrace.errors import InvalidGraph
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.join_keys import KeyColumns, key_columns
from headrace.operators.join_sides import SIDES
from headrace.spark.planning.error_nodes import made_node


def without_computed_keys(node_id: str, validated: Validated, catalogue: Catalogue) -> Validated | None:
    """None for a node that is no join, whose condition needs nothing, or whose rows would not be just the same."""
    node, config = validated.document.node(node_id), validated.configs[node_id]
    if node.operator != "join":
        return None
    edges = validated.document.inputs_of(node_id)
    found = key_columns(config.on, config.kind, {edge.target_port: validated.schemas[edge.source] for edge in edges})
    if found is None:
        return None
    document, made = _rewritten(node, found, validated.document)
    try:
        after = validate(document, catalogue)
    except InvalidGraph:
        # A select drops an event time that can only be named.
        return None
    same = all(
        before.columns == after.schemas[one].columns and before.event_time == after.schemas[one].event_time
        for one, before in validated.schemas.items()
    )
    aside = {**validated.aside, **dict.fromkeys(made, node_id)}
    return replace(after, aside=aside, written=validated.as_written) if same else None


def _rewritten(node: Node, found: KeyColumns, document: Document) -> tuple[Document, tuple[str, ...]]:
    """The document with the nodes that are made, and their ids."""
    made: list[Node] = []
    edges = [edge for edge in document.edges if edge.target != node.id]
    for edge in document.inputs_of(node.id):
        side = next(side for side in SIDES if side == edge.target_port)
        if not found.columns[side]:
            edges.append(edge)
            continue
        columns: list[Json] = ["*", *found.columns[side]]
        made.append(Node(made_node(node.id, side), "select", {"columns": columns}))
        edges += [Edge(edge.source, made[-1].id, edge.source_port), Edge(made[-1].id, node.id, target_port=side)]
    if found.behind:
        behind = Node(made_node(node.id, "kept"), "filter", {"condition": " AND ".join(found.behind)})
        edges = [replace(edge, source=behind.id) if edge.source == node.id else edge for edge in edges]
        edges.append(Edge(node.id, behind.id))
        made.append(behind)
    changed = Node(node.id, node.operator, {**node.config, "on": found.on})
    nodes = [one for one in document.nodes if one.id != node.id]
    return Document(document.name, (*nodes, changed, *made), tuple(edges)), tuple(one.id for one in made)

"""What the offsets and the state of a query belong to, and how two versions of it differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.errors import HeadraceError
from headrace.graph.diff import Diff, compare
from headrace.graph.document import Document, Edge, Node
from headrace.operators import Catalogue
from headrace.operators.spelling import unspelled
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.tables import TABLE


@dataclass(frozen=True, slots=True)
class Meaning:
    """The part of a plan that its state and offsets depend on. `nodes` are those of the plan's chain, in its order."""

    identity: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    in_chain: frozenset[str] = frozenset()
    keeps_state: bool = True

    @classmethod
    def of(cls, plan: QueryPlan) -> Meaning:
        in_chain = plan.in_chain - plan.aside.keys()
        return cls(identity(plan), plan.written_chain, plan.written_edges, in_chain, plan.keeps_state)

    @property
    def topics(self) -> dict[str, str]:
        """Source node → the topic that it reads."""
        fed = {edge.target for edge in self.edges}
        found = (node for node in self.nodes if node.id not in fed and node.operator == "topic")
        return {node.id: str(node.config["topic"]) for node in found}

    def stateful(self, catalogue: Catalogue) -> tuple[str, ...]:
        """Ids of the nodes that keep state."""
        return tuple(node.id for node in self.nodes if _keeps_state(node, catalogue))

    def to_json(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "nodes": [node.to_dict() for node in self.nodes],
            "edges": [edge.to_dict() for edge in self.edges],
            "in_chain": sorted(self.in_chain),
            "keeps_state": self.keeps_state,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Meaning:
        part = Document.from_dict({"name": "part", "nodes": value["nodes"], "edges": value["edges"]})
        # A document sorts what it holds: here the order counts.
        nodes = tuple(part.node(str(node["id"])) for node in value["nodes"])
        edges = tuple(Edge(**edge) for edge in value["edges"])
        return cls(value["identity"], nodes, edges, frozenset(value["in_chain"]), value["keeps_state"])


def renaming(old: Meaning, new: Meaning, catalogue: Catalogue) -> dict[str, str] | None:
    """Old node id → new one, where state and offsets of the old query are just those of the new one; else None.

    The spelling of expressions and the ids of nodes may differ, nothing else.
    """
    if len(old.nodes) != len(new.nodes) or (len(old.nodes) == 1) != (len(new.nodes) == 1):
        return None
    ids = {before.id: after.id for before, after in zip(old.nodes, new.nodes, strict=True)}
    if len(old.nodes) == 1:
        return ids if _read(old.nodes[0]) == _read(new.nodes[0]) else None
    same = (
        all(_is_like(before, after, catalogue) for before, after in zip(old.nodes, new.nodes, strict=True))
        and _wires(old) == _wires(new)
        and (not new.keeps_state or {ids[node] for node in old.in_chain} == set(new.in_chain))
    )
    return ids if same else None


@dataclass(frozen=True, slots=True)
class Difference:
    """Between a stored query and a wanted one: changes in words, and how many of its nodes they have in common."""

    changes: tuple[str, ...]
    shared: int = field(default=0)


def difference(old: Meaning, new: Meaning, catalogue: Catalogue) -> Difference:
    """What of the old query the new one has otherwise; only spelling is no change."""
    found = _compared(old, new, catalogue)
    changes = [str(change) for change in found.changes]
    if not changes and old.keeps_state and old.in_chain != new.in_chain:
        moved = sorted(old.in_chain ^ new.in_chain)
        changes = [f"~ node {node}: this release keeps its state elsewhere" for node in moved]
    if not changes:
        changes = ["~ the order of sources or steps"]
    before = {node.id for node in old.nodes}
    return Difference(tuple(changes), len(before & {node.id for node in new.nodes}))


def _compared(old: Meaning, new: Meaning, catalogue: Catalogue) -> Diff:
    after = {node.id: node for node in new.nodes}
    nodes = [_respelled(node, after[node.id], catalogue) if node.id in after else node for node in old.nodes]
    return compare(Document("part", tuple(nodes), old.edges), Document("part", new.nodes, new.edges))


def _respelled(before: Node, after: Node, catalogue: Catalogue) -> Node:
    """The old node, with settings that differ only by their spelling as the new one has them."""
    if before.operator != after.operator:
        return before
    operator = catalogue.get(after.operator)
    old, new = unspelled(before.config, operator), unspelled(after.config, operator)
    same = {name for name in before.config.keys() & after.config.keys() if old.get(name) == new.get(name)}
    return Node(before.id, before.operator, {**before.config, **{name: after.config[name] for name in same}})


def _is_like(before: Node, after: Node, catalogue: Catalogue) -> bool:
    if before.operator != after.operator:
        return False
    if before.config == after.config:
        return True
    operator = catalogue.get(after.operator)
    return unspelled(before.config, operator) == unspelled(after.config, operator)


def _read(node: Node) -> tuple[str, object]:
    """What a query of row steps reads: only that its offsets depend on."""
    return node.operator, node.config.get("topic", node.config.get("path"))


def _wires(meaning: Meaning) -> list[list[tuple[int, str, str]]]:
    """For each node its inputs in their order, by the places of nodes."""
    places = {node.id: place for place, node in enumerate(meaning.nodes)}
    return [
        [(places[edge.source], edge.source_port, edge.target_port) for edge in meaning.edges if edge.target == node.id]
        for node in meaning.nodes
    ]


def _keeps_state(node: Node, catalogue: Catalogue) -> bool:
    try:
        return node.operator != TABLE and catalogue.get(node.operator).spec.stateful
    except HeadraceError:
        return False

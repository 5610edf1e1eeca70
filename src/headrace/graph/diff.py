"""What changed between two documents, in terms of the pipeline: nodes, settings and edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from headrace.graph.document import Document, Edge, Node, canonical_json


@dataclass(frozen=True, slots=True)
class NodeAdded:
    node: Node

    def __str__(self) -> str:
        return f"+ node {self.node.id}: {_described(self.node)}"


@dataclass(frozen=True, slots=True)
class NodeRemoved:
    node: Node

    def __str__(self) -> str:
        return f"- node {self.node.id}: {_described(self.node)}"


@dataclass(frozen=True, slots=True)
class NodeRenamed:
    """The same operator with the same settings under another id. Its state is named by the id."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"~ node {self.old}: is now {self.new}"


@dataclass(frozen=True, slots=True)
class OperatorReplaced:
    """The id stayed, the operator is another; its settings are compared as well."""

    node: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"~ node {self.node}: operator {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """JSON spellings of the setting before and after, or None where it was not written."""

    node: str
    setting: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        return f"~ node {self.node}: {self.setting} {self.old or '(not set)'} → {self.new or '(not set)'}"


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    edge: Edge

    def __str__(self) -> str:
        return f"+ edge {_arrow(self.edge)}"


@dataclass(frozen=True, slots=True)
class EdgeRemoved:
    edge: Edge

    def __str__(self) -> str:
        return f"- edge {_arrow(self.edge)}"


Change: TypeAlias = NodeAdded | NodeRemoved | NodeRenamed | OperatorReplaced | SettingChanged | EdgeAdded | EdgeRemoved


@dataclass(frozen=True, slots=True)
class Diff:
    """Changes in a stable order: nodes by id, then edges. Empty exactly when the content hashes are equal."""

    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes

    def __str__(self) -> str:
        return "\n".join(str(change) for change in self.changes) or "no change"


def compare(old: Document, new: Document) -> Diff:
    """From `old` to `new`. Ids must be unique in both, as in every valid document."""
    renamed = _renamed(old, new)
    before = {renamed.get(node.id, node.id): node for node in old.nodes}
    after = {node.id: node for node in new.nodes}
    changes: list[Change] = []
    for node_id in sorted({*before, *after}):
        changes += _node_changes(before.get(node_id), after.get(node_id))
    return Diff((*changes, *_edge_changes(old, new, renamed)))


def _renamed(old: Document, new: Document) -> dict[str, str]:
    """Old id → new id, where exactly one node left and exactly one like it came."""
    gone = [node for node in old.nodes if node.id not in {other.id for other in new.nodes}]
    come = [node for node in new.nodes if node.id not in {other.id for other in old.nodes}]
    pairs: dict[str, str] = {}
    for node in gone:
        alike = [other for other in come if _is_like(node, other)]
        if len(alike) == 1 and sum(_is_like(other, node) for other in gone) == 1:
            pairs[node.id] = alike[0].id
    return pairs


def _is_like(node: Node, other: Node) -> bool:
    return replace(node, id=other.id) == other


def _node_changes(before: Node | None, after: Node | None) -> Iterator[Change]:
    if before is None or after is None:
        if after is not None:
            yield NodeAdded(after)
        if before is not None:
            yield NodeRemoved(before)
        return
    if before.id != after.id:
        yield NodeRenamed(before.id, after.id)
    if before.operator != after.operator:
        yield OperatorReplaced(after.id, before.operator, after.operator)
    for setting in sorted({*before.config, *after.config}):
        old, new = _spelled(before, setting), _spelled(after, setting)
        if old != new:
            yield SettingChanged(after.id, setting, old, new)


def _edge_changes(old: Document, new: Document, renamed: dict[str, str]) -> Iterator[Change]:
    before = {
        replace(edge, source=renamed.get(edge.source, edge.source), target=renamed.get(edge.target, edge.target))
        for edge in old.edges
    }
    after = set(new.edges)
    yield from (EdgeRemoved(edge) for edge in sorted(before - after))
    yield from (EdgeAdded(edge) for edge in sorted(after - before))


def _spelled(node: Node, setting: str) -> str | None:
    return canonical_json(node.config[setting]) if setting in node.config else None


def _described(node: Node) -> str:
    settings = [f"{name}={canonical_json(value)}" for name, value in node.config.items()]
    return " ".join((node.operator, *settings))


def _arrow(edge: Edge) -> str:
    ports = (
        "" if (edge.source_port, edge.target_port) == ("out", "in") else f" ({edge.source_port} → {edge.target_port})"
    )
    return f"{edge.source} → {edge.target}{ports}"

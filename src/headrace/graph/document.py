"""The pipeline document: what a pipeline *is*, in every notation. Immutable, ordered, hashable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from headrace.errors import InvalidInput

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Config: TypeAlias = Mapping[str, Json]

DOCUMENT_FORMAT = 1


def canonical_json(value: Json) -> str:
    """One spelling per value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Node:
    """One operator in a pipeline. The id names the node's state, so it outlives changes around it."""

    id: str
    operator: str
    config: Config = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A private, read-only copy: nobody who holds the dict can change the document.
        object.__setattr__(self, "config", MappingProxyType(json.loads(canonical_json(dict(self.config)))))

    def __hash__(self) -> int:
        return hash((self.id, self.operator, canonical_json(dict(self.config))))

    def __reduce__(self) -> tuple[type[Node], tuple[str, str, dict[str, Json]]]:
        return Node, (self.id, self.operator, dict(self.config))

    def to_dict(self) -> dict[str, Json]:
        return {"id": self.id, "operator": self.operator, "config": dict(self.config)}


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """Rows flow from an output port of one node to an input port of another."""

    source: str
    target: str
    source_port: str = "out"
    target_port: str = "in"

    def to_dict(self) -> dict[str, Json]:
        return {
            "source": self.source,
            "target": self.target,
            "source_port": self.source_port,
            "target_port": self.target_port,
        }


@dataclass(frozen=True, slots=True)
class Document:
    """A named graph. Nodes and edges are kept sorted, so that equal graphs are equal documents.

    Nothing is checked here beyond shape: `graph.validation` says whether it can run.
    """

    name: str
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        by_id = sorted(self.nodes, key=lambda node: (node.id, node.operator, canonical_json(dict(node.config))))
        object.__setattr__(self, "nodes", tuple(by_id))
        object.__setattr__(self, "edges", tuple(sorted(self.edges)))

    @property
    def content_hash(self) -> str:
        """Changes exactly when the meaning changes; the name is no part of the meaning."""
        meaning = self.to_dict()
        del meaning["name"]
        return hashlib.sha256(canonical_json(meaning).encode()).hexdigest()

    def node(self, node_id: str) -> Node:
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    def inputs_of(self, node_id: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.target == node_id)

    def outputs_of(self, node_id: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.source == node_id)

    def with_nodes(self, nodes: Iterable[Node]) -> Document:
        return replace(self, nodes=tuple(nodes))

    def with_edges(self, edges: Iterable[Edge]) -> Document:
        return replace(self, edges=tuple(edges))

    def to_dict(self) -> dict[str, Json]:
        return {
            "format": DOCUMENT_FORMAT,
            "name": self.name,
            "nodes": [node.to_dict() for node in self.nodes],
            "edges": [edge.to_dict() for edge in self.edges],
        }

    def to_json(self) -> str:
        return canonical_json(self.to_dict())

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> Document:
        """Raises InvalidInput that names the missing or wrong field."""
        written = value.get("format", DOCUMENT_FORMAT)
        if written != DOCUMENT_FORMAT:
            raise InvalidInput(f"a pipeline document of format {written}; this version reads format {DOCUMENT_FORMAT}")
        try:
            nodes = tuple(_node(item) for item in _list(value, "nodes"))
            edges = tuple(Edge(**{key: str(item) for key, item in _object(edge, "an edge").items()}) for edge in _list(value, "edges"))
            return cls(str(value["name"]), nodes, edges)
        except KeyError as missing:
            raise InvalidInput(f"a pipeline document without the field {missing}") from missing
        except TypeError as wrong:
            raise InvalidInput(f"a pipeline document with a wrong field: {wrong}") from wrong

    @classmethod
    def from_json(cls, text: str) -> Document:
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"a pipeline document that is no JSON: {error}") from error
        return cls.from_dict(_object(value, "a pipeline document"))


def _node(item: Json) -> Node:
    fields = _object(item, "a node")
    return Node(str(fields["id"]), str(fields["operator"]), _object(fields.get("config", {}), "a node's config"))


def _list(value: Mapping[str, Json], key: str) -> list[Json]:
    items = value[key]
    if not isinstance(items, list):
        raise InvalidInput(f"{key} in a pipeline document must be a list, not {type(items).__name__}")
    return items


def _object(value: Json, what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be an object, not {type(value).__name__}")
    return value

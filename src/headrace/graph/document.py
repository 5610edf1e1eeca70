"""The pipeline document: what a pipeline *is*, in every notation. Immutable, ordered, hashable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from headrace.errors import InvalidInput, did_you_mean

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Config: TypeAlias = Mapping[str, Json]

DOCUMENT_FORMAT = 1


def canonical_json(value: Json) -> str:
    """One spelling per value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operator in a pipeline. The id names the node's state, so it outlives changes around it.

    Raises InvalidInput for a config that JSON cannot carry.
    """

    id: str
    operator: str
    config: Config = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A private, read-only copy: nobody who holds the dict can change the document.
        try:
            copied = json.loads(canonical_json(dict(self.config)).encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"a setting that is no JSON value: {error}", node=self.id) from error
        object.__setattr__(self, "config", MappingProxyType(copied))

    def _identity(self) -> tuple[str, str, str]:
        # By spelling: 1, 1.0 and true are equal in Python and differ in a document.
        return self.id, self.operator, canonical_json(dict(self.config))

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Node) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

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
        object.__setattr__(self, "nodes", tuple(sorted(self.nodes, key=Node._identity)))
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

    def leading_to(self, node_ids: Iterable[str]) -> Document:
        """The part that makes the rows of these nodes: they, and all before them."""
        found = set(node_ids)
        waiting = list(found)
        while waiting:
            new = {edge.source for edge in self.inputs_of(waiting.pop())} - found
            found |= new
            waiting += new
        nodes = tuple(node for node in self.nodes if node.id in found)
        return replace(self, nodes=nodes, edges=tuple(edge for edge in self.edges if edge.target in found))

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
            edges = tuple(_edge(item) for item in _list(value, "edges"))
            return cls(_text(value, "name"), nodes, edges)
        except KeyError as missing:
            raise InvalidInput(f"a pipeline document without the field {missing}") from missing

    @classmethod
    def from_json(cls, text: str) -> Document:
        try:
            value = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"a pipeline document that is no JSON: {error}") from error
        return cls.from_dict(_object(value, "a pipeline document"))


def _node(item: Json) -> Node:
    fields = _object(item, "a node")
    _only(fields, ("id", "operator", "config"), "a node")
    return Node(_text(fields, "id"), _text(fields, "operator"), _object(fields.get("config", {}), "a node's config"))


def _edge(item: Json) -> Edge:
    fields = _object(item, "an edge")
    _only(fields, ("source", "target", "source_port", "target_port"), "an edge")
    ports = {key: _text(fields, key) for key in ("source_port", "target_port") if key in fields}
    return Edge(_text(fields, "source"), _text(fields, "target"), **ports)


def _only(fields: Mapping[str, Json], known: tuple[str, ...], what: str) -> None:
    for key in fields:
        if key not in known:
            raise InvalidInput(f"unknown field {key!r} in {what}", valid=known, hint=did_you_mean(key, known))


def _text(value: Mapping[str, Json], key: str) -> str:
    text = value[key]
    if not isinstance(text, str):
        raise InvalidInput(f"{key} in a pipeline document must be a string, not {type(text).__name__}")
    return text


def _list(value: Mapping[str, Json], key: str) -> list[Json]:
    items = value[key]
    if not isinstance(items, list):
        raise InvalidInput(f"{key} in a pipeline document must be a list, not {type(items).__name__}")
    return items


def _object(value: Json, what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be an object, not {type(value).__name__}")
    return value


def texts_in(value: object) -> Iterator[str]:
    """All texts of a config, or of a part of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(part)

"""The stages of a chain: nodes that can have their rows in the same lanes work in one, and the next one begins where
rows have to be brought together by something else.

Rows of equal keys must be in one lane. Lanes may be by fewer columns than a node has keys, as long as they are among
these: so a window by `id` and `name` and a join by `id` behind it are in one stage, whose lanes are by `id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from headrace.graph.document import Edge, Node
from headrace.serial import Partitioning

# One column of a key, by the edge that rows come into a stage by: how it is called there.
Position: TypeAlias = "dict[Edge, str]"


@dataclass(frozen=True, slots=True)
class Stage:
    """Nodes whose rows are in the same lanes. `partitioning` is what they want, None where rows stay where they are;
    `keys` are the columns for it of the rows that come in by each edge, and `of_nodes` how each node calls them."""

    nodes: tuple[str, ...]
    partitioning: Partitioning | None
    keys: tuple[tuple[Edge, tuple[str, ...]], ...] = ()
    of_nodes: tuple[tuple[str, Partitioning], ...] = ()

    def lanes_at(self, edge: Edge) -> Partitioning | None:
        """The same for rows that come in by this edge."""
        if self.partitioning is None:
            return None
        keys = dict(self.keys).get(edge, self.partitioning.keys)
        return Partitioning(self.partitioning.strategy, keys, self.partitioning.function)

    def lanes_of(self, node: str) -> Partitioning | None:
        """The same in the words of one node."""
        return dict(self.of_nodes).get(node, self.partitioning)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the stages of a chain are found by: its nodes, each after those that feed it, what they want, and which
    columns of their output are columns of their inputs."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    wanted: Mapping[str, Partitioning | None]
    kept: Callable[[Node], Mapping[str, Mapping[str, str]]]
    _kept: dict[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def stages(self) -> tuple[Stage, ...]:
        members: list[list[Node]] = [[]]
        found: list[Stage | None] = [Stage((), None)]
        number_of: dict[str, int] = {}
        for node in self.nodes:
            feeding = [number_of[edge.source] for edge in self._into(node) if edge.source in number_of]
            number = max(feeding, default=0)
            while number < len(members) and (stage := self._stage([*members[number], node])) is None:
                number += 1
            if number == len(members):
                members.append([])
                found.append(None)
                stage = self._stage([node])
            members[number].append(node)
            found[number] = stage
            number_of[node.id] = number
        return tuple(stage for stage in found if stage is not None)

    def _stage(self, nodes: Sequence[Node]) -> Stage | None:
        """These nodes as one stage; None where no lanes suit all of them."""
        names = tuple(node.id for node in nodes)
        wanting = [(node, wanted) for node in nodes if (wanted := self.wanted[node.id]) is not None]
        if not wanting:
            return Stage(names, None)
        last = wanting[-1][1]
        if any(wanted.strategy != "by_key" for _, wanted in wanting):
            alike = all(wanted == last for _, wanted in wanting)
            return Stage(names, last) if alike and self._keeps_all(nodes, wanting[0][0]) else None
        keys: dict[Edge, tuple[str, ...]] = {}
        of_nodes: dict[str, Partitioning] = {}
        for group in self._groups(nodes, [node for node, _ in wanting]):
            shared = self._shared(nodes, group)
            if shared is None:
                return None
            for edge in self._reaching(nodes, group[-1]):
                keys[edge] = tuple(position[edge] for position in shared)
            of_nodes |= {node.id: self._in_words_of(nodes, node, shared) for node in group}
        partitioning = of_nodes[wanting[-1][0].id]
        return Stage(names, partitioning, tuple(keys.items()), tuple(of_nodes.items()))

    def _groups(self, nodes: Sequence[Node], wanting: Sequence[Node]) -> list[list[Node]]:
        """Nodes that want lanes, together with those whose rows they share."""
        groups: list[tuple[set[Edge], list[Node]]] = []
        for node in wanting:
            edges, joined = set(self._reaching(nodes, node)), [node]
            for other in [group for group in groups if group[0] & edges]:
                groups.remove(other)
                edges, joined = edges | other[0], [*other[1], *joined]
            groups.append((edges, joined))
        return [joined for _, joined in groups]

    def _shared(self, nodes: Sequence[Node], group: Sequence[Node]) -> list[Position] | None:
        """The columns that lanes can be by, for all of these nodes; None where there are none that they need."""
        last = group[-1]
        reached = set(self._reaching(nodes, last))
        has_keys = {bool(self._want(node).keys) for node in group}
        if len(has_keys) > 1 or any(set(self._reaching(nodes, node)) - reached for node in group):
            return None
        positions = [self._positions(nodes, node) for node in group]
        shared = [
            whole
            for whole in positions[-1]
            if whole and all(any(part and part.items() <= whole.items() for part in parts) for parts in positions)
        ]
        found = [position for position in shared if position is not None]
        return found if found or has_keys == {False} else None

    def _positions(self, nodes: Sequence[Node], node: Node) -> list[Position | None]:
        """Each key of a node, by the edges that its rows come into the stage by; None for one made on the way."""
        wanted = self._want(node)
        return [
            _merged(
                [self._traced(nodes, edge, wanted.at_port(edge.target_port).keys[place]) for edge in self._into(node)]
            )
            for place in range(len(wanted.keys))
        ]

    def _traced(self, nodes: Sequence[Node], edge: Edge, column: str) -> Position | None:
        """Where a column that comes by this edge came into the stage."""
        before = next((node for node in nodes if node.id == edge.source), None)
        if before is None:
            return {edge: column}
        kept = self._kept_by(before)
        found: list[Position | None] = []
        for further in self._into(before):
            name = kept.get(further.target_port, {}).get(column)
            found.append(None if name is None else self._traced(nodes, further, name))
        return _merged(found)

    def _in_words_of(self, nodes: Sequence[Node], node: Node, shared: Sequence[Position]) -> Partitioning:
        """The shared columns as the node calls them, at each of its inputs."""
        wanted, positions = self._want(node), self._positions(nodes, node)
        places = [
            next(place for place, part in enumerate(positions) if part and part.items() <= whole.items())
            for whole in shared
        ]
        by_port = tuple((port, tuple(keys[place] for place in places)) for port, keys in wanted.by_port)
        return replace(wanted, keys=tuple(wanted.keys[place] for place in places), by_port=by_port)

    def _reaching(self, nodes: Sequence[Node], node: Node) -> list[Edge]:
        """The edges by which the rows of a node come into the stage."""
        inside = {one.id: one for one in nodes}
        found: dict[Edge, None] = {}
        for edge in self._into(node):
            further = self._reaching(nodes, inside[edge.source]) if edge.source in inside else [edge]
            found.update(dict.fromkeys(further))
        return list(found)

    def _keeps_all(self, nodes: Sequence[Node], first: Node) -> bool:
        """Whether nothing before the first that wants lanes changes what a function may choose them by."""
        before = nodes[: nodes.index(first)]
        return all(self._kept_by(node) for node in before)

    def _want(self, node: Node) -> Partitioning:
        wanted = self.wanted[node.id]
        if wanted is None:
            raise AssertionError(f"{node.id} wants no lanes")
        return wanted

    def _kept_by(self, node: Node) -> Mapping[str, Mapping[str, str]]:
        if node.id not in self._kept:
            self._kept[node.id] = self.kept(node)
        return self._kept[node.id]

    def _into(self, node: Node) -> list[Edge]:
        return [edge for edge in self.edges if edge.target == node.id]


def _merged(parts: Sequence[Position | None]) -> Position | None:
    """All of them; None where one is not known, or where one edge would have two columns."""
    merged: Position = {}
    for part in parts:
        if part is None or any(merged.get(edge, column) != column for edge, column in part.items()):
            return None
        merged.update(part)
    return merged

"""A streaming query of a pipeline: what it reads, what it runs, and the ways to its sinks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from headrace.graph.document import Edge, Json, Node, canonical_json
from headrace.operators.row_step import RowStep
from headrace.spark.planning.error_nodes import errors_node
from headrace.spark.planning.tables import TABLE


@dataclass(frozen=True, slots=True)
class Branch:
    """The way from the base of a query to one sink."""

    sink: Node
    steps: tuple[tuple[Node, RowStep], ...]

    @property
    def first_node(self) -> Node | None:
        """The node after the base, unless that is the sink."""
        return self.steps[0][0] if self.steps else None

    @property
    def last_node(self) -> str | None:
        """The node before the sink, unless that is the base itself."""
        return self.steps[-1][0].id if self.steps else None


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """`chain` leads from the sources to the base, all included, each node after those that feed it; `edges` are those
    between them. `bad_rows_of` is the source whose bad rows end here."""

    name: str
    chain: tuple[Node, ...]
    branches: tuple[Branch, ...]
    output_mode: str
    bad_rows_of: Node | None = None
    edges: tuple[Edge, ...] = ()
    beside: frozenset[str] = frozenset()
    """Tables, and what only tables feed."""
    in_chain: frozenset[str] = frozenset()
    """Nodes that Spark's plan could run, and that run in a chain all the same: their state is elsewhere."""
    keeps_state: bool = True
    """Whether any of its nodes may have state."""
    aside: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Nodes that were put in for failing rows (`row_errors.py`) and for expressions around aggregates (`hoist.py`),
    each with the node that it is for."""
    written: Mapping[str, Node] = field(default_factory=dict, hash=False)
    """Nodes of the chain whose settings were changed for that, as the document has them."""

    @property
    def is_for_errors(self) -> bool:
        """Whether it does nothing but write rows that nodes of other queries failed for."""
        return bool(self.branches) and all(branch.sink.id in self.aside for branch in self.branches)

    @property
    def written_chain(self) -> tuple[Node, ...]:
        """The chain as the document has it: what becomes of failing rows is no part of what its state means."""
        own = (node for node in self.chain if node.id not in self.aside)
        return tuple(_without_policy(self.written.get(node.id, node)) for node in own)

    @property
    def written_edges(self) -> tuple[Edge, ...]:
        into = {edge.target: edge for edge in self.edges if edge.target in self.aside}
        made = []
        for edge in (one for one in self.edges if one.target not in self.aside):
            first = edge
            while first.source in into:
                first = into[first.source]
            made.append(replace(edge, source=first.source, source_port=first.source_port))
        return tuple(sorted(made))

    @property
    def hidden(self) -> frozenset[str]:
        """Nodes that are there for failing rows and bad records of others: no figure names them."""
        records = () if self.bad_rows_of is None else (errors_node(self.bad_rows_of.id),)
        return frozenset((*self.aside, *records))

    @property
    def sources(self) -> tuple[Node, ...]:
        """Where streams of rows begin; tables are looked up."""
        fed = {edge.target for edge in self.edges}
        return tuple(node for node in self.chain if node.id not in fed and node.operator != TABLE)

    @property
    def tables(self) -> tuple[Node, ...]:
        return tuple(node for node in self.chain if node.operator == TABLE)

    @property
    def source(self) -> Node:
        """The only source, or the first of several."""
        return self.sources[0]

    @property
    def is_line(self) -> bool:
        """One source, and every node feeds just the next; tables do not count."""
        edges = [edge for edge in self.edges if edge.source not in self.beside]
        return len(edges) == len(self.chain) - len(self.beside) - 1 and len(self.sources) == 1

    def node(self, node_id: str) -> Node:
        return next(node for node in self.chain if node.id == node_id)

    def inputs_of(self, node: Node) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.target == node.id)

    def followers_of(self, node: Node) -> tuple[Node, ...]:
        fed = {edge.target for edge in self.edges if edge.source == node.id}
        return tuple(follower for follower in self.chain if follower.id in fed)

    @property
    def base(self) -> Node:
        return self.chain[-1]

    @property
    def members(self) -> tuple[str, ...]:
        """Ids of all nodes that this query runs, sinks included."""
        steps = [node.id for branch in self.branches for node in (*(step for step, _ in branch.steps), branch.sink)]
        return tuple(dict.fromkeys([*(node.id for node in self.chain), *steps]))

    @property
    def chained(self) -> bool:
        """More happens than row steps: what Spark keeps for it belongs to this very chain."""
        return len(self.chain) > 1


def _without_policy(node: Node) -> Node:
    if node.operator not in ("select", "filter"):
        return node
    kept = {name: value for name, value in node.config.items() if name not in ("on_error", "dead_letter")}
    return node if len(kept) == len(node.config) else Node(node.id, node.operator, kept)


def identity(plan: QueryPlan) -> str:
    """Changes when offsets or state of the query would mean something else: then it cannot simply go on."""
    meaning = [node.to_dict() for node in plan.written_chain]
    if not plan.chained:
        (source,) = plan.sources
        meaning = [{"operator": source.operator, "of": source.config.get("topic", source.config.get("path"))}]
    if not plan.is_line:
        meaning += [edge.to_dict() for edge in plan.written_edges]
    in_chain = plan.in_chain - plan.aside.keys()
    if in_chain and plan.keeps_state:
        meaning.append({"in_chain": ", ".join(sorted(in_chain))})
    return hashlib.sha256(canonical_json(cast("Json", meaning)).encode()).hexdigest()

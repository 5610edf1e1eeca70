"""A graph taken apart into chains, the way a person would write it down. Text notation and Python code share this.

Nodes that a notation leaves unnamed are called after their operator and its count: the second `filter` is `filter_2`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from headrace.errors import InvalidInput
from headrace.graph.document import Document, Edge, Node

DEFAULT_OUTPUT, DEFAULT_INPUT = "out", "in"


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes that follow each other over the usual ports. `head` is a node placed before, where a branch leaves it."""

    head: str | None
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chains:
    """Every node is in exactly one chain; `links` are the edges that no chain holds."""

    chains: tuple[Chain, ...]
    links: tuple[Edge, ...]


def take_apart(document: Document) -> Chains:
    """Sources first, branches after the chain they leave. Raises InvalidInput where two nodes have one id."""
    return _Walk(document).run()


def usual_id(operator: str, ordinal: int) -> str:
    """The id of the nth node of an operator that has no name of its own."""
    return f"{operator.replace('-', '_')}_{ordinal}"


def unnamed(chains: Chains) -> frozenset[str]:
    """Ids that a notation may leave out: it would choose the same."""
    counts: Counter[str] = Counter()
    found: set[str] = set()
    for node in (node for chain in chains.chains for node in chain.nodes):
        counts[node.operator] += 1
        if node.id == usual_id(node.operator, counts[node.operator]):
            found.add(node.id)
    return frozenset(found)


def natural_order(node_id: str) -> tuple[tuple[int, str], ...]:
    """filter_2 before filter_10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", node_id))


class _Walk:
    def __init__(self, document: Document) -> None:
        self.nodes = {node.id: node for node in document.nodes}
        if len(self.nodes) < len(document.nodes):
            raise InvalidInput("two nodes of the pipeline have the same id")
        self.edges = document.edges
        self.main_input: dict[str, Edge] = {}
        for edge in document.edges:
            usual = (edge.source_port, edge.target_port) == (DEFAULT_OUTPUT, DEFAULT_INPUT)
            if usual and edge.source in self.nodes and edge.target in self.nodes:
                self.main_input.setdefault(edge.target, edge)
        self.placed: set[str] = set()
        self.chains: list[Chain] = []
        self.used: set[Edge] = set()

    def run(self) -> Chains:
        by_order = sorted(self.nodes, key=natural_order)
        starts = [node_id for node_id in by_order if node_id not in self.main_input]
        for node_id in (*starts, *by_order):  # the second time round only nodes on cycles are left
            if node_id not in self.placed:
                self._chain(None, node_id)
        return Chains(tuple(self.chains), tuple(edge for edge in self.edges if edge not in self.used))

    def _chain(self, head: str | None, first: str) -> None:
        pending = [(head, first)]
        while pending:
            head, first = pending.pop()
            ids = self._follow(head, first)
            self.chains.append(Chain(head, tuple(self.nodes[node_id] for node_id in ids)))
            branches = [(node_id, branch) for node_id in ids for branch in self._next(node_id)]
            for node_id, branch in branches:
                self._place(node_id, branch)
            pending += reversed(branches)

    def _follow(self, head: str | None, first: str) -> list[str]:
        self._place(head, first)
        ids = [first]
        while following := self._next(ids[-1]):
            self._place(ids[-1], following[0])
            ids.append(following[0])
        return ids

    def _place(self, before: str | None, node_id: str) -> None:
        self.placed.add(node_id)
        if before is not None:
            self.used.add(self.main_input[node_id])

    def _next(self, node_id: str) -> list[str]:
        """Nodes not placed yet that take their main input from here."""
        fed = (target for target, edge in self.main_input.items() if edge.source == node_id)
        return sorted((target for target in fed if target not in self.placed), key=natural_order)

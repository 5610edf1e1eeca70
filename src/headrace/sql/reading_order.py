"""Printed statements in an order that reads well: what is read stands before its readers, as the parser wants it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from headrace.graph.document import Edge


@dataclass(frozen=True, slots=True)
class Printed:
    """The text of one or two statements, the node that names it, and all nodes that it stands for.

    `behind` is a node whose statement has to come first although no edge says so.
    """

    name: str
    nodes: frozenset[str]
    text: str
    behind: str | None = None


def in_reading_order(statements: list[Printed], edges: Iterable[Edge]) -> list[Printed]:
    """Sources first; then, for one end of the pipeline after the other, what it reads and itself."""
    needs = _needs(statements, edges)
    level: dict[Printed, int] = {}
    for statement in TopologicalSorter(needs).static_order():
        level[statement] = 1 + max((level[needed] for needed in needs[statement]), default=-1)
    needed_by_others = {needed for several in needs.values() for needed in several}
    ordered = sorted((one for one in statements if not needs[one]), key=lambda one: one.name)
    for end in sorted((one for one in statements if one not in needed_by_others), key=lambda one: one.name):
        missing = _all_needed(end, needs) - set(ordered)
        ordered += sorted(missing, key=lambda one: (level[one], one.name))
    return ordered


def _needs(statements: list[Printed], edges: Iterable[Edge]) -> dict[Printed, set[Printed]]:
    """Which statements have to stand before each one."""
    owner = {node_id: statement for statement in statements for node_id in statement.nodes}
    needs: dict[Printed, set[Printed]] = {statement: set() for statement in statements}
    pairs = [(edge.source, edge.target) for edge in edges]
    pairs += [(one.behind, one.name) for one in statements if one.behind is not None]
    for source, target in pairs:
        if source in owner and target in owner and owner[source] is not owner[target]:
            needs[owner[target]].add(owner[source])
    return needs


def _all_needed(end: Printed, needs: Mapping[Printed, set[Printed]]) -> set[Printed]:
    """A statement and everything that it needs, directly or not."""
    found, waiting = {end}, [end]
    while waiting:
        new = needs[waiting.pop()] - found
        found |= new
        waiting += new
    return found

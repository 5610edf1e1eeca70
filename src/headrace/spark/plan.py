"""Which streaming queries a pipeline needs: as few as possible, each scanning its source once.

Sinks whose rows come from the same base (a source or a stateful node) by filters and selects alone share one query.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import cast

from headrace.errors import InvalidInput
from headrace.graph.document import Document, Json, Node, canonical_json
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.row_step import RowStep
from headrace.operators.serial_chain import ChainPlan


@dataclass(frozen=True, slots=True)
class Branch:
    """The way from the base of a query to one sink."""

    sink: Node
    steps: tuple[tuple[Node, RowStep], ...]

    @property
    def last_node(self) -> str | None:
        """The node before the sink, unless that is the base itself."""
        return self.steps[-1][0].id if self.steps else None


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """`chain` leads from the source to the base, both included; `bad_rows_of` is the source whose bad rows end here."""

    name: str
    chain: tuple[Node, ...]
    branches: tuple[Branch, ...]
    output_mode: str
    bad_rows_of: Node | None = None

    @property
    def source(self) -> Node:
        return self.chain[0]

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


def plan_queries(validated: Validated, catalogue: Catalogue) -> tuple[QueryPlan, ...]:
    """One plan for each base that sinks hang on, in a stable order, and for dead letters that have no other home."""
    bases: dict[tuple[str, ...], list[Branch]] = {}
    for sink in (node for node in validated.document.nodes if catalogue.get(node.operator).spec.kind == "sink"):
        chain, branch = _way_to(sink, validated, catalogue)
        bases.setdefault(chain, []).append(branch)
    plans = [_plan(chain, branches, validated) for chain, branches in sorted(bases.items())]
    housed = {plan.source.id for plan in plans if plan.bad_rows_of is not None}
    homeless = {plan.source.id: plan.source for plan in plans if plan.source.id not in housed}
    letters = [source for source in homeless.values() if _dead_letter(source, validated)]
    return (*plans, *(QueryPlan(f"{source.id}.bad", (source,), (), "append", source) for source in letters))


def chain_of(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> ChainPlan | None:
    """The serial nodes at the end of a query's chain. Raises InvalidInput where others follow them."""
    serial = [node for node in plan.chain if catalogue.get(node.operator).spec.kind == "serial"]
    if not serial:
        return None
    first = plan.chain.index(serial[0])
    if list(plan.chain[first:]) != serial:
        hint = "filters, selects and sinks can; for more, write to a topic and go on from there"
        raise InvalidInput(f"{plan.base.operator} cannot follow a serial operator", node=plan.base.id, hint=hint)
    return ChainPlan(tuple(serial), validated.schemas[plan.chain[first - 1].id])


def identity(plan: QueryPlan) -> str:
    """Changes when offsets or state of the query would mean something else: then it cannot simply go on."""
    meaning = [node.to_dict() for node in plan.chain]
    if not plan.chained:
        meaning = [
            {"operator": plan.source.operator, "of": plan.source.config.get("topic", plan.source.config.get("path"))}
        ]
    return hashlib.sha256(canonical_json(cast("Json", meaning)).encode()).hexdigest()


def _plan(chain: tuple[str, ...], branches: list[Branch], validated: Validated) -> QueryPlan:
    nodes = tuple(validated.document.node(node_id) for node_id in chain)
    mode = "update" if any(getattr(validated.configs[node], "emit", None) == "changes" for node in chain) else "append"
    bad_rows_of = nodes[0] if len(nodes) == 1 and nodes[0].operator == "topic" else None
    return QueryPlan(chain[-1], nodes, tuple(branches), mode, bad_rows_of)


def _dead_letter(source: Node, validated: Validated) -> str | None:
    topic: str | None = getattr(validated.configs[source.id], "dead_letter", None)
    return topic


def _way_to(sink: Node, validated: Validated, catalogue: Catalogue) -> tuple[tuple[str, ...], Branch]:
    """The chain up to the base, and the row steps from there to the sink."""
    path = _path(validated.document, sink)
    steps: list[tuple[Node, RowStep]] = []
    while len(path) > 1:
        node, before = path[-1], path[-2]
        step = catalogue.get(node.operator).row_step(validated.configs[node.id], validated.schemas[before.id])
        if step is None:
            break
        steps.insert(0, (node, step))
        path.pop()
    return tuple(node.id for node in path), Branch(sink, tuple(steps))


def _path(document: Document, sink: Node) -> list[Node]:
    """From the source to the node before the sink; every operator so far has one input."""
    path: list[Node] = []
    edges = document.inputs_of(sink.id)
    while edges:
        node = document.node(edges[0].source)
        path.insert(0, node)
        edges = document.inputs_of(node.id)
    return path

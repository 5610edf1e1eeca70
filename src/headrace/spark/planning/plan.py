"""Which streaming queries a pipeline needs: as few as possible, each scanning its source once.

Sinks whose rows come from the same base (a source or a stateful node) by filters and selects alone share one query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from headrace.errors import InvalidInput
from headrace.graph.document import Edge, Json, Node, canonical_json
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.row_step import RowStep
from headrace.operators.serial_chain import ChainInput, ChainPlan
from headrace.spark.planning.looked_up import can_ask, looked_up
from headrace.spark.planning.tables import TABLE, refuse_other_uses, tables_and_their_steps
from headrace.spark.planning.ways import way_of


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


def plan_queries(validated: Validated, catalogue: Catalogue) -> tuple[QueryPlan, ...]:
    """One plan for each base that sinks hang on, in a stable order, and for dead letters that have no other home."""
    refuse_other_uses(validated.document, validated.order)
    bases: dict[tuple[str, ...], list[Branch]] = {}
    for sink in (node for node in validated.document.nodes if catalogue.get(node.operator).spec.kind == "sink"):
        chain, branch = _way_to(sink, validated, catalogue)
        bases.setdefault(chain, []).append(branch)
    plans = [_plan(chain, branches, validated, catalogue) for chain, branches in sorted(bases.items())]
    housed = {plan.bad_rows_of.id for plan in plans if plan.bad_rows_of is not None}
    homeless = {source.id: source for plan in plans for source in plan.sources if source.id not in housed}
    letters = [source for source in homeless.values() if _dead_letter(source, validated)]
    return (*plans, *(QueryPlan(f"{source.id}.bad", (source,), (), "append", source) for source in letters))


def chain_of(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> ChainPlan | None:
    """The serial nodes at the end of a query's chain, with the unions between and right before them, and what else runs
    with them.

    Raises InvalidInput where others follow them, or where their rows cannot be brought together.
    """
    members = _members(plan, validated, catalogue)
    if not members:
        return None
    inside = {node.id for node in members}
    leading = [edge for node in members for edge in plan.inputs_of(node)]
    edges = tuple(edge for edge in leading if edge.source not in plan.beside)
    asked = [edge for edge in leading if edge.source in plan.beside]
    sources = dict.fromkeys(edge.source for edge in edges if edge.source not in inside)
    inputs = tuple(ChainInput(source, validated.schemas[source]) for source in sources)
    tables = looked_up(asked, validated, catalogue) if asked else ()
    chain = ChainPlan(members, inputs, edges, tables).divided(catalogue)
    stages = chain.stages(catalogue)
    is_moved = all(stage.partitioning is not None and stage.partitioning.strategy == "by_key" for stage in stages)
    from_topics = all(way_of(source, validated, catalogue) is not None for source in sources)
    if len(stages) > 1 and not (is_moved and from_topics):
        hint = "use the same keys, or write to a topic between them"
        raise InvalidInput("neighbouring serial nodes have different keys", node=stages[1].nodes[0], hint=hint)
    _require_order(plan, chain, catalogue)
    return chain


def _members(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> tuple[Node, ...]:
    """Nodes of the chain, in the order of the plan. Raises InvalidInput where one in Spark's plan follows them."""
    serial = {node.id for node in plan.chain if catalogue.get(node.operator).spec.kind == "serial"} | plan.in_chain
    inside = set(serial)
    for node in plan.chain:
        feeding = {edge.source for edge in plan.inputs_of(node)}
        if not feeding & inside:
            continue
        if node.id not in serial and not _joins(node):
            hint = "write the rows to a topic, and go on from there"
            raise InvalidInput(f"{node.operator} cannot follow a serial operator here", node=node.id, hint=hint)
        inside.add(node.id)
    # A union of topics right before the chain is a part of it: so its rows need not pass through Spark's plan.
    for node in reversed(plan.chain):
        feeds_chain = any(follower.id in inside for follower in plan.followers_of(node))
        if feeds_chain and _joins(node) and _is_read(node.id, validated, catalogue):
            inside.add(node.id)
    return tuple(node for node in plan.chain if node.id in inside)


def _joins(node: Node) -> bool:
    return node.operator == "union"


def _is_read(node_id: str, validated: Validated, catalogue: Catalogue) -> bool:
    """Whether rows come straight from topics, by their readers' work and unions."""
    if not _joins(validated.document.node(node_id)):
        return way_of(node_id, validated, catalogue) is not None
    return all(_is_read(edge.source, validated, catalogue) for edge in validated.document.inputs_of(node_id))


def _require_order(plan: QueryPlan, chain: ChainPlan, catalogue: Catalogue) -> None:
    """State needs the same order of rows whenever a micro-batch is run. Raises InvalidInput where nothing gives it."""
    first = chain.nodes[0].id
    hint = "write the rows to a topic, and go on from there"
    from_topics = all(plan.node(one.source).operator == "topic" for one in chain.inputs)
    partitioning = chain.partitioning(catalogue)
    if len(chain.inputs) > 1 and not from_topics and (partitioning is None or not keeps_records(plan, chain)):
        raise InvalidInput(
            "rows come into a serial chain from several places that are not all topics", node=first, hint=hint
        )
    if not chain.is_stateful(catalogue):
        return
    if len(chain.inputs) > 1 and partitioning is None:
        hint = "leave partitioned as it is: by_key"
        raise InvalidInput("as_topic is for rows of one topic", node=first, hint=hint)
    if len(plan.sources) > 1 and chain.needs_order(catalogue) and not keeps_records(plan, chain):
        raise InvalidInput(
            "state in Python needs rows of one source, or of topics through filters, selects and unions",
            node=first,
            hint=hint,
        )


def keeps_records(plan: QueryPlan, chain: ChainPlan) -> bool:
    """Whether each row that comes into the chain is of one record of a topic: so that it can be named, and put in its
    order."""
    others = {node.id for node in plan.chain} - {node.id for node in chain.nodes} - plan.beside
    return all(plan.node(name).operator in ("topic", "filter", "select", "union") for name in others)


def identity(plan: QueryPlan) -> str:
    """Changes when offsets or state of the query would mean something else: then it cannot simply go on."""
    meaning = [node.to_dict() for node in plan.chain]
    if not plan.chained:
        (source,) = plan.sources
        meaning = [{"operator": source.operator, "of": source.config.get("topic", source.config.get("path"))}]
    if not plan.is_line:
        meaning += [edge.to_dict() for edge in plan.edges]
    if plan.in_chain and plan.keeps_state:
        meaning.append({"in_chain": ", ".join(sorted(plan.in_chain))})
    return hashlib.sha256(canonical_json(cast("Json", meaning)).encode()).hexdigest()


def _plan(chain: tuple[str, ...], branches: list[Branch], validated: Validated, catalogue: Catalogue) -> QueryPlan:
    nodes = tuple(validated.document.node(node_id) for node_id in chain)
    mode = "update" if any(getattr(validated.configs[node], "emit", None) == "changes" for node in chain) else "append"
    bad_rows_of = nodes[0] if len(nodes) == 1 and nodes[0].operator == "topic" else None
    edges = tuple(edge for edge in validated.document.edges if {edge.source, edge.target} <= set(chain))
    beside = tables_and_their_steps(nodes, validated.document)
    keeps_state = any(catalogue.get(node.operator).spec.stateful for node in nodes)
    in_chain = nodes_in_chain(nodes, validated, catalogue)
    return QueryPlan(
        chain[-1], nodes, tuple(branches), mode, bad_rows_of, edges, beside, in_chain, keeps_state
    )  # fmt: skip


def nodes_in_chain(nodes: Sequence[Node], validated: Validated, catalogue: Catalogue) -> frozenset[str]:
    """The nodes that Spark's plan could run, and that run in a chain all the same: because all of the query's state can
    be there, with its rows straight from topics; or, where they cannot be brought together then, because they follow
    serial ones."""
    names = {node.id for node in nodes}
    edges = tuple(edge for edge in validated.document.edges if {edge.source, edge.target} <= names)
    beside = tables_and_their_steps(nodes, validated.document)
    if nodes[-1].id in beside:
        return frozenset()
    plan = QueryPlan(nodes[-1].id, tuple(nodes), (), "append", None, edges, beside)
    choices = _choices([node for node in nodes if node.id not in beside], beside, validated, catalogue)
    able = (chosen for chosen in choices if _can_run(replace(plan, in_chain=chosen), validated, catalogue))
    return next(able, choices[0])


def _can_run(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> bool:
    try:
        chain_of(plan, validated, catalogue)
    except InvalidInput:
        return False
    return True


def _choices(
    nodes: Sequence[Node], beside: frozenset[str], validated: Validated, catalogue: Catalogue
) -> list[frozenset[str]]:
    """Which nodes may be in the chain, the better choice first; `nodes` are those that are not beside."""
    serial = {node.id for node in nodes if catalogue.get(node.operator).spec.kind == "serial"}
    able = _able(nodes, beside, serial, validated, catalogue)
    whole = _without_steps_before(able | serial, nodes, validated, catalogue)
    edges = [edge for name in whole for edge in validated.document.inputs_of(name)]
    entries = [edge for edge in edges if edge.source not in whole | beside]
    from_topics = all(way_of(edge.source, validated, catalogue) is not None for edge in entries)
    wants = any(_wants_chain(node, validated, catalogue) for node in nodes if node.id in whole - serial)
    # Unions go with those around them, wherever these are.
    unions = {node.id for node in nodes if _joins(node)}
    following = frozenset(name for name in able - unions if _follows(name, serial, validated))
    if nodes[-1].id in whole and from_topics and (wants or serial):
        return [frozenset(whole - serial - unions), following]
    return [following]


def _able(
    nodes: Sequence[Node], beside: frozenset[str], serial: set[str], validated: Validated, catalogue: Catalogue
) -> set[str]:
    """Nodes that can run in a chain, as all can that follow them."""
    inside = {node.id for node in nodes}
    able: set[str] = set()
    for node in reversed(nodes):
        followers = {e.target for e in validated.document.edges if e.source == node.id} & inside
        is_able = can_ask(node, beside, validated, catalogue) and _has_instance(node, validated, catalogue)
        if followers <= able | serial and node.id not in serial and is_able:
            able.add(node.id)
    return able


def _has_instance(node: Node, validated: Validated, catalogue: Catalogue) -> bool:
    inputs = _inputs(node, validated)
    operator = catalogue.get(node.operator)
    return bool(inputs) and operator.chain_instance(validated.configs[node.id], inputs) is not None


def _wants_chain(node: Node, validated: Validated, catalogue: Catalogue) -> bool:
    return catalogue.get(node.operator).runs_in_chain(validated.configs[node.id], _inputs(node, validated))


def _without_steps_before(
    members: set[str], nodes: Sequence[Node], validated: Validated, catalogue: Catalogue
) -> set[str]:
    """Filters and selects that the topic's reader can do are no part of the chain."""
    kept = set(members)
    for node in nodes:
        feeding = {edge.source for edge in validated.document.inputs_of(node.id)}
        if node.id in kept and not feeding & kept and way_of(node.id, validated, catalogue) is not None:
            kept.discard(node.id)
    return kept


def _follows(name: str, others: set[str], validated: Validated) -> bool:
    feeding = {edge.source for edge in validated.document.inputs_of(name)}
    return bool(feeding & others) or any(_follows(one, others, validated) for one in feeding)


def _inputs(node: Node, validated: Validated) -> dict[str, Schema]:
    return {e.target_port: validated.schemas[e.source] for e in validated.document.inputs_of(node.id)}


def _dead_letter(source: Node, validated: Validated) -> str | None:
    topic: str | None = getattr(validated.configs[source.id], "dead_letter", None)
    return topic


def _way_to(sink: Node, validated: Validated, catalogue: Catalogue) -> tuple[tuple[str, ...], Branch]:
    """All nodes up to the base, and the row steps from there to the sink."""
    document = validated.document
    steps: list[tuple[Node, RowStep]] = []
    node = document.node(document.inputs_of(sink.id)[0].source)
    while edges := document.inputs_of(node.id):
        before = edges[0].source
        step = catalogue.get(node.operator).row_step(validated.configs[node.id], validated.schemas[before])
        if step is None:
            break
        steps.insert(0, (node, step))
        node = document.node(before)
    return _up_to(node, validated), Branch(sink, tuple(steps))


def _up_to(base: Node, validated: Validated) -> tuple[str, ...]:
    """The ids of the base and of all nodes that its rows come through, each after those that feed it."""
    wanted, waiting = {base.id}, [base.id]
    while waiting:
        feeding = {edge.source for edge in validated.document.inputs_of(waiting.pop())} - wanted
        wanted |= feeding
        waiting += feeding
    return tuple(node_id for node_id in validated.order if node_id in wanted)

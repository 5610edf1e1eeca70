"""The chain of a query: which of its nodes are in it, where its rows come from, and whether their order is kept."""

from __future__ import annotations

from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.chain_crossings import divided
from headrace.operators.serial_chain import ChainInput, ChainPlan
from headrace.spark.planning.looked_up import looked_up
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.ways import way_of


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
    chain = divided(ChainPlan(members, inputs, edges, tables), catalogue)
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
        if node.id not in serial and not is_union(node):
            hint = "write the rows to a topic, and go on from there"
            raise InvalidInput(f"{node.operator} cannot follow a serial operator here", node=node.id, hint=hint)
        inside.add(node.id)
    # A union of topics right before the chain is a part of it: so its rows need not pass through Spark's plan.
    for node in reversed(plan.chain):
        feeds_chain = any(follower.id in inside for follower in plan.followers_of(node))
        if feeds_chain and is_union(node) and _is_read(node.id, validated, catalogue):
            inside.add(node.id)
    return tuple(node for node in plan.chain if node.id in inside)


def is_union(node: Node) -> bool:
    return node.operator == "union"


def _is_read(node_id: str, validated: Validated, catalogue: Catalogue) -> bool:
    """Whether rows come straight from topics, by their readers' work and unions."""
    if not is_union(validated.document.node(node_id)):
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

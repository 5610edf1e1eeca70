"""Which nodes that Spark's plan could run are in a chain all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columns import needed_columns
from headrace.spark.planning.looked_up import can_ask
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.query_chain import chain_of, is_union
from headrace.spark.planning.tables import tables_and_their_steps
from headrace.spark.planning.ways import way_of

# Operators whose rows each stand for one row before them.
ROW_BY_ROW = ("filter", "select")


def nodes_in_chain(nodes: Sequence[Node], validated: Validated, catalogue: Catalogue) -> frozenset[str]:
    """The nodes that Spark's plan could run, and that run in a chain all the same: because all of the query's state can
    be there, with rows that are records of topics; or, where they cannot be brought together then, because they follow
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
    of_records = all(_is_of_records(edge.source, validated, catalogue) for edge in entries)
    wants = any(_wants_chain(node, validated, catalogue) for node in nodes if node.id in whole - serial)
    # Unions go with those around them, wherever these are.
    unions = {node.id for node in nodes if is_union(node)}
    following = frozenset(name for name in able - unions if _follows(name, serial, validated))
    if nodes[-1].id in whole and of_records and (wants or serial):
        # Keys that are made before the chain must be there before its rows are brought to lanes.
        fewer = _without_rows_before(whole, nodes, validated, catalogue)
        return [*dict.fromkeys(frozenset(some - serial - unions) for some in (whole, fewer)), following]
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
    inputs = _inputs(node, validated, catalogue)
    operator = catalogue.get(node.operator)
    return bool(inputs) and operator.chain_instance(validated.configs[node.id], inputs) is not None


def _wants_chain(node: Node, validated: Validated, catalogue: Catalogue) -> bool:
    return catalogue.get(node.operator).runs_in_chain(validated.configs[node.id], _inputs(node, validated, catalogue))


def _without_steps_before(
    members: set[str], nodes: Sequence[Node], validated: Validated, catalogue: Catalogue
) -> set[str]:
    """Filters and selects that the topic's reader can do are no part of the chain."""
    return _without_first(members, nodes, validated, lambda name: way_of(name, validated, catalogue) is not None)


def _without_rows_before(
    members: set[str], nodes: Sequence[Node], validated: Validated, catalogue: Catalogue
) -> set[str]:
    """The same with those that Spark's plan can do before the chain, so that its rows are still records."""
    return _without_first(members, nodes, validated, lambda name: _is_of_records(name, validated, catalogue))


def _without_first(
    members: set[str], nodes: Sequence[Node], validated: Validated, is_left_out: Callable[[str], bool]
) -> set[str]:
    kept = set(members)
    for node in nodes:
        feeding = {edge.source for edge in validated.document.inputs_of(node.id)}
        if node.id in kept and not feeding & kept and is_left_out(node.id):
            kept.discard(node.id)
    return kept


def _follows(name: str, others: set[str], validated: Validated) -> bool:
    feeding = {edge.source for edge in validated.document.inputs_of(name)}
    return bool(feeding & others) or any(_follows(one, others, validated) for one in feeding)


def _is_of_records(node_id: str, validated: Validated, catalogue: Catalogue) -> bool:
    """Whether each row of a node is one record of a topic: the chain knows its partition and its event time then, also
    where Spark's plan filtered it and computed its columns."""
    if way_of(node_id, validated, catalogue) is not None:
        return True
    edges, operator = validated.document.inputs_of(node_id), catalogue.get(validated.document.node(node_id).operator)
    if len(edges) != 1 or operator.spec.name not in ROW_BY_ROW:
        return False
    (edge,) = edges
    step = operator.row_step(validated.configs[node_id], validated.schemas[edge.source])
    return step is not None and _is_of_records(edge.source, validated, catalogue)


def _inputs(node: Node, validated: Validated, catalogue: Catalogue) -> dict[str, Schema]:
    """The columns that a chain would read: what nobody uses has no say in where a node runs."""
    needed = needed_columns(validated, catalogue)
    edges = validated.document.inputs_of(node.id)
    return {edge.target_port: _used(validated.schemas[edge.source], needed[edge.source]) for edge in edges}


def _used(schema: Schema, names: frozenset[str]) -> Schema:
    return replace(schema, columns=schema.keep({*names, schema.event_time or ""}).columns or schema.columns[:1])

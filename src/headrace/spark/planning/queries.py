"""Which streaming queries a pipeline needs: as few as possible, each scanning its source once.

Sinks whose rows come from the same base (a source or a stateful node) by filters and selects alone share one query.
"""

from __future__ import annotations

from headrace.graph.document import Node
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.row_step import RowStep
from headrace.spark.planning.chain_choice import nodes_in_chain
from headrace.spark.planning.plan import Branch, QueryPlan
from headrace.spark.planning.tables import refuse_other_uses, tables_and_their_steps


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


def _plan(chain: tuple[str, ...], branches: list[Branch], validated: Validated, catalogue: Catalogue) -> QueryPlan:
    nodes = tuple(validated.document.node(node_id) for node_id in chain)
    mode = "update" if any(getattr(validated.configs[node], "emit", None) == "changes" for node in chain) else "append"
    bad_rows_of = nodes[0] if len(nodes) == 1 and nodes[0].operator == "topic" else None
    edges = tuple(edge for edge in validated.document.edges if {edge.source, edge.target} <= set(chain))
    beside = tables_and_their_steps(nodes, validated.document)
    keeps_state = any(catalogue.get(node.operator).spec.stateful for node in nodes)
    in_chain = nodes_in_chain(nodes, validated, catalogue)
    before = {node.id: node for node in validated.as_written.nodes}
    written = {node.id: before[node.id] for node in nodes if before.get(node.id, node) != node}
    return QueryPlan(
        chain[-1],
        nodes,
        tuple(branches),
        mode,
        bad_rows_of,
        edges,
        beside,
        in_chain,
        keeps_state,
        validated.aside,
        written,
    )


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

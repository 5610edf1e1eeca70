"""Filters into the source: rows that all filters right behind it rule out are not handed on, nor those that filters
behind a join or a lookup in a chain do (`spark/reading/prefilter.py`, `spark/planning/chain_pushdown.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.graph.document import Node
from headrace.operators.row_step import RowStep
from headrace.spark.planning.chain_pushdown import wanted_of_inputs
from headrace.spark.planning.pushdown import prefilter_of
from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    for source in query.topics:
        conditions = [_condition(query, node, source) for node in _followers(query, source)]
        if prefilter_of(conditions, query.schema(source)) is not None:
            told = " or ".join(str(condition) for condition in dict.fromkeys(conditions))
            yield f"filter at the reader: of {source.id} only rows that may fulfil {told}"
    yield from _behind_chain(query)


def _behind_chain(query: PlannedQuery) -> Iterator[str]:
    chain, placement = query.chain, query.placement
    if chain is None or placement is None or placement.way_in == "rows":
        return
    conditions = dict.fromkeys(str(branch.steps[0][1].condition) for branch in query.plan.branches if branch.steps)
    for number in wanted_of_inputs(query.plan, chain, query.validated):
        source = chain.inputs[number].source
        yield f"filter at the reader: of {source} only rows that may fulfil {' or '.join(conditions)}"


def _followers(query: PlannedQuery, source: Node) -> list[Node | None]:
    plan = query.plan
    return list(plan.followers_of(source)) if plan.chained else [branch.first_node for branch in plan.branches]


def _condition(query: PlannedQuery, node: Node | None, before: Node) -> str | None:
    if node is None:
        return None
    step: RowStep | None = query.catalogue.get(node.operator).row_step(query.config(node), query.schema(before))
    return None if step is None else step.condition

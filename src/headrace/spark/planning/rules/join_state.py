"""A join of streams keeps a row as long as one may come that belongs to it, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.graph.document import Node
from headrace.operators.join_keys import why_in_spark
from headrace.spark.planning.rules.query import PlannedQuery
from headrace.spark.session.session import JOIN_STATE_FORMAT

_IN_PLAN = f"both sides in one store (format {JOIN_STATE_FORMAT}), in Spark's plan"
_OTHERS = "other nodes of its query run there"
_IN_CHAIN = "Arrow rows found by the hash of their key"


def fired(query: PlannedQuery) -> Iterator[str]:
    for node in query.plan.chain:
        if node.operator != "join":
            continue
        config = query.config(node)
        stored = _IN_CHAIN if node.id in query.plan.in_chain else f"{_IN_PLAN}: {_why(query, node, config)}"
        if config.window is not None:
            yield f"bounded state: {node.id} keeps rows until their window of {config.window} is over, {stored}"
        else:
            before, after = config.before or "0 seconds", config.after or "0 seconds"
            yield f"bounded state: {node.id} keeps rows for {before} before and {after} after, {stored}"


def _why(query: PlannedQuery, node: Node, config: Any) -> str:
    inputs = {edge.target_port: query.validated.schemas[edge.source] for edge in query.plan.inputs_of(node)}
    return why_in_spark(config, inputs) or _OTHERS

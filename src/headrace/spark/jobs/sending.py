"""From what somebody wants of a pipeline to the request for a signal."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from headrace.errors import InvalidInput, NotFound, did_you_mean
from headrace.graph.document import Document
from headrace.operators import Catalogue
from headrace.operators.serial_chain import require_adjustable
from headrace.signals import SignalRequest
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.runnable import runnable


def signal_to(
    document: Document,
    kind: str,
    catalogue: Catalogue,
    *,
    node: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    handling: str = "once",
    id: str | None = None,
) -> SignalRequest:
    """A signal in every topic that the pipeline reads, for it alone. Raises InvalidInput, NotFound for the node."""
    nodes = [known.id for known in document.nodes]
    if node is not None and node not in nodes:
        raise NotFound(f"pipeline {document.name!r} has no node {node!r}", valid=nodes, hint=did_you_mean(node, nodes))
    topics = topics_of(document)
    if kind == "close_window":
        _require_closable(document, (node,) if node else nodes, catalogue)
    if kind == "update_parameters" and node is not None and parameters:
        _require_change(document, node, parameters, catalogue)
    return SignalRequest(id or new_id(), kind, topics, document.name, node, dict(parameters or {}), handling)


def topics_of(document: Document) -> tuple[str, ...]:
    """Where signals to a pipeline have their place. Raises InvalidInput where none can reach it."""
    topics = dict.fromkeys(str(n.config["topic"]) for n in document.nodes if _is_topic_source(document, n.id))
    if not topics:
        raise InvalidInput(f"pipeline {document.name!r} reads no topic, and signals have their place in topics")
    return tuple(topics)


def _require_closable(document: Document, nodes: Sequence[str], catalogue: Catalogue) -> None:
    """Raises InvalidInput where only windows of Spark's own plan would be meant."""
    operators = {node: catalogue.get(document.node(node).operator).spec for node in nodes}
    stateful = [node for node, spec in operators.items() if spec.kind == "relational" and spec.stateful]
    if not stateful or any(spec.kind == "serial" for spec in operators.values()):
        return
    plans = plan_queries(runnable(document, catalogue), catalogue)
    if not any(node in plan.in_chain for plan in plans for node in stateful):
        raise InvalidInput(
            f"{operators[stateful[0]].name} cannot be closed by a signal: in Spark's plan a window ends when the "
            "watermark has passed it, and what comes later would be dropped as late instead of beginning anew",
            node=nodes[0] if len(nodes) == 1 else None,
            hint="time-window and session-window can, as can windows that run in a chain: EXPLAIN says which do",
        )


def _require_change(document: Document, node: str, parameters: Mapping[str, Any], catalogue: Catalogue) -> None:
    """Raises InvalidInput for settings that a signal may not change, or that no plan accepts."""
    operator = catalogue.get(document.node(node).operator)
    require_adjustable(operator, node, parameters)
    changed = tuple(replace(n, config={**n.config, **parameters}) if n.id == node else n for n in document.nodes)
    plans = plan_queries(runnable(replace(document, nodes=changed), catalogue), catalogue)
    if operator.spec.kind != "serial" and not any(node in plan.in_chain for plan in plans):
        raise InvalidInput(
            f"{node!r} runs in Spark's plan, whose settings are fixed while it runs",
            node=node,
            hint="deploy a new version of the pipeline instead",
        )


def new_id() -> str:
    return uuid.uuid4().hex


def _is_topic_source(document: Document, node: str) -> bool:
    return document.node(node).operator == "topic" and not document.inputs_of(node)

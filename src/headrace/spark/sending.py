"""From what somebody wants of a pipeline to the request for a signal."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from headrace.errors import InvalidInput, NotFound, did_you_mean
from headrace.graph.document import Document
from headrace.signals import SignalRequest


def signal_to(
    document: Document,
    kind: str,
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
    return SignalRequest(id or new_id(), kind, topics, document.name, node, dict(parameters or {}), handling)


def topics_of(document: Document) -> tuple[str, ...]:
    """Where signals to a pipeline have their place. Raises InvalidInput where none can reach it."""
    topics = dict.fromkeys(str(n.config["topic"]) for n in document.nodes if _is_topic_source(document, n.id))
    if not topics:
        raise InvalidInput(f"pipeline {document.name!r} reads no topic, and signals have their place in topics")
    return tuple(topics)


def new_id() -> str:
    return uuid.uuid4().hex


def _is_topic_source(document: Document, node: str) -> bool:
    return document.node(node).operator == "topic" and not document.inputs_of(node)

"""Which places of a pipeline can be compared between a batch and a stream."""

from __future__ import annotations

from headrace.graph.document import Document
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue


def ancestors(document: Document, node_id: str) -> set[str]:
    """The node and all before it."""
    found, waiting = {node_id}, [node_id]
    while waiting:
        new = {edge.source for edge in document.inputs_of(waiting.pop())} - found
        found |= new
        waiting += new
    return found


def stream_hindrance(validated: Validated, catalogue: Catalogue, node_id: str) -> str | None:
    """Why a stream up to this node cannot be compared with a batch; None if it can."""
    document = validated.document
    above = ancestors(document, node_id)
    if any(document.node(one).config.get("emit") == "changes" for one in above):
        return "EMIT CHANGES says more in a stream than in a batch"
    if needs_end(validated, catalogue, node_id) and _is_reached_directly(document, catalogue, node_id):
        return "some rows come through a window or a join, and some around it"
    if _filters_before_state(document, catalogue, above):
        return "a filter stands before a window, and Spark lets it rule the end of the input out"
    return None


def needs_end(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether rows wait for the watermark: only an end of the input brings the last ones."""
    document = validated.document
    return any(_keeps_state(document, catalogue, one) for one in ancestors(document, node_id))


def is_serial(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether a serial operator stands somewhere above."""
    document = validated.document
    kinds = (catalogue.get(document.node(one).operator).spec.kind for one in ancestors(document, node_id))
    return "serial" in kinds


def _filters_before_state(document: Document, catalogue: Catalogue, above: set[str]) -> bool:
    """Spark moves such filters before the watermark, which then never sees the row that ends the input."""
    stateful = [one for one in above if _keeps_state(document, catalogue, one)]
    return any(document.node(before).operator == "filter" for one in stateful for before in ancestors(document, one))


def _keeps_state(document: Document, catalogue: Catalogue, node_id: str) -> bool:
    spec = catalogue.get(document.node(node_id).operator).spec
    return spec.stateful and spec.kind == "relational"


def _is_reached_directly(document: Document, catalogue: Catalogue, node_id: str) -> bool:
    """Whether a source leads to the node without any state between."""
    if _keeps_state(document, catalogue, node_id):
        return False
    inputs = document.inputs_of(node_id)
    return not inputs or any(_is_reached_directly(document, catalogue, edge.source) for edge in inputs)

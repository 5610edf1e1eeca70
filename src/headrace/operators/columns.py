"""Which columns of its sources a pipeline uses, so that nothing else is decoded."""

from __future__ import annotations

from headrace.graph.document import Document
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated, validate
from headrace.operators.catalogue import Catalogue


def used_columns(document: Document, catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """Source node id → names of the columns needed, system columns included where they are named.

    Raises InvalidGraph for a document that cannot run.
    """
    return used_columns_of(validate(document, catalogue), catalogue)


def used_columns_of(validated: Validated, catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """The same for a document already validated."""
    needed = needed_columns(validated, catalogue)
    sources = [node_id for node_id in validated.order if _is_source(validated, node_id, catalogue)]
    return {node_id: _with_event_time(needed[node_id], validated.schemas[node_id]) for node_id in sources}


def needed_columns(validated: Validated, catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """Node id → names of the columns that those behind it read. One pass from the sinks back to the sources."""
    needed: dict[str, frozenset[str]] = {node_id: frozenset() for node_id in validated.order}
    for node_id in reversed(validated.order):
        operator = catalogue.get(validated.document.node(node_id).operator)
        edges = validated.document.inputs_of(node_id)
        inputs = {edge.target_port: validated.schemas[edge.source] for edge in edges}
        read = operator.used_columns(validated.configs[node_id], needed[node_id], inputs)
        for edge in edges:
            needed[edge.source] |= _as_declared(read[edge.target_port], inputs[edge.target_port])
    return needed


def _is_source(validated: Validated, node_id: str, catalogue: Catalogue) -> bool:
    return catalogue.get(validated.document.node(node_id).operator).spec.kind == "source"


def _as_declared(names: frozenset[str], schema: Schema) -> frozenset[str]:
    """Expressions may spell a column in any case; names that an operator made itself are dropped."""
    found = (schema.find(name) for name in names)
    return frozenset(column.name for column in found if column is not None)


def _with_event_time(names: frozenset[str], schema: Schema) -> frozenset[str]:
    return names if schema.event_time is None else names | {schema.event_time}

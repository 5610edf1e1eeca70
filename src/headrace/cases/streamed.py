"""Which places of a pipeline can be compared between a batch and a stream."""

from __future__ import annotations

from headrace.graph.document import Document
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue
from headrace.operators.window_columns import END, START
from headrace.spark.planning.chain_choice import nodes_in_chain


def ancestors(document: Document, node_id: str) -> set[str]:
    """The node and all before it."""
    return {node.id for node in document.leading_to([node_id]).nodes}


def stream_hindrance(validated: Validated, catalogue: Catalogue, node_id: str) -> str | None:
    """Why a stream up to this node cannot be compared with a batch; None if it can."""
    if tells_changes(validated, node_id) and not latest_by(validated, catalogue, node_id):
        return "EMIT CHANGES says more in a stream than in a batch, and no columns tell which rows are the last"
    if needs_end(validated, catalogue, node_id) and _is_reached_directly(validated, catalogue, node_id):
        return "some rows come through a window or a join, and some around it"
    return None


def tells_changes(validated: Validated, node_id: str) -> bool:
    """Whether later rows take the place of earlier ones."""
    return bool(_changing(validated, node_id))


def latest_by(validated: Validated, catalogue: Catalogue, node_id: str) -> tuple[str, ...]:
    """The columns of which, in a stream with changes, the last row is what a batch gives; none if they are not there.

    They belong to the last node that tells changes: its keys, with its window's bounds, or with the rank of its rows;
    by the names that they have at the node that is asked about.
    """
    *_, last = _changing(validated, node_id)
    config, schema = validated.configs[last], validated.schemas[last]
    bounds = [name for name in (START, END) if schema.find(name)]
    ranks = [getattr(config, "rank", None) or ""] if getattr(config, "n", 1) > 1 else []
    called = {old: new for new, old in _names_since(last, validated, catalogue, node_id).items()}
    names = tuple(called.get(name, "") for name in (*bounds, *config.keys, *ranks))
    return names if all(names) else ()


def _names_since(last: str, validated: Validated, catalogue: Catalogue, node_id: str) -> dict[str, str]:
    """Columns of a node, and what the node `last` above it calls them."""
    own = validated.schemas[node_id].names
    if node_id == last:
        return {name: name for name in own}
    edges = validated.document.inputs_of(node_id)
    above = {edge.target_port: edge.source for edge in edges if last in ancestors(validated.document, edge.source)}
    schemas = {edge.target_port: validated.schemas[edge.source] for edge in edges}
    kept = catalogue.get(validated.document.node(node_id).operator).kept_columns(validated.configs[node_id], schemas)
    called: dict[str, str] = {}
    for port, source in above.items():
        names = _names_since(last, validated, catalogue, source)
        # An operator that says nothing of its columns gives them on by their names.
        since = kept.get(port) or {name: name for name in own}
        called |= {new: names[old] for new, old in since.items() if old in names}
    return called


def _changing(validated: Validated, node_id: str) -> list[str]:
    """In the order in which rows go through them."""
    above = ancestors(validated.document, node_id)
    found = [one for one in validated.order if one in above]
    return [one for one in found if getattr(validated.configs[one], "emit", None) == "changes"]


def needs_end(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether rows wait for the watermark: only an end of the input brings the last ones."""
    return any(_waits(validated, catalogue, one) for one in ancestors(validated.document, node_id))


def is_serial(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether what has state above runs in a chain: serial operators, or nodes that do better in one."""
    stateful = _stateful(validated, catalogue, node_id)
    if any(catalogue.get(validated.document.node(one).operator).spec.kind == "serial" for one in stateful):
        return True
    return bool(stateful) and all(one in chain_above(validated, catalogue, node_id) for one in stateful)


def chain_above(validated: Validated, catalogue: Catalogue, node_id: str) -> tuple[str, ...]:
    """The nodes up to this one that run in a chain together, as in a job; none where it runs in Spark's plan."""
    above = ancestors(validated.document, node_id)
    nodes = [validated.document.node(one) for one in validated.order if one in above]
    inside = nodes_in_chain(nodes, validated, catalogue)
    if node_id not in inside or any(catalogue.get(node.operator).spec.kind == "serial" for node in nodes):
        return ()
    unions = {node.id for node in nodes if node.operator == "union" and _is_led_to(node.id, inside, validated)}
    return tuple(node.id for node in nodes if node.id in inside | unions)


def _is_led_to(node_id: str, others: frozenset[str], validated: Validated) -> bool:
    feeding = {edge.source for edge in validated.document.inputs_of(node_id)}
    return bool(feeding & others) or any(_is_led_to(one, others, validated) for one in feeding)


def _stateful(validated: Validated, catalogue: Catalogue, node_id: str) -> list[str]:
    """The nodes with state or in Python among this one and all before it."""
    specs = {
        one: catalogue.get(validated.document.node(one).operator).spec for one in ancestors(validated.document, node_id)
    }
    return [one for one, spec in specs.items() if spec.stateful or spec.kind == "serial"]


def _waits(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether a node holds rows back until the watermark has passed them."""
    spec = catalogue.get(validated.document.node(node_id).operator).spec
    is_changing = getattr(validated.configs[node_id], "emit", None) == "changes"
    return spec.stateful and spec.kind == "relational" and not is_changing


def _is_reached_directly(validated: Validated, catalogue: Catalogue, node_id: str) -> bool:
    """Whether a source leads to the node without any state between."""
    if _waits(validated, catalogue, node_id):
        return False
    inputs = validated.document.inputs_of(node_id)
    return not inputs or any(_is_reached_directly(validated, catalogue, edge.source) for edge in inputs)

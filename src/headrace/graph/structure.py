"""Whether a document is a graph at all: ids, edges, ports and cycles. Looks at no settings and no columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from headrace.errors import InvalidInput, Problem, did_you_mean
from headrace.graph.catalogue import OperatorCatalogue, OperatorEntry, PortEntry
from headrace.graph.document import Document, Edge

NODE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def known_operators(document: Document, catalogue: OperatorCatalogue) -> dict[str, OperatorEntry]:
    """Node id → operator, for the nodes whose operator is in the catalogue."""
    return {node.id: catalogue.get(node.operator) for node in document.nodes if node.operator in catalogue.names}


def structure_problems(document: Document, catalogue: OperatorCatalogue) -> Iterator[Problem]:
    """Every reason why the document is no runnable graph, in a stable order."""
    operators = known_operators(document, catalogue)
    yield from _operator_problems(document, catalogue)
    yield from _id_problems(document)
    yield from _edge_problems(document, operators)
    yield from _port_problems(document, operators)
    yield from _end_problems(operators)
    yield from (_cycle_problem(cycle) for cycle in cycles(document))


def topological_order(document: Document) -> tuple[str, ...]:
    """Sources first, and the same in every process. Raises graphlib.CycleError where there is none."""
    # Sets of texts have another order in every process.
    return tuple(TopologicalSorter({node: sorted(ids) for node, ids in _predecessors(document).items()}).static_order())


def cycles(document: Document) -> Iterator[tuple[str, ...]]:
    """Cycles as the ids on them, first and last the same; after each, one of its edges counts as cut."""
    predecessors = _predecessors(document)
    while True:
        try:
            TopologicalSorter(predecessors).prepare()
            return
        except CycleError as error:
            cycle: list[str] = error.args[1]
            yield tuple(cycle)
            predecessors[cycle[1]].discard(cycle[0])


def _predecessors(document: Document) -> dict[str, set[str]]:
    ids = {node.id for node in document.nodes}
    predecessors: dict[str, set[str]] = {node_id: set() for node_id in sorted(ids)}
    for edge in document.edges:
        if edge.source in ids and edge.target in ids:
            predecessors[edge.target].add(edge.source)
    return predecessors


def _operator_problems(document: Document, catalogue: OperatorCatalogue) -> Iterator[Problem]:
    for node in document.nodes:
        try:
            catalogue.get(node.operator)
        except InvalidInput as error:
            hint = "; ".join(filter(None, (error.hint, f"valid: {', '.join(error.valid)}")))
            yield Problem("unknown_operator", error.message, node.id, hint)


def _id_problems(document: Document) -> Iterator[Problem]:
    for node_id, count in Counter(node.id for node in document.nodes).items():
        if not NODE_ID.fullmatch(node_id):
            hint = "a letter or '_', then letters, digits, '_' and '-', at most 63 in all"
            yield Problem("bad_id", f"{node_id!r} is no node id", node_id, hint)
        if count > 1:
            yield Problem("duplicate_id", f"{count} nodes have the id {node_id!r}", node_id, "rename all but one")


def _edge_problems(document: Document, operators: Mapping[str, OperatorEntry]) -> Iterator[Problem]:
    ids = [node.id for node in document.nodes]
    for edge in document.edges:
        for end in (edge.source, edge.target):
            if end not in ids:
                message = f"the edge {edge.source} → {edge.target} names the node {end!r}, which does not exist"
                yield Problem("unknown_node", message, end, did_you_mean(end, ids))
        if edge.source in operators:
            yield from _output_problems(edge, operators[edge.source])
        if edge.target in operators:
            yield from _input_problems(edge, operators[edge.target])


def _output_problems(edge: Edge, operator: OperatorEntry) -> Iterator[Problem]:
    if operator.spec.kind == "sink":
        message = f"{operator.spec.name} is a sink: nothing can follow it, and {edge.target!r} does"
        hint = f"connect {edge.target!r} to the node before it"
        yield Problem("sink_output", message, edge.source, hint)
    else:
        yield from _unknown_port(edge.source, "output", edge.source_port, operator.spec.outputs)


def _input_problems(edge: Edge, operator: OperatorEntry) -> Iterator[Problem]:
    if operator.spec.kind == "source":
        message = f"{operator.spec.name} is a source: nothing can come before it, and {edge.source!r} does"
        yield Problem("source_input", message, edge.target)
    else:
        yield from _unknown_port(edge.target, "input", edge.target_port, operator.spec.inputs)


def _unknown_port(node_id: str, direction: str, port: str, ports: Sequence[PortEntry]) -> Iterator[Problem]:
    names = [known.name for known in ports]
    if port not in names:
        yield Problem("unknown_port", f"no {direction} port {port!r}", node_id, f"valid: {', '.join(names)}")


def _port_problems(document: Document, operators: Mapping[str, OperatorEntry]) -> Iterator[Problem]:
    into = Counter((edge.target, edge.target_port) for edge in document.edges)
    out_of = {(edge.source, edge.source_port) for edge in document.edges}
    for (node_id, port), count in into.items():
        if count > 1 and node_id in operators:
            yield Problem("port_taken", f"{count} edges lead into the input port {port!r}, which takes one", node_id)
    for node_id, operator in operators.items():
        for port_entry in operator.spec.inputs:
            if port_entry.required and not into[node_id, port_entry.name]:
                message = f"the input port {port_entry.name!r} is not connected"
                yield Problem("unconnected_port", message, node_id, "lead an edge into it, or remove the node")
        for port_entry in operator.spec.outputs:
            if port_entry.required and (node_id, port_entry.name) not in out_of:
                message = f"the output port {port_entry.name!r} is not connected: nobody reads its rows"
                yield Problem("unconnected_port", message, node_id, "add a sink such as preview, or remove the node")


def _end_problems(operators: Mapping[str, OperatorEntry]) -> Iterator[Problem]:
    kinds = {operator.spec.kind for operator in operators.values()}
    for kind, examples in (("source", "topic, generator or file"), ("sink", "to-topic, to-file or preview")):
        if kind not in kinds:
            yield Problem(f"no_{kind}", f"the pipeline has no {kind}", hint=f"add one, such as {examples}")


def _cycle_problem(cycle: tuple[str, ...]) -> Problem:
    return Problem(
        "cycle", f"rows would go round in a circle: {' → '.join(cycle)}", cycle[0], "remove one of the edges"
    )

"""Whether a document can run: everything that can be told without Spark, all problems at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from headrace.errors import InvalidGraph, InvalidInput, InvalidSyntax, Problem
from headrace.graph.catalogue import OperatorCatalogue, OperatorEntry
from headrace.graph.document import Document, Node
from headrace.graph.schema import Schema
from headrace.graph.structure import cycles, known_operators, structure_problems, topological_order


@dataclass(frozen=True, slots=True)
class Validated:
    """A document that can run. `order` has sources first; configs and schemas are by node id.

    Where nodes were put in for rows that expressions fail for, `aside` has them, each with the node that it is for, and
    `written` is the document without them.
    """

    document: Document
    order: tuple[str, ...]
    configs: Mapping[str, Any]
    schemas: Mapping[str, Schema]
    aside: Mapping[str, str] = field(default_factory=dict)
    written: Document | None = None

    @property
    def as_written(self) -> Document:
        return self.written or self.document


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be told of a document that may have faults: all of them, and the schemas of the nodes before them."""

    problems: tuple[Problem, ...]
    order: tuple[str, ...]
    configs: Mapping[str, Any]
    schemas: Mapping[str, Schema]


def validate(document: Document, catalogue: OperatorCatalogue) -> Validated:
    """Raises InvalidGraph with every problem found, each with its code, node, reason and hint."""
    found = inspect(document, catalogue)
    if found.problems:
        raise InvalidGraph(found.problems)
    return Validated(document, found.order, found.configs, found.schemas)


def inspect(document: Document, catalogue: OperatorCatalogue) -> Inspection:
    """Never raises for a faulty document. In one with a circle no order, and so no schema, can be told."""
    problems = list(structure_problems(document, catalogue))
    operators = known_operators(document, catalogue)
    configs = _configs(document, operators, problems)
    order = () if any(cycles(document)) else topological_order(document)
    schemas = _schemas(document, order, operators, configs, problems)
    return Inspection(tuple(problems), order, MappingProxyType(configs), MappingProxyType(schemas))


def canonical(document: Document, catalogue: OperatorCatalogue) -> Document:
    """The same pipeline with each setting in its one spelling and defaults left out; wrong settings stay as they are.

    Two notations of one pipeline have one canonical document, and so one content hash.
    """
    return document.with_nodes(_canonical(node, catalogue) for node in document.nodes)


def _canonical(node: Node, catalogue: OperatorCatalogue) -> Node:
    try:
        operator = catalogue.get(node.operator)
        return replace(node, config=operator.canonical_config(operator.configure(node.config)))
    except InvalidInput:
        return node


def _configs(document: Document, operators: Mapping[str, OperatorEntry], problems: list[Problem]) -> dict[str, Any]:
    """Typed configs of the nodes whose settings are right; complaints about the others are added to `problems`."""
    configs: dict[str, Any] = {}
    for node in document.nodes:
        try:
            if node.id in operators:
                configs[node.id] = operators[node.id].configure(node.config)
        except InvalidGraph as error:
            problems += [replace(problem, node=node.id) for problem in error.problems]
    return configs


def _schemas(
    document: Document,
    order: tuple[str, ...],
    operators: Mapping[str, OperatorEntry],
    configs: Mapping[str, Any],
    problems: list[Problem],
) -> dict[str, Schema]:
    """Schemas by node id; a node after a faulty one is passed over, its own faults can only be told later."""
    schemas: dict[str, Schema] = {}
    for node_id in order:
        edges = document.inputs_of(node_id)
        inputs = {edge.target_port: schemas[edge.source] for edge in edges if edge.source in schemas}
        if node_id not in configs or len(inputs) < len(edges) or not _is_fed(operators[node_id], inputs):
            continue
        try:
            schemas[node_id] = operators[node_id].output_schema(configs[node_id], inputs)
        except InvalidInput as error:
            problems.append(_schema_problem(node_id, error))
    return schemas


def _is_fed(operator: OperatorEntry, inputs: Mapping[str, Schema]) -> bool:
    known = {port.name for port in operator.spec.inputs}
    required = {port.name for port in operator.spec.inputs if port.required}
    return required <= inputs.keys() <= known


def _schema_problem(node_id: str, error: InvalidInput) -> Problem:
    code = "bad_expression" if isinstance(error, InvalidSyntax) else "type_mismatch"
    message = error.message
    if error.place is not None:
        message += f" (line {error.place.line}, column {error.place.column})\n{error.place.marked()}\n"
    valid = f"valid: {', '.join(error.valid)}" if error.valid else None
    return Problem(code, message, node_id, "; ".join(filter(None, (error.hint, valid))) or None)

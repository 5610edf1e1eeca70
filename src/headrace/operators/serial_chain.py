"""From nodes of a document to a chain that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from headrace.errors import InvalidInput
from headrace.graph.document import Config, Edge, Node
from headrace.graph.schema import Schema
from headrace.operators.catalogue import Catalogue
from headrace.operators.serial_operator import SerialOperator
from headrace.operators.spec import Operator, OperatorConfig
from headrace.serial import FAIL, Chain, Link, OnError, Partitioning, Step


@dataclass(frozen=True, slots=True)
class ChainInput:
    """Rows that come into a chain: from this node, with these columns."""

    source: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """Nodes of one chain, each after those that feed it, and the last one the only one whose rows leave it. `edges` are
    those between them and those from the inputs. Plain data: it can be sent."""

    nodes: tuple[Node, ...]
    inputs: tuple[ChainInput, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def line(cls, nodes: Sequence[Node], schema: Schema) -> ChainPlan:
        """One input, and each node leads to the next."""
        way = ["", *(node.id for node in nodes)]
        return cls(tuple(nodes), (ChainInput("", schema),), tuple(Edge(*pair) for pair in pairwise(way)))

    @property
    def schema(self) -> Schema:
        """The columns of the first input."""
        return self.inputs[0].schema

    def reading(self, schemas: Sequence[Schema]) -> ChainPlan:
        """The same chain where only these columns of the inputs are read."""
        read = zip(self.inputs, schemas, strict=True)
        return replace(self, inputs=tuple(replace(one, schema=schema) for one, schema in read))

    def chain(self, catalogue: Catalogue) -> Chain:
        """Operators made anew: for one micro-batch of one lane. Raises InvalidInput as validation does."""
        schemas = self._schemas(catalogue)
        steps = [self._step(node, schemas, catalogue) for node in self.nodes]
        own = {node.id for node in self.nodes}
        links = [Link(e.source, e.target, e.source_port, e.target_port) for e in self.edges if e.source in own]
        entries = [[(e.target, e.target_port) for e in self.edges if e.source == one.source] for one in self.inputs]
        return Chain(steps, links, entries=entries)

    def adjusted(self, settings: Mapping[str, Config]) -> ChainPlan:
        """The same nodes, some with other values of their settings."""
        if not settings:
            return self
        nodes = (replace(node, config={**node.config, **settings.get(node.id, {})}) for node in self.nodes)
        return replace(self, nodes=tuple(nodes))

    def check_adjustment(self, node: str, settings: Config, catalogue: Catalogue) -> None:
        """Whether these values may be set while the chain runs. Raises InvalidInput that says why not."""
        found = next((step for step in self.nodes if step.id == node), None)
        if found is None:
            raise InvalidInput(f"no serial operator {node!r} runs here", valid=[step.id for step in self.nodes])
        operator = catalogue.get(found.operator)
        fixed = sorted(set(settings) - set(operator.adjustable))
        if fixed:
            raise InvalidInput(
                f"{', '.join(fixed)} of {found.operator} cannot change while it runs", node=node,
                valid=operator.adjustable,
            )  # fmt: skip
        changed = self.adjusted({node: settings})
        same_lanes = changed.partitioning(catalogue) == self.partitioning(catalogue)
        if not same_lanes or changed.output_schema(catalogue) != self.output_schema(catalogue):
            raise InvalidInput("the columns or keys would change with it", node=node)

    def output_schema(self, catalogue: Catalogue) -> Schema:
        return self._schemas(catalogue)[self.nodes[-1].id]

    def partitioning(self, catalogue: Catalogue) -> Partitioning | None:
        """How rows are brought to lanes before the chain; None where they stay where they are.

        Raises InvalidInput where nodes want it in different ways, or by columns that are only made in the chain.
        """
        wanted = self._wanted_lanes(catalogue)
        if len(wanted) > 1:
            raise InvalidInput(
                "neighbouring serial nodes have different keys", node=list(wanted.values())[1].id,
                hint="use the same keys, or write to a topic between them",
            )  # fmt: skip
        return next(iter(wanted), None)

    def input_lanes(self, number: int, catalogue: Catalogue) -> Partitioning | None:
        """The same for the rows of one input, whose keys may have names of their own."""
        for wanted, node in self._wanted_lanes(catalogue).items():
            ports = [e.target_port for e in self.edges if (e.source, e.target) == (self.inputs[number].source, node.id)]
            return wanted.at_port(ports[0]) if ports else wanted
        return None

    def _wanted_lanes(self, catalogue: Catalogue) -> dict[Partitioning, Node]:
        """What nodes want, each with the first that does. Raises InvalidInput for what rows cannot be brought by."""
        schemas = self._schemas(catalogue)
        wanted: dict[Partitioning, Node] = {}
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            found = operator.lanes(operator.configure(node.config), self._into(node, schemas))
            if found is not None and found not in wanted:
                self._require_kept(node, found, catalogue)
                wanted[found] = node
        return wanted

    def _require_kept(self, node: Node, wanted: Partitioning, catalogue: Catalogue) -> None:
        """Rows come to lanes by what they are before the chain: that must still be so when they reach the node."""
        hint = "write the rows to a topic between them"
        for before in self._before(node):
            operator = catalogue.get(before.operator)
            if isinstance(operator, SerialOperator) and not operator.keeps_columns and str(wanted) != "no key":
                raise InvalidInput(
                    f"{before.operator} may change what lanes are by ({wanted})", node=node.id, hint=hint
                )
        for key in () if wanted.by_port else wanted.keys:
            if any(one.schema.find(key) is None for one in self.inputs):
                raise InvalidInput(f"the key {key!r} is only made in the chain", node=node.id, hint=hint)

    def _before(self, node: Node) -> list[Node]:
        """The nodes of the chain that feed one, directly or not."""
        feeding = {edge.source for edge in self.edges if edge.target == node.id}
        direct = [one for one in self.nodes if one.id in feeding]
        return [*direct, *(further for one in direct for further in self._before(one))]

    def is_stateful(self, catalogue: Catalogue) -> bool:
        return any(catalogue.get(node.operator).spec.stateful for node in self.nodes)

    def needs_order(self, catalogue: Catalogue) -> bool:
        """Whether state depends on the order in which rows of a micro-batch come."""
        operators = [catalogue.get(node.operator) for node in self.nodes]
        return any(o.spec.stateful and not getattr(o, "takes_any_order", False) for o in operators)

    def _schemas(self, catalogue: Catalogue) -> dict[str, Schema]:
        """The columns that leave each node and each input."""
        found = {one.source: one.schema for one in self.inputs}
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            found[node.id] = operator.output_schema(operator.configure(node.config), self._into(node, found))
        return found

    def _into(self, node: Node, schemas: Mapping[str, Schema]) -> dict[str, Schema]:
        return {edge.target_port: schemas[edge.source] for edge in self.edges if edge.target == node.id}

    def _step(self, node: Node, schemas: Mapping[str, Schema], catalogue: Catalogue) -> Step:
        operator = catalogue.get(node.operator)
        config = operator.configure(node.config)
        instance = operator.chain_instance(config, self._into(node, schemas))
        if instance is None:
            raise InvalidInput(f"{node.operator} is no serial operator", node=node.id)
        return Step(node.id, instance, _on_error(operator, config))


def _on_error(operator: Operator[Any], config: OperatorConfig) -> OnError:
    return operator.on_error(config) if isinstance(operator, SerialOperator) else FAIL

"""From nodes of a document to a chain that runs."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.operators.catalogue import Catalogue
from headrace.operators.serial_operator import SerialOperator
from headrace.serial import Chain, Step


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """Serial nodes, each leading to the next, and the columns that come into the first. Plain data: it can be sent."""

    nodes: tuple[Node, ...]
    schema: Schema

    def chain(self, catalogue: Catalogue) -> Chain:
        """Operators made anew: for one micro-batch of one lane. Raises InvalidInput as validation does."""
        steps: list[Step] = []
        schema = self.schema
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            if not isinstance(operator, SerialOperator):
                raise InvalidInput(f"{node.operator} is no serial operator", node=node.id)
            config = operator.configure(node.config)
            steps.append(Step(node.id, operator.instance(config, schema), operator.on_error(config)))
            schema = operator.output_schema(config, {"in": schema})
        return Chain.line(steps)

    def output_schema(self, catalogue: Catalogue) -> Schema:
        schema = self.schema
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            schema = operator.output_schema(operator.configure(node.config), {"in": schema})
        return schema

    def keys(self, catalogue: Catalogue) -> tuple[str, ...] | None:
        """Columns to bring rows together by, before the chain. Raises InvalidInput where nodes want different ones."""
        wanted: dict[tuple[str, ...], str] = {}
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            if (
                isinstance(operator, SerialOperator)
                and (keys := operator.keys(operator.configure(node.config))) is not None
            ):
                wanted.setdefault(keys, node.id)
        if len(wanted) > 1:
            raise InvalidInput(
                "neighbouring serial nodes have different keys", node=list(wanted.values())[1],
                hint="use the same keys, or write to a topic between them",
            )  # fmt: skip
        return next(iter(wanted), None)

"""From nodes of a document to a chain that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headrace.errors import InvalidInput
from headrace.graph.document import Config, Node
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
        if changed.output_schema(catalogue) != self.output_schema(catalogue) or changed.keys(catalogue) != self.keys(
            catalogue
        ):
            raise InvalidInput("the columns or keys would change with it", node=node)

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

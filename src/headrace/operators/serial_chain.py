"""From nodes of a document to a chain that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from headrace.errors import InvalidInput
from headrace.graph.document import Config, Edge, Node
from headrace.graph.schema import Schema
from headrace.operators.catalogue import Catalogue
from headrace.operators.chain_stages import Layout, Stage
from headrace.operators.serial_operator import SerialOperator
from headrace.operators.spec import Operator, OperatorConfig
from headrace.serial import FAIL, Chain, Link, OnError, Partitioning, Step
from headrace.serial.chain import Tap
from headrace.serial.table_rows import TableRows


@dataclass(frozen=True, slots=True)
class ChainInput:
    """Rows that come into a chain: from this node, with these columns."""

    source: str
    schema: Schema
    inlets: tuple[tuple[str, str], ...] = ()
    """The nodes and ports that they are for; none: all that the node leads to."""
    lag_us: int | None = None
    """Of rows that come from an earlier stage: how much earlier than its watermark they may be."""

    @property
    def event_time(self) -> str | None:
        """The column that tells how far event time is, of rows that come from a source."""
        return self.schema.event_time if self.lag_us is None else None

    def leads_to(self, edge: Edge) -> bool:
        return not self.inlets or (edge.target, edge.target_port) in self.inlets


@dataclass(frozen=True, slots=True)
class ChainTable:
    """What a node looks up at one of its ports: rows that leave `source`, which only tables feed, with these
    columns."""

    node: str
    port: str
    source: str
    schema: Schema


# The rows of tables, by the node that looks them up and its port.
Lookups: TypeAlias = "Mapping[tuple[str, str], Callable[[], TableRows]]"


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """Nodes of one chain, each after those that feed it, and the last one the only one whose rows leave it. `edges` are
    those between them and those from the inputs; `tables` lead nowhere, they are asked. Plain data: it can be sent."""

    nodes: tuple[Node, ...]
    inputs: tuple[ChainInput, ...]
    edges: tuple[Edge, ...]
    tables: tuple[ChainTable, ...] = ()

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

    def chain(
        self,
        catalogue: Catalogue,
        taps: Mapping[str, Tap] | None = None,
        lookups: Lookups | None = None,
        *,
        schemas: Mapping[str, Schema] | None = None,
    ) -> Chain:
        """Operators made anew: for one micro-batch of one lane. `schemas`, where somebody has asked for them before,
        need not be told again. Raises InvalidInput as validation does."""
        made = self.steps(catalogue, schemas)
        steps = [replace(step, tables=_tables_of(step.node, lookups or {})) for step in made]
        own = {node.id for node in self.nodes}
        links = [Link(e.source, e.target, e.source_port, e.target_port) for e in self.edges if e.source in own]
        entries = [
            [(edge.target, edge.target_port) for edge in self.input_edges(number)] for number in range(len(self.inputs))
        ]
        return Chain(steps, links, entries=entries, taps=taps)

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
        require_adjustable(catalogue.get(found.operator), node, settings)
        changed = self.adjusted({node: settings})
        changed.steps(catalogue)
        same_lanes = changed.stages(catalogue) == self.stages(catalogue)
        if not same_lanes or changed.output_schema(catalogue) != self.output_schema(catalogue):
            raise InvalidInput("the columns or keys would change with it", node=node)

    def output_schema(self, catalogue: Catalogue) -> Schema:
        return self.schemas(catalogue)[self.nodes[-1].id]

    def stages(self, catalogue: Catalogue) -> tuple[Stage, ...]:
        """Nodes by the lanes that their rows are brought to, each stage behind those that feed it.

        Raises InvalidInput where rows stay where they are first, and must be brought together later.
        """
        schemas = self.schemas(catalogue)
        by_id = {node.id: node for node in self.nodes}
        wanted = {node.id: self._wanted_lanes(node, schemas, catalogue) for node in self.nodes}

        def kept(node: Node) -> Mapping[str, Mapping[str, str]]:
            operator = catalogue.get(node.operator)
            return operator.kept_columns(operator.configure(node.config), self._into(node, schemas))

        stages = Layout(self.nodes, self.edges, wanted, kept).stages()
        if len(stages) > 1 and any(stage.partitioning is None for stage in stages):
            first = by_id[stages[1].nodes[0]]
            raise InvalidInput(
                f"{first.operator} wants rows by {stages[1].partitioning}, and they come from others that leave them "
                "where they are",
                node=first.id,
                hint="write the rows to a topic between them",
            )
        return stages

    def partitioning(self, catalogue: Catalogue) -> Partitioning | None:
        """How rows are brought to lanes before the chain; None where they stay where they are. Raises InvalidInput."""
        return self.stages(catalogue)[0].partitioning

    def input_lanes(self, number: int, catalogue: Catalogue) -> Partitioning | None:
        """The same for the rows of one input, whose keys may have names of their own."""
        edge = self.input_edges(number)[0]
        stage = next(stage for stage in self.stages(catalogue) if edge.target in stage.nodes)
        return stage.lanes_at(edge)

    def input_edges(self, number: int) -> list[Edge]:
        """Where the rows of an input go."""
        one = self.inputs[number]
        return [edge for edge in self.edges if edge.source == one.source and one.leads_to(edge)]

    def _wanted_lanes(self, node: Node, schemas: Mapping[str, Schema], catalogue: Catalogue) -> Partitioning | None:
        """What a node wants, with its keys as the columns are called."""
        operator, inputs = catalogue.get(node.operator), self._into(node, schemas)
        found = operator.lanes(operator.configure(node.config), inputs)
        if found is None or found.by_port or found.strategy != "by_key":
            return found
        first = next(iter(inputs.values()))
        return replace(found, keys=tuple(first.require(key).name for key in found.keys))

    def is_stateful(self, catalogue: Catalogue) -> bool:
        return any(catalogue.get(node.operator).spec.stateful for node in self.nodes)

    def is_called(self, catalogue: Catalogue) -> bool:
        """Whether nodes want to be called without rows, too: for their timers, or for signals."""
        return self.is_stateful(catalogue) or any(catalogue.get(n.operator).spec.kind == "serial" for n in self.nodes)

    def needs_order(self, catalogue: Catalogue) -> bool:
        """Whether state depends on the order in which rows of a micro-batch come."""
        operators = [catalogue.get(node.operator) for node in self.nodes]
        return any(o.spec.stateful and not getattr(o, "takes_any_order", False) for o in operators)

    def schemas(self, catalogue: Catalogue) -> dict[str, Schema]:
        """The columns that leave each node and each input."""
        found = {one.source: one.schema for one in self.inputs}
        for node in self.nodes:
            operator = catalogue.get(node.operator)
            found[node.id] = operator.output_schema(operator.configure(node.config), self._into(node, found))
        return found

    def _into(self, node: Node, schemas: Mapping[str, Schema]) -> dict[str, Schema]:
        rows = {edge.target_port: schemas[edge.source] for edge in self.edges if edge.target == node.id}
        return rows | {table.port: table.schema for table in self.tables if table.node == node.id}

    def steps(self, catalogue: Catalogue, schemas: Mapping[str, Schema] | None = None) -> list[Step]:
        """Each with how far its event time may lag behind the watermark, by the steps before it."""
        schemas = schemas or self.schemas(catalogue)
        steps: dict[str, Step] = {}
        for node in self.nodes:
            feeding = {edge.source for edge in self.edges if edge.target == node.id}
            lags_us = [steps[name].lag_behind_us for name in feeding if name in steps]
            lags_us += [one.lag_us for one in self.inputs if one.source in feeding and one.lag_us is not None]
            made = self._step(node, schemas, catalogue)
            steps[node.id] = replace(made, lag_us=max(lags_us, default=0), is_behind=bool(lags_us))
        return list(steps.values())

    def _step(self, node: Node, schemas: Mapping[str, Schema], catalogue: Catalogue) -> Step:
        operator = catalogue.get(node.operator)
        config = operator.configure(node.config)
        instance = operator.chain_instance(config, self._into(node, schemas))
        if instance is None:
            raise InvalidInput(f"{node.operator} with these settings runs in no chain", node=node.id)
        return Step(node.id, instance, _on_error(operator, config))


def _tables_of(node: str, lookups: Lookups) -> dict[str, Callable[[], TableRows]]:
    return {port: read for (asking, port), read in lookups.items() if asking == node}


def _on_error(operator: Operator[Any], config: OperatorConfig) -> OnError:
    return operator.on_error(config) if isinstance(operator, SerialOperator) else FAIL


def require_adjustable(operator: Operator[Any], node: str, settings: Config) -> None:
    """Raises InvalidInput for settings that a signal may not change."""
    fixed = sorted(set(settings) - set(operator.adjustable))
    if fixed:
        raise InvalidInput(
            f"{', '.join(fixed)} of {operator.spec.name} cannot be changed by a signal",
            node=node,
            valid=operator.adjustable,
            hint="deploy a new version of the pipeline instead",
        )

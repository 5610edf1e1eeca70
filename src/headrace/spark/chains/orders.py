"""What the driver tells the tasks of a micro-batch about its chain, and what a commit record keeps of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from headrace.graph.document import Edge, Node
from headrace.graph.schema import Column, Schema
from headrace.operators.serial_chain import ChainInput, ChainPlan, ChainTable
from headrace.serial import Manifest, Moment, Progress, Signal, Version, manifest_from_json, manifest_to_json
from headrace.spark.chains.tables import TableReading

# The property of a Spark job under which tasks find their orders: it goes with each task, also with a late one.
ORDERS_PROPERTY = "headrace.chain"


@dataclass(frozen=True, slots=True)
class Orders:
    """One micro-batch. The chain comes from here and not from the function that Spark holds: so that another version
    of the operators can take over from one micro-batch to the next. `directory` is None for a bounded run."""

    plan: ChainPlan
    moment: Moment
    directory: str | None = None
    manifest: Manifest = field(default_factory=dict)
    plugins: str | None = None
    """The plugin folder, so that tasks find the operators that the driver found."""
    signals: tuple[Signal, ...] = ()
    tables: tuple[TableReading, ...] = ()
    """What the chain looks up, each in the version of the micro-batch."""

    def versions(self, lane: int) -> dict[str, Version]:
        return {node: lanes[lane] for node, lanes in self.manifest.items() if lane in lanes}

    def to_json(self) -> str:
        moment = self.moment
        return json.dumps(
            {
                "nodes": [node.to_dict() for node in self.plan.nodes],
                "inputs": [_fields(one) for one in self.plan.inputs],
                "edges": [edge.to_dict() for edge in self.plan.edges],
                "looked_up": [[one.node, one.port, one.source, str(one.schema)] for one in self.plan.tables],
                "moment": [moment.batch, moment.watermark_us, moment.now_us, moment.limit_s, None, moment.before_us],
                "directory": self.directory,
                "manifest": manifest_to_json(self.manifest),
                "plugins": self.plugins,
                "signals": [asdict(signal) for signal in self.signals],
                "tables": [one.to_json() for one in self.tables],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Orders:
        fields = json.loads(text)
        manifest = manifest_from_json(fields["manifest"])
        inputs = tuple(_input(*one) for one in fields["inputs"])
        edges = tuple(Edge(**edge) for edge in fields["edges"])
        looked_up = tuple(_looked_up(*one) for one in fields["looked_up"])
        plan, moment = ChainPlan(_nodes(fields["nodes"]), inputs, edges, looked_up), Moment(*fields["moment"])
        signals = tuple(Signal(**signal) for signal in fields["signals"])
        tables = tuple(TableReading.from_json(one) for one in fields["tables"])
        return cls(plan, moment, fields["directory"], manifest, fields["plugins"], signals, tables)


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """The chain's part of a commit record: which files make up its state, how far event time came, how many lanes.
    `before_us` is the watermark that the micro-batch had.

    `nodes` are the operators from the next micro-batch on, if others than the query was started with: so which ones a
    micro-batch gets is told by where it begins, also when it is run again.
    """

    manifest: Manifest = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    lane_count: int | None = None
    nodes: tuple[Node, ...] | None = None
    before_us: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "manifest": manifest_to_json(self.manifest),
            "progress": self.progress.to_json(),
            "lane_count": self.lane_count,
            "nodes": None if self.nodes is None else [node.to_dict() for node in self.nodes],
            "before_us": self.before_us,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> ChainRecord:
        if value is None:
            return cls()
        progress = Progress.from_json(value["progress"])
        nodes = None if value.get("nodes") is None else _nodes(value["nodes"])
        manifest = manifest_from_json(value["manifest"])
        return cls(manifest, progress, value["lane_count"], nodes, value.get("before_us"))


def _fields(one: ChainInput) -> list[Any]:
    """As plain data: a column may have a type that only Spark can tell, which is no type to read."""
    columns = [[column.name, column.type] for column in one.schema]
    return [one.source, columns, one.schema.event_time, one.inlets]


def _input(
    source: str, columns: Iterable[tuple[str, str]], event_time: str | None, inlets: Iterable[tuple[str, str]]
) -> ChainInput:
    schema = Schema(tuple(Column(*column) for column in columns), event_time=event_time)
    return ChainInput(source, schema, tuple((node, port) for node, port in inlets))


def _looked_up(node: str, port: str, source: str, columns: str) -> ChainTable:
    return ChainTable(node, port, source, Schema.parse(columns))


def _nodes(listed: Iterable[Mapping[str, Any]]) -> tuple[Node, ...]:
    return tuple(Node(node["id"], node["operator"], node["config"]) for node in listed)

"""Nodes and edges put together one by one, each with the part of the script that it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from headrace.graph.document import Document, Edge, Json, Node
from headrace.sql.analysis import Analysis, Origin
from headrace.sql.language.script import Script, Span

# What leaves the rows of a table a table.
_TABLE_STEPS = ("filter", "select")
# The setting of a source after which event time goes on without rows.
TIMEOUT = "idle_timeout"
# The event time of a topic that goes by the clock, and how soon windows close when no rows come.
CLOCK_COLUMN = "_processing_time"
CLOCK_TIMEOUT = "1 second"


@dataclass(frozen=True, slots=True)
class Output:
    """An output port: where rows come from."""

    node: str
    port: str = "out"


class Assembly:
    """A document under way. Without an analysis nothing but ids is checked."""

    def __init__(self, script: Script, analysis: Analysis | None) -> None:
        self._script = script
        self._analysis = analysis
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []
        self._tables: set[str] = set()

    def add(
        self, node_id: str, operator: str, config: dict[str, Json], inputs: Iterable[tuple[str, Output]], origin: Origin
    ) -> Output:
        """A new node behind others. Raises InvalidSyntax if the id is taken, or if the node cannot run there."""
        if node_id in self._nodes:
            hint = "each statement makes nodes named after it: choose another name"
            raise self._script.error(f"there are two nodes with the id {node_id!r}", origin.span, hint=hint)
        node = Node(node_id, operator, config)
        wires = list(inputs)
        self._follow_tables(node, wires, origin)
        self._nodes[node_id] = node
        self._edges += [Edge(output.node, node_id, output.port, port) for port, output in wires]
        if self._analysis is not None:
            self._analysis.check(node, [(port, output.node) for port, output in wires], origin)
        return Output(node_id)

    def set_timeout(self, node_id: str, timeout: str, span: Span) -> None:
        """Of a source that falls quiet, as a query over it wants it; an id of no node is one elsewhere.

        Raises InvalidSyntax where the source cannot have one, or has another.
        """
        node = self._nodes.get(node_id)
        if node is None:
            return
        told = node.config.get(TIMEOUT, timeout)
        if told != timeout:
            hint = "say it once, behind the watermark of the stream: IDLE AFTER"
            raise self._script.error(f"{node_id} falls quiet after {told} and after {timeout}", span, hint=hint)
        self._nodes[node_id] = replace(node, config={**node.config, TIMEOUT: timeout})
        if self._analysis is not None:
            self._analysis.check(self._nodes[node_id], [], Origin(span))

    def set_clock(self, node_id: str, span: Span) -> None:
        """The event time of a source is the time at which its rows are read, which goes on when none come.

        Raises InvalidSyntax for a source that has another event time, or is no topic.
        """
        node = self._nodes.get(node_id)
        if node is None or (node.config.get("event_time") == CLOCK_COLUMN and TIMEOUT in node.config):
            return
        if "event_time" in node.config:
            hint = "leave out its WATERMARK, or declare another stream over the same topic without one"
            message = f"{node_id} goes by its event time {node.config['event_time']!r}, and cannot go by the clock too"
            raise self._script.error(message, span, hint=hint)
        if node.operator != "topic":
            message = f"windows by the clock are over topics, and {node_id} is a {node.operator}"
            raise self._script.error(message, span, hint="write its rows to a topic, and read that")
        clock: dict[str, Json] = {"event_time": CLOCK_COLUMN, TIMEOUT: CLOCK_TIMEOUT}
        self._nodes[node_id] = replace(node, config={**node.config, **clock})
        if self._analysis is not None:
            self._check_again(self._analysis)

    def _check_again(self, analysis: Analysis) -> None:
        """All nodes so far, which stand behind what they read: a source has got another event time."""
        for node in self._nodes.values():
            wires = [(edge.target_port, edge.source) for edge in self._edges if edge.target == node.id]
            analysis.check(node, wires, analysis.origin(node.id))

    def node(self, node_id: str) -> Node:
        """A node that was added."""
        return self._nodes[node_id]

    def is_table(self, node_id: str) -> bool:
        """Whether a node's rows are those of a table, or of filters and selects behind one."""
        return node_id in self._tables

    def _follow_tables(self, node: Node, wires: list[tuple[str, Output]], origin: Origin) -> None:
        """Raises InvalidSyntax where the rows of a table would go into a stream."""
        fed_by = [output.node for _, output in wires if output.node in self._tables]
        if node.operator == "table" or (fed_by and node.operator in _TABLE_STEPS):
            self._tables.add(node.id)
        elif fed_by and self._analysis is not None and node.operator != "lookup-join":
            hint = "join it: FROM stream JOIN table ON …; a CREATE STREAM over its topic reads its changes"
            raise self._script.error("these rows are those of a table, and no stream", origin.span, hint=hint)

    def sources_of(self, node_id: str) -> set[str]:
        """The ids of the nodes without inputs that a node's rows come from."""
        feeding = [edge.source for edge in self._edges if edge.target == node_id]
        return set().union(*map(self.sources_of, feeding)) if feeding else {node_id}

    def nodes_before(self, node_id: str) -> set[str]:
        """The ids of a node and of all that its rows come through."""
        feeding = [edge.source for edge in self._edges if edge.target == node_id]
        return {node_id}.union(*map(self.nodes_before, feeding))

    def __contains__(self, node_id: str) -> bool:
        return node_id in self._nodes

    def document(self, name: str) -> Document:
        return Document(name, tuple(self._nodes.values()), tuple(self._edges))

"""Rows of a micro-batch that came too late for a node of Spark's plan, counted one by one when it is over.

Spark sums up rows before it looks at the watermark, and tells how many sums it dropped. Only then, and only for the
nodes that do so, the same records are read once more, up to the node: the log still has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from headrace.errors import NotFound
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.schema import backquoted
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.expressions import parse_expression
from headrace.spark.compiling.blame import blaming
from headrace.spark.compiling.compilation import Compilation
from headrace.spark.compiling.counts import only_rows
from headrace.spark.compiling.source_specs import Range
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.tables import TABLE
from headrace.spark.reading.positions import Position, position_in
from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import TopicLocation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Nodes behind those that are run again: they want nothing but the time.
_TIMES: Final = "recount__times"
_SINK: Final = "recount__"


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Spark's write-ahead files, word for word: its own, and that of the micro-batch before, if there was one."""

    own: str
    before: str | None

    @property
    def late_until_us(self) -> int:
        """What has closed by this time takes no more rows: Spark goes by the watermark of the micro-batch before."""
        metadata = json.loads((self.before or self.own).splitlines()[1])
        return int(metadata["batchWatermarkMs"]) * 1000

    def ranges(self, starts: Position) -> dict[str, Range]:
        """What the sources read, that began at `starts` when the query was first started; partitions that appeared
        later, at their first record."""
        begins, ends = position_in(self.before, starts), position_in(self.own, starts)
        return {
            node: Range({partition: begins.get(node, {}).get(partition, 0) for partition in end}, end)
            for node, end in ends.items()
        }


@dataclass(frozen=True, slots=True)
class Recounting:
    """Of one query. `compilation` makes the context of a batch over ranges of topics."""

    compilation: Callable[[Validated, dict[str, Range]], Compilation]
    catalogue: Catalogue
    document: Document
    starts: Position
    closing_times: Mapping[str, str]
    """The nodes whose late rows are counted here, and when all that a row of theirs counts in has closed."""

    def late_rows(self, node: str, batch: MicroBatch) -> int:
        """Runs a batch. Raises what that raises, and NotFound where records are gone."""
        with self.catalogue.active():
            return self._late_rows(node, batch)

    def _late_rows(self, node: str, batch: MicroBatch) -> int:
        (edge,) = self.document.inputs_of(node)
        validated = validate(self._rows_before(edge, self.closing_times[node]), self.catalogue)
        read = {known.id for known in validated.document.nodes}
        ranges = {name: range_ for name, range_ in batch.ranges(self.starts).items() if name in read}
        compilation = replace(self.compilation(validated, ranges), versions_in=batch.own)
        for name, range_ in ranges.items():
            _require_records(compilation.location(str(self.document.node(name).config["topic"])), range_)
        times = self._times(compilation)
        return times.where(f"{self.closing_times[node]} <= {batch.late_until_us}").count()

    def _rows_before(self, edge: Edge, closing: str) -> Document:
        """All nodes before one, and what the expression needs of the rows that they hand to it."""
        wanted = _above(edge.source, self.document)
        nodes = [known for known in self.document.nodes if known.id in wanted]
        edges = [known for known in self.document.edges if {known.source, known.target} <= wanted]
        columns: list[Json] = [backquoted(name) for name in sorted(parse_expression(closing).columns)]
        nodes += [Node(_TIMES, "select", {"columns": columns}), Node(_SINK, "preview")]
        edges += [Edge(edge.source, _TIMES, edge.source_port), Edge(_TIMES, _SINK)]
        return Document(self.document.name, tuple(nodes), tuple(edges))

    def _times(self, compilation: Compilation) -> DataFrame:
        validated, frames = compilation.validated, dict[str, "DataFrame"]()
        for name in validated.order:
            node = validated.document.node(name)
            inputs = {edge.target_port: frames[edge.source] for edge in validated.document.inputs_of(name)}
            with blaming(node):
                operator = self.catalogue.get(node.operator)
                made = operator.compile(validated.configs[name], inputs, replace(compilation, node=node))
            frames[name] = only_rows(made)
        return frames[_TIMES]


def _require_records(location: TopicLocation, wanted: Range) -> None:
    """Raises NotFound where the topic has no longer all that a micro-batch read."""
    with closing(open_topic(location)) as topic:
        bounds = topic.bounds()
    for partition, end in (wanted.end or {}).items():
        start, (first_kept, _) = wanted.start[partition], bounds[int(partition)]
        if start < min(first_kept, end):
            raise NotFound(
                f"{location.topic}-{partition}: offsets {start} to {first_kept - 1} are no longer in the log"
            )


def closing_times(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> dict[str, str]:
    """The nodes of Spark's plan whose late rows can be counted only once more, and when what a row counts in closes.

    Rows that come of other stateful nodes are never late: the watermark waits for them. Only topics can be read again.
    """
    found: dict[str, str] = {}
    for node in (node for node in plan.chain if node.id not in plan.in_chain and len(plan.inputs_of(node)) == 1):
        (edge,) = plan.inputs_of(node)
        config, schema = validated.configs[node.id], validated.schemas[edge.source]
        closing = catalogue.get(node.operator).closing_time(config, schema)
        if closing is not None and _comes_of_topics(edge.source, validated, catalogue):
            found[node.id] = closing
    return found


def _comes_of_topics(node: str, validated: Validated, catalogue: Catalogue) -> bool:
    document = validated.document
    for known in (document.node(name) for name in _above(node, document)):
        spec = catalogue.get(known.operator).spec
        if spec.stateful or (not document.inputs_of(known.id) and known.operator not in ("topic", TABLE)):
            return False
    return True


def _above(node: str, document: Document) -> set[str]:
    """The node, and all that its rows come through."""
    found, waiting = set[str](), [node]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += [edge.source for edge in document.inputs_of(current)]
    return found

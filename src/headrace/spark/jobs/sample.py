"""Rows at any place of a pipeline, made as a small batch: the part of the graph above it over the newest records.

Nothing is written and no offset moves: a running job is not disturbed. Operators with state, serial ones as well as
windows, begin with none: they see these records and no others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import InvalidInput, NotFound, did_you_mean
from headrace.graph.document import Config, Document, Edge, Node
from headrace.graph.schema import Schema, backquoted
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.json_rows import frame_as_json
from headrace.operators.projection import project
from headrace.operators.serial_chain import ChainInput, ChainPlan
from headrace.spark.chains.frames import behind_rows
from headrace.spark.compiling.blame import blaming
from headrace.spark.compiling.chain_start import ordered
from headrace.spark.compiling.compilation import Compilation
from headrace.spark.compiling.counts import only_rows
from headrace.spark.compiling.source_specs import Range
from headrace.spark.reading.topics import open_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Records read of each source, first as many as rows are wanted; more where filters left too few.
RECORDS_MAX: Final = 20_000
ROUNDS: Final = (1, 40)
ROWS_COLLECTED_MAX: Final = 20_000
TEST_NODES_MAX: Final = 40
# A call of an operator that does not come back within this ends the sample.
CALL_LIMIT_S: Final = 20.0

_SINK: Final = "sample__"
_FILTER: Final = "sample__filter"


@dataclass(frozen=True, slots=True)
class Made:
    """What a generator has made by now: rows, and since when."""

    rows: int
    started_ms: int


@dataclass(frozen=True, slots=True)
class Sample:
    """`ranges`: topic → partition → first offset read, and the one after the last.

    `begins_empty`: an operator with state is above, whose state holds nothing from before these records.
    """

    schema: Schema
    rows: list[dict[str, Any]]
    ranges: dict[str, dict[str, tuple[int, int]]]
    begins_empty: bool = False


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What leaves a node. Reading it runs `chain`, if one is above; `before` are the rows that come into a chain which
    still can grow."""

    frame: DataFrame
    chain: ChainPlan | None = None
    before: tuple[DataFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """`compilation` makes the context of a batch over ranges of topics."""

    catalogue: Catalogue
    compilation: Callable[[Validated, dict[str, Range]], Compilation]
    made: Mapping[str, Made] = field(default_factory=dict)
    inputs: Mapping[str, Sequence[Config]] = field(default_factory=dict)

    def edge(self, document: Document, node: str, port: str, limit: int, condition: str | None = None) -> Sample:
        """The newest rows that leave a port, the newest last. Raises NotFound, InvalidGraph, InvalidInput."""
        validated = validate(above(document, node, port, condition), self.catalogue)
        begins_empty = any(self.catalogue.get(node.operator).spec.stateful for node in validated.document.nodes)
        sample = Sample(Schema(), [], {})
        # A window over few records says little: what has state gets as many as there may be.
        for factor in ROUNDS[-1:] if begins_empty else ROUNDS:
            sample = self._round(validated, min(limit * factor, RECORDS_MAX))
            if len(sample.rows) >= limit:
                break
        return replace(sample, rows=sample.rows[-limit:], begins_empty=begins_empty)

    def nodes(self, document: Document, limit: int) -> dict[str, Sample]:
        """Rows that leave each node, at most `limit`, for that many of each source. Raises InvalidGraph."""
        validated = validate(document, self.catalogue)
        if len(validated.order) > TEST_NODES_MAX:
            raise InvalidInput(f"{len(validated.order)} nodes; a test run takes at most {TEST_NODES_MAX}")
        sources = [node.id for node in document.nodes if not document.inputs_of(node.id)]
        for node_id in self.inputs:
            if node_id not in sources:
                raise InvalidInput(f"rows are given for {node_id!r}, which is no source", valid=sources)
        compilation = self._ranged(validated, limit)
        leaving = self._leaving(compilation)
        return {
            node: Sample(validated.schemas[node], _rows(compilation, leaving[node], limit), _ranges(compilation))
            for node in validated.order
        }

    def rows_of(self, validated: Validated, node: str, ranges: dict[str, Range], limit: int) -> list[dict[str, Any]]:
        """Rows that a sink gets of these ranges, without the state that operators had."""
        compilation = self.compilation(validated, ranges)
        return _rows(compilation, self._leaving(compilation)[node], limit)

    def _round(self, validated: Validated, records: int) -> Sample:
        compilation = self._ranged(validated, records)
        rows = _rows(compilation, self._leaving(compilation)[_SINK], ROWS_COLLECTED_MAX)
        return Sample(validated.schemas[_SINK], rows, _ranges(compilation))

    def _ranged(self, validated: Validated, records: int) -> Compilation:
        """With the newest records of every topic as its ranges."""
        empty = self.compilation(validated, {})
        nodes = [node for node in validated.document.nodes if node.operator == "topic" and node.id not in self.inputs]
        ranges = {node.id: _newest(empty, str(node.config["topic"]), records) for node in nodes}
        document = validated.document.with_nodes(
            [_bounded(node, records) if node.operator == "generator" else node for node in validated.document.nodes]
        )
        return self.compilation(validate(document, self.catalogue), ranges)

    def _leaving(self, compilation: Compilation) -> dict[str, _Leaving]:
        """What leaves each node. Raises InvalidInput where a job could not run it either."""
        found: dict[str, _Leaving] = {}
        validated = compilation.validated
        for node_id in validated.order:
            node = validated.document.node(node_id)
            inputs = {edge.target_port: found[edge.source] for edge in validated.document.inputs_of(node_id)}
            with blaming(node):
                if self._runs_in_chain(node, inputs, validated):
                    found[node_id] = self._chained(node, found, validated)
                else:
                    frame = self._frame(compilation, node, {port: rows.frame for port, rows in inputs.items()})
                    found[node_id] = _Leaving(frame, _one_chain(inputs.values()))
        return found

    def _runs_in_chain(self, node: Node, inputs: Mapping[str, _Leaving], validated: Validated) -> bool:
        """Whether it is a serial operator, or one that goes on with the chain that leads to it."""
        operator = self.catalogue.get(node.operator)
        if operator.spec.kind == "serial":
            return True
        if len(inputs) != 1 or not all(rows.before for rows in inputs.values()):
            return False
        schemas = {edge.target_port: validated.schemas[edge.source] for edge in validated.document.inputs_of(node.id)}
        return operator.chain_instance(validated.configs[node.id], schemas) is not None

    def _chained(self, node: Node, found: Mapping[str, _Leaving], validated: Validated) -> _Leaving:
        """Behind a serial node: a chain of its own, or the one that led here, grown by it."""
        edges = validated.document.inputs_of(node.id)
        sources = list(dict.fromkeys(edge.source for edge in edges))
        led = _one_chain(found[source] for source in sources)
        if led is not None and (len(sources) > 1 or not found[sources[0]].before):
            raise InvalidInput("a serial operator cannot follow another one through a relational one")
        if led is not None:
            chain = ChainPlan((*led.nodes, node), led.inputs, (*led.edges, *edges))
            before = found[sources[0]].before
        else:
            chain = ChainPlan((node,), tuple(ChainInput(one, validated.schemas[one]) for one in sources), edges)
            before = tuple(found[source].frame for source in sources)
        read = chain.reading([one.schema.keep(rows.columns) for one, rows in zip(chain.inputs, before, strict=True)])
        rows = [
            frame.select(*map(backquoted, one.schema.names)) for one, frame in zip(read.inputs, before, strict=True)
        ]
        # One lane for all keys: the newest rows of all of them come last.
        return _Leaving(only_rows(behind_rows(rows, read, self.catalogue, 1, stages=False)), chain, before)

    def _frame(self, compilation: Compilation, node: Node, inputs: Mapping[str, DataFrame]) -> DataFrame:
        config = compilation.validated.configs[node.id]
        if node.id in self.inputs:
            return _given(compilation, compilation.validated.schemas[node.id], self.inputs[node.id])
        if node.operator == "generator" and node.id in self.made:
            return project(_made(compilation, self.made[node.id], config), config.columns)
        operator = self.catalogue.get(node.operator)
        return only_rows(operator.compile(config, inputs, replace(compilation, node=node)))


def above(document: Document, node: str, port: str, condition: str | None) -> Document:
    """The node and all before it, with a sink at the port, behind a filter where there is a condition."""
    ids = [known.id for known in document.nodes]
    if node not in ids:
        raise NotFound(f"no node {node!r} in pipeline {document.name!r}", valid=ids, hint=did_you_mean(node, ids))
    wanted, waiting = set[str](), [node]
    while waiting:
        current = waiting.pop()
        if current not in wanted:
            wanted.add(current)
            waiting += [edge.source for edge in document.inputs_of(current)]
    nodes = [known for known in document.nodes if known.id in wanted]
    edges = [edge for edge in document.edges if {edge.source, edge.target} <= wanted]
    last, last_port = node, port
    if condition:
        nodes.append(Node(_FILTER, "filter", {"condition": condition}))
        edges.append(Edge(node, _FILTER, port))
        last, last_port = _FILTER, "out"
    nodes.append(Node(_SINK, "preview"))
    edges.append(Edge(last, _SINK, last_port))
    return Document(document.name, tuple(nodes), tuple(edges))


def _newest(compilation: Compilation, topic: str, records: int) -> Range:
    """The same share of every partition."""
    with closing(open_topic(compilation.location(topic))) as opened:
        bounds = opened.bounds()
    share = -(-records // max(1, len(bounds)))
    starts = {str(partition): max(first, end - share) for partition, (first, end) in bounds.items()}
    return Range(starts, {str(partition): end for partition, (_, end) in bounds.items()})


def _bounded(node: Node, records: int) -> Node:
    rows = node.config.get("rows")
    wanted = min(rows, records) if isinstance(rows, int) else records
    return replace(node, config={**node.config, "rows": wanted})


def _made(compilation: Compilation, made: Made, config: Any) -> DataFrame:
    """The rows that a running generator made last, with the times at which it made them."""
    first = max(0, made.rows - config.rows)
    moment = f"timestamp_millis({made.started_ms} + CAST(id * 1000 DIV {config.rows_per_second} AS BIGINT))"
    return compilation.spark.range(first, made.rows).selectExpr("id AS value", f"{moment} AS timestamp")


def _given(compilation: Compilation, schema: Schema, rows: Sequence[Config]) -> DataFrame:
    from pyspark.sql import functions  # noqa: PLC0415  (pyspark costs half a second: only where used)

    texts = compilation.spark.createDataFrame([(json.dumps(dict(row)),) for row in rows], "row STRING")
    parsed = texts.select(functions.from_json("row", str(schema)).alias("row"))
    return parsed.select("row.*")


def _one_chain(inputs: Iterable[_Leaving]) -> ChainPlan | None:
    chains = [rows.chain for rows in inputs if rows.chain is not None]
    if len(chains) > 1:
        raise InvalidInput("rows of several serial chains meet here", hint="look at the edges before this node")
    return chains[0] if chains else None


def _rows(compilation: Compilation, leaving: _Leaving, limit: int) -> list[dict[str, Any]]:
    as_json = frame_as_json(leaving.frame)
    with ordered(compilation, leaving.chain, CALL_LIMIT_S):
        return [json.loads(row[0]) for row in leaving.frame.limit(limit).select(as_json).collect()]


def _ranges(compilation: Compilation) -> dict[str, dict[str, tuple[int, int]]]:
    configs = compilation.validated.configs
    return {
        configs[node].topic: {p: (start, (found.end or {})[p]) for p, start in found.start.items()}
        for node, found in compilation.ranges.items()
    }

"""Runs small pipelines on a plain Spark session, as batch and as stream: for tests of operators, plugins included."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import NotFound
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators.catalogue import Catalogue
from headrace.operators.json_rows import frame_as_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_query_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Trial:
    """Compiles a pipeline in text notation with one sink. Topics are frames that are handed in by name."""

    spark: SparkSession
    catalogue: Catalogue = field(default_factory=Catalogue)
    topics: Mapping[str, DataFrame] = field(default_factory=dict)

    def frame(self, text: str, *, bounded: bool = True) -> DataFrame:
        """What the only sink would write. Raises InvalidGraph and InvalidSyntax as the real thing does."""
        (frame,) = self.frames(text, bounded=bounded).values()
        return frame

    def frames(self, text: str, *, bounded: bool = True) -> dict[str, DataFrame]:
        """What each sink would write, by the sink's id."""
        validated = validate(parse_text(text, self.catalogue), self.catalogue)
        document, frames = validated.document, dict[str, "DataFrame"]()
        for node_id in validated.order:
            node = document.node(node_id)
            inputs = {edge.target_port: frames[edge.source] for edge in document.inputs_of(node_id)}
            schemas = {edge.target_port: validated.schemas[edge.source] for edge in document.inputs_of(node_id)}
            context = _Context(node, self.spark, bounded, self.topics, schemas)
            frames[node_id] = self.catalogue.get(node.operator).compile(validated.configs[node_id], inputs, context)
        return {node_id: frames[node_id] for node_id in validated.order if not document.outputs_of(node_id)}

    def batch(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a batch run."""
        return [tuple(row) for row in self.frame(text).collect()]

    def batches(self, text: str) -> dict[str, list[dict[str, Any]]]:
        """The rows of a batch run for each sink, as JSON objects."""
        return _by_sink(_tagged(self.frames(text)).collect())

    def streams(self, text: str, checkpoint: Path, *, output_mode: str = "append") -> dict[str, list[dict[str, Any]]]:
        """The same for a stream over what is there now: one query, which goes on where it was at that checkpoint."""
        rows: list[Any] = []
        writer = _tagged(self.frames(text, bounded=False)).writeStream.outputMode(output_mode)
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        writer.foreachBatch(lambda frame, _: rows.extend(frame.collect())).start().awaitTermination()
        return _by_sink(rows)

    def stream(self, text: str, *, output_mode: str = "append") -> list[tuple[Any, ...]]:
        """The rows of a stream over everything that is there."""
        name = f"trial_{next(_query_numbers)}"
        writer = self.frame(text, bounded=False).writeStream.format("memory").queryName(name)
        writer.outputMode(output_mode).trigger(availableNow=True).start().awaitTermination()
        return [tuple(row) for row in self.spark.table(name).collect()]


def _tagged(frames: Mapping[str, DataFrame]) -> DataFrame:
    """All sinks' rows in one frame: (sink, row as JSON)."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    tagged = [
        frame.select(spark.lit(sink).alias("sink"), frame_as_json(frame).alias("row")) for sink, frame in frames.items()
    ]
    return reduce(lambda one, other: one.union(other), tagged)


def _by_sink(rows: Iterable[Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for sink, text in rows:
        found.setdefault(sink, []).append(json.loads(text))
    return found


@dataclass(slots=True)
class _Context:
    node: Node
    spark: SparkSession
    bounded: bool
    topics: Mapping[str, DataFrame]
    schemas: Mapping[str, Schema]

    def input_schema(self, port: str) -> Schema:
        return self.schemas[port]

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        topic = str(node.config["topic"])
        if topic not in self.topics:
            raise NotFound(f"no topic {topic!r} was handed in", valid=self.topics)
        return self.topics[topic]

    def read_trigger(self, node: Node) -> DataFrame:
        if node.id not in self.topics:
            raise NotFound(f"no firings of {node.id!r} were handed in", valid=self.topics)
        return self.topics[node.id]

    def read_table(self, node: Node, schema: Schema) -> DataFrame:
        return self.read_topic(node, schema)

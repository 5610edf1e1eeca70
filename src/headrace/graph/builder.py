"""Pipelines in Python: `pipeline.topic(…).filter(…).to_topic(…)`, one method for each built-in operator.

    pipeline = Builder("alerts")
    telemetry = pipeline.topic("telemetry", schema="drone STRING, battery DOUBLE")
    telemetry.filter("battery < 20").to_topic("alerts", key="drone")
    pipeline.document()

A step that is given no id is called after its operator and its count: the second filter is `filter_2`. Settings are
checked by `validate`, not here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from headrace.errors import InvalidInput
from headrace.graph.aggregation_steps import AggregationSteps
from headrace.graph.chains import DEFAULT_INPUT, DEFAULT_OUTPUT, usual_id
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.given import Names, given, listed
from headrace.graph.serial_steps import LatePassed, SerialSteps

S = TypeVar("S", bound="Step")
OnRowError: TypeAlias = Literal["fail", "drop", "dead_letter", "null"]


@dataclass(slots=True)
class _Placed:
    operator: str
    config: dict[str, Json]
    id: str


class Step:
    """A node of a pipeline under construction."""

    def __init__(self, builder: Builder, placed: _Placed) -> None:
        self._builder = builder
        self._placed = placed

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} of {self._builder.name}>"

    @property
    def id(self) -> str:
        return self._placed.id

    def named(self: S, id: str) -> S:
        """Gives the node an id of its own. Its state is kept under this name."""
        self._placed.id = id
        return self


class Sink(Step):
    """Where rows end: nothing follows."""


class Stream(Step, AggregationSteps, SerialSteps):
    """Rows that steps can follow; several steps make branches."""

    def filter(
        self,
        condition: str,
        *,
        on_error: OnRowError | None = None,
        dead_letter: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Keeps the rows for which a SQL condition holds."""
        return self.then("filter", id=id, condition=condition, **_row_errors(on_error, dead_letter))

    def select(
        self, *columns: str, on_error: OnRowError | None = None, dead_letter: str | None = None, id: str | None = None
    ) -> Stream:
        """Chooses, computes and renames columns: `select("drone", "battery / 100 AS share")`."""
        return self.then("select", id=id, columns=list(columns), **_row_errors(on_error, dead_letter))

    def union(self, *others: Step, id: str | None = None) -> Stream:
        """Puts the rows of several streams together."""
        union = self.then("union", id=id)
        for number, other in enumerate(others, start=2):
            self._builder.connect(other, union, target_port=f"{DEFAULT_INPUT}_{number}")
        return union

    def join(
        self,
        right: Step,
        on: str,
        *,
        kind: Literal["inner", "left", "right", "full"] = "inner",
        before: str | None = None,
        after: str | None = None,
        window: str | None = None,
        every: str | None = None,
        late: LatePassed = "drop",
        dead_letter: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Pairs rows with those of another stream: `orders.join(payments, "left.id = right.order_id", after="1h")`."""
        settings: dict[str, Json] = {
            "on": on,
            "kind": kind,
            "before": before,
            "after": after,
            "window": window,
            "every": every,
            "late": late,
            "dead_letter": dead_letter,
        }
        return self._beside(right, "join", id, given(Stream.join, settings))

    def lookup_join(
        self,
        table: Step,
        on: str,
        *,
        kind: Literal["inner", "left"] = "inner",
        spread: Literal["whole", "by_key"] = "whole",
        id: str | None = None,
    ) -> Stream:
        """Adds the rows of a table that belong to each row: `events.lookup_join(drones, "left.drone = right.id")`."""
        settings: dict[str, Json] = {"on": on, "kind": kind, "spread": spread}
        return self._beside(table, "lookup-join", id, given(Stream.lookup_join, settings))

    def asof_join(
        self,
        right: Step,
        keys: Names = (),
        *,
        kind: Literal["inner", "left"] = "inner",
        within: str | None = None,
        late: LatePassed = "drop",
        dead_letter: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Adds to each row the newest row of another stream not later than it: `trades.asof_join(quotes, "symbol")`."""
        settings: dict[str, Json] = {
            "keys": listed(keys),
            "kind": kind,
            "within": within,
            "late": late,
            "dead_letter": dead_letter,
        }
        return self._beside(right, "asof-join", id, given(Stream.asof_join, settings))

    def to_topic(
        self,
        topic: str,
        *,
        format: Literal["json", "csv", "arrow", "raw", "avro", "protobuf"] = "json",
        delimiter: str = ",",
        value_schema: str | None = None,
        value_message: str | None = None,
        schema_registry: str | None = None,
        key: str | None = None,
        headers: str | None = None,
        partitions: int | None = None,
        id: str | None = None,
    ) -> Sink:
        """Writes the rows to a topic, exactly once."""
        settings: dict[str, Json] = {
            "topic": topic,
            "format": format,
            "delimiter": delimiter,
            "value_schema": value_schema,
            "value_message": value_message,
            "schema_registry": schema_registry,
            "key": key,
            "headers": headers,
            "partitions": partitions,
        }
        return self._end("to-topic", id, given(Stream.to_topic, settings))

    def to_table(
        self,
        topic: str,
        *,
        key: str,
        mode: Literal["upsert", "delete"] = "upsert",
        format: Literal["json", "csv", "arrow", "raw", "avro", "protobuf"] = "json",
        delimiter: str = ",",
        value_schema: str | None = None,
        value_message: str | None = None,
        schema_registry: str | None = None,
        partitions: int | None = None,
        id: str | None = None,
    ) -> Sink:
        """Writes the rows to a table: each takes the place of the one with its key."""
        settings: dict[str, Json] = {
            "topic": topic,
            "key": key,
            "mode": mode,
            "format": format,
            "delimiter": delimiter,
            "value_schema": value_schema,
            "value_message": value_message,
            "schema_registry": schema_registry,
            "partitions": partitions,
        }
        return self._end("to-table", id, given(Stream.to_table, settings))

    def to_file(self, path: str, *, format: Literal["json", "csv", "parquet"] = "json", id: str | None = None) -> Sink:
        """Writes the rows to files of a folder."""
        return self._end("to-file", id, given(Stream.to_file, {"path": path, "format": format}))

    def to_python(self, sink: str, *, settings: dict[str, Json] | None = None, id: str | None = None) -> Sink:
        """Hands the rows to a function or class of yours, named `package.module:name`."""
        return self._end("to-python", id, given(Stream.to_python, {"sink": sink, "settings": settings}))

    def preview(self, *, rows: int = 100, id: str | None = None) -> Sink:
        """Keeps the newest rows to look at."""
        return self._end("preview", id, given(Stream.preview, {"rows": rows}))

    def then(self, operator: str, /, *, id: str | None = None, **config: Json) -> Stream:
        """Adds any operator of the catalogue by its name: the way to use plugins."""
        placed = self._builder._place(operator, config, id, after=self)
        return Stream(self._builder, placed)

    def _beside(self, right: Step, operator: str, id: str | None, config: dict[str, Json]) -> Stream:
        joined = self._builder.add(operator, id=id, **config)
        self._builder.connect(self, joined, target_port="left")
        self._builder.connect(right, joined, target_port="right")
        return joined

    def _end(self, operator: str, id: str | None, config: dict[str, Json]) -> Sink:
        return Sink(self._builder, self._builder._place(operator, config, id, after=self))


class Builder:
    """A pipeline under construction. `document()` can be called at any time and leaves the builder as it is."""

    def __init__(self, name: str = "pipeline") -> None:
        self.name = name
        self._nodes: list[_Placed] = []
        self._edges: list[tuple[_Placed, _Placed, str, str]] = []
        self._counts: Counter[str] = Counter()

    def topic(
        self,
        topic: str,
        *,
        schema: str,
        format: Literal["json", "csv", "arrow", "raw", "avro", "protobuf"] = "json",
        delimiter: str = ",",
        value_schema: str | None = None,
        value_message: str | None = None,
        schema_registry: str | None = None,
        start: str = "earliest",
        event_time: str | None = None,
        event_time_format: str | None = None,
        watermark: str = "0 seconds",
        idle_timeout: str | None = None,
        max_rows_per_batch: int = 1_000_000,
        on_error: Literal["drop", "dead_letter", "retry", "fail"] | None = None,
        dead_letter: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Reads a topic of the log."""
        settings: dict[str, Json] = {
            "topic": topic,
            "schema": schema,
            "format": format,
            "delimiter": delimiter,
            "value_schema": value_schema,
            "value_message": value_message,
            "schema_registry": schema_registry,
            "start": start,
            "event_time": event_time,
            "event_time_format": event_time_format,
            "watermark": watermark,
            "idle_timeout": idle_timeout,
            "max_rows_per_batch": max_rows_per_batch,
            "on_error": on_error,
            "dead_letter": dead_letter,
        }
        return self.add("topic", id=id, **given(Builder.topic, settings))

    def table(
        self,
        topic: str,
        *,
        schema: str,
        key: str,
        format: Literal["json", "csv", "arrow", "raw", "avro", "protobuf"] = "json",
        delimiter: str = ",",
        value_schema: str | None = None,
        value_message: str | None = None,
        schema_registry: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """A table, for the right side of a lookup join."""
        settings: dict[str, Json] = {
            "topic": topic,
            "schema": schema,
            "key": key,
            "format": format,
            "delimiter": delimiter,
            "value_schema": value_schema,
            "value_message": value_message,
            "schema_registry": schema_registry,
        }
        return self.add("table", id=id, **given(Builder.table, settings))

    def generator(
        self,
        rows_per_second: int = 10,
        *,
        columns: Names = ("value", "timestamp"),
        rows: int | None = None,
        event_time: str | None = None,
        watermark: str = "0 seconds",
        id: str | None = None,
    ) -> Stream:
        """Makes rows at a steady rate."""
        settings: dict[str, Json] = {
            "rows_per_second": rows_per_second,
            "columns": listed(columns),
            "rows": rows,
            "event_time": event_time,
            "watermark": watermark,
        }
        return self.add("generator", id=id, **given(Builder.generator, settings))

    def trigger(
        self,
        every: str | None = None,
        *,
        cron: str | None = None,
        missed: Literal["all", "last"] = "all",
        id: str | None = None,
    ) -> Stream:
        """Makes a row every so often, by a cron line, or once at the start."""
        settings: dict[str, Json] = {"every": every, "cron": cron, "missed": missed}
        return self.add("trigger", id=id, **given(Builder.trigger, settings))

    def file(
        self,
        path: str,
        *,
        format: Literal["json", "csv", "parquet"] = "json",
        schema: str,
        header: bool = True,
        delimiter: str = ",",
        max_files_per_batch: int = 100,
        event_time: str | None = None,
        watermark: str = "0 seconds",
        id: str | None = None,
    ) -> Stream:
        """Reads JSON lines, CSV or Parquet files, those there and those that come."""
        settings: dict[str, Json] = {
            "path": path,
            "format": format,
            "schema": schema,
            "header": header,
            "delimiter": delimiter,
            "max_files_per_batch": max_files_per_batch,
            "event_time": event_time,
            "watermark": watermark,
        }
        return self.add("file", id=id, **given(Builder.file, settings))

    def from_python(
        self,
        source: str,
        *,
        settings: dict[str, Json] | None = None,
        event_time: str | None = None,
        watermark: str = "0 seconds",
        max_rows_per_batch: int = 100_000,
        id: str | None = None,
    ) -> Stream:
        """Reads a source written in Python, named `package.module:Name`."""
        config: dict[str, Json] = {
            "source": source,
            "settings": settings,
            "event_time": event_time,
            "watermark": watermark,
            "max_rows_per_batch": max_rows_per_batch,
        }
        return self.add("from-python", id=id, **given(Builder.from_python, config))

    def add(self, operator: str, /, *, id: str | None = None, **config: Json) -> Stream:
        """Adds any operator of the catalogue by its name, connected to nothing yet."""
        return Stream(self, self._place(operator, config, id))

    def connect(
        self, source: Step, target: Step, *, source_port: str = DEFAULT_OUTPUT, target_port: str = DEFAULT_INPUT
    ) -> None:
        """Leads rows from one step to another, for operators with several ports."""
        self._edges.append((source._placed, target._placed, source_port, target_port))

    def document(self) -> Document:
        """Raises InvalidInput where two steps have one id."""
        for node_id, count in Counter(placed.id for placed in self._nodes).items():
            if count > 1:
                raise InvalidInput(f"{count} steps have the id {node_id!r}", hint="give them others with id= or .named")
        nodes = tuple(Node(placed.id, placed.operator, placed.config) for placed in self._nodes)
        edges = tuple(Edge(source.id, target.id, *ports) for source, target, *ports in self._edges)
        return Document(self.name, nodes, edges)

    def _place(self, operator: str, config: dict[str, Json], id: str | None, after: Step | None = None) -> _Placed:
        self._counts[operator] += 1
        placed = _Placed(operator, config, id or usual_id(operator, self._counts[operator]))
        self._nodes.append(placed)
        if after is not None:
            self._edges.append((after._placed, placed, DEFAULT_OUTPUT, DEFAULT_INPUT))
        return placed


def _row_errors(on_error: OnRowError | None, dead_letter: str | None) -> dict[str, Json]:
    """Only what was said."""
    said: dict[str, Json] = {"on_error": on_error, "dead_letter": dead_letter}
    return {name: value for name, value in said.items() if value is not None}

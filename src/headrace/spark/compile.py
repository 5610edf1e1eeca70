"""From a query plan to a DataFrame, the outputs its writer serves, and the counts that Spark reports on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue, used_columns
from headrace.operators.topic_source import TopicConfig
from headrace.spark.outputs import dead_letter_output, make_output, physical_columns
from headrace.spark.plan import QueryPlan
from headrace.spark.specs import BAD_COLUMN, OPTION, Offsets, Output, SourceSpec, TopicLocation
from headrace.spark.wide import View, WideRow

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

# Formats whose columns stand in a fixed order: all of them must be read.
_POSITIONAL_FORMATS = ("csv", "raw")
# Names under which Spark reports counts: rows that left a node under its id, bad rows as `bad:` and their source.
NODE_ROWS = "nodes"
BAD_ROWS = "bad"


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    plan: QueryPlan
    frame: DataFrame
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Where a topic source begins and, in a batch run, ends."""

    start: Offsets
    end: Offsets | None = None


@dataclass(frozen=True)
class Compilation:
    """The context of one start of a pipeline; operators see it as their CompileContext."""

    spark: SparkSession
    catalogue: Catalogue
    validated: Validated
    bootstrap: str
    log_directory: Path | None
    ranges: Mapping[str, Range]
    bounded: bool = False
    node: Node = field(default_factory=lambda: Node("", ""))
    observations: list[Observation] = field(default_factory=list)
    """Filled in a batch run: what was counted, to be read when it has ended."""

    def query(self, plan: QueryPlan) -> CompiledQuery:
        """Raises HeadraceError that names the node where Spark's analysis finds fault."""
        frame = self._base(plan)
        keep = None
        if BAD_COLUMN in frame.columns:
            frame, keep = self._good_marked(frame)
        row, view = WideRow.of(frame, self._schema(plan.base), keep)
        outputs: list[Output] = []
        views: dict[str, View] = {plan.base.id: view}
        for branch in plan.branches:
            current = view
            for node, step in branch.steps:
                with blaming(node):
                    current = views[node.id] = row.apply(current, step)
            with blaming(branch.sink):
                outputs.append(make_output(branch.sink, self.catalogue, current, row))
        if plan.bad_rows_of is not None and (topic := self._topic_config(plan.bad_rows_of).dead_letter):
            outputs.append(dead_letter_output(plan.bad_rows_of, topic, BAD_COLUMN))
        return CompiledQuery(plan, self._finished(plan, row, views, outputs), tuple(outputs))

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        config = self._topic_config(node)
        spec = SourceSpec(
            node=node.id,
            location=self.location(config.topic),
            format=config.format,
            start=self.ranges[node.id].start,
            max_rows_per_batch=config.max_rows_per_batch,
            fail_on_bad=config.bad_rows == "fail",
            end=self.ranges[node.id].end,
        )
        columns = str(self._columns_read(node, schema))
        reader = self.spark.read if self.bounded else self.spark.readStream
        with_bad = columns if spec.fail_on_bad else f"{columns}, {BAD_COLUMN} STRING"
        return reader.format("headrace-topic").schema(with_bad).option(OPTION, spec.to_json()).load()

    def location(self, topic: str) -> TopicLocation:
        return TopicLocation(topic, self.bootstrap, None if self.log_directory is None else str(self.log_directory))

    def _topic_config(self, node: Node) -> TopicConfig:
        config: TopicConfig = self.validated.configs[node.id]
        return config

    def _columns_read(self, node: Node, schema: Schema) -> Schema:
        """What the pipeline uses of a topic; at least one column, or there would be no rows to count."""
        used = used_columns(self.validated.document, self.catalogue)[node.id]
        positional = self._topic_config(node).format in _POSITIONAL_FORMATS
        declared = schema.columns if positional else schema.keep(used).columns
        hidden = [column for column in schema.hidden if column.name in used]
        return Schema((*declared, *hidden) or schema.columns[:1])

    def _base(self, plan: QueryPlan) -> DataFrame:
        """The rows of the query's base node. Before a stateful node, bad rows are counted and left out."""
        frame = self._compile(plan.source, {})
        for node in plan.chain[1:]:
            if BAD_COLUMN in frame.columns:
                frame = self._without_bad(frame, plan.source)
            frame = self._compile(node, {"in": frame})
            if node is not plan.base:
                frame = self._counted(frame, node.id, {node.id: None})
        return frame

    def _compile(self, node: Node, inputs: Mapping[str, DataFrame]) -> DataFrame:
        operator = self.catalogue.get(node.operator)
        with blaming(node):
            return operator.compile(self.validated.configs[node.id], inputs, replace(self, node=node))

    def _schema(self, node: Node) -> Schema:
        return self.validated.schemas[node.id]

    @staticmethod
    def _good_marked(frame: DataFrame) -> tuple[DataFrame, str]:
        return frame.withColumn("_good", frame[BAD_COLUMN].isNull()), "_good"

    def _without_bad(self, frame: DataFrame, source: Node) -> DataFrame:
        spark = _functions()
        counted = frame.observe(self._observer(f"{NODE_ROWS}.{BAD_ROWS}"), _bad_count(source))
        return counted.where(spark.col(BAD_COLUMN).isNull()).drop(BAD_COLUMN)

    def _counted(
        self, frame: DataFrame, name: str, keeps: Mapping[str, str | None], more: Sequence[Column] = ()
    ) -> DataFrame:
        """Reports, for each node, how many rows its column keeps (None: all), with the progress of every batch."""
        spark = _functions()
        counts = [
            (spark.count(spark.lit(1)) if keep is None else spark.count_if(spark.col(keep))).alias(node)
            for node, keep in keeps.items()
        ]
        observed = [*counts, *more]
        return frame.observe(self._observer(f"{NODE_ROWS}.{name}"), *observed) if observed else frame

    def _observer(self, name: str) -> str | Observation:
        if not self.bounded:
            return name
        from pyspark.sql import Observation  # noqa: PLC0415

        self.observations.append(Observation(name))
        return self.observations[-1]

    def _finished(self, plan: QueryPlan, row: WideRow, views: Mapping[str, View], outputs: list[Output]) -> DataFrame:
        """Counts what each node let through, drops rows that no output wants, keeps what the writer reads."""
        # A node right before a sink lets through what the sink gets: only others must be counted before rows go.
        passed = {node: view.keep for node, view in views.items() if plan.chained or node != plan.source.id}
        sinks = {branch.sink.id: views[branch.last_node or plan.base.id].keep for branch in plan.branches}
        early = {node: keep for node, keep in passed.items() if keep not in sinks.values()}
        late = {node: keep for node, keep in {**passed, **sinks}.items() if node not in early}
        frame = self._counted(row.frame, "early", early)
        bad = [_bad_count(plan.source)] if BAD_COLUMN in frame.columns else []
        # One observation for all counts: each splits the code that Spark generates.
        frame = self._counted(_wanted_only(frame, set(sinks.values())), "late", late, bad)
        return frame.select(*dict.fromkeys(name for output in outputs for name in physical_columns(output)))


def _wanted_only(frame: DataFrame, keeps: set[str | None]) -> DataFrame:
    """Rows that some sink keeps (None: all), and bad rows, to be counted and kept as dead letters."""
    spark = _functions()
    if None in keeps:
        return frame
    conditions = [spark.col(keep) for keep in sorted(keep for keep in keeps if keep is not None)]
    if BAD_COLUMN in frame.columns:
        conditions.append(spark.col(BAD_COLUMN).isNotNull())
    return frame.where(reduce(or_, conditions))


def _bad_count(source: Node) -> Column:
    count: Column = _functions().count(BAD_COLUMN).alias(f"{BAD_ROWS}:{source.id}")
    return count


def _functions() -> ModuleType:
    from pyspark.sql import functions  # noqa: PLC0415  (pyspark costs half a second: only where used)

    return functions


@contextmanager
def blaming(node: Node) -> Iterator[None]:
    """Spark's complaint about a node's expressions, as an error that names the node."""
    from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415

    try:
        yield
    except (AnalysisException, ParseException) as error:
        raise InvalidInput(str(error).split("\n", 1)[0], node=node.id) from error
    except HeadraceError as error:
        error.node = error.node or node.id
        raise

"""From a query plan to a DataFrame, the outputs its writer serves, and the counts that Spark reports on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.graph.document import Node
from headrace.graph.schema import WEIGHT, Schema, backquoted
from headrace.graph.validation import Validated
from headrace.operators import Catalogue, used_columns
from headrace.operators.columnar import is_cheap
from headrace.operators.row_step import RowStep
from headrace.operators.schedules import newest_firings_ms
from headrace.operators.serial_chain import ChainPlan
from headrace.operators.topic_source import TopicConfig
from headrace.operators.trigger_source import TRIGGERED_AT, TriggerConfig, schedule_of
from headrace.serial.places import origin_of
from headrace.spark.chains.frames import (
    behind_packets,
    behind_rows,
    columns_behind,
    handed_over,
    lanes_of,
    with_records,
)
from headrace.spark.chains.packets import PACKET_COLUMNS
from headrace.spark.chains.record_rows import keeping_records
from headrace.spark.compiling.blame import blaming
from headrace.spark.compiling.counts import RowCounting, aside_counts, asides_of, functions, wanted_only
from headrace.spark.compiling.source_specs import Range, SourceSpecs, SourceUse
from headrace.spark.planning.chain_pushdown import wanted_of_inputs
from headrace.spark.planning.checks import letter_topics, require_topic
from headrace.spark.planning.direct import Direct, direct_query
from headrace.spark.planning.outputs import bad_record_outputs, dead_letter_output, make_output
from headrace.spark.planning.placement import Placement, place
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.pushdown import prefilter_of
from headrace.spark.planning.query_chain import chain_of, keeps_records
from headrace.spark.planning.retractions import retractions_of, takes_retractions
from headrace.spark.planning.ways import chain_reading, topic_readings
from headrace.spark.planning.wide import View, WideRow
from headrace.spark.reading.prefilter import Prefilter
from headrace.spark.specs import (
    ASIDE_COLUMNS,
    BAD_COLUMN,
    CHAIN_COLUMN,
    LETTER_COLUMN,
    MESSAGE_COLUMN,
    OPTION,
    RECORD_OFFSET,
    RECORD_ORIGIN,
    RECORD_TIME,
    SKIPPED_COLUMN,
    SYSTEM_COLUMNS,
    ChainReading,
    Output,
    Shaping,
    SourceSpec,
    TopicLocation,
    physical_columns,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

# Of a trigger, to somebody who looks at its rows without a job.
FIRINGS_SHOWN_MAX = 100


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    plan: QueryPlan
    frame: DataFrame
    outputs: tuple[Output, ...]
    placement: Placement | None = None
    """Where its chain runs, if it has one."""
    shaping: Shaping = field(default_factory=Shaping)
    """What tasks make of rows that they stage themselves."""


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
    use: SourceUse = field(default_factory=SourceUse)
    """What is wanted of the source that is compiled."""
    lane_count: int | None = None
    """Lanes of the query's chain, where it has one that was started before."""
    opened_ms: int = 0
    """When the query was first started, as long as it has committed nothing."""
    checkpoint: Path | None = None
    """Of the query, where it is a stream."""
    versions_in: str | None = None
    """A write-ahead file, where a batch run is to look up the versions of tables that it names."""
    node: Node = field(default_factory=lambda: Node("", ""))
    observations: list[Observation] = field(default_factory=list)
    """Filled in a batch run: what was counted, to be read when it has ended."""

    def query(self, plan: QueryPlan) -> CompiledQuery:
        """Raises HeadraceError that names the node where Spark's analysis finds fault."""
        if (direct := self._direct(plan)) is not None:
            shaped = direct.shaped
            return CompiledQuery(plan, self._read_direct(plan, direct), shaped.outputs, shaping=shaped.shaping)
        frame = self._base(plan)
        placed = self.placement(plan)
        if placed is not None and placed.shaped is not None:
            outputs = (*placed.shaped.outputs, *self._letter_outputs(plan))
            return CompiledQuery(plan, frame, outputs, placed, placed.shaped.shaping)
        return self._by_plan(plan, frame, placed)

    def _by_plan(self, plan: QueryPlan, frame: DataFrame, placed: Placement | None) -> CompiledQuery:
        """The base's rows through Spark's plan to the sinks."""
        keep = None
        if asides := asides_of(frame):
            keep = "_good"
            frame = frame.withColumn(keep, reduce(and_, (frame[name].isNull() for name in asides)))
        row, view = WideRow.of(frame, self._schema(plan.base), keep)
        outputs: list[Output] = []
        retractions = retractions_of(plan, self.validated, self.catalogue)
        holding = row.apply(view, RowStep(f"{WEIGHT} > 0")) if retractions.weighed else view
        views: dict[str, View] = {plan.base.id: holding}
        sinks: dict[str, str | None] = {}
        for branch in plan.branches:
            is_table = takes_retractions(self.validated.configs[branch.sink.id])
            current, passed = (view if is_table else holding), holding
            for node, step in branch.steps:
                with blaming(node):
                    current, views[node.id] = row.apply(current, step), row.apply(passed, step)
                    passed = views[node.id]
            sinks[branch.sink.id] = keep if branch.sink.id in retractions.refused else current.keep
            with blaming(branch.sink):
                outputs.append(
                    make_output(branch.sink, self.catalogue, current, row, base=view, retractions=retractions)
                )
        if plan.bad_rows_of is not None and BAD_COLUMN in frame.columns:
            outputs += bad_record_outputs(plan.bad_rows_of, self._topic_config(plan.bad_rows_of).dead_letter)
        outputs += self._letter_outputs(plan)
        return CompiledQuery(plan, self._finished(plan, row, views, sinks, outputs), tuple(outputs), placed)

    def input_schema(self, port: str) -> Schema:
        edges = self.validated.document.inputs_of(self.node.id)
        return next(self.validated.schemas[edge.source] for edge in edges if edge.target_port == port)

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        spec = self.specs.of_topic(node, self.use)
        # With a column beside the rows Spark takes no filter before the watermark: it would hold event time back.
        leaves_out = spec.prefilter is not None or spec.event_time is not None
        asides = {BAD_COLUMN: not spec.fail_on_bad, SKIPPED_COLUMN: leaves_out}
        carried = [f"{name} {ASIDE_COLUMNS[name]}" for name, is_carried in asides.items() if is_carried]
        read = self._columns_read(node, schema)
        if self.use.record_source is None:
            return self._load(spec, ", ".join((str(read), *carried)))
        unused = [name for name in ("_partition", "_offset") if name not in read.names]
        carried += [f"{name} {SYSTEM_COLUMNS[name]}" for name in unused]
        frame = self._load(spec, ", ".join((str(read), *carried)))
        return self._of_records(frame, spec.event_time).drop(*unused)

    def _of_records(self, frame: DataFrame, event_time: str | None) -> DataFrame:
        """The rows, each with the record that it is; those that stand for others have the event time of these."""
        spark = functions()
        origin = frame["_partition"] + origin_of(self.use.record_source or 0, 0)
        at_us = spark.lit(None).cast("bigint")
        if event_time is not None:
            at_us = spark.when(frame[SKIPPED_COLUMN].isNotNull(), spark.unix_micros(frame[backquoted(event_time)]))
        return frame.withColumns({RECORD_ORIGIN: origin, RECORD_OFFSET: frame["_offset"], RECORD_TIME: at_us})

    def read_table(self, node: Node, schema: Schema) -> DataFrame:
        columns, spec = str(self._columns_read(node, schema)), self.specs.of_table(node)
        return self.spark.read.format("headrace-table").schema(columns).option(OPTION, spec.to_json()).load()

    def read_trigger(self, node: Node) -> DataFrame:
        """A batch over it is for looking: the engine runs none where the clock would have to tick."""
        config: TriggerConfig = self.validated.configs[node.id]
        if self.bounded:
            schedule = schedule_of(config, self.opened_ms)
            newest = [(moment_ms,) for moment_ms in newest_firings_ms(schedule, self.opened_ms, FIRINGS_SHOWN_MAX)]
            fired = self.spark.createDataFrame(newest, "at_ms BIGINT")
            return fired.selectExpr(f"timestamp_millis(at_ms) AS {TRIGGERED_AT}")
        options = {"config": config.model_dump_json(), "opened_ms": str(self.opened_ms)}
        return (
            self.spark.readStream.format("headrace-trigger").schema(str(self._schema(node))).options(**options).load()
        )

    def _load(self, spec: SourceSpec, columns: str) -> DataFrame:
        reader = self.spark.read if self.bounded else self.spark.readStream
        return reader.format("headrace-topic").schema(columns).option(OPTION, spec.to_json()).load()

    @property
    def specs(self) -> SourceSpecs:
        return SourceSpecs(
            self.validated,
            self.bootstrap,
            self.log_directory,
            self.ranges,
            self.bounded,
            self.checkpoint,
            self.versions_in,
        )

    def location(self, topic: str) -> TopicLocation:
        return self.specs.location(topic)

    def _topic_config(self, node: Node) -> TopicConfig:
        config: TopicConfig = self.validated.configs[node.id]
        return config

    def _columns_read(self, node: Node, schema: Schema) -> Schema:
        """What the pipeline uses of a topic; at least one column, or there would be no rows to count."""
        used = used_columns(self.validated.document, self.catalogue)[node.id]
        declared = schema.keep(used).columns or schema.columns[:1]
        return Schema((*declared, *(column for column in schema.hidden if column.name in used)))

    def _direct(self, plan: QueryPlan) -> Direct | None:
        if plan.source.operator != "topic":
            return None
        columns = self._schema(plan.source).keep(self._columns_read(plan.source, self._schema(plan.source)).names)
        return direct_query(plan, columns, self._topic_config(plan.source).dead_letter, self.catalogue)

    def _read_direct(self, plan: QueryPlan, direct: Direct) -> DataFrame:
        spec = self.specs.of_topic(plan.source, self._use(plan, plan.source))
        return self._load(
            replace(spec, direct=direct.columns, event_time=None, idle_after_ms=None), f"{MESSAGE_COLUMN} BINARY"
        )

    def _base(self, plan: QueryPlan) -> DataFrame:
        """The rows of the query's base node. What travels beside a source's rows is counted and left out before any
        other node."""
        serial = self.chain_of(plan)
        frames: dict[str, DataFrame] = {}
        if serial is not None and place(plan, serial, self.validated, self.catalogue).way_in != "rows":
            return self._read_for_chain(plan, serial)
        inside = {node.id for node in serial.nodes} if serial else set()
        for node in (node for node in plan.chain if node.id not in inside):
            inputs = {edge.target_port: frames[edge.source] for edge in plan.inputs_of(node)}
            frames[node.id] = self._joined_up(plan, node, inputs)
        if serial is None:
            return frames[plan.base.id]
        return self._chained([frames[one.source] for one in serial.inputs], plan, serial)

    def _use(self, plan: QueryPlan, source: Node) -> SourceUse:
        serial, prefilter = self.chain_of(plan), self._prefilter(plan, source)
        number = plan.sources.index(source) if serial is not None and keeps_records(plan, serial) else None
        in_plan = serial is None or place(plan, serial, self.validated, self.catalogue).way_in == "rows"
        serves_chain, waits = serial is not None and serial.is_called(self.catalogue), plan.chained and in_plan
        tables = {node.id: self.location(str(node.config["topic"])) for node in plan.tables}
        return SourceUse(prefilter, serves_chain, number, waits, not plan.is_line, tables)

    def _joined_up(self, plan: QueryPlan, node: Node, inputs: Mapping[str, DataFrame]) -> DataFrame:
        """The rows of one node, ready for those after it."""
        if not inputs:
            frame = replace(self, use=self._use(plan, node))._compile(node, {})
            return self._counting.without_asides(frame, node) if plan.chained and asides_of(frame) else frame
        frame = self._compile(node, inputs)
        return (
            frame
            if node is plan.base or node.id in plan.beside
            else self._counting.counted(frame, node.id, {node.id: None})
        )

    def chain_of(self, plan: QueryPlan) -> ChainPlan | None:
        return chain_of(plan, self.validated, self.catalogue)

    def lanes(self, chain: ChainPlan) -> int | None:
        """How many lanes the chain has: as many as when it was first started."""
        wanted = self.lane_count or int(self.spark.conf.get("spark.sql.shuffle.partitions") or 1)
        return lanes_of(chain, self.catalogue, wanted)

    def placement(self, plan: QueryPlan) -> Placement | None:
        """Where the query's chain runs, and why there; None for a query without one."""
        serial = self.chain_of(plan)
        return None if serial is None else place(plan, serial, self.validated, self.catalogue)

    def _read_for_chain(self, plan: QueryPlan, serial: ChainPlan) -> DataFrame:
        """The topics' readers run the chain themselves, or pack rows for its lanes. Each topic is read once."""
        placed, lane_count = place(plan, serial, self.validated, self.catalogue), self.lanes(serial) or 1
        stages = placed.way_out == "writer"
        with blaming(serial.nodes[0]):
            read = chain_reading(serial, self.validated, self.catalogue)
            columns = columns_behind(read, self.catalogue, stages=stages)
            if placed.way_in == "packets":
                columns = PACKET_COLUMNS
            wanted = wanted_of_inputs(plan, read, self.validated)
            frames = [
                self._load(self._with_reading(plan, reading, topic, lane_count, stages=stages), columns)
                for topic, reading in topic_readings(read, self.validated, self.catalogue, wanted).items()
            ]
            rows = reduce(lambda one, other: one.union(other), frames)
            if placed.way_in == "reader":
                return rows
            return behind_packets(rows, read, self.catalogue, lane_count, stages=stages)

    def _with_reading(
        self, plan: QueryPlan, reading: ChainReading, topic: str, lane_count: int, *, stages: bool
    ) -> SourceSpec:
        node = self.validated.document.node(topic)
        spec = self.specs.of_topic(node, self._use(plan, node))
        # What nodes on the way let through is counted, also where filters behind the chain want less of it.
        keeps = [one.counted[-1][1] if one.counted else None for one in reading.inputs]
        # Rows that no input wants move its event time all the same: the reader tells how far.
        event_time = None if self.bounded or not any(keeps) else self._schema(node).event_time
        return replace(
            spec,
            chain=replace(reading, lane_count=lane_count, stages=stages),
            prefilter=("or", "BOOLEAN", *keeps) if all(keep is not None and is_cheap(keep) for keep in keeps) else None,
            event_time=event_time,
        )

    def _chained(self, frames: Sequence[DataFrame], plan: QueryPlan, serial: ChainPlan) -> DataFrame:
        with blaming(serial.nodes[0]):
            require_topic(plan, serial, self.catalogue)
            read = serial.reading(
                [handed_over(one.schema, frame) for one, frame in zip(serial.inputs, frames, strict=True)]
            )
            rows = [with_records(frame, one.schema) for one, frame in zip(read.inputs, frames, strict=True)]
            stages = place(plan, serial, self.validated, self.catalogue).way_out == "writer"
            return behind_rows(rows, read, self.catalogue, self.lanes(serial) or 1, stages=stages)

    def _compile(self, node: Node, inputs: Mapping[str, DataFrame]) -> DataFrame:
        operator, config = self.catalogue.get(node.operator), self.validated.configs[node.id]
        with blaming(node):
            if any(RECORD_TIME in frame.columns for frame in inputs.values()):
                config = keeping_records(config)
            return operator.compile(config, inputs, replace(self, node=node))

    def _schema(self, node: Node) -> Schema:
        return self.validated.schemas[node.id]

    def _prefilter(self, plan: QueryPlan, source: Node) -> Prefilter | None:
        """What the filters right behind a topic, in every way that its rows go, let the source leave out."""
        if source.operator != "topic":
            return None
        followers = plan.followers_of(source) if plan.chained else [branch.first_node for branch in plan.branches]
        conditions = [self._condition(node, source) if node else None for node in followers]
        return prefilter_of(conditions, self._schema(source))

    def _letter_outputs(self, plan: QueryPlan) -> list[Output]:
        """The topic for rows that the chain's operators set aside. Raises InvalidInput where nodes name several."""
        serial = self.chain_of(plan)
        named = {} if serial is None else letter_topics(serial, self.validated)
        return [dead_letter_output(plan.node(node), topic, LETTER_COLUMN) for topic, node in named.items()]

    def _condition(self, node: Node, before: Node) -> str | None:
        step = self.catalogue.get(node.operator).row_step(self.validated.configs[node.id], self._schema(before))
        return None if step is None else step.condition

    @property
    def _counting(self) -> RowCounting:
        return RowCounting(self.observations if self.bounded else None)

    def _finished(
        self,
        plan: QueryPlan,
        row: WideRow,
        views: Mapping[str, View],
        sinks: Mapping[str, str | None],
        outputs: list[Output],
    ) -> DataFrame:
        """Counts what each node let through, drops rows that no output wants, keeps what the writer reads."""
        # A node right before a sink lets through what the sink gets: only others must be counted before rows go.
        passed = {node: view.keep for node, view in views.items() if plan.chained or node != plan.base.id}
        early = {node: keep for node, keep in passed.items() if keep not in sinks.values()}
        late = {node: keep for node, keep in {**passed, **sinks}.items() if node not in early}
        frame = self._counting.counted(row.frame, "early", early)
        asides = aside_counts(frame, plan.sources[0])
        # One observation for all counts: each splits the code that Spark generates.
        frame = self._counting.counted(wanted_only(frame, set(sinks.values())), "late", late, asides)
        wanted = [name for output in outputs for name in physical_columns(output)]
        return frame.select(*dict.fromkeys([*wanted, *(name for name in (CHAIN_COLUMN,) if name in frame.columns)]))

"""One streaming query of a job: brought into step with the log, then started."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from headrace.errors import Conflict, EngineLost
from headrace.graph.document import Node
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.compiling.compilation import Compilation, CompiledQuery
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.beginning import Beginning
from headrace.spark.jobs.moving import moved
from headrace.spark.jobs.progress import QueryProgress
from headrace.spark.jobs.sink import Committer
from headrace.spark.jobs.totals import carried_totals
from headrace.spark.jobs.watchdog import Step
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.tables import TABLE_TOPIC_CONFIG
from headrace.spark.reading.starts import resolve_start
from headrace.spark.session.liveness import engine_lost, how_java_ended, java_process, kill_java
from headrace.spark.session.session import STOP_TIMEOUT_S
from headrace.spark.specs import Output, Shaping, SinkSpec, TopicLocation
from headrace.spark.writing.checkpoint import Checkpoint
from headrace.spark.writing.commit import OPENED, CommitLog, CommitRecord
from headrace.spark.writing.files import make_visible, sweep
from headrace.spark.writing.topic_stage import MESSAGE_LIMIT
from headrace.wire.client import Client

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

DEFAULT_PARTITIONS = 1
# How Spark's messages begin before the first trigger of a query.
_INITIALIZING = "Initializing"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class QueryHome:
    """Where a query of a pipeline keeps its files, and its name in the log."""

    pipeline: str
    plan: QueryPlan
    jobs_directory: Path

    @property
    def name(self) -> str:
        return f"{self.pipeline}.{self.plan.name}"

    @property
    def directory(self) -> Path:
        return self.jobs_directory / self.pipeline / self.plan.name

    @property
    def checkpoint(self) -> Path:
        return self.directory / "checkpoint"

    def sink_spec(self, bootstrap: str, outputs: tuple[Output, ...], shaping: Shaping | None = None) -> SinkSpec:
        staging = self.directory / "staging"
        staging.mkdir(parents=True, exist_ok=True)
        return SinkSpec(self.name, bootstrap, str(staging), str(self.checkpoint), outputs, shaping or Shaping())


def open_query(home: QueryHome, log: CommitLog, beginning: Beginning) -> CommitRecord:
    """Takes the query over: nobody else can commit to it any more. Returns where it stands.

    The first time its beginning is written down: a crash cannot move it. Where nodes have other ids or spellings than
    in the version that committed last, the record is written once more with them.
    Raises Conflict when what is stored is not what the beginning was found for.
    """
    log.create()
    last = log.last()
    wanted = identity(home.plan)
    if last is None or (last.batch == OPENED and beginning.stored is None):
        starts = {node: dict(offsets) for node, offsets in beginning.starts.items()}
        released = {node: dict(offsets) for node, offsets in beginning.released.items()}
        totals = carried_totals(log, home.jobs_directory, home.pipeline, beginning.carried)
        now_ms = time.time_ns() // 1_000_000
        last = CommitRecord(OPENED, now_ms, wanted, starts, released=released or None, totals=totals)
        log.commit(last, {})
        return last
    last = last.with_sources(beginning.topics)
    if last.identity == wanted and not last.starts.keys() & beginning.renamed.keys():
        return last
    if beginning.stored is None or beginning.stored.record is None or beginning.stored.record.identity != last.identity:
        raise Conflict(
            f"somebody else committed to query {home.name} meanwhile", node=home.plan.base.id, hint="start it again"
        )
    last = moved(last, beginning.renamed, wanted, home.directory / "serial")
    log.commit(last, {})
    return last


def align(home: QueryHome, spec: SinkSpec, last: CommitRecord, *, again: bool = False) -> None:
    """Brings the files of the query into step with its last commit record, whose batch may be to run `again`."""
    make_visible(last.files)
    sweep(spec, last.files)
    Checkpoint(home.checkpoint).rebuild(last, again=again)
    if last.batch == OPENED:
        shutil.rmtree(home.directory / "preview", ignore_errors=True)


class RunningQuery:
    """A started query, its progress, and the error that its commits raised, if any."""

    def __init__(
        self,
        home: QueryHome,
        compiled: CompiledQuery,
        committer: Committer,
        progress: QueryProgress,
        *,
        until_end: bool,
    ) -> None:
        self.progress = progress
        self.placement = compiled.placement
        self.name = home.plan.name
        self.step: Step = "plan"
        self.moved_s = time.monotonic()
        # The one that runs this query: after its end another may be there.
        self._java = java_process()
        self._stopped = False
        self._committer = committer
        self._failure: Exception | None = None
        writer = compiled.frame.writeStream.queryName(home.name).outputMode(home.plan.output_mode)
        writer = writer.option("checkpointLocation", str(home.checkpoint))
        if until_end:
            writer = writer.trigger(availableNow=True)
        self.query: StreamingQuery = writer.foreachBatch(self._write).start()
        # Of this start: the query's own id is the same after a restart.
        self.run_id = str(self.query.runId)

    @property
    def failure(self) -> BaseException | None:
        """Why the query ended, if it failed or Spark is gone; None while it runs."""
        try:
            ended = self._asked(self.query.exception)
        except EngineLost as lost:
            return lost
        return None if ended is None else self._failure or ended

    @property
    def has_ended(self) -> bool:
        """Raises EngineLost, as the next two do."""
        return not self._asked(lambda: self.query.isActive)

    def moved(self, step: Step = "plan") -> None:
        """Called whenever something shows that the query lives."""
        self.step, self.moved_s = step, time.monotonic()

    @property
    def is_reported(self) -> bool:
        """Whether the last batch that Spark finished has been counted here."""
        last = self._asked(lambda: self.query.lastProgress)
        return (last is None or self.progress.batch >= last.batchId) and self.progress.late.is_settled

    @property
    def is_settled(self) -> bool:
        """Whether all that follows from the rows that were read is committed, and what was late is counted."""
        status = self._asked(lambda: self.query.status)
        # A query that has not looked at its sources yet does not know what is left to do.
        has_looked = not str(status["message"]).startswith(_INITIALIZING)
        is_idle = has_looked and not status["isTriggerActive"] and not status["isDataAvailable"]
        return is_idle and self._committer.is_settled and self.progress.is_settled

    def replace_chain(self, plan: ChainPlan, catalogue: Catalogue, identity: str) -> None:
        """Other serial operators, without a stop: see `ChainDriver.replace`. Raises Conflict."""
        if self._committer.chain is None:
            raise Conflict("the query has no serial operators")
        self._committer.chain.replace(plan, catalogue, identity)

    @property
    def parameters(self) -> Mapping[str, Mapping[str, object]]:
        """Settings that signals changed, by node."""
        return {} if self._committer.signals is None else self._committer.signals.record.parameters

    @property
    def paused_by(self) -> str | None:
        """The signal that the query waits behind, if it is paused."""
        return None if self._committer.signals is None else self._committer.signals.record.paused_by

    @property
    def stopped_by(self) -> str | None:
        """The signal at which the query is to end, once it has committed everything before it."""
        return None if self._committer.signals is None else self._committer.signals.record.stopped_by

    def stop(self) -> None:
        """The query has ended afterwards, and its connection to the broker is closed.

        A query that does not end takes Spark with it. Raises QueryStuck for a commit that does not end even then.
        """
        if self._stopped:
            return
        self._committer.end_soon()
        try:
            if how_java_ended(self._java) is None:
                self.query.stop()
        except Exception as error:
            if engine_lost(error, self._java) is None:
                kill_java(f"query {self.name} does not end within {STOP_TIMEOUT_S} s", self._java)
        self._committer.close()
        self.progress.late.close()
        self._stopped = True

    def _asked(self, question: Callable[[], Answer]) -> Answer:
        """Raises EngineLost where Spark is gone."""
        try:
            return question()
        except Exception as error:
            lost = engine_lost(error, self._java)
            if lost is None:
                raise
            raise lost from error

    def _write(self, frame: DataFrame, batch: int) -> None:
        self.moved("tasks")
        try:
            self._committer.write(frame, batch, lambda: self.moved("commit"))
            self.moved()
        except Exception as error:
            # Spark searches the text of an error with a pattern that overflows the stack on long ones.
            self._failure = error
            raise RuntimeError(type(error).__name__) from None


def with_topics(client: Client, outputs: tuple[Output, ...], wanted: dict[str, int]) -> tuple[Output, ...]:
    """Creates the topics that are missing; the outputs then know how many partitions each has, and what it takes."""
    topics = {output.target for output in outputs if output.kind == "topic"}
    known = client.metadata(topics).topics if topics else {}
    missing = {topic: wanted.get(topic, DEFAULT_PARTITIONS) for topic in topics if topic not in known}
    tables = {output.target for output in outputs if output.table is not None}
    for config, chosen in ((TABLE_TOPIC_CONFIG, missing.keys() & tables), (None, missing.keys() - tables)):
        if chosen:
            client.create_topics({topic: missing[topic] for topic in chosen}, config, exist_ok=True)
    if missing:
        known = client.metadata(topics).topics
    limits = client.topic_settings(topics, [MESSAGE_LIMIT]) if topics else {}

    def placed(output: Output) -> Output:
        count, limit = len(known[output.target].leaders), limits[output.target].get(MESSAGE_LIMIT)
        return replace(output, partition_count=count, batch_bytes_max=None if limit is None else int(limit))

    return tuple(placed(output) if output.kind == "topic" else output for output in outputs)


def batch_range(location: TopicLocation, start: str, end: str) -> Range:
    """The range of a batch run, fixed before it begins."""
    return Range(resolve_start(location, start), resolve_start(location, end))


def topics_of(nodes: Iterable[Node], compilation: Compilation) -> dict[str, TopicLocation]:
    """Where the topics are that source nodes read, by node; others are passed over."""
    return {node.id: compilation.location(str(node.config["topic"])) for node in nodes if node.operator == "topic"}

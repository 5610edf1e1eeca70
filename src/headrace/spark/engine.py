"""The engine: one Spark session, and the pipelines that run on it."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from headrace.credential import credential_path, use_credential
from headrace.errors import Conflict, EngineLost, HeadraceError, NotFound, did_you_mean
from headrace.graph.document import Config, Document, texts_in
from headrace.graph.names import require_name
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.process.python import python_module
from headrace.process.secrets import FOLDER, FOLDER_VARIABLE, require
from headrace.registry import Registry, TopicJournal
from headrace.serial import SqlFunction
from headrace.spark.chains.batch_signals import SignalsRecord
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.compiling.chain_start import make_driver
from headrace.spark.compiling.compilation import Compilation, CompiledQuery
from headrace.spark.compiling.recounting import Recounting, closing_times
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.batch_run import over_range, refuse_clocks, run_once
from headrace.spark.jobs.beginning import Begin, Beginning
from headrace.spark.jobs.decisions import Decisions, source_starts
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.holds import QueryHold, release_holds
from headrace.spark.jobs.job import Job, Turns
from headrace.spark.jobs.late_counts import LateCounts, stateful_nodes
from headrace.spark.jobs.look import LOOK_PREFIX, Look, LookPlaces
from headrace.spark.jobs.notices import Notices
from headrace.spark.jobs.progress import QueryProgress
from headrace.spark.jobs.query import (
    QueryHome,
    RunningQuery,
    align,
    open_query,
    topics_of,
    with_topics,
)
from headrace.spark.jobs.query_figures import QueryFigures
from headrace.spark.jobs.query_signals import QuerySignals, position_of, released_by
from headrace.spark.jobs.sample import Made, Sampling
from headrace.spark.jobs.sink import Committer, Shown
from headrace.spark.jobs.status import BatchResult, JobStatus
from headrace.spark.jobs.totals import TotalsFile
from headrace.spark.jobs.watchdog import WatchLimits
from headrace.spark.planning.meaning import Meaning
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.rules import plan_text
from headrace.spark.planning.tables import create_tables
from headrace.spark.reading.registered import with_schema_ids
from headrace.spark.reading.starts import resolve_start
from headrace.spark.reading.topics import open_topic
from headrace.spark.session.archive import archive_later
from headrace.spark.session.functions import register_functions
from headrace.spark.session.keeper import SessionKeeper
from headrace.spark.session.liveness import engine_lost
from headrace.spark.session.prepare import is_prepared
from headrace.spark.session.session import SparkSettings
from headrace.spark.sources.signal_log import SignalLog
from headrace.spark.specs import Offsets, Output, QueryTopics, TopicLocation
from headrace.spark.writing.checkpoint import Checkpoint
from headrace.spark.writing.commit import CommitLog, CommitRecord
from headrace.spark.writing.files import preview_path
from headrace.wire.client import Client

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each query holds a Python process for its source and a share of the task slots.
QUERIES_MAX = 32
# Jobs that start their queries at once after a start or a restart of Spark: more of them only slow each other down.
LAUNCHES_MAX = 2
NOTICE_ENGINE = "engine"
_IDLE_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`log_directory` is set when the broker's log is on this machine: then its files are read directly."""

    data_directory: Path
    bootstrap: str
    log_directory: Path | None = None
    master: str | None = None
    shuffle_partitions: int | None = None
    spark_conf: dict[str, str] = field(default_factory=dict)
    watch: WatchLimits = field(default_factory=WatchLimits)


@dataclass(slots=True)
class Start:
    """How a job was started. Its restarts after failures go on, and a signal that stopped it still does."""

    beginnings: tuple[Beginning, ...] | None
    """None until it is launched: where its queries begin is decided only then."""
    until_end: bool
    resumed: bool = False
    """Whether the version ran before a crash."""
    released: dict[str, dict[str, Offsets]] = field(default_factory=dict)
    """Query → where its sources stood when somebody started it."""
    shown: Shown | None = None


class Engine:
    """Owns the Spark driver. Its methods may be called from any thread; starts and stops happen one at a time."""

    def __init__(
        self,
        settings: EngineSettings,
        catalogue: Catalogue | None = None,
        *,
        stopped_by_signal: Callable[[str], None] = lambda pipeline: None,
        versions: Callable[[str], Iterable[Document]] = lambda pipeline: (),
    ) -> None:
        """`stopped_by_signal` is told the name of a pipeline that a signal has stopped. `versions` tells what other
        versions a pipeline has, newest first: to find what its stored state means."""
        self.settings = settings
        self._stopped_by_signal = stopped_by_signal
        self.catalogue = catalogue or Catalogue()
        self.events = EventBus()
        self.notices = Notices(self.events)
        self._functions: dict[str, SqlFunction] = {}
        if settings.log_directory is not None:
            use_credential(settings.bootstrap, credential_path(settings.log_directory))
        self.registry = Registry(TopicJournal(settings.bootstrap))
        self._jobs: dict[str, Job] = {}
        self._looks: set[Look] = set()
        self._begun: dict[str, tuple[Beginning, ...]] = {}
        self._decisions = Decisions(
            settings.bootstrap, self._jobs_directory, settings.log_directory, self.catalogue, self.location, versions
        )
        self._lock = threading.RLock()
        self._keeper = SessionKeeper(
            self._spark_settings(),
            prepare=self._prepare,
            lost=self._spark_lost,
            back=self._spark_back,
            answer_s=settings.watch.java_answer_s,
        )
        self._turns = Turns(threading.Semaphore(LAUNCHES_MAX), lambda: self._keeper.reason)
        self._listener: Any = None
        self._making: list[subprocess.Popen[bytes]] = []

    def open(self) -> None:
        """Spark is up afterwards: the session that this process has, or a new one. Raises ExternalFailure.

        From then on it is started again whenever its Java process ends, and pipelines go on from their last commit.
        """
        if not is_prepared():
            # Beside the start of Spark; workers that start before it is done do without.
            prepare = python_module("headrace.spark.session.prepare")
            self._making.append(subprocess.Popen(prepare, stdin=subprocess.DEVNULL))
        os.environ[FOLDER_VARIABLE] = str(self.settings.data_directory.absolute() / FOLDER)
        self._keeper.open()
        self._making.extend(filter(None, [archive_later()]))

    def _spark_settings(self) -> SparkSettings:
        own = self.settings
        return SparkSettings.below(own.data_directory, own.master, own.shuffle_partitions, own.spark_conf)

    def _prepare(self, session: SparkSession) -> None:
        """What a new session must know."""
        from headrace.spark.jobs.listener import ProgressListener  # noqa: PLC0415  (needs pyspark)
        from headrace.spark.sources.registration import register_source  # noqa: PLC0415

        self._functions.clear()
        # A JVM that this process had before knows another folder.
        session.sparkContext.environment[FOLDER_VARIABLE] = os.environ[FOLDER_VARIABLE]
        register_source(session)
        self._listener = ProgressListener(self._report, self._report_idle)
        session.streams.addListener(self._listener)

    def _spark_lost(self, error: EngineLost) -> None:
        self.notices.begin(NOTICE_ENGINE, f"{error.message}; it is started again", error.hint)

    def _spark_back(self, took_s: float) -> None:
        self.notices.end(NOTICE_ENGINE, f"Spark runs again after {took_s:.1f} s")

    @property
    def lost(self) -> EngineLost | None:
        """Why nothing can run now; None while Spark is there."""
        return self._keeper.reason

    @property
    def restarts(self) -> int:
        """How often Spark was started again."""
        return self._keeper.restarts

    @property
    def _spark(self) -> SparkSession:
        """Raises EngineLost."""
        return self._keeper.session

    def close(self) -> None:
        """Stops every pipeline, and Spark unless the process had it before."""
        with self._lock:
            for job in self._jobs.values():
                if job.state in ("starting", "running"):
                    job.stop()
            self._jobs.clear()
            for look in list(self._looks):
                look.close()
            self._keeper.close(lambda session: session.streams.removeListener(self._listener))
            for process in self._making:
                process.terminate()
                process.wait()
            self._making.clear()

    def __enter__(self) -> Engine:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def check(
        self, document: Document, *, reset: bool = False, begin: Begin | None = None
    ) -> tuple[Beginning, ...]:  # fmt: skip
        """What a start would do now, tried as far as that can be without starting anything; what runs goes on.

        Raises what `start` raises.
        """
        require_name(document.name)
        validated = validate(document, self.catalogue)
        with self._lock:
            self._require_room(validated, instead_of=document.name)
            beginnings = self._decisions.made(validated, begin=begin, reset=reset).beginnings
            compilation = replace(self._compilation(validated, {}), opened_ms=0)
            for one in beginnings:
                starts = one.starts if one.stored is None else one.stored.position
                ranges = {node: Range(dict(starts.get(node, {})), None) for node in one.topics}
                home = QueryHome(document.name, one.plan, self._jobs_directory)
                replace(compilation, ranges=ranges, checkpoint=home.checkpoint).query(one.plan)
        return beginnings

    def beginnings(self, pipeline: str) -> tuple[Beginning, ...]:
        """Where the queries of a pipeline began when it was last started here."""
        return self._begun.get(pipeline, ())

    def start(
        self,
        document: Document,
        *,
        reset: bool = False,
        until_end: bool = False,
        begin: Begin | None = None,
        decided: Callable[[], None] = lambda: None,
    ) -> JobStatus:
        """The pipeline runs afterwards, from where it was, or from its sources' start when new or reset.

        With `until_end` it reads what is there now, commits it in micro-batches, and ends by itself. `begin` is where
        queries begin that cannot go on. `decided` is called when it is written down where queries begin, and none of
        them runs yet.

        Raises InvalidGraph, NotFound (a source topic), ExternalFailure, NeedsBegin (a query would begin anew, and
        `begin` does not say where), and Conflict: another version runs, or too many queries run.
        """
        require_name(document.name)
        validated = validate(document, self.catalogue)
        require_secrets(document)
        with self._lock:
            running = self._jobs.get(document.name)
            if running is not None and running.state in ("starting", "running"):
                if running.validated.document == document and not reset:
                    return running.status()
                raise Conflict(f"pipeline {document.name!r} is running", hint="stop it first")
            self._require_room(validated)
            if self.lost is not None and not reset and begin is None:
                # Nothing can begin now. Where it will is decided when Spark is there.
                decided()
                return self._started(validated, Start(None, until_end)).status()
            decision = self._decisions.made(validated, begin=begin, reset=reset)
            self._decisions.write(decision)
            try:
                decided()
                job = self._started(validated, Start(decision.beginnings, until_end))
            except HeadraceError:
                self._decisions.take_back(decision)
                raise
            self._begun[document.name] = decision.beginnings
            self._decisions.settle(decision)
            return job.status()

    def resume(self, document: Document) -> JobStatus:
        """*Starting* afterwards, and running when it is its turn: jobs that ran before go on without anybody waiting.

        Errors are shown by its status. Raises InvalidGraph, Conflict where it runs.
        """
        validated = validate(document, self.catalogue)
        with self._lock:
            running = self._jobs.get(document.name)
            if running is not None and running.state in ("starting", "running"):
                raise Conflict(f"pipeline {document.name!r} is running", hint="stop it first")
            job = self._new_job(validated, Start(None, until_end=False, resumed=True))
            job.resume()
            return job.status()

    def _started(self, validated: Validated, start: Start) -> Job:
        job = self._new_job(validated, start)
        job.start()
        return job

    def _new_job(self, validated: Validated, start: Start) -> Job:
        """The job of its pipeline from now on."""
        launcher, told = self._launcher(validated, start), self._stopped_by_signal
        job = Job(validated, launcher, self.events, told, turns=self._turns, limits=self.settings.watch)
        self._jobs[validated.document.name] = job
        return job

    def stop(self, pipeline: str) -> JobStatus:
        with self._lock:
            job = self._job(pipeline)
            if job.state in ("starting", "running"):
                job.stop()
            return job.status()

    def release(self, pipeline: str) -> None:
        """Called when a pipeline is deleted: its topics need not be kept for it any more. Raises OSError."""
        release_holds(self.settings.log_directory, pipeline)
        self._decisions.release(pipeline)

    def _of_look(self, plan: QueryPlan, validated: Validated) -> Beginning:
        """Looks have names of their own, and nothing is stored under them."""
        starts = source_starts(validated)
        topics = Meaning.of(plan).topics.items()
        return Beginning(
            plan, starts={node: resolve_start(self.location(topic), starts[node]) for node, topic in topics}
        )

    def look(self, document: Document, shown: Shown) -> Look:
        """Runs a pipeline only to show what its previews get, from its sources' start; to be closed by the caller.

        The name of the document is one of `look_name`.

        No list of jobs has it, and no follower of events hears of it. Raises what `start` raises.
        """
        validated = validate(document, self.catalogue)
        require_secrets(document)
        own = Look(document.name, self._look_places, self._looks.discard)
        with self._lock:
            self._require_room(validated)
            plans = plan_queries(validated, self.catalogue)
            launcher = self._launcher(
                validated, Start(tuple(self._of_look(plan, validated) for plan in plans), until_end=False, shown=shown)
            )
            job = Job(validated, launcher, EventBus(), lambda pipeline: None)
            self._looks.add(own)
            try:
                own.start(job)
            except BaseException:
                own.close()
                raise
        return own

    def sweep_looks(self) -> None:
        """Removes what looks of an earlier run left behind; called while none is open. Raises ExternalFailure."""
        self._look_places.sweep(LOOK_PREFIX)

    def status(self, pipeline: str) -> JobStatus:
        return self._job(pipeline).status()

    def is_running(self, pipeline: str) -> bool:
        job = self._jobs.get(pipeline)
        return job is not None and job.state in ("starting", "running")

    def document(self, pipeline: str) -> Document:
        """What was started last under this name. Raises NotFound."""
        return self._job(pipeline).validated.document

    def jobs(self) -> tuple[JobStatus, ...]:
        return tuple(job.status() for job in list(self._jobs.values()))

    def preview(self, pipeline: str, node: str) -> list[str]:
        """The newest rows of a preview node, as JSON texts, the newest last."""
        for running in self._job(pipeline).queries:
            home = QueryHome(pipeline, running.progress.plan, self._jobs_directory)
            path = preview_path(home.sink_spec(self.settings.bootstrap, ()), node)
            if path.exists():
                return path.read_text().splitlines()
        return []

    def wait_idle(self, pipeline: str, timeout_s: float) -> bool:
        """Waits until all that was in the topics at the time of the call is read, and what follows from it committed.

        That is rows of windows too that those records close, without waiting for the next record.
        """
        deadline_s = time.monotonic() + timeout_s
        job = self._job(pipeline)
        targets = self._targets(job)
        while time.monotonic() < deadline_s and job.state in ("starting", "running"):
            if all(self._reached(running, targets) for running in job.queries):
                return True
            time.sleep(_IDLE_POLL_S)
        return False

    def run_batch(self, document: Document, *, start: str = "earliest", end: str = "latest") -> BatchResult:
        """Runs the pipeline once over a range of its topics; all rows become visible together, at the end."""
        require_name(document.name)
        validated = validate(document, self.catalogue)
        require_secrets(document)
        refuse_clocks(validated)
        compilation = over_range(self._compilation(validated, {}, bounded=True), start, end)
        with _named_loss(), Client(self.settings.bootstrap, client_id="headrace-engine") as client:
            create_tables(client, document.nodes)
            directory = self._jobs_directory / document.name / "batch"
            return run_once(compilation, directory, lambda compiled: self._outputs(client, compiled, validated))

    def spark_plans(self, document: Document) -> dict[str, str]:
        """Spark's plan of each query, over what its topics hold now; nothing runs. Raises NotFound, InvalidGraph."""
        validated = validate(document, self.catalogue)
        compilation = over_range(self._compilation(validated, {}, bounded=True), "earliest", "latest")
        plans = plan_queries(validated, self.catalogue)
        return {plan.name: plan_text(compilation.query(plan).frame) for plan in plans}

    def sampling(
        self, made: Mapping[str, Made] | None = None, inputs: Mapping[str, Sequence[Config]] | None = None
    ) -> Sampling:
        """Looks at rows without a job: `made` is what running generators made, `inputs` are rows instead of sources."""
        return Sampling(
            self.catalogue,
            lambda validated, ranges: self._compilation(validated, ranges, bounded=True),
            made or {},
            inputs or {},
        )

    def location(self, topic: str) -> TopicLocation:
        """Where a topic is, for those who read it."""
        directory = self.settings.log_directory
        return TopicLocation(topic, self.settings.bootstrap, None if directory is None else str(directory))

    @property
    def _look_places(self) -> LookPlaces:
        return LookPlaces(self.settings.bootstrap, self._jobs_directory, self.settings.log_directory)

    @property
    def _jobs_directory(self) -> Path:
        return self.settings.data_directory / "jobs"

    def _outputs(self, client: Client, compiled: CompiledQuery, validated: Validated) -> tuple[Output, ...]:
        """With all that they need to be there: their topics, and their schemas in a registry."""
        outputs = with_topics(client, compiled.outputs, _partitions_wanted(validated))
        return with_schema_ids(outputs, lambda: self.registry)

    def _job(self, pipeline: str) -> Job:
        job = self._jobs.get(pipeline)
        if job is None:
            hint = did_you_mean(pipeline, self._jobs)
            raise NotFound(f"no pipeline {pipeline!r} was started", valid=tuple(self._jobs), hint=hint)
        return job

    def _require_room(self, validated: Validated, *, instead_of: str | None = None) -> None:
        others = [job for name, job in self._jobs.items() if name != instead_of]
        jobs = [*others, *(look.job for look in list(self._looks) if look.job is not None)]
        used = sum(len(job.queries) for job in jobs if job.state in ("starting", "running"))
        wanted = len(plan_queries(validated, self.catalogue))
        if used + wanted > QUERIES_MAX:
            raise Conflict(
                f"{used} queries run, {wanted} more are wanted, and {QUERIES_MAX} is the limit", hint="stop a pipeline"
            )

    def _compilation(self, validated: Validated, ranges: dict[str, Range], *, bounded: bool = False) -> Compilation:
        spark = self._spark
        # Spark finds our data source through the session of the calling thread, and any thread may call.
        jvm: Any = spark._jvm
        with _named_loss():
            jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
            register_functions(spark, self._functions, validated.document)
        own = self.settings
        made = Compilation(spark, self.catalogue, validated, own.bootstrap, own.log_directory, ranges, bounded)
        return replace(made, opened_ms=time.time_ns() // 1_000_000)

    def _launcher(self, validated: Validated, start: Start) -> Callable[[], list[RunningQuery]]:
        """Starts all queries of a pipeline."""

        def launch() -> list[RunningQuery]:
            with _named_loss(), Client(self.settings.bootstrap, client_id="headrace-engine") as client:
                if start.beginnings is None:
                    start.beginnings = self._decided(validated, start)
                return self._start_queries(validated, client, start, start.beginnings)

        return launch

    def _decided(self, validated: Validated, start: Start) -> tuple[Beginning, ...]:
        """What other queries left is kept until the next start by hand. Raises EngineLost, and as `start`."""
        self._keeper.session  # noqa: B018  (without Spark nothing is decided: it may take long)
        decision = self._decisions.made(validated, resumed=start.resumed)
        self._decisions.write(decision)
        self._begun[validated.document.name] = decision.beginnings
        return decision.beginnings

    def _start_queries(
        self, validated: Validated, client: Client, start: Start, beginnings: Sequence[Beginning]
    ) -> list[RunningQuery]:
        with ExitStack() as undo:
            started: list[RunningQuery] = []
            names = {one.plan.name for one in beginnings}
            release_holds(self.settings.log_directory, validated.document.name, keep=names)
            for one in beginnings:
                running = self._start_query(validated, one, client, start)
                undo.callback(running.stop)
                started.append(running)
            undo.pop_all()
        return started

    def _start_query(self, validated: Validated, begun: Beginning, client: Client, start: Start) -> RunningQuery:
        plan = begun.plan
        home = QueryHome(validated.document.name, plan, self._jobs_directory)
        compilation = self._compilation(validated, {})
        topics = topics_of(plan.sources, compilation)
        log = CommitLog(Client(self.settings.bootstrap, client_id=f"headrace-{home.name}"), home.name)
        try:
            last = open_query(home, log, begun)
            hold = QueryHold(topics, home.pipeline, plan.name)
            hold.place(last)
            released = start.released.setdefault(plan.name, released_by(last))
            ranges = {node: Range(begin, None, released.get(node, {})) for node, begin in last.starts.items()}
            chain_record = ChainRecord.from_json(last.chain)
            lane_count = chain_record.lane_count
            compilation = replace(
                compilation,
                ranges=ranges,
                lane_count=lane_count,
                checkpoint=home.checkpoint,
                opened_ms=last.time_ms,
            )
            create_tables(client, plan.tables)
            compiled = compilation.query(plan)
            chain = make_driver(compilation, plan, home.directory / "serial")
            if chain is not None:
                chain.sweep(chain_record)
            outputs = self._outputs(client, compiled, validated)
            spec = home.sink_spec(self.settings.bootstrap, outputs, compiled.shaping)
            totals = TotalsFile(home.directory, last.identity)
            reported = totals.reported(last)
            align(home, spec, last, again=reported.batch < last.batch)
            names = {node: location.topic for node, location in topics.items()}
            late = self._late_counts(validated, home, last.starts)
            ends = {**last.starts, **position_of(last)}
            progress = QueryProgress(plan, names, ends=ends, late=late, file=totals)
            progress.go_on(reported)
            if last.totals is not None:
                progress.figures = QueryFigures.from_json(last.batch, last.totals["tasks"])
            progress.figures.note_state(chain_record.manifest)
            signals = self._signals(validated, plan, topics, last, progress)
            committer = Committer(
                spec,
                log,
                chain,
                hold,
                signals,
                shown=start.shown,
                figures=progress.figures,
                reported=progress.reported,
            )
            return RunningQuery(home, compiled, committer, progress, until_end=start.until_end)
        except BaseException:
            log.close()
            raise

    def _late_counts(self, validated: Validated, home: QueryHome, starts: Mapping[str, Offsets]) -> LateCounts:
        plan = home.plan
        recounting = Recounting(
            lambda validated, ranges: self._compilation(validated, ranges, bounded=True),
            self.catalogue,
            validated.document,
            starts,
            closing_times(plan, validated, self.catalogue),
        )
        operators = stateful_nodes(plan, self.catalogue)
        return LateCounts(plan.base.id, operators, recounting, Checkpoint(home.checkpoint))

    def _signals(
        self,
        validated: Validated,
        plan: QueryPlan,
        topics: Mapping[str, TopicLocation],
        last: CommitRecord,
        progress: QueryProgress,
    ) -> QuerySignals | None:
        """For a query that reads topics: only there signals have a place."""
        if not topics:
            return None
        document = validated.document
        read = QueryTopics({node: location.topic for node, location in topics.items()}, last.starts)
        signals = QuerySignals(
            SignalLog(next(iter(topics.values())), document.name, read),
            self.catalogue,
            frozenset(node.id for node in document.nodes if node.id not in plan.members),
            lambda kind, details, node: self.events.publish(document.name, kind, details, node=node),
            lambda: {"query": plan.name, "nodes": progress.figures.by_node()},
            replace(SignalsRecord.from_json(last.signals), stopped_by=None),
        )
        progress.signals = signals.counts
        return signals

    def _report(self, run_id: str, report: Any) -> None:
        for job in list(self._jobs.values()):
            job.report(run_id, report)

    def _report_idle(self, run_id: str) -> None:
        for job in list(self._jobs.values()):
            job.report_idle(run_id)

    def _targets(self, job: Job) -> dict[str, int]:
        """Topic partition → end, for all that the job reads."""
        targets: dict[str, int] = {}
        for name in {name for running in job.queries for name in running.progress.topics.values()}:
            with closing(open_topic(self.location(name))) as topic:
                targets |= {f"{name}-{partition}": end for partition, (_, end) in topic.bounds().items()}
        return targets

    @staticmethod
    def _reached(running: RunningQuery, targets: Mapping[str, int]) -> bool:
        positions = running.progress.positions.items()
        # In this order: what was read last may still have to be counted.
        try:
            return all(offset >= targets.get(partition, 0) for partition, offset in positions) and running.is_settled
        except EngineLost:
            return False  # it comes back


@contextmanager
def _named_loss() -> Iterator[None]:
    """Raises EngineLost for whatever a call into Java raises when nobody is there."""
    try:
        yield
    except Exception as error:
        lost = engine_lost(error)
        if lost is None or lost is error:
            raise
        raise lost from error


def _partitions_wanted(validated: Validated) -> dict[str, int]:
    """Topic → partitions that a sink asks for, should the topic have to be created."""
    configs = validated.configs.values()
    return {config.topic: config.partitions for config in configs if getattr(config, "partitions", None)}


def require_secrets(document: Document) -> None:
    """Raises NotFound, or InvalidInput, for a reference that has no value now."""
    for node in document.nodes:
        require(texts_in(node.config))

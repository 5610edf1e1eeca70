"""The engine: one Spark session, and the pipelines that run on it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from headrace.credential import credential_path, use_credential
from headrace.errors import Conflict, EngineLost, HeadraceError, NotFound, did_you_mean
from headrace.graph.document import Config, Document
from headrace.graph.names import require_name
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.process.python import python_module
from headrace.process.secrets import FOLDER, FOLDER_VARIABLE
from headrace.registry import Registry, TopicJournal
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.batch_run import over_range, refuse_clocks, run_once
from headrace.spark.jobs.beginning import Begin, Beginning
from headrace.spark.jobs.decisions import Decisions
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.failing_rows import FailingRows
from headrace.spark.jobs.failures import named_failure
from headrace.spark.jobs.holds import release_holds
from headrace.spark.jobs.idle import wait_idle
from headrace.spark.jobs.job import Job, Turns
from headrace.spark.jobs.launching import Launching, Start
from headrace.spark.jobs.look import Look
from headrace.spark.jobs.looks import Looks
from headrace.spark.jobs.notices import Notices
from headrace.spark.jobs.query import QueryHome
from headrace.spark.jobs.sample import Made, Sampling
from headrace.spark.jobs.sink import Shown
from headrace.spark.jobs.status import BatchResult, JobStatus
from headrace.spark.jobs.workplace import EngineSettings, Workplace, require_secrets
from headrace.spark.planning.error_nodes import errors_node
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.rules import plan_text
from headrace.spark.planning.runnable import runnable
from headrace.spark.planning.tables import create_tables
from headrace.spark.session.archive import archive_later
from headrace.spark.session.keeper import SessionKeeper
from headrace.spark.session.liveness import named_loss
from headrace.spark.session.prepare import is_prepared
from headrace.spark.specs import TopicLocation
from headrace.spark.writing.files import preview_path
from headrace.wire.client import Client

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each query holds a Python process for its source and a share of the task slots.
QUERIES_MAX = 32
# Jobs that start their queries at once after a start or a restart of Spark: more of them only slow each other down.
LAUNCHES_MAX = 2
NOTICE_ENGINE = "engine"


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
        if settings.log_directory is not None:
            use_credential(settings.bootstrap, credential_path(settings.log_directory))
        self.registry = Registry(TopicJournal(settings.bootstrap))
        self._jobs: dict[str, Job] = {}
        self._starts: dict[str, Start] = {}
        self._lock = threading.RLock()
        self._place = Workplace(settings, self.catalogue, self.registry, lambda: self._spark)
        jobs_directory = self._place.jobs_directory
        self._decisions = Decisions(settings.bootstrap, jobs_directory, settings.log_directory, self.location, versions)
        self._launching = Launching(self._place, self._decisions, self.events)
        self._looks = Looks(self._place, self._launching, self._lock, self._require_room)
        self._keeper = SessionKeeper(
            settings.of_spark,
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
        self._place.sweep_code(one.code.folder for one in self._starts.values())
        self._keeper.open()
        self._making.extend(filter(None, [archive_later()]))

    def _prepare(self, session: SparkSession) -> None:
        """What a new session must know."""
        from headrace.spark.jobs.listener import ProgressListener  # noqa: PLC0415  (needs pyspark)
        from headrace.spark.sources.registration import register_source  # noqa: PLC0415

        self._place.functions.clear()
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
            self._looks.close()
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
        code = self._place.code(document)
        with self._lock, code.active():
            validated = runnable(document, code)
            self._require_room(validated, code, instead_of=document.name)
            beginnings = self._decisions.made(validated, code, begin=begin, reset=reset).beginnings
            compilation = replace(self._place.compilation(validated, {}, code), opened_ms=0)
            for one in beginnings:
                starts = one.starts if one.stored is None else one.stored.position
                ranges = {node: Range(dict(starts.get(node, {})), None) for node in one.topics}
                home = QueryHome(document.name, one.plan, self._place.jobs_directory)
                replace(compilation, ranges=ranges, checkpoint=home.checkpoint).query(one.plan)
        return beginnings

    def beginnings(self, pipeline: str) -> tuple[Beginning, ...]:
        """Where the queries of a pipeline began when it was last started here."""
        return self._launching.begun.get(pipeline, ())

    def start(
        self,
        document: Document,
        *,
        reset: bool = False,
        until_end: bool = False,
        begin: Begin | None = None,
        decided: Callable[[], None] = lambda: None,
        same_code: bool = False,
    ) -> JobStatus:
        """The pipeline runs afterwards, from where it was, or from its sources' start when new or reset.

        With `until_end` it reads what is there now, commits it in micro-batches, and ends by itself. `begin` is where
        queries begin that cannot go on. `decided` is called when it is written down where queries begin, and none of
        them runs yet. Operators of plugins are taken as they are now; with `same_code` as they were when it last ran.

        Raises InvalidGraph, NotFound (a source topic), ExternalFailure, NeedsBegin (a query would begin anew, and
        `begin` does not say where), and Conflict: another version runs, or too many queries run.
        """
        require_name(document.name)
        code = self._place.noted_code(document) if same_code else self._place.code(document)
        with self._lock, code.active():
            validated = runnable(document, code)
            require_secrets(document)
            running = self._jobs.get(document.name)
            if running is not None and running.state in ("starting", "running"):
                if running.validated.as_written == document and not reset:
                    return running.status()
                raise Conflict(f"pipeline {document.name!r} is running", hint="stop it first")
            self._require_room(validated, code)
            if self.lost is not None and not reset and begin is None:
                # Nothing can begin now. Where it will is decided when Spark is there.
                decided()
                return self._started(validated, Start(None, until_end, code)).status()
            decision = self._decisions.made(validated, code, begin=begin, reset=reset)
            self._decisions.write(decision)
            try:
                decided()
                job = self._started(validated, Start(decision.beginnings, until_end, code))
            except HeadraceError:
                self._decisions.take_back(decision)
                raise
            self._launching.begun[document.name] = decision.beginnings
            self._decisions.settle(decision)
            return job.status()

    def resume(self, document: Document) -> JobStatus:
        """*Starting* afterwards, and running when it is its turn: jobs that ran before go on without anybody waiting.

        They keep the code that they ran with. Errors are shown by its status. Raises InvalidGraph, Conflict where it
        runs.
        """
        code = self._place.noted_code(document)
        with self._lock, code.active():
            validated = runnable(document, code)
            running = self._jobs.get(document.name)
            if running is not None and running.state in ("starting", "running"):
                raise Conflict(f"pipeline {document.name!r} is running", hint="stop it first")
            job = self._new_job(validated, Start(None, until_end=False, code=code, resumed=True))
            job.resume()
            return job.status()

    def has_newer_code(self, pipeline: str) -> bool:
        """Whether the next start of a pipeline that runs would take other plugins than it has now."""
        start = self._starts.get(pipeline)
        return start is not None and self.is_running(pipeline) and not self.catalogue.is_current(start.code.folder)

    def _started(self, validated: Validated, start: Start) -> Job:
        with self._place.noting_code(validated.document.name, start.code):
            job = self._new_job(validated, start)
            job.start()
            return job

    def _new_job(self, validated: Validated, start: Start) -> Job:
        """The job of its pipeline from now on."""
        launcher, told = self._launching.launcher(validated, start), self._stopped_by_signal
        job = Job(
            validated,
            launcher,
            self.events,
            told,
            turns=self._turns,
            limits=self.settings.watch,
            located=self._failing_rows(start.code).located,
        )
        self._jobs[validated.document.name] = job
        self._starts[validated.document.name] = start
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

    def look(self, document: Document, shown: Shown) -> Look:
        """Runs a pipeline only to show what its previews get, from its sources' start; to be closed by the caller.

        The name of the document is one of `look_name`.

        No list of jobs has it, and no follower of events hears of it. Raises what `start` raises.
        """
        return self._looks.open(document, shown)

    def sweep_looks(self) -> None:
        """Removes what looks of an earlier run left behind; called while none is open. Raises ExternalFailure."""
        self._looks.sweep()

    def status(self, pipeline: str) -> JobStatus:
        return self._job(pipeline).status()

    def is_running(self, pipeline: str) -> bool:
        job = self._jobs.get(pipeline)
        return job is not None and job.state in ("starting", "running")

    def document(self, pipeline: str) -> Document:
        """What was started last under this name. Raises NotFound."""
        return self._job(pipeline).validated.as_written

    def jobs(self) -> tuple[JobStatus, ...]:
        return tuple(job.status() for job in list(self._jobs.values()))

    def preview(self, pipeline: str, node: str) -> list[str]:
        """The newest rows of a preview node, as JSON texts, the newest last."""
        for running in self._job(pipeline).queries:
            home = QueryHome(pipeline, running.progress.plan, self._place.jobs_directory)
            path = preview_path(home.sink_spec(self.settings.bootstrap, ()), node)
            if path.exists():
                return path.read_text().splitlines()
        return []

    def errors(self, pipeline: str, node: str) -> list[str]:
        """The newest rows that a node failed for, or could not read, as JSON texts, the newest last."""
        return self.preview(pipeline, errors_node(node))

    def wait_idle(self, pipeline: str, timeout_s: float) -> bool:
        """Waits until all that was in the topics at the time of the call is read, and what follows from it committed.

        That is rows of windows too that those records close, without waiting for the next record.
        """
        return wait_idle(self._job(pipeline), self.location, timeout_s)

    def run_batch(self, document: Document, *, start: str = "earliest", end: str = "latest") -> BatchResult:
        """Runs the pipeline once over a range of its topics; all rows become visible together, at the end.

        Raises what `start` raises, and JobFailed for what goes wrong in Spark or in the code of the pipeline.
        """
        require_name(document.name)
        code = self._place.code(document)
        with code.active(), named_failure(document):
            return self._run_batch(runnable(document, code), code, start, end)

    def _run_batch(self, validated: Validated, code: Catalogue, start: str, end: str) -> BatchResult:
        document = validated.document
        require_secrets(document)
        refuse_clocks(validated)
        compilation = over_range(self._place.compilation(validated, {}, code, bounded=True), start, end)
        with named_loss(), Client(self.settings.bootstrap, client_id="headrace-engine") as client:
            create_tables(client, document.nodes)
            directory = self._place.jobs_directory / document.name / "batch"
            return run_once(compilation, directory, lambda compiled: self._place.outputs(client, compiled, validated))

    def spark_plans(self, document: Document) -> dict[str, str]:
        """Spark's plan of each query, over what its topics hold now; nothing runs. Raises NotFound, InvalidGraph."""
        validated = runnable(document, self.catalogue)
        compilation = over_range(
            self._place.compilation(validated, {}, self.catalogue, bounded=True), "earliest", "latest"
        )
        plans = plan_queries(validated, self.catalogue)
        return {plan.name: plan_text(compilation.query(plan).frame) for plan in plans}

    def sampling(
        self, made: Mapping[str, Made] | None = None, inputs: Mapping[str, Sequence[Config]] | None = None
    ) -> Sampling:
        """Looks at rows without a job: `made` is what running generators made, `inputs` are rows instead of sources."""
        return Sampling(
            self.catalogue,
            lambda validated, ranges: self._place.compilation(validated, ranges, self.catalogue, bounded=True),
            made or {},
            inputs or {},
        )

    def location(self, topic: str) -> TopicLocation:
        """Where a topic is, for those who read it."""
        return self._place.location(topic)

    def _failing_rows(self, code: Catalogue) -> FailingRows:
        return FailingRows(self.sampling(), code, self._place.bounds)

    def _job(self, pipeline: str) -> Job:
        job = self._jobs.get(pipeline)
        if job is None:
            hint = did_you_mean(pipeline, self._jobs)
            raise NotFound(f"no pipeline {pipeline!r} was started", valid=tuple(self._jobs), hint=hint)
        return job

    def _require_room(self, validated: Validated, code: Catalogue, *, instead_of: str | None = None) -> None:
        others = [job for name, job in self._jobs.items() if name != instead_of]
        jobs = [*others, *self._looks.jobs()]
        used = sum(len(job.queries) for job in jobs if job.state in ("starting", "running"))
        wanted = len(plan_queries(validated, code))
        if used + wanted > QUERIES_MAX:
            raise Conflict(
                f"{used} queries run, {wanted} more are wanted, and {QUERIES_MAX} is the limit", hint="stop a pipeline"
            )

    def _report(self, run_id: str, report: Any) -> None:
        for job in list(self._jobs.values()):
            job.report(run_id, report)

    def _report_idle(self, run_id: str) -> None:
        for job in list(self._jobs.values()):
            job.report_idle(run_id)

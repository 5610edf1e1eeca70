"""What the API does: versions are kept, pipelines are started and stopped, and wanted ones come back after a crash."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress

from headrace.errors import Conflict, EngineLost, ExternalFailure, HeadraceError, InvalidInput, NotFound
from headrace.graph import Diff, Document, Draft, canonical, compare, validate
from headrace.graph.names import require_name
from headrace.graph.store import PipelineInfo, Saved, Store, Version, VersionInfo
from headrace.operators import Catalogue, WatchedCatalogue
from headrace.registry import Registry
from headrace.server.bodies import DeployBody
from headrace.server.deploying import GO_ON, Choice, Outputs, require_confirmed, require_unread
from headrace.server.disk_check import DiskCheck
from headrace.server.drafts import Drafts
from headrace.server.events import EventStreams
from headrace.server.groups import Groups
from headrace.server.lag import LiveLag
from headrace.server.looks import Looks
from headrace.server.models.jobs import JobView
from headrace.server.producing import MessageSender
from headrace.server.sampler import MetricsSampler
from headrace.server.settings import ServerSettings
from headrace.server.signals import Signals
from headrace.server.topics import Topics
from headrace.server.trials import Trials
from headrace.server.views import job_view
from headrace.server.wanted import WantedState
from headrace.spark import Engine, EngineSettings, JobStatus, PipelineEvent
from headrace.spark.jobs.look import Look
from headrace.spark.jobs.notices import Notices
from headrace.spark.jobs.sink import Shown
from headrace.spark.jobs.watchdog import WatchLimits
from headrace.spark.planning.checks import validate_planned
from headrace.spark.planning.tables import create_table_topics
from headrace.tables import Table, Tables, declared_in

ACTIVE = ("starting", "running")
NUMBER_DIGITS_MAX = 9

_log = logging.getLogger(__name__)


class Service:
    """Methods may be called from any thread; starts, stops and deletions happen one at a time."""

    def __init__(self, settings: ServerSettings) -> None:
        """Raises Conflict and CorruptData for files of a newer or a broken data directory."""
        self.settings = settings
        self.catalogue: Catalogue = WatchedCatalogue()
        data = settings.data_directory
        data.mkdir(parents=True, exist_ok=True)
        self._wanted = WantedState(data / "wanted.json")
        self._store = Store(data / "headrace.sqlite")
        self._engine = Engine(
            EngineSettings(
                data,
                settings.bootstrap,
                settings.log_directory,
                settings.spark,
                watch=WatchLimits.from_environment(),
            ),
            self.catalogue,
            stopped_by_signal=self._wanted.forget,
            versions=self._documents_of,
        )
        self._changing = threading.RLock()
        self._versions: dict[str, Version] = {}
        self.drafts = Drafts(
            self._store,
            self.catalogue,
            running=self.running,
            changed=lambda pipeline, revision: self._engine.events.publish(
                pipeline, "draft_changed", {"revision": revision}
            ),
        )
        self._lag = LiveLag(settings.log_directory)
        self.tables = Tables(data / "tables.sqlite", self._engine.location, self.documents, self.catalogue)
        self.sampler = MetricsSampler(self.measured, lambda: self.notices.current)
        self.disk = DiskCheck(data, self.notices)
        self.topics = Topics(settings.bootstrap, settings.log_directory)
        self.groups = Groups(self.topics)
        self.signals = Signals(settings.bootstrap, self.catalogue, self.last_run, self.run_again)
        self.sender = MessageSender(settings.bootstrap)
        self.trials = Trials(self._engine, settings.limits.batch_runs_max, require_ready=self._require_ready)
        self.looks = Looks(self, settings.limits.looks_max, settings.limits.keep_alive_s)
        self._closing = threading.Event()
        self._ready = threading.Event()
        self.streams = EventStreams(
            self._engine.events,
            life=secrets.token_hex(4),
            streams_max=settings.limits.event_streams_max,
            keep_alive_s=settings.limits.keep_alive_s,
            tick=lambda: self.sampler.tick,
        )

    def open(self) -> None:
        """Spark is up afterwards. Wanted pipelines are *starting* from the beginning and go on one after another: until
        then they can be seen and stopped. Raises ExternalFailure."""
        self.sampler.start()
        self.tables.start()
        self.disk.start()
        for pipeline, version in self._wanted.versions.items():
            self._resume(pipeline, version)
        self._engine.open()
        with suppress(ExternalFailure, OSError):  # what is left does no harm, and the next start finds it
            self._engine.sweep_looks()
        self._ready.set()

    def close(self) -> None:
        """Stops everything; what was wanted to run still is."""
        self._closing.set()
        self.streams.close()
        self.sampler.stop()
        self.disk.stop()
        self.tables.close()
        with self._changing:
            self._engine.close()
            self._store.close()

    @property
    def registry(self) -> Registry:
        return self._engine.registry

    @property
    def is_ready(self) -> bool:
        return self.not_ready is None

    @property
    def not_ready(self) -> str | None:
        """Why no pipeline can run now; None when it can."""
        if self._closing.is_set():
            return "the server is stopping"
        if (lost := self._engine.lost) is not None:
            return lost.message
        return None if self._ready.is_set() else "Spark starts"

    @property
    def notices(self) -> Notices:
        return self._engine.notices

    @property
    def engine_restarts(self) -> int:
        return self._engine.restarts

    def save(self, document: Document, *, note: str, author: str) -> Saved:
        """Raises InvalidGraph for a pipeline that cannot run: then nothing is saved."""
        require_name(document.name)
        validate_planned(document, self.catalogue)
        return self._store.save(canonical(document, self.catalogue), note=note, author=author)

    def declare_table(self, sql: str) -> tuple[Table, ...]:
        """Tables of CREATE TABLE statements: their topics are there afterwards, and they can be asked."""
        # The topics first: a table without one is forgotten.
        topics = [table.topic for table in declared_in(sql, self.catalogue)]
        create_table_topics(self.settings.bootstrap, topics)
        return self.tables.declare(sql)

    def documents(self) -> list[Document]:
        """What runs, and the newest version of everything."""
        newest = [self._store.latest(info.name).document for info in self._store.pipelines()]
        return [*(version.document for version in list(self._versions.values())), *newest]

    def pipelines(self) -> tuple[PipelineInfo, ...]:
        return self._store.pipelines()

    def version(self, name: str, number: int | None) -> Version:
        return self._store.latest(name) if number is None else self._store.get(name, number)

    def versions(self, name: str) -> tuple[VersionInfo, ...]:
        return self._store.versions(name)

    def compare(self, name: str, old: str, new: str) -> Diff:
        """Each a version's number, `draft`, `running` or `latest`. Raises NotFound, InvalidInput."""
        before, after = (self._referred(name, reference) for reference in (old, new))
        return compare(canonical(before, self.catalogue), canonical(after, self.catalogue))

    def _referred(self, name: str, reference: str) -> Document:
        if reference == "draft":
            return self.drafts.open(name).document
        if reference == "latest":
            return self._store.latest(name).document
        if reference == "running":
            running = self.running(name)
            if running is None:
                raise NotFound(
                    f"pipeline {name!r} does not run", hint="compare with latest, or with a version's number"
                )
            return running.document
        if not (reference.isascii() and reference.isdecimal() and len(reference) <= NUMBER_DIGITS_MAX):
            valid = ["a version's number", "draft", "running", "latest"]
            raise InvalidInput(f"{reference[:40]!r} names no version", valid=valid)
        return self._store.get(name, int(reference)).document

    def running(self, name: str) -> Version | None:
        """The version that runs now."""
        states = {job.pipeline: job.state for job in self._engine.jobs()}
        return self._versions.get(name) if states.get(name) in ACTIVE else None

    def deploy(self, name: str, body: DeployBody) -> tuple[VersionInfo, JobStatus]:
        """The draft becomes a version, and that version runs. Where it does not start, what ran before runs again.

        Everything is checked first: what is refused then was not saved, and what runs was not stopped. Raises
        StaleDraft, InvalidGraph, NeedsBegin, NeedsConfirmation, and what a start raises.
        """
        with self._changing:
            self._require_open()
            draft = self.drafts.require(name, body.expected_revision)
            document = canonical(draft.document, self.catalogue)
            self._check(document, body.choice)
            saved = self._store.save(document, note=body.note, author=body.author, layout=draft.layout)
            self.drafts.write(draft.document, draft.revision, draft.layout, saved.version.number)
            return saved.version, self._run_instead(name, saved.version.number, body.choice)

    def run(self, document: Document, *, note: str, author: str, choice: Choice) -> tuple[VersionInfo, JobStatus]:
        """The pipeline becomes a version, which runs instead of the one that runs now. Raises as `deploy`."""
        require_name(document.name)
        with self._changing:
            self._require_ready()
            made = canonical(document, self.catalogue)
            self._check(made, choice)
            saved = self._store.save(made, note=note, author=author)
            return saved.version, self._run_instead(document.name, saved.version.number, choice)

    def switch(self, name: str, number: int | None, choice: Choice = GO_ON) -> JobStatus:
        """That version runs, or the newest. Where it does not start, what ran before runs again.

        Everything is checked before what runs is stopped. Raises NotFound, and what a start raises.
        """
        version = self.version(name, number)
        with self._changing:
            self._require_ready()
            self._check(version.document, choice)
            return self._run_instead(name, version.info.number, choice)

    def _check(self, document: Document, choice: Choice) -> None:
        """Tries all that a start needs, without stopping or saving anything. Raises what a start raises."""
        validate(document, self.catalogue)
        beginnings = self._engine.check(document, reset=choice.reset, begin=choice.begin)
        outputs = Outputs.of(document, self.catalogue)
        if choice.truncate:
            require_unread(outputs, (known for known in self.documents() if known.name != document.name))
        require_confirmed(document, beginnings, choice, outputs, self.topics)

    def _run_instead(self, name: str, number: int, choice: Choice) -> JobStatus:
        before = self.running(name)
        has_changed = before is not None and (before.info.number != number or self._engine.has_newer_code(name))
        if before is not None and (has_changed or choice.reset):
            self._engine.stop(name)
        try:
            return self._run(name, self._store.get(name, number), choice)
        except HeadraceError:
            if before is not None:
                self._start_again(before)
            raise

    def _start_again(self, version: Version) -> None:
        try:
            self._run(version.info.pipeline, version, GO_ON, same_code=True)
        except HeadraceError as error:
            _log.warning("pipeline %s does not start again: %s", version.info.pipeline, error.message)

    def _documents_of(self, name: str) -> Iterator[Document]:
        """All versions of a pipeline, the newest first."""
        for info in reversed(self._store.versions(name)):
            yield self._store.get(name, info.number).document

    def restore(self, name: str, number: int, expected_revision: int) -> Draft:
        """The draft becomes that version, as a change of the latest one: a draft that equals its base follows it."""
        version, latest = self._store.get(name, number), self._store.latest(name)
        return self.drafts.write(version.document, expected_revision, version.layout, latest.info.number)

    def delete(self, name: str) -> None:
        """Removes the pipeline, its versions and its draft; topics stay. Raises Conflict while it runs."""
        with self._changing:
            self.drafts.open(name)
            if self.running(name) is not None:
                raise Conflict(f"pipeline {name!r} is running", hint="stop it first")
            self._wanted.forget(name)
            self._versions.pop(name, None)
            self._engine.release(name)
            self.drafts.discard(name)
            with suppress(NotFound):  # it may have been a draft only
                self._store.delete(name)

    def start(self, name: str, number: int | None, choice: Choice = GO_ON) -> JobStatus:
        """Runs now, and again after a restart of the server, until it is stopped.

        Without a number it is the version that ran last, or the newest where none ever ran.
        """
        version = self._store.runs_next(name) if number is None else self._store.get(name, number)
        with self._changing:
            self._require_open()
            running = self.running(name)
            if running is not None and running.info.number != version.info.number:
                message = f"pipeline {name!r} runs version {running.info.number}"
                raise Conflict(message, hint=f"DEPLOY PIPELINE {name} VERSION {version.info.number} runs it instead")
            if running is not None and choice.reset:
                raise Conflict(f"pipeline {name!r} is running", hint="stop it first, or reset it with a deploy")
            if choice.reset:
                self._check(version.document, choice)
            return self._run(name, version, choice)

    def _run(self, name: str, version: Version, choice: Choice, *, same_code: bool = False) -> JobStatus:
        if choice.truncate:
            self.topics.truncate(Outputs.of(version.document, self.catalogue).topics)
        wanted = self._wanted.versions.get(name)
        try:
            status = self._start(name, version, choice, same_code=same_code)
            self._store.note_run(name, version.info.number)
        except HeadraceError:
            if self._engine.is_running(name):
                self._engine.stop(name)
            self._want(name, wanted)
            raise
        return status

    def _want(self, name: str, number: int | None) -> None:
        if number is None:
            self._wanted.forget(name)
        else:
            self._wanted.want(name, number)

    def _start(self, name: str, version: Version, choice: Choice, *, same_code: bool) -> JobStatus:
        """The version is known before: those who hear of the start ask at once what runs."""
        before = self._versions.get(name)
        self._versions[name] = version
        try:
            return self._engine.start(
                version.document,
                reset=choice.reset,
                begin=choice.begin,
                # Before its first micro-batch: after a crash, what has committed goes on.
                decided=lambda: self._wanted.want(name, version.info.number),
                same_code=same_code,
            )
        except BaseException:
            if before is None:
                del self._versions[name]
            else:
                self._versions[name] = before
            raise

    def run_again(self, name: str) -> JobStatus:
        """Starts the version that ran last, or else the latest; one that runs is left as it is."""
        if self.running(name) is not None:
            return self.job(name)
        return self.start(name, self.job_version(name))

    def stop(self, name: str) -> JobStatus:
        """Forgotten before it is stopped: a crash in between must not bring it back."""
        with self._changing:
            self._require_open()
            self._engine.status(name)
            self._wanted.forget(name)
            return self._engine.stop(name)

    def spark_plans(self, document: Document) -> dict[str, str]:
        """Spark's plan of each query. Raises Conflict while Spark starts."""
        self._require_ready()
        return self._engine.spark_plans(document)

    def look(self, document: Document, shown: Shown) -> Look:
        """Runs a pipeline for somebody who watches its rows. Raises what a start raises."""
        self._require_ready()
        return self._engine.look(document, shown)

    def jobs(self) -> tuple[JobStatus, ...]:
        return tuple(self._lag.of(job) for job in self._engine.jobs())

    def job(self, name: str) -> JobStatus:
        return self._lag.of(self._engine.status(name))

    def shown(self, name: str, node: str) -> Document:
        """What a look at a node is about: the version that was started last, or the draft where it has no such node.

        Raises NotFound for a pipeline that has neither.
        """
        started = self._versions.get(name)
        if started is not None and any(known.id == node for known in started.document.nodes):
            return started.document
        return self.drafts.open(name).document

    def last_run(self, name: str) -> Document:
        """What was started last, or else the latest version. Raises NotFound."""
        version = self._versions.get(name) or self._store.latest(name)
        return version.document

    def measured(self) -> list[tuple[JobStatus, Document | None]]:
        """Every job with the document that it runs."""
        versions = dict(self._versions)
        return [(job, versions[job.pipeline].document if job.pipeline in versions else None) for job in self.jobs()]

    def job_version(self, name: str) -> int | None:
        version = self._versions.get(name)
        return version.info.number if version else None

    def job_view(self, status: JobStatus) -> JobView:
        refused = self.signals.refusal(status.pipeline)
        began = self._engine.beginnings(status.pipeline)
        version, figures = self.job_version(status.pipeline), self.sampler.figures(status)
        return job_view(status, version, figures, refused, began, newer_code=self._newer_code(status.pipeline))

    def _newer_code(self, name: str) -> str | None:
        """Of a pipeline that runs with other plugins than there are now."""
        if not self._engine.has_newer_code(name):
            return None
        problems = "; ".join(self.catalogue.plugin_problems)
        kept = "the plugin files were changed after it was started: it keeps the code that it was started with"
        return f"{kept}, and {problems}" if problems else f"{kept}. Deploy it again to take the new code"

    def begun(self, name: str) -> list[str]:
        """Where each query began with the last start, in words."""
        return [one.summary for one in self._engine.beginnings(name)]

    def job_events(self, name: str, limit: int) -> tuple[PipelineEvent, ...]:
        """The newest that are kept, oldest first."""
        return self._engine.events.history(name)[-limit:]

    def preview(self, name: str, node: str, limit: int) -> list[str]:
        """The newest rows as JSON texts, the newest last."""
        return self._engine.preview(name, node)[-limit:]

    def errors(self, name: str, node: str, limit: int) -> list[str]:
        """The newest rows that a node failed for, as JSON texts, the newest last."""
        return self._engine.errors(name, node)[-limit:]

    def _require_open(self) -> None:
        """Pipelines can be started and stopped also while Spark is not there: they run when it is."""
        if self._closing.is_set():
            raise ExternalFailure("the server is stopping")

    def _require_ready(self) -> None:
        self._require_open()
        if (reason := self.not_ready) is not None:
            raise EngineLost(reason, hint="try again in a few seconds")

    def _resume(self, pipeline: str, version: int) -> None:
        """One that cannot even begin is logged and does not keep others from running; what comes later its job says."""
        try:
            found = self._store.get(pipeline, version)
            self._versions[pipeline] = found
            self._engine.resume(found.document)
        except HeadraceError as error:
            _log.warning("pipeline %s does not start: %s", pipeline, error.message)
            self._engine.events.publish(pipeline, "error", error.to_dict(), node=error.node)

"""What the API does: versions are kept, pipelines are started and stopped, and wanted ones come back after a crash."""

from __future__ import annotations

import logging
import secrets
import threading

from headrace.errors import Conflict, ExternalFailure, HeadraceError
from headrace.graph import Document, canonical, validate
from headrace.graph.diff import Diff
from headrace.graph.names import require_name
from headrace.graph.store import PipelineInfo, Saved, Store, Version, VersionInfo
from headrace.operators import Catalogue, load_catalogue
from headrace.server.events import EventStreams
from headrace.server.settings import ServerSettings
from headrace.server.wanted import WantedState
from headrace.spark import BatchResult, Engine, EngineSettings, JobStatus

# Names are in URLs and in paths of the data directory.

_log = logging.getLogger(__name__)


class Service:
    """Methods may be called from any thread; starts, stops and deletions happen one at a time."""

    def __init__(self, settings: ServerSettings) -> None:
        """Raises Conflict and CorruptData for files of a newer or a broken data directory."""
        self.settings = settings
        self.catalogue: Catalogue = load_catalogue()
        data = settings.data_directory
        data.mkdir(parents=True, exist_ok=True)
        self._wanted = WantedState(data / "wanted.json")
        self._store = Store(data / "headrace.sqlite")
        self._engine = Engine(
            EngineSettings(data, settings.bootstrap, settings.log_directory, settings.spark), self.catalogue
        )
        self._changing = threading.Lock()
        self._batches = threading.BoundedSemaphore(settings.limits.batch_runs_max)
        self._closing = threading.Event()
        self._ready = threading.Event()
        self.streams = EventStreams(
            self._engine.events,
            life=secrets.token_hex(4),
            streams_max=settings.limits.event_streams_max,
            keep_alive_s=settings.limits.keep_alive_s,
        )

    def open(self) -> None:
        """Spark is up and wanted pipelines run afterwards, or their job says why not. Raises ExternalFailure."""
        self._engine.open()
        for pipeline, version in self._wanted.versions.items():
            self._resume(pipeline, version)
        self._ready.set()

    def close(self) -> None:
        """Stops everything; what was wanted to run still is."""
        self._closing.set()
        self.streams.close()
        with self._changing:
            self._engine.close()
            self._store.close()

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set() and not self._closing.is_set()

    def save(self, document: Document, *, note: str, author: str) -> Saved:
        """Raises InvalidGraph for a pipeline that cannot run: then nothing is saved."""
        require_name(document.name)
        validate(document, self.catalogue)
        return self._store.save(canonical(document, self.catalogue), note=note, author=author)

    def pipelines(self) -> tuple[PipelineInfo, ...]:
        return self._store.pipelines()

    def version(self, name: str, number: int | None) -> Version:
        return self._store.latest(name) if number is None else self._store.get(name, number)

    def versions(self, name: str) -> tuple[VersionInfo, ...]:
        return self._store.versions(name)

    def compare(self, name: str, old: int, new: int) -> Diff:
        return self._store.compare(name, old, new)

    def delete(self, name: str) -> None:
        """Removes the pipeline and its versions; topics stay. Raises Conflict while it runs."""
        with self._changing:
            self._store.latest(name)
            if any(job.pipeline == name and job.state in ("starting", "running") for job in self._engine.jobs()):
                raise Conflict(f"pipeline {name!r} is running", hint="stop it first")
            self._wanted.forget(name)
            self._store.delete(name)

    def start(self, name: str, number: int | None, *, reset: bool) -> JobStatus:
        """Runs now, and again after a restart of the server, until it is stopped."""
        version = self.version(name, number)
        with self._changing:
            self._require_ready()
            status = self._engine.start(version.document, reset=reset)
            try:
                self._wanted.want(name, version.info.number)
            except HeadraceError:
                self._engine.stop(name)
                raise
            return status

    def stop(self, name: str) -> JobStatus:
        """Forgotten before it is stopped: a crash in between must not bring it back."""
        with self._changing:
            self._require_ready()
            self._engine.status(name)
            self._wanted.forget(name)
            return self._engine.stop(name)

    def jobs(self) -> tuple[JobStatus, ...]:
        return self._engine.jobs()

    def job(self, name: str) -> JobStatus:
        return self._engine.status(name)

    def preview(self, name: str, node: str, limit: int) -> list[str]:
        """The newest rows as JSON texts, the newest last."""
        return self._engine.preview(name, node)[-limit:]

    def run_batch(self, document: Document, start: str, end: str) -> BatchResult:
        """Raises Conflict when too many runs are under way."""
        self._require_ready()
        require_name(document.name)
        if not self._batches.acquire(blocking=False):
            runs_max = self.settings.limits.batch_runs_max
            raise Conflict(f"{runs_max} batch runs are under way, which is the limit", hint="try again later")
        try:
            return self._engine.run_batch(document, start=start, end=end)
        finally:
            self._batches.release()

    def _require_ready(self) -> None:
        if not self._ready.is_set():
            raise ExternalFailure("Spark is still starting", hint="try again in a few seconds")
        if self._closing.is_set():
            raise ExternalFailure("the server is stopping")

    def _resume(self, pipeline: str, version: int) -> None:
        """Failures that may pass are tried again; one that stays is logged and does not keep others from running."""
        limits = self.settings.limits
        for attempt in range(1, limits.resume_tries_max + 1):
            try:
                self._engine.start(self._store.get(pipeline, version).document)
            except HeadraceError as error:
                _log.warning("pipeline %s does not start (try %d): %s", pipeline, attempt, error.message)
                self._engine.events.publish(pipeline, "error", {**error.to_dict(), "attempt": attempt}, node=error.node)
                if not error.retriable or self._closing.wait(limits.resume_wait_s):
                    return
            else:
                _log.info("pipeline %s runs again", pipeline)
                return

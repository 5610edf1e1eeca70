"""One running pipeline: its queries, their progress, and what happens when one of them fails."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from headrace.errors import HeadraceError
from headrace.graph.validation import Validated
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.failures import explain
from headrace.spark.jobs.status import JobState, JobStatus

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from headrace.spark.jobs.query import RunningQuery

RESTARTS_MAX = 20
RESTART_DELAY_S = 1.0
# Records that cannot be read are tried again after 1, 2, 4 … seconds, but not after more than this.
RETRY_DELAY_MAX_S = 60.0
# A job that ran this long without a failure gets its restarts back.
HEALTHY_S = 60.0
# How long an ended job waits for the last reports of its queries.
REPORTS_WAIT_S = 5.0
_WATCH_INTERVAL_S = 0.2
# Of all queries of the engine, while a job launches its own.
EARLY_REPORTS_MAX = 1_000


class Job:
    """Runs until stopped or until its queries end. `launch` starts them in step with the log, also after a failure."""

    def __init__(
        self,
        validated: Validated,
        launch: Callable[[], list[RunningQuery]],
        events: EventBus,
        stopped_by_signal: Callable[[str], None],
    ) -> None:
        """`stopped_by_signal` is told the pipeline's name when a signal has stopped it."""
        self.validated = validated
        self._stopped_by_signal = stopped_by_signal
        self.pipeline = validated.document.name
        self._launch = launch
        self._events = events
        self._lock = threading.Lock()
        self._reporting = threading.RLock()
        # A query may report before its launch has returned. None while no launch is under way.
        self._early: deque[tuple[str, StreamingQueryProgress]] | None = None
        self._stopping = threading.Event()
        self._state: JobState = "starting"
        self._error: HeadraceError | None = None
        self._queries: list[RunningQuery] = []
        self._started_ms = 0
        self._restarts = 0
        self._watcher = threading.Thread(target=self._watch, name=f"job-{self.pipeline}", daemon=True)

    def start(self) -> None:
        """Running afterwards. Raises what the first launch raises; then nothing runs."""
        self._started_ms = time.time_ns() // 1_000_000
        try:
            self._launch_queries()
        except HeadraceError as error:
            self._fail(error)
            raise
        self._set_state("running")
        chains = {running.progress.plan.name: str(running.placement) for running in self._queries if running.placement}
        details: dict[str, object] = {"content_hash": self.validated.document.content_hash, "chains": chains}
        self._events.publish(self.pipeline, "started", details)
        self._watcher.start()

    def stop(self) -> None:
        """All queries have ended afterwards; what they committed stays, and a later start goes on from there."""
        self._set_state("stopping")
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._stop_queries()
        self._set_state("stopped")
        self._events.publish(self.pipeline, "stopped")

    @property
    def state(self) -> JobState:
        return self._state

    @property
    def error(self) -> HeadraceError | None:
        """Why it failed, or why it is being started again."""
        return self._error

    @property
    def queries(self) -> list[RunningQuery]:
        with self._lock:
            return list(self._queries)

    def status(self) -> JobStatus:
        return JobStatus(
            pipeline=self.pipeline,
            state=self._state,
            content_hash=self.validated.document.content_hash,
            queries=tuple(running.progress.status() for running in self.queries),
            error=self._error.to_dict() if self._error else None,
            started_ms=self._started_ms,
            restarts=self._restarts,
            paused_by=next((running.paused_by for running in self.queries if running.paused_by), None),
            parameters={node: own for running in self.queries for node, own in running.parameters.items()},
        )

    def report(self, run_id: str, report: StreamingQueryProgress) -> None:
        """Called by the listener for every report of every query; those of others are passed over."""
        with self._reporting:
            if self._early is not None:
                self._early.append((run_id, report))
                return
            for running in self.queries:
                if running.run_id == run_id:
                    details = running.progress.add(report, self.validated.document)
                    self._events.publish(self.pipeline, "progress", details)

    def _launch_queries(self) -> None:
        """Reports that come meanwhile are taken in afterwards, in order. Raises what the launch raises."""
        with self._reporting:
            early = self._early = deque(maxlen=EARLY_REPORTS_MAX)
        launched = self.queries
        try:
            launched = self._launch()
        finally:
            with self._reporting:
                with self._lock:
                    self._queries = launched
                self._early = None
                for run_id, report in early:
                    self.report(run_id, report)

    def _watch(self) -> None:
        healthy_since_s = time.monotonic()
        while not self._stopping.wait(_WATCH_INTERVAL_S):
            failure = next((f for running in self.queries if (f := running.failure)), None)
            if failure is None:
                if all(running.has_ended for running in self.queries):
                    self._end()
                    return
                if all(running.stopped_by or running.has_ended for running in self.queries):
                    self._stop_at_signal()
                    return
                continue
            if time.monotonic() - healthy_since_s > HEALTHY_S:
                self._restarts = 0
            if not self._recover(failure):
                return
            healthy_since_s = time.monotonic()

    def _end(self) -> None:
        """All that was to be read is read and committed. The last reports of progress may still be on their way."""
        deadline_s = time.monotonic() + REPORTS_WAIT_S
        while time.monotonic() < deadline_s and not all(running.is_reported for running in self.queries):
            time.sleep(_WATCH_INTERVAL_S)
        self._stop_queries()
        self._events.publish(self.pipeline, "end_of_stream")
        self._set_state("stopped")

    def _stop_at_signal(self) -> None:
        """Every query has committed all that lies before the signal, and nothing after it."""
        signal = next(running.stopped_by for running in self.queries if running.stopped_by)
        self._stop_queries()
        self._stopped_by_signal(self.pipeline)
        self._set_state("stopped", signal=signal)
        self._events.publish(self.pipeline, "stopped", {"signal": signal})

    def _recover(self, failure: BaseException) -> bool:
        """Restarts after a failure that may pass. False: the job has failed for good."""
        error, retriable = self._explained(failure)
        self._stop_queries()
        while retriable and self._restarts < RESTARTS_MAX:
            self._restarts += 1
            self._error = error
            self._set_state("starting", reason=error.message, restart=self._restarts)
            if self._stopping.wait(self._delay_s(error)):
                return False
            try:
                self._launch_queries()
            except HeadraceError as again:
                error, retriable = self._explained(again)
                continue
            self._error = None
            self._set_state("running")
            return True
        self._fail(error)
        return False

    def _explained(self, failure: BaseException) -> tuple[HeadraceError, bool]:
        """The error to show, and whether to run again: a source may want that for records that cannot be read."""
        error, retriable = explain(failure, self.validated.document)
        return error, retriable or self._retries_records(error)

    def _retries_records(self, error: HeadraceError) -> bool:
        config = self.validated.configs.get(error.node or "")
        return error.record is not None and getattr(config, "bad_rows", None) == "retry"

    def _delay_s(self, error: HeadraceError) -> float:
        if not self._retries_records(error):
            return RESTART_DELAY_S
        return min(RETRY_DELAY_MAX_S, RESTART_DELAY_S * 2.0 ** (self._restarts - 1))

    def _fail(self, error: HeadraceError) -> None:
        self._error = error
        self._set_state("failed", reason=error.message)
        self._events.publish(self.pipeline, "error", error.to_dict(), node=error.node)

    def _stop_queries(self) -> None:
        for running in self.queries:
            running.stop()

    def _set_state(self, state: JobState, **details: object) -> None:
        before, self._state = self._state, state
        if before != state:
            self._events.publish(self.pipeline, "state_changed", {"before": before, "now": state, **details})

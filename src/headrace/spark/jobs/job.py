"""One running pipeline: its queries, their progress, and what happens when one of them fails."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headrace.causes import known_cause
from headrace.errors import EngineLost, HeadraceError, JobFailed, QueryStuck
from headrace.graph.validation import Validated
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.failures import explain, is_outside
from headrace.spark.jobs.status import JobState, JobStatus
from headrace.spark.jobs.watchdog import Stall, Watchdog, WatchLimits
from headrace.spark.specs import Offsets

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from headrace.spark.jobs.query import RunningQuery

RESTARTS_MAX = 20
RESTART_DELAY_S = 1.0
# What is not the pipeline's fault (a full disk, a broker that is away) is waited for without end, after 1, 2, 3 s …
OUTSIDE_DELAY_MAX_S = 5.0
# While Spark starts, and before it is this job's turn to start its queries.
TURN_POLL_S = 0.1
# Records that cannot be read are tried again after 1, 2, 4 … seconds, but not after more than this.
RETRY_DELAY_MAX_S = 60.0
# A job that ran this long without a failure gets its restarts back.
HEALTHY_S = 60.0
# How long an ended job waits for the last reports of its queries.
REPORTS_WAIT_S = 5.0
_WATCH_INTERVAL_S = 0.2
# Of all queries of the engine, while a job launches its own.
EARLY_REPORTS_MAX = 1_000


_log = logging.getLogger(__name__)

Located: TypeAlias = Callable[[HeadraceError, Validated, Mapping[str, Offsets]], HeadraceError]


@dataclass(frozen=True, slots=True)
class Turns:
    """Jobs of one engine start their queries in turns: so many at once, while Spark is there."""

    free: threading.Semaphore
    lost: Callable[[], EngineLost | None] = lambda: None


class Job:
    """Runs until stopped or until its queries end. `launch` starts them in step with the log, also after a failure."""

    def __init__(
        self,
        validated: Validated,
        launch: Callable[[], list[RunningQuery]],
        events: EventBus,
        stopped_by_signal: Callable[[str], None],
        *,
        turns: Turns | None = None,
        limits: WatchLimits | None = None,
        located: Located = lambda error, validated, ends: error,
    ) -> None:
        """`stopped_by_signal` is told the pipeline's name when a signal has stopped it. `located` finds the row that
        an expression failed for, behind what sources have committed."""
        self.validated = validated
        self._located = located
        self._turns = turns or Turns(threading.Semaphore())
        self._watchdog = Watchdog(limits or WatchLimits())
        self._stall: Stall | None = None
        self._waits_for: str | None = None
        # What outside was at fault when it was last started again, until a query has moved since.
        self._missing: str | None = None
        self._has_run = False
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
        self._watcher = threading.Thread(target=self._run, name=f"job-{self.pipeline}", daemon=True)

    def start(self) -> None:
        """Running afterwards; or *starting* while Spark is not there, and running once it is.

        Raises what the first launch raises; then nothing runs.
        """
        self._started_ms = time.time_ns() // 1_000_000
        try:
            self._launch_queries()
        except EngineLost as lost:
            self._error = lost
        except HeadraceError as error:
            self._fail(error)
            raise
        except Exception as error:
            self._fail(_named(error))
            raise _named(error) from error
        else:
            self._set_running()
        self._watcher.start()

    def resume(self) -> None:
        """*Starting* afterwards: its queries are started when it is this job's turn. Errors are shown by its status."""
        self._started_ms = time.time_ns() // 1_000_000
        self._watcher.start()

    def stop(self) -> None:
        """All queries have ended afterwards; what they committed stays, and a later start goes on from there.

        Raises QueryStuck for a commit that does not end; then it can be stopped again.
        """
        self._set_state("stopping")
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        try:
            self._stop_queries()
        except QueryStuck as error:
            self._fail(error)
            raise
        self._error = self._missing = None
        self._set_state("stopped")
        self._events.publish(self.pipeline, "stopped")

    @property
    def state(self) -> JobState:
        return self._state

    @property
    def error(self) -> HeadraceError | None:
        """Why it failed, or why it was started again, until a query has moved since."""
        return self._error

    @property
    def queries(self) -> list[RunningQuery]:
        with self._lock:
            return list(self._queries)

    def status(self) -> JobStatus:
        restarts = self._restarts
        return JobStatus(
            pipeline=self.pipeline,
            state=self._state,
            content_hash=self.validated.as_written.content_hash,
            queries=tuple(running.progress.status() for running in self.queries),
            error=self._error.to_dict() if self._error else None,
            started_ms=self._started_ms,
            restarts=restarts,
            paused_by=next((running.paused_by for running in self.queries if running.paused_by), None),
            parameters={node: own for running in self.queries for node, own in running.parameters.items()},
            waits_for=(self._missing or self._waits_for) if self._stall is None else str(self._stall),
            stalled_s=0.0 if self._stall is None else self._stall.seconds,
        )

    def report(self, run_id: str, report: StreamingQueryProgress) -> None:
        """Called by the listener for every report of every query; those of others are passed over."""
        with self._reporting:
            if self._early is not None:
                self._early.append((run_id, report))
                return
            for running in self.queries:
                if running.run_id == run_id:
                    self._moved(running)
                    details = running.progress.add(report, self.validated.as_written)
                    self._events.publish(self.pipeline, "progress", details)

    def report_idle(self, run_id: str) -> None:
        """Called by the listener for a query that has nothing to do."""
        for running in self.queries:
            if running.run_id == run_id:
                self._moved(running)

    def _moved(self, running: RunningQuery) -> None:
        running.moved()
        if self._state == "running":
            self._error = self._missing = None

    def _run(self) -> None:
        """Whatever is raised here has a name in the job's status: a job never stands still without a word."""
        try:
            if self._state == "starting" and not self._relaunch(self._error):
                return
            self._watch()
        except Exception as error:
            _log.exception("job %s failed", self.pipeline)
            self._fail(_named(error))

    def _set_running(self, after: BaseException | None = None) -> None:
        """After a failure its error stays in sight: that queries were started does not show that it has passed."""
        if after is None or isinstance(after, EngineLost):
            self._error = self._missing = None
        self._set_state("running")
        if self._has_run:
            return
        self._has_run = True
        chains = {running.progress.plan.name: str(running.placement) for running in self._queries if running.placement}
        details: dict[str, object] = {"content_hash": self.validated.as_written.content_hash, "chains": chains}
        self._events.publish(self.pipeline, "started", details)

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
            failure = next((f for running in self.queries if (f := running.failure)), None) or self._stuck()
            if failure is None:
                try:
                    if self._has_finished():
                        return
                except EngineLost as lost:
                    failure = lost
            if failure is None:
                continue
            if time.monotonic() - healthy_since_s > HEALTHY_S:
                self._restarts = 0
            if not self._recover(failure):
                return
            healthy_since_s = time.monotonic()

    def _has_finished(self) -> bool:
        """Raises EngineLost."""
        if all(running.has_ended for running in self.queries):
            self._end()
            return True
        if all(running.stopped_by or running.has_ended for running in self.queries):
            self._stop_at_signal()
            return True
        return False

    def _stuck(self) -> QueryStuck | None:
        """Reports a query that stands still, once; the error where it stood too long."""
        before, self._stall = self._stall, self._watchdog.look(self.queries)
        stall = self._stall
        if stall is None:
            if before is not None:
                self._watchdog.helped()
                self._events.publish(self.pipeline, "stalled", {"query": before.query, "ended": True})
            return None
        if before is None:
            _log.warning("pipeline %s: %s", self.pipeline, stall)
            details: dict[str, object] = {"query": stall.query, "seconds": stall.seconds, "message": str(stall)}
            self._events.publish(self.pipeline, "stalled", details)
        if not stall.is_stuck:
            return None
        self._stall = None
        self._watchdog.restarted()
        return QueryStuck(str(stall), hint="it is started again from its last commit")

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
        try:
            self._stop_queries()
        except QueryStuck as stuck:
            failure = stuck
        return self._relaunch(failure)

    def _relaunch(self, failure: BaseException | None) -> bool:
        """Starts the queries, again and again while that may help. False: stopped, or failed for good.

        A query must have ended before another of its kind begins, so that a commit that does not end is waited for.
        """
        while True:
            if failure is not None and not self._may_go_on(failure):
                return False
            if not self._take_turn():
                return False
            try:
                self._stop_queries()
                self._launch_queries()
            except Exception as again:
                failure = again
                continue
            finally:
                self._turns.free.release()
            self._set_running(after=failure)
            return True

    def _may_go_on(self, failure: BaseException) -> bool:
        """Waits as long as the failure asks for. False: stopped meanwhile, or failed for good."""
        error, retriable = self._explained(failure)
        is_lost = isinstance(failure, EngineLost)
        if not (is_lost or is_outside(failure) or (retriable and self._restarts < RESTARTS_MAX)):
            self._fail(error)
            return False
        # In this order: whoever sees a restart sees its reason.
        self._error = error
        self._missing = error.message if is_outside(failure) and not is_lost else None
        self._restarts += not is_lost
        self._set_state("starting", reason=error.message, restart=self._restarts)
        return not self._stopping.wait(TURN_POLL_S if is_lost else self._delay_s(error, is_outside(failure)))

    def _take_turn(self) -> bool:
        """True: Spark is there, and the turn is to be given back. False: stopped while waiting."""
        try:
            while not self._stopping.is_set():
                lost = self._turns.lost()
                self._waits_for = "its turn to start" if lost is None else lost.message
                if lost is not None:
                    self._stopping.wait(TURN_POLL_S)
                elif self._turns.free.acquire(timeout=TURN_POLL_S):
                    return True
            return False
        finally:
            self._waits_for = None

    def _explained(self, failure: BaseException) -> tuple[HeadraceError, bool]:
        """The error to show, and whether to run again: a source may want that for records that cannot be read."""
        error, retriable = explain(failure, self.validated.as_written)
        if not retriable and error.record is None and not isinstance(failure, HeadraceError):
            ends = {node: offsets for running in self.queries for node, offsets in running.progress.ends.items()}
            error = self._located(error, self.validated, ends)
        return error, retriable or self._retries_records(error)

    def _retries_records(self, error: HeadraceError) -> bool:
        config = self.validated.configs.get(error.node or "")
        return error.record is not None and getattr(config, "on_error", None) == "retry"

    def _delay_s(self, error: HeadraceError, outside: bool) -> float:
        if outside:
            return min(OUTSIDE_DELAY_MAX_S, RESTART_DELAY_S * self._restarts)
        if not self._retries_records(error):
            return RESTART_DELAY_S
        return min(RETRY_DELAY_MAX_S, RESTART_DELAY_S * 2.0 ** (self._restarts - 1))

    def _fail(self, error: HeadraceError) -> None:
        self._error, self._missing = error, None
        self._set_state("failed", reason=error.message)
        self._events.publish(self.pipeline, "error", error.to_dict(), node=error.node)

    def _stop_queries(self) -> None:
        for running in self.queries:
            running.stop()

    def _set_state(self, state: JobState, **details: object) -> None:
        before, self._state = self._state, state
        if before != state:
            self._events.publish(self.pipeline, "state_changed", {"before": before, "now": state, **details})


def _named(error: Exception) -> HeadraceError:
    """One that nobody knows is a defect, and is called by the name of its class."""
    return known_cause(error) or JobFailed(f"a defect: {type(error).__name__}: {error}", hint="the log shows where")

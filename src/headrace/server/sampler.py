"""One thread that takes the figures of all jobs, at the pace at which they are shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from headrace.graph import Document
from headrace.server.figures import FigureBook
from headrace.server.models.jobs import JobFigures, MetricsTick
from headrace.spark import JobStatus

TICK_S: Final = 0.5


class MetricsSampler:
    """`tick` is the newest look at all jobs; it is made anew every TICK_S after `start`."""

    def __init__(self, measured: Callable[[], list[tuple[JobStatus, Document | None]]]) -> None:
        self._measured = measured
        self._book = FigureBook()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._tick = MetricsTick(time_ms=0, jobs={})

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def tick(self) -> MetricsTick:
        return self._tick

    def figures(self, status: JobStatus) -> JobFigures:
        """Of one job; taken now where it began after the last tick."""
        known = self._tick.jobs.get(status.pipeline)
        if known is not None and known.state == status.shown_state:
            return known
        return self.sample().jobs.get(status.pipeline) or FigureBook().update([(status, None)])[status.pipeline]

    def sample(self) -> MetricsTick:
        with self._lock:
            self._tick = MetricsTick(time_ms=time.time_ns() // 1_000_000, jobs=self._book.update(self._measured()))
            return self._tick

    def _run(self) -> None:
        while not self._stopping.wait(TICK_S):
            self.sample()

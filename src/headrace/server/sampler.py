"""One thread that takes the figures of all jobs, at the pace at which they are shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Final

from headrace.graph import Document
from headrace.server.figures import FigureBook
from headrace.server.models.jobs import JobFigures, MetricsTick, NoticeView
from headrace.spark import JobStatus
from headrace.spark.jobs.notices import Notice

TICK_S: Final = 0.5


class MetricsSampler:
    """`tick` is the newest look at all jobs; it is made anew every TICK_S after `start`."""

    def __init__(
        self,
        measured: Callable[[], list[tuple[JobStatus, Document | None]]],
        notices: Callable[[], Iterable[Notice]] = lambda: (),
    ) -> None:
        self._measured = measured
        self._notices = notices
        self._book = FigureBook()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._tick = MetricsTick(time_ms=0, jobs={}, notices=[])

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
            jobs = self._book.update(self._measured())
            notices = [NoticeView(**asdict(notice)) for notice in self._notices()]
            self._tick = MetricsTick(time_ms=time.time_ns() // 1_000_000, jobs=jobs, notices=notices)
            return self._tick

    def _run(self) -> None:
        while not self._stopping.wait(TICK_S):
            self.sample()

"""Short runs beside the jobs: samples of an edge, test runs, and batch runs over a range; so many at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headrace.errors import Conflict
from headrace.graph import Document
from headrace.graph.names import require_name
from headrace.server.bodies import SampleBody, TestRunBody
from headrace.server.figures import node_counts
from headrace.server.models.jobs import SampleView, TestRunView
from headrace.server.views import sample_view, test_run_view
from headrace.spark import BatchResult, Engine
from headrace.spark.jobs.sample import Made


class Trials:
    """May be used by many threads. Every method raises Conflict when too many run, and what `require_ready` raises."""

    def __init__(self, engine: Engine, runs_max: int, *, require_ready: Callable[[], None]) -> None:
        self._engine = engine
        self._runs_max = runs_max
        self._runs = threading.BoundedSemaphore(runs_max)
        self._require_ready = require_ready

    def sample(self, document: Document, body: SampleBody) -> SampleView:
        """The newest rows at a place of a pipeline. Raises NotFound, InvalidGraph."""
        began_s = time.monotonic()
        node, port = body.place
        with self._one():
            sampling = self._engine.sampling(self._made(document.name))
            return sample_view(sampling.edge(document, node, port, body.limit, body.filter), began_s)

    def test_run(self, document: Document, body: TestRunBody) -> TestRunView:
        """Rows after each node, for given ones or the newest. Raises InvalidGraph, InvalidInput."""
        began_s = time.monotonic()
        with self._one():
            return test_run_view(self._engine.sampling(inputs=body.inputs).nodes(document, body.limit), began_s)

    def run_batch(self, document: Document, start: str, end: str) -> BatchResult:
        """Answers when all is read and written. Raises InvalidGraph, InvalidInput, NotFound."""
        require_name(document.name)
        with self._one():
            return self._engine.run_batch(document, start=start, end=end)

    def _made(self, pipeline: str) -> dict[str, Made]:
        jobs = [job for job in self._engine.jobs() if job.pipeline == pipeline]
        return {
            node: Made(count.rows_out_total, job.started_ms) for job in jobs for node, count in node_counts(job).items()
        }

    @contextmanager
    def _one(self) -> Iterator[None]:
        self._require_ready()
        if not self._runs.acquire(blocking=False):
            raise Conflict(f"{self._runs_max} runs are under way, which is the limit", hint="try again later")
        try:
            yield
        finally:
            self._runs.release()

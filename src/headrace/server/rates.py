"""How many requests a second are taken: a burst, then a steady rate; fewer of those that cost much."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from headrace.server.problems import problem

# Each of these compiles a graph, reads a log or runs Spark.
_COSTLY: Final = re.compile(
    r"POST /api/(check|batch|sql/look|test-run|pipelines/validate|jobs/[^/]+/sample)|GET /api/topics/[^/]+/messages"
)


class Bucket:
    """Fills by `per_second` up to `burst`; every request takes one."""

    def __init__(self, per_second: float, burst: float, clock_s: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock_s = clock_s
        self._left = burst
        self._filled_s = clock_s()

    def wait_s(self) -> float:
        """Takes one and returns 0, or returns how long to wait for one."""
        now_s = self._clock_s()
        self._left = min(self._burst, self._left + (now_s - self._filled_s) * self._per_second)
        self._filled_s = now_s
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0


class RequestRates:
    """Used by the event loop alone."""

    def __init__(
        self, requests_per_second: float, costly_per_second: float, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._all = Bucket(requests_per_second, 2 * requests_per_second, clock_s)
        self._costly = Bucket(costly_per_second, 2 * costly_per_second, clock_s)

    def refusal(self, method: str, path: str) -> Response | None:
        wait_s = self._all.wait_s()
        if not wait_s and _COSTLY.fullmatch(f"{method} {path}"):
            wait_s = self._costly.wait_s()
        if not wait_s:
            return None
        response = problem(HTTPStatus.TOO_MANY_REQUESTS, "too_many", "too many requests a second: wait a little")
        response.headers["Retry-After"] = str(math.ceil(wait_s))
        return response

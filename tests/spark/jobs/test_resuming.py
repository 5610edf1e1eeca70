"""Pipelines that ran before go on in turns, a few at a time; those that wait can be seen and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.campaign import often

from headrace.spark.engine import LAUNCHES_MAX
from headrace.spark.jobs.launching import Launching

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

PIPELINES = often(5, 20)
DEADLINE_S = 60.0 * PIPELINES
TURN = "its turn to start"


class Gate:
    """Launches pass it when it is open; how many were at it at once is counted."""

    def __init__(self, launch: Callable[..., Any]) -> None:
        self._launch = launch
        self._lock = threading.Lock()
        self.is_open = threading.Event()
        self.inside = 0
        self.inside_max = 0

    def around(self) -> Callable[..., Any]:
        """A function, and so a method of the class that it is set on."""

        def launched(launching: Launching, *given: Any) -> Any:
            return self._passed(launching, *given)

        return launched

    def _passed(self, launching: Launching, *given: Any) -> Any:
        with self._lock:
            self.inside += 1
            self.inside_max = max(self.inside, self.inside_max)
        try:
            assert self.is_open.wait(DEADLINE_S)
            return self._launch(launching, *given)
        finally:
            with self._lock:
                self.inside -= 1


def until(holds: Callable[[], Any]) -> Any:
    deadline_s = time.monotonic() + DEADLINE_S
    while not (found := holds()):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return found


def test_many_pipelines_go_on_in_turns_and_can_be_stopped_meanwhile(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = stack.topic("many", [{"n": n} for n in range(10)], partitions=1)
    targets = {stack.name("many"): stack.name("many-out") for _ in range(PIPELINES)}
    gate = Gate(Launching._start_queries)
    monkeypatch.setattr(Launching, "_start_queries", gate.around())
    for name, target in targets.items():
        text = f'topic {source} schema="n BIGINT" ! filter "n > 4" ! to-topic {target}'
        assert stack.engine.resume(stack.pipeline(text, name)).state == "starting"

    def waiting() -> list[str]:
        return [name for name in targets if stack.engine.status(name).waits_for == TURN]

    until(lambda: gate.inside == LAUNCHES_MAX and len(waiting()) == PIPELINES - LAUNCHES_MAX)
    # Nothing was started yet: one that waits is stopped all the same, at once.
    stopped = waiting()[-1]
    assert stack.engine.stop(stopped).state == "stopped"
    gate.is_open.set()
    others = [name for name in targets if name != stopped]
    until(lambda: all(stack.engine.status(name).state == "running" for name in others))
    assert gate.inside_max == LAUNCHES_MAX
    for name in others:
        stack.finish(stack.engine.document(name))
        assert sorted(row["n"] for row in stack.rows(targets[name])) == [5, 6, 7, 8, 9]
    assert (stack.engine.status(stopped).state, stack.engine.status(stopped).queries) == ("stopped", ())

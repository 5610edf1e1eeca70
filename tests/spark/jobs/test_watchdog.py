"""Queries that stand still, and processes of Spark that are killed or hang: noticed, reported, and gone on exactly."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from headrace.bench import processes
from headrace.errors import InvalidConfig
from headrace.graph.document import Document
from headrace.spark.jobs.watchdog import Step, Watchdog, WatchLimits
from headrace.spark.session.fork_server import DAEMON, PLANNER, start_fork_server

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

IDLE_TIMEOUT_S = 180.0
LIMITS = WatchLimits(quiet_s=60, stuck_s=300, stuck_max_s=1000)


@dataclass
class Query:
    name: str
    moved_s: float
    step: Step = "tasks"


def test_a_query_that_stands_still_is_reported_then_stuck_and_gets_longer_after_a_restart() -> None:
    now_s = [0.0]
    dog = Watchdog(LIMITS, lambda: now_s[0])
    quick, slow = Query("quick", 0), Query("slow", 0)

    def look(at_s: float) -> str | None:
        now_s[0], quick.moved_s = at_s, at_s
        stall = dog.look([quick, slow])
        return None if stall is None else f"{'stuck' if stall.is_stuck else 'quiet'}: {stall}"

    assert look(59) is None
    assert look(61) == "quiet: query slow has not moved for 61 s: the tasks of a micro-batch do not end"
    slow.step = "commit"
    assert look(300) == "stuck: query slow has not moved for 300 s: the commit of a micro-batch does not end"
    dog.restarted()
    assert (look(599) or "").startswith("quiet")
    assert (look(600) or "").startswith("stuck")
    dog.restarted()
    dog.restarted()
    assert (look(1000) or "").startswith("stuck"), "the limit has a limit"
    dog.helped()
    slow.moved_s = 1000
    assert (look(1301) or "").startswith("stuck")


def test_the_limits_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert WatchLimits.from_environment() == WatchLimits()
    monkeypatch.setenv("HEADRACE_WATCH_STUCK_S", "7.5")
    assert WatchLimits.from_environment() == WatchLimits(stuck_s=7.5)
    for wrong in ("0", "soon", "nan", "inf"):
        monkeypatch.setenv("HEADRACE_WATCH_JAVA_ANSWER_S", wrong)
        with pytest.raises(
            InvalidConfig, match=f"HEADRACE_WATCH_JAVA_ANSWER_S is '{wrong}'\nvalid: a number of seconds"
        ):
            WatchLimits.from_environment()


def test_no_queries_do_not_stand_still() -> None:
    assert Watchdog(LIMITS).look([]) is None


@pytest.fixture
def running(stack: Stack) -> Iterator[tuple[Document, str, str]]:
    """A pipeline that has committed its first rows, its source and its output."""
    source, output = stack.topic("watched", [{"n": n} for n in range(10)]), stack.name("watched-out")
    document = stack.pipeline(f'topic {source} schema="n BIGINT" ! deduplicate n as once ! to-topic {output}')
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
    yield document, source, output
    stack.engine.stop(document.name)


def until(found: Callable[[], Any], what: str) -> Any:
    deadline_s = time.monotonic() + IDLE_TIMEOUT_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, what
        time.sleep(0.05)
    return value


def require_rows(stack: Stack, document: Document, source: str, output: str, first: int) -> None:
    """More rows come in, and all are in the output exactly once."""
    stack.produce(source, [{"n": n} for n in range(first, first + 10)])
    total = first + 10
    until(lambda: len(stack.rows(output)) >= total, "rows come again")
    assert sorted(row["n"] for row in stack.rows(output)) == list(range(total))
    assert stack.engine.status(document.name).state == "running"


def forks(module: str) -> list[int]:
    """Of the server that Spark's Python processes are forked from, with their own."""
    server = start_fork_server().server
    assert server is not None
    found = [pid for pid in processes.tree(server.pid) if module.encode() in processes.command_line(pid)]
    assert found
    return found


def test_rows_go_on_when_the_daemon_of_the_workers_is_killed(stack: Stack, running: tuple[Document, str, str]) -> None:
    processes.kill(forks(DAEMON))
    require_rows(stack, *running, 10)


def test_rows_go_on_when_the_planner_of_a_query_is_killed(stack: Stack, running: tuple[Document, str, str]) -> None:
    processes.kill(forks(PLANNER))
    require_rows(stack, *running, 10)


def test_a_worker_that_hangs_is_noticed_and_its_query_started_again(
    stack: Stack, running: tuple[Document, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document, source, output = running
    stack.engine.stop(document.name)
    limits = WatchLimits(quiet_s=2, stuck_s=4, stuck_max_s=IDLE_TIMEOUT_S)
    monkeypatch.setattr(stack.engine, "settings", replace(stack.engine.settings, watch=limits))
    stack.engine.start(document)
    until(lambda: stack.engine.status(document.name).state == "running", "it runs")
    seen = max((event.number for event in stack.engine.events.history()), default=0)
    hung = forks(DAEMON)
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    try:
        stack.produce(source, [{"n": n} for n in range(10, 20)])

        def reasons() -> list[str]:
            later = [event for event in stack.engine.events.history(document.name) if event.number > seen]
            return [str(event.details.get("reason")) for event in later if event.kind == "state_changed"]

        until(lambda: any("has not moved" in reason for reason in reasons()), "it is noticed")
    finally:
        processes.kill(hung)
    kinds = [event.kind for event in stack.engine.events.history(document.name) if event.number > seen]
    assert "stalled" in kinds
    require_rows(stack, document, source, output, 20)

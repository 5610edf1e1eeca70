"""Parts that hang for real, under `headrace up` with short limits: noticed, shown, and gone on exactly."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.bench import processes
from headrace.process import RunInfo
from headrace.server import BackgroundStack, StackSettings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DEADLINE_S = 180.0
LIMITS = {"QUIET_S": "3", "STUCK_S": "8", "STUCK_MAX_S": "120", "JAVA_ANSWER_S": "8"}
ROWS = 'generator 50 columns=["value AS n"] as made ! to-topic hung as out'


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunInfo, httpx.Client]]:
    """What runs where, and the API. A pipeline runs and has committed rows."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIMITS.items():
            patch.setenv(f"HEADRACE_WATCH_{name}", value)
        stack = BackgroundStack(StackSettings(tmp_path_factory.mktemp("hanging"), broker_port=0, http_port=0))
        info = stack.start(DEADLINE_S)
    bearer = {"Authorization": f"Bearer {info.token}"}
    with httpx.Client(base_url=info.url, headers=bearer, timeout=DEADLINE_S, trust_env=False) as api:
        assert api.post("/api/pipelines", json={"name": "hung", "text": ROWS}).status_code < 300
        assert api.post("/api/pipelines/hung/start").status_code == 200
        until(lambda: end(api) > 0, "rows come")
        yield info, api
    stack.stop()


def until(found: Callable[[], Any], what: str) -> Any:
    deadline_s = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, what
        time.sleep(0.1)
    return value


def end(api: httpx.Client) -> int:
    shown = api.get("/api/topics/hung")
    return sum(part["end_offset"] for part in shown.json()["partitions"]) if shown.status_code == 200 else 0


def values(api: httpx.Client) -> list[int]:
    found: list[int] = []
    query = {"from": "earliest", "limit": "500"}
    while True:
        page = api.get("/api/topics/hung/messages", params=query).json()
        found += [message["value"]["value"]["n"] for message in page["messages"]]
        if page["is_complete"]:
            return found
        query = {**query, "cursor": page["next"]}


def require_exact(api: httpx.Client) -> None:
    """More rows come, each of them once."""
    before = end(api)
    until(lambda: end(api) > before, "rows come again")
    until(lambda: api.get("/api/jobs/hung").json()["state"] == "running", "the job runs")
    found = values(api)
    assert sorted(found) == list(range(len(found))), "a row was lost or doubled"


def events(api: httpx.Client, after: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/api/jobs/hung/events").json()["events"]
    return [event for event in found if event["number"] > after]


@contextmanager
def hanging(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        # Whoever noticed may have killed it.
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGCONT)


def test_a_commit_that_hangs_is_reported_and_its_query_started_again(up: tuple[RunInfo, httpx.Client]) -> None:
    """The broker takes the request and never answers: it is stopped, not dead."""
    info, api = up
    seen = max(event["number"] for event in events(api, 0))

    def reasons(kind: str) -> list[str]:
        return [str(event["details"]) for event in events(api, seen) if event["kind"] == kind]

    with hanging(info.broker_pid):
        until(lambda: any("the commit of a micro-batch" in text for text in reasons("stalled")), "it is reported")
        until(lambda: any("has not moved" in text for text in reasons("state_changed")), "it is started again")
    require_exact(api)


def test_a_java_that_hangs_is_killed_and_started_again(up: tuple[RunInfo, httpx.Client]) -> None:
    info, api = up
    java = processes.spark_java(info.server_pid)
    assert java is not None
    with hanging(java):
        gone = until(lambda: (shown := api.get("/ready")).status_code == 503 and shown.json(), "it is noticed")
    assert gone["reason"] == "Spark's Java process was killed: no answer for 8 s"
    until(lambda: api.get("/ready").status_code == 200, "Spark runs again")
    assert "headrace_engine_restarts_total" in api.get("/metrics").text
    require_exact(api)

"""One run of the demo: the whole stack, telemetry in, rows out, and at the end the comparison of both."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from headrace.demo.check import Expected, Report, check, expect
from headrace.demo.feed import Feed
from headrace.demo.fleet import Fleet
from headrace.demo.pipelines import (
    AVERAGES,
    DRONES,
    HEIGHTS,
    HIGH_ALTITUDE,
    LOW_BATTERY,
    TELEMETRY,
    WATERMARK_S,
    drones_sql,
    heights_text,
)
from headrace.demo.tail import Tail
from headrace.errors import Conflict, ExternalFailure, JobFailed
from headrace.kafka import Reader
from headrace.process import RunInfo
from headrace.server.client import ServerClient
from headrace.server.stack import BackgroundStack, StackSettings
from headrace.wire.client import LATEST, Client

START_TIMEOUT_S: Final = 180.0
FINISH_TIMEOUT_S: Final = 300.0
CLOSING_INTERVAL_S: Final = 1.0
POLL_S: Final = 0.1
OUTPUT_PARTITIONS: Final = 2

OUTPUTS: Final = (LOW_BATTERY, AVERAGES, HIGH_ALTITUDE)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """One partition keeps the order of the whole fleet, and so no row can be later than the watermark. With more
    partitions a longer watermark must cover how far they may drift apart."""

    seed: int = 1
    rate_per_s: float = 1_000.0
    events_max: int | None = None
    drone_count: int = 50
    data_directory: Path | None = None
    broker_port: int = 0
    http_port: int = 0
    partitions: int = 1
    watermark_s: int = WATERMARK_S


class Demo:
    """Runs inside `with`. `say` is told each step in words."""

    def __init__(self, settings: DemoSettings, say: Say = lambda sentence: None) -> None:
        self.settings = settings
        self.fleet = Fleet(settings.seed, settings.drone_count)
        self.tails: dict[str, Tail] = {}
        self._say = say
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Telemetry flows and both pipelines run afterwards. Raises HeadraceError."""
        with ExitStack() as opening:
            self._start(opening)
            self._open = opening.pop_all()
        self.began_s = time.monotonic()
        self.feed.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say("stopping")
        self._open.close()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began_s

    def look(self) -> list[dict[str, Any]]:
        """The jobs as they are now; none while the server is away. Raises what ended the feed, the stack or a job."""
        self.feed.check()
        self._stack.check()
        try:
            jobs = self._server.jobs()
        except ExternalFailure:
            return []
        for job in jobs:
            if job["state"] == "failed":
                raise JobFailed(f"pipeline {job['pipeline']!r} failed: {job['error']['message']}")
        return jobs

    def finish(self) -> Report:
        """Ends the telemetry, closes all windows, waits for the last rows, and compares them with what was sent.

        Rows that do not come within FINISH_TIMEOUT_S are lost. Raises HeadraceError when something failed for good.
        """
        self._say("telemetry ends; the last windows close")
        count = self.feed.finish()
        expected = expect(islice(self.fleet.events(), count))
        self._wait_for(expected)
        self._say("comparing what came out with what was sent")
        return check(expected, {topic: _rows(self.info.bootstrap, topic) for topic in OUTPUTS})

    def _start(self, opening: ExitStack) -> None:
        directory = self.settings.data_directory or Path(
            opening.enter_context(tempfile.TemporaryDirectory(prefix="headrace-demo-", ignore_cleanup_errors=True))
        )
        ports = self.settings.broker_port, self.settings.http_port
        self._stack = BackgroundStack(StackSettings(directory, *ports), log=self._say)
        opening.callback(self._stack.stop)
        self.info: RunInfo = self._stack.start(START_TIMEOUT_S)
        self._server = opening.enter_context(ServerClient(self.info))
        self._create_topics(directory)
        self._start_pipelines()
        for topic in OUTPUTS:
            self.tails[topic] = Tail(self.info.bootstrap, topic)
            self.tails[topic].start()
            opening.callback(self.tails[topic].stop)
        own = self.settings
        self.feed = Feed(self.info.bootstrap, self.fleet, own.rate_per_s, own.events_max)

    def _create_topics(self, directory: Path) -> None:
        with Client(self.info.bootstrap, client_id="headrace-demo") as client:
            counts = {TELEMETRY: self.settings.partitions, **dict.fromkeys(OUTPUTS, OUTPUT_PARTITIONS)}
            client.create_topics(counts, exist_ok=True)
            for topic in counts:
                partitions = client.metadata([topic]).topics[topic].leaders
                ends = client.list_offsets(topic, dict.fromkeys(partitions, LATEST)).values()
                if any(end.offset for end in ends):
                    hint = "give another --data-dir, or none for a temporary one"
                    raise Conflict(f"the topic {topic} in {directory} holds records of an earlier demo", hint=hint)

    def _start_pipelines(self) -> None:
        self._say(f"starting the pipelines {DRONES} (SQL) and {HEIGHTS} (text notation)")
        self._server.save({"sql": drones_sql(self.settings.watermark_s)}, note="the demo", author="headrace")
        self._server.save({"text": heights_text(), "name": HEIGHTS}, note="the demo", author="headrace")
        for name in (DRONES, HEIGHTS):
            self._server.start(name)

    def _wait_for(self, expected: Expected) -> None:
        """Until as many rows came as must come and both pipelines have read everything, or time is over."""
        deadline_s = time.monotonic() + FINISH_TIMEOUT_S
        closing, closed_s = 0, 0.0
        while time.monotonic() < deadline_s:
            complete = sum(tail.row_count for tail in self.tails.values()) >= expected.row_count
            if complete and _all_read(self.look()):
                return
            if not complete and time.monotonic() - closed_s > CLOSING_INTERVAL_S:
                # A window closes in the batch after the one that moved the watermark: more than one event is needed.
                self.feed.close_windows(closing)
                closing, closed_s = closing + 1, time.monotonic()
            self.look()
            time.sleep(POLL_S)


def demo_result(report: Report, settings: DemoSettings, seconds: float) -> dict[str, Any]:
    """What `headrace demo --json` prints."""
    return {
        "events_in": report.events_in,
        "events_out": report.events_out,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "wrong": report.wrong,
        "seconds": round(seconds, 3),
        "seed": settings.seed,
        "examples": report.examples,
    }


def _all_read(jobs: list[dict[str, Any]]) -> bool:
    lags = [lag for job in jobs for query in job["queries"] for lag in query["lag"].values()]
    return len(jobs) == len((DRONES, HEIGHTS)) and not any(lags)


def _rows(bootstrap: str, topic: str) -> list[dict[str, Any]]:
    with Reader(bootstrap, topic, client_id="headrace-demo") as reader:
        return [json.loads(record.value or b"{}") for record in reader.records()]

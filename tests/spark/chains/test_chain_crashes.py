"""kill −9 of the whole engine amid stateful micro-batches, and attempts that race: every row once, as without them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.campaign import often
from tests.spark.cut_groups import closed_windows, groups_between_cuts

from headrace.graph.document import Document
from headrace.signals import SignalRecord
from headrace.spark.jobs.sending import signal_to
from headrace.wire.client import Client
from headrace.wire.client.signals import send_signal

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(often(600, 14_400))]

SCRIPT = Path(__file__).with_name("engine_process.py")
KILLS = often(2, 30)
ROWS_PER_TURN = 400
KEYS = 7
DEADLINE_S = 120.0


class EngineProcess:
    """Driver, JVM and workers in a session of their own."""

    def __init__(self, stack: Stack, data: Path, document: Document, **more: Any) -> None:
        given = {"data": str(data), "bootstrap": stack.bootstrap, "log": str(stack.data / "log"), "conf": {}, **more}
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        self._say(json.dumps({**given, "document": document.to_dict(), "timeout_s": DEADLINE_S}))
        assert self._hear() == "running"

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def finish(self) -> None:
        self._say("finish")
        assert self._hear() == "idle"
        self._process.communicate(timeout=60)

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def engines() -> Iterator[Callable[..., EngineProcess]]:
    started: list[EngineProcess] = []

    def start(*arguments: Any, **more: Any) -> EngineProcess:
        started.append(EngineProcess(*arguments, **more))
        return started[-1]

    yield start
    for engine in started:
        engine.kill()


def rows(first: int, count: int) -> list[dict[str, Any]]:
    """A row each second of event time."""
    return [
        {"k": f"k{n % KEYS}", "n": n, "ts": f"2026-01-01T{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}Z"}
        for n in range(first, first + count)
    ]


def expected_windows(sent: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    """Totals of the last five rows of a key, added up by minute and key."""
    seen: dict[str, list[int]] = defaultdict(list)
    windows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in sent:
        seen[row["k"]].append(row["n"])
        windows[row["ts"][:16], row["k"]].append(sum(seen[row["k"]][-5:]))
    return sorted((minute, key, len(found), sum(found)) for (minute, key), found in windows.items())


@pytest.mark.parametrize("partitioned", ["by_key", "as_topic"])
def test_kills_amid_micro_batches(
    stack: Stack, tmp_path: Path, engines: Callable[..., EngineProcess], partitioned: str, seed: int
) -> None:
    source = random.Random(seed)
    topic, target = stack.topic("in"), stack.name("out")
    shared = f"keys=k partitioned={partitioned}"
    document = stack.pipeline(
        f'topic {topic} schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
        f' max_rows_per_batch=60 ! length-window 5 {shared} aggregates=["sum(n) AS s"]'
        f' ! time-window "1 minute" time=ts {shared} aggregates=["count(*) AS c", "sum(s) AS s"] ! to-topic {target}'
    )
    sent: list[dict[str, Any]] = []
    for _ in range(KILLS):
        more = rows(len(sent), ROWS_PER_TURN)
        stack.produce(topic, more)
        sent += more
        engine = engines(stack, tmp_path / "data", document)
        time.sleep(source.uniform(0.5, 6.0))
        engine.kill()
    # One far row in every partition closes all windows before it.
    stack.produce(topic, [{"k": f"end{n}", "n": 0, "ts": "2026-01-02T00:00:00Z"} for n in range(40)])
    engine = engines(stack, tmp_path / "data", document)
    expected = expected_windows(sent)
    deadline_s = time.monotonic() + DEADLINE_S
    while len(stack.values(target)) < len(expected):
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
    engine.finish()
    found = sorted((row["_window_start"][:16], row["k"], row["c"], row["s"]) for row in stack.rows(target))
    assert found == expected, seed


def test_signals_to_two_topics_through_kills(
    stack: Stack, tmp_path: Path, engines: Callable[..., EngineProcess], seed: int
) -> None:
    source = random.Random(seed)
    topics, target = [stack.topic("one"), stack.topic("two")], stack.name("out")
    read = 'schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts watermark="1 day" max_rows_per_batch'
    window = 'time-window "1 day" time=ts keys=k aggregates=["count(*) AS c", "min(n) AS low", "max(n) AS high"]'
    document = stack.pipeline(
        f"topic {topics[0]} {read}=20 ! union as all ! {window} ! to-topic {target}\n"
        f"topic {topics[1]} {read}=90 ! @all.in_2"
    )
    signals: list[SignalRecord] = []

    def close() -> None:
        with Client(stack.bootstrap) as client:
            signals.append(send_signal(client, signal_to(document, "close_window", stack.engine.catalogue)))

    for turn in range(KILLS):
        pieces = [(topic, n) for topic in topics for n in range(turn * 200, turn * 200 + 200, 20)]
        source.shuffle(pieces)
        for topic, first in pieces:
            day = [{"k": f"k{n % KEYS}", "n": n, "ts": "2026-01-01T00:00:00Z"} for n in range(first, first + 20)]
            stack.produce(topic, day)
            if source.random() < 0.2:
                close()
        engine = engines(stack, tmp_path / "data", document)
        time.sleep(source.uniform(0.5, 6.0))
        engine.kill()
    close()
    engines(stack, tmp_path / "data", document).finish()
    assert closed_windows(stack, target) == groups_between_cuts(stack, topics, signals), seed

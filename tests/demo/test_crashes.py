"""kill -9 at random moments while the demo runs: every event comes out exactly once all the same."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.campaign import often

from headrace.credential import credential_path, use_credential
from headrace.demo import Fleet, check, drones_sql, expect, heights_text
from headrace.demo.feed import Feed
from headrace.demo.pipelines import DRONES, HEIGHTS, TELEMETRY
from headrace.demo.run import OUTPUTS, Demo, DemoSettings
from headrace.demo.tail import Tail
from headrace.errors import ExternalFailure
from headrace.kafka import Reader, Sender
from headrace.process import RunInfo
from headrace.server.client import ServerClient
from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.jobs.sending import new_id
from headrace.wire.client import LATEST, Client
from headrace.wire.client.signals import send_signal

KILLS = often(10, 100)
TREE_KILLS = often(2, 20)
RECOVERY_TIMEOUT_S = 600.0
PARTS = ("broker", "server", "both")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(often(2_400, 14_400))]


def kill(data: Path, part: str) -> None:
    """The parts as they are now; one that is just being started again may have no number yet."""
    info = RunInfo.read(data)
    for name, pid in (("broker", info.broker_pid), ("server", info.server_pid)):
        if part in (name, "both") and pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_until_running(demo: Demo) -> None:
    """Until new rows come out: then the kill is overcome."""
    before = sum(tail.row_count for tail in demo.tails.values())
    deadline_s = time.monotonic() + RECOVERY_TIMEOUT_S
    while sum(tail.row_count for tail in demo.tails.values()) <= before:
        demo.look()
        assert time.monotonic() < deadline_s, "no row came out again"
        time.sleep(0.1)


def test_kills_at_random_moments(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    settings = DemoSettings(seed=seed, rate_per_s=200, data_directory=tmp_path / "data")
    data = tmp_path / "data"
    with Demo(settings, say=print) as demo:
        wait_until_running(demo)
        for number in range(KILLS):
            part = source.choice(PARTS)
            print(f"kill {number}: {part}, {demo.feed.acked} events acknowledged")
            kill(data, part)
            if source.random() < 0.5:
                wait_until_running(demo)
            time.sleep(source.uniform(0.0, 5.0))
        report = demo.finish()
    print(report)
    assert report.is_clean, (seed, report)
    assert report.events_in > 0


def process_tree(root: int) -> list[int]:
    """A process and all below it, the root first."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in listed.splitlines():
        pid, parent = map(int, line.split())
        children.setdefault(parent, []).append(pid)
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


class Up:
    """`headrace up` as a process, on fixed ports once they are known."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.info = self._start("0", "0")

    def kill_everything(self) -> None:
        for pid in process_tree(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.communicate()

    def start_again(self) -> None:
        self.info = self._start(self.info.bootstrap.rpartition(":")[2], str(self.info.http_port))

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)

    def _start(self, port: str, http_port: str) -> RunInfo:
        command = [sys.executable, "-m", "headrace", "up", "--data-dir", str(self._data), "--json"]
        self._process = subprocess.Popen(
            [*command, "--port", port, "--http-port", http_port], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert json.loads(line).get("ready"), line
        info = RunInfo.read(self._data)
        # As the commands of the directory's owner do: signals are not taken from strangers.
        use_credential(info.bootstrap, credential_path(self._data / "log"))
        return info


def wait_for_rows(tails: list[Tail], count: int) -> None:
    deadline_s = time.monotonic() + RECOVERY_TIMEOUT_S
    while sum(tail.row_count for tail in tails) < count:
        assert time.monotonic() < deadline_s, f"{count} rows never came"
        time.sleep(0.1)


def rows_of(bootstrap: str, topic: str) -> list[dict[str, Any]]:
    with Reader(bootstrap, topic) as reader:
        return [json.loads(record.value or b"{}") for record in reader.records()]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = Up(tmp_path / "data")
    yield running
    running.stop()


def start_pipelines(up: Up) -> None:
    with Client(up.info.bootstrap) as admin, ServerClient(up.info) as server:
        admin.create_topics(dict.fromkeys((TELEMETRY, *OUTPUTS), 1))
        server.save({"sql": drones_sql()})
        server.save({"text": heights_text(), "name": HEIGHTS})
        server.start(DRONES)
        server.start(HEIGHTS)


def test_everything_is_killed_at_once(up: Up, seed: int) -> None:
    """Supervisor, broker, server, JVM and workers; the client outside goes on as soon as it can."""
    source = random.Random(seed)
    start_pipelines(up)
    tails = [Tail(up.info.bootstrap, topic) for topic in OUTPUTS]
    feed = Feed(up.info.bootstrap, Fleet(seed), rate_per_s=200)
    for thread in (*tails, feed):
        thread.start()
    for number in range(TREE_KILLS):
        wait_for_rows(tails, sum(tail.row_count for tail in tails) + 1)
        time.sleep(source.uniform(0.0, 3.0))
        print(f"kill {number} of everything, {feed.acked} events acknowledged")
        up.kill_everything()
        up.start_again()
    expected = expect(islice(feed.fleet.events(), feed.finish()))
    for number in range(3):
        feed.close_windows(number)
    wait_for_rows(tails, expected.row_count)
    for tail in tails:
        tail.stop()
    report = check(expected, {topic: rows_of(up.info.bootstrap, topic) for topic in OUTPUTS})
    print(report)
    assert report.is_clean, (seed, report)


SIGNAL_KILLS = often(2, 20)
SIGNALLED_ROWS = 20
SIGNALLED = (
    'topic signalled schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts watermark="1 day"'
    ' ! time-window "1 day" time=ts keys=k aggregates=["count(*) AS c", "min(n) AS low", "max(n) AS high"]'
    " partitioned=as_topic ! to-topic closed"
)


class Rows(threading.Thread):
    """Sends rows until it is stopped; what the broker misses while it is away comes later."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._address = bootstrap
        self._stopping = threading.Event()
        self.count = 0

    def run(self) -> None:
        with Sender(self._address) as sender:
            while not self._stopping.wait(0.005):
                key = f"k{self.count % 4}"
                row = {"k": key, "n": self.count, "ts": "2026-01-01T00:00:00Z"}
                sender.send("signalled", json.dumps(row).encode(), key.encode())
                self.count += 1

    def stop(self) -> int:
        self._stopping.set()
        self.join()
        return self.count


def close_windows(bootstrap: str) -> SignalRecord:
    """Sent under one id until the broker, which may be away, has placed it."""
    request = SignalRequest(new_id(), "close_window", ("signalled",))
    deadline_s = time.monotonic() + RECOVERY_TIMEOUT_S
    while True:
        try:
            with Client(bootstrap) as client:
                return send_signal(client, request)
        except ExternalFailure:
            assert time.monotonic() < deadline_s
            time.sleep(0.2)


def wait_for_input(bootstrap: str, count: int) -> None:
    """Until so many more rows are in the topic: then a window that closes has rows in it."""
    partitions, deadline_s = dict.fromkeys(range(2), LATEST), time.monotonic() + RECOVERY_TIMEOUT_S
    with Client(bootstrap) as client:

        def total() -> int:
            return sum(found.offset for found in client.list_offsets("signalled", partitions).values())

        wanted = total() + count
        while total() < wanted:
            assert time.monotonic() < deadline_s, "no rows come in"
            time.sleep(0.1)


def between_cuts(bootstrap: str, signals: list[SignalRecord]) -> list[tuple[str, int, int, int]]:
    """What the windows must say, by the offsets of the rows alone."""
    cuts = [placed.cut["signalled"] for placed in sorted(signals, key=lambda placed: placed.number)]
    groups: dict[tuple[int, str], list[int]] = {}
    with Reader(bootstrap, "signalled") as reader:
        for record in reader.records():
            row = json.loads(record.value or b"{}")
            piece = next(i for i, cut in enumerate(cuts) if record.offset < cut[record.partition])
            groups.setdefault((piece, row["k"]), []).append(row["n"])
    return sorted((key, len(ns), min(ns), max(ns)) for (_, key), ns in groups.items())


def test_signals_keep_their_place_through_kills_of_everything(up: Up, seed: int) -> None:
    source, bootstrap = random.Random(seed), up.info.bootstrap
    with Client(bootstrap) as admin, ServerClient(up.info) as server:
        admin.create_topics({"signalled": 2, "closed": 1})
        server.save({"text": SIGNALLED, "name": "signalled"})
        server.start("signalled")
    tail, rows = Tail(bootstrap, "closed"), Rows(bootstrap)
    tail.start()
    rows.start()
    signals: list[SignalRecord] = []
    with ThreadPoolExecutor(1) as sending:
        for _ in range(SIGNAL_KILLS):
            wait_for_input(bootstrap, SIGNALLED_ROWS)
            before = tail.row_count
            signals.append(close_windows(bootstrap))
            wait_for_rows([tail], before + 1)
            # One is on its way while everything ends.
            under_way = sending.submit(close_windows, bootstrap)
            time.sleep(source.uniform(0.0, 0.05))
            up.kill_everything()
            up.start_again()
            signals.append(under_way.result(RECOVERY_TIMEOUT_S))
    count = rows.stop()
    signals.append(close_windows(bootstrap))
    expected = between_cuts(bootstrap, signals)
    wait_for_rows([tail], len(expected))
    tail.stop()
    closed = sorted((row["k"], row["c"], row["low"], row["high"]) for row in rows_of(bootstrap, "closed"))
    assert closed == expected
    assert sum(row[1] for row in expected) == count

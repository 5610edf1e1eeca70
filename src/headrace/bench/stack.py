"""`headrace up` as a user meets it: memory, start, first result, and recovery from kill −9 of everything."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from headrace.bench import processes
from headrace.bench import rows as data
from headrace.bench.peers import Say
from headrace.bench.report import Result
from headrace.errors import ExternalFailure, HeadraceError
from headrace.process import Child, Command, RunInfo
from headrace.process.python import python_module
from headrace.server.client import ServerClient
from headrace.wire.client import LATEST, Client

READY_TIMEOUT_S: Final = 240.0
OUTPUT_TIMEOUT_S: Final = 240.0
ROWS_PER_POLL: Final = 100
POLL_S: Final = 0.1
SETTLE_S: Final = 5.0

OWN_PROGRAM: Final = tuple(python_module("headrace"))
SOURCE: Final = "reports"
OUTPUT: Final = "low"
PIPELINE: Final = "low-batteries"
_TEXT: Final = f'topic {SOURCE} schema="{data.SCHEMA}" ! filter "battery < 10" ! to-topic {OUTPUT} key=drone'

Found = TypeVar("Found")


def measure_broker(directory: Path) -> Result:
    """The memory of a broker that nobody uses."""
    arguments = ("--data-dir", str(directory / "log"), "--port", "0")
    broker = Child(Command("broker", "headrace.wire", arguments, directory / "broker.log"))
    try:
        broker.wait_ready(READY_TIMEOUT_S)
        time.sleep(SETTLE_S)
        return Result("broker-resident", "MB", processes.resident_mb(broker.pid))
    finally:
        broker.stop()


def measure_stack(directory: Path, say: Say) -> list[Result]:
    """One life of `headrace up` with one pipeline, one violent end, and the next life. Raises HeadraceError."""
    began_s = time.monotonic()
    with Up(directory) as first:
        bootstrap = first.wait_ready().bootstrap
        ready_s = time.monotonic() - began_s
        start_pipeline(first.wait_ready())
        feed_until_output(bootstrap, after=0)
        first_result_s = time.monotonic() - began_s
        say(f"ready after {ready_s:.1f} s, first result after {first_result_s:.1f} s")
        time.sleep(SETTLE_S)
        resident_mb = processes.proportional_mb(processes.tree(first.pid))
        before = output_end(bootstrap)
        began_s = time.monotonic()  # the end of this block is the kill
    with Up(directory, port=bootstrap.rpartition(":")[2]):
        feed_until_output(bootstrap, after=before)
        recovery_s = time.monotonic() - began_s
        say(f"recovered after {recovery_s:.1f} s")
    return [
        Result("up-resident", "MB", resident_mb),
        Result("ready", "s", ready_s),
        Result("first-result", "s", first_result_s),
        Result("recovery", "s", recovery_s),
    ]


class Up:
    """`headrace up` inside `with`; at its end kill −9 of every process of it."""

    def __init__(self, directory: Path, port: str = "0", program: Sequence[str] = OWN_PROGRAM) -> None:
        """`program` may be that of another version."""
        self._directory = directory
        arguments = ["up", "--json", "--data-dir", str(directory), "--port", port, "--http-port", "0"]
        self._process = subprocess.Popen([*program, *arguments], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_ready(self) -> RunInfo:
        """Raises ExternalFailure."""
        return poll("headrace up to be ready", READY_TIMEOUT_S, lambda: RunInfo.read(self._directory))

    def __enter__(self) -> Up:
        return self

    def __exit__(self, *_: object) -> None:
        processes.kill(processes.tree(self.pid))
        self._process.wait()


def start_pipeline(info: RunInfo) -> None:
    with Client(info.bootstrap, client_id="headrace-bench") as client:
        client.create_topics({SOURCE: 1, OUTPUT: 1})
    with ServerClient(info) as server:
        server.save({"text": _TEXT, "name": PIPELINE})
        server.start(PIPELINE)


def feed_until_output(bootstrap: str, after: int) -> int:
    """Sends rows until the output has grown; its new end."""
    random = np.random.default_rng(data.SEED)

    def grown() -> int | None:
        with Client(bootstrap, client_id="headrace-bench", timeout_ms=1_000) as client:
            data.append_json(client, SOURCE, 0, data.telemetry(random, 0, ROWS_PER_POLL))
        end = output_end(bootstrap)
        return end if end > after else None

    return poll("output", OUTPUT_TIMEOUT_S, grown)


def output_end(bootstrap: str) -> int:
    with Client(bootstrap, client_id="headrace-bench") as client:
        return client.list_offsets(OUTPUT, {0: LATEST}, committed=True)[0].offset


def poll(what: str, timeout_s: float, look: Callable[[], Found | None]) -> Found:
    """The first answer that is not None. Raises ExternalFailure with the last reason why there was none."""
    deadline_s = time.monotonic() + timeout_s
    reason = "nothing came"
    while time.monotonic() < deadline_s:
        try:
            found = look()
        except HeadraceError as error:
            found, reason = None, error.message
        if found is not None:
            return found
        time.sleep(POLL_S)
    raise ExternalFailure(f"waited {timeout_s:.0f} s for {what}: {reason}")

"""The suite `recovery`: from kill −9 of a part of `headrace up` until rows come again, beside another version."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from headrace.bench import processes
from headrace.bench.names import check_names
from headrace.bench.peers import Say
from headrace.bench.report import Report, Result
from headrace.bench.stack import (
    OUTPUT_TIMEOUT_S,
    OWN_PROGRAM,
    SETTLE_S,
    Up,
    feed_until_output,
    output_end,
    poll,
    start_pipeline,
)
from headrace.errors import ExternalFailure
from headrace.process import RunInfo
from headrace.wire.client import Client

EVERYTHING, SERVER, JAVA, BROKER = "everything", "server", "java", "broker"
ITEMS: Final = (EVERYTHING, SERVER, JAVA, BROKER)
OTHER: Final = "other"

Seconds = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    """`against` is the program of another version, or nothing. Raises InvalidInput for an item that does not exist."""

    rounds: int = 3
    items: tuple[str, ...] = ITEMS
    against: str = ""

    def __post_init__(self) -> None:
        check_names("item", self.items, ITEMS)


def run_recovery(settings: RecoverySettings, say: Say) -> Report:
    """Both versions take turns, each with a directory of its own. Raises HeadraceError."""
    ours: Seconds = {item: [] for item in settings.items}
    other: Seconds = {item: [] for item in settings.items}
    with tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True) as place:
        for number in range(settings.rounds):
            _one_life(OWN_PROGRAM, Path(place) / f"ours-{number}", ours, say)
            if settings.against:
                _one_life((settings.against,), Path(place) / f"other-{number}", other, say)
    results = [
        Result(item, "s", median(ours[item]), {OTHER: median(other[item])} if other[item] else {})
        for item in settings.items
        if ours[item]
    ]
    return Report("recovery", tuple(results))


def _one_life(program: Sequence[str], directory: Path, seconds: Seconds, say: Say) -> None:
    """A stack with one pipeline, and all its deaths."""
    with Up(directory, program=program) as first:
        info = first.wait_ready()
        start_pipeline(info)
        feed_until_output(info.bootstrap, after=0)
        time.sleep(SETTLE_S)
        before = output_end(info.bootstrap)
        began_s = time.monotonic()  # the end of this block is the kill
    with Up(directory, port=info.bootstrap.rpartition(":")[2], program=program) as second:
        feed_until_output(info.bootstrap, after=before)
        _note(EVERYTHING, time.monotonic() - began_s, program, seconds, say)
        info = second.wait_ready()
        deaths: dict[str, Callable[[], float]] = {
            SERVER: lambda: _rows_after(info, directory, SERVER),
            JAVA: lambda: _rows_after(info, directory, JAVA),
            BROKER: lambda: _answer_after(directory),
        }
        for item in (item for item in deaths if item in seconds):
            try:
                _note(item, deaths[item](), program, seconds, say)
            except ExternalFailure as error:
                say(f"{item}, {program[0]}: {error.message}")


def _note(item: str, taken_s: float, program: Sequence[str], seconds: Seconds, say: Say) -> None:
    if item in seconds:
        seconds[item].append(taken_s)
        say(f"{item}, {program[0]}: {taken_s:.1f} s")


def _rows_after(info: RunInfo, directory: Path, part: str) -> float:
    """Raises ExternalFailure when none came."""
    time.sleep(SETTLE_S)
    before = output_end(info.bootstrap)
    server = _now(directory).server_pid
    pid = server if part == SERVER else _java_below(server)
    began_s = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    processes.kill([pid])
    # What the source had read before may still come out.
    feed_until_output(info.bootstrap, after=max(before, output_end(info.bootstrap)))
    return time.monotonic() - began_s


def _answer_after(directory: Path) -> float:
    time.sleep(SETTLE_S)
    info = _now(directory)
    began_s = time.monotonic()
    os.kill(info.broker_pid, signal.SIGKILL)
    processes.kill([info.broker_pid])

    def answers() -> bool | None:
        with Client(info.bootstrap, client_id="headrace-bench", timeout_ms=1_000) as client:
            return bool(client.metadata().topics)

    poll("the broker to answer", OUTPUT_TIMEOUT_S, answers)
    return time.monotonic() - began_s


def _now(directory: Path) -> RunInfo:
    return poll("headrace up", OUTPUT_TIMEOUT_S, lambda: RunInfo.read(directory))


def _java_below(server: int) -> int:
    """Raises ExternalFailure."""
    if (java := processes.spark_java(server)) is None:
        raise ExternalFailure("the server has no Java process")
    return java

"""A pipeline whose disk is full, on a real small file system: it says so, waits, and goes on by itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.spark.jobs.status import JobStatus

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

IDLE_TIMEOUT_S = 180.0
DISK_BYTES = 2 << 20


@pytest.fixture
def small_disk() -> Iterator[Callable[[Path], None]]:
    """Mounts a file system of DISK_BYTES at a directory."""
    mounted: list[Path] = []

    def mount(directory: Path) -> None:
        directory.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(directory)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mount is NOT ALLOWED here: pipelines on a full disk are not checked")
        mounted.append(directory)

    yield mount
    for directory in mounted:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_job_on_a_full_disk_says_so_and_goes_on_when_there_is_space(
    stack: Stack, small_disk: Callable[[Path], None]
) -> None:
    source, output = stack.topic("full", [{"n": n} for n in range(10)]), stack.name("full-out")
    document = stack.pipeline(f'topic {source} schema="n BIGINT" ! deduplicate n as once ! to-topic {output}')
    home = stack.data / "jobs" / document.name
    small_disk(home)
    try:
        stack.engine.start(document)
        assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
        fill(home / "filler")
        stack.produce(source, [{"n": n} for n in range(10, 20)])
        refused = until(stack, document.name, lambda status: status.error is not None)
        assert refused.state == "starting"
        assert refused.error is not None
        assert "the disk is full" in str(refused.error["message"])
        assert "free some space" in str(refused.error["hint"])
        (home / "filler").unlink()
        until(stack, document.name, lambda status: status.state == "running" and len(stack.rows(output)) == 20)
        assert sorted(row["n"] for row in stack.rows(output)) == list(range(20))
    finally:
        stack.engine.stop(document.name)


def until(stack: Stack, pipeline: str, holds: Callable[[JobStatus], bool]) -> JobStatus:
    deadline_s = time.monotonic() + IDLE_TIMEOUT_S
    while not holds(status := stack.engine.status(pipeline)):
        assert time.monotonic() < deadline_s, status
        time.sleep(0.1)
    return status

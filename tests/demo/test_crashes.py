"""kill -9 at random moments while the demo runs: every event comes out exactly once all the same."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from headrace.demo.run import Demo, DemoSettings
from headrace.errors import NotFound
from headrace.process import RunInfo

KILLS = 10
RECOVERY_TIMEOUT_S = 300.0
PARTS = ("broker", "server", "both")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2_400)]


def kill(data: Path, part: str) -> None:
    """The parts as they are now; one that is just being started again may have no number yet."""
    info = RunInfo.read(data)
    for name, pid in (("broker", info.broker_pid), ("server", info.server_pid)):
        if part in (name, "both") and pid:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def wait_until_running(demo: Demo, data: Path) -> None:
    """Until new rows come out: then the kill is overcome."""
    before = sum(tail.row_count for tail in demo.tails.values())
    deadline_s = time.monotonic() + RECOVERY_TIMEOUT_S
    while sum(tail.row_count for tail in demo.tails.values()) <= before:
        demo.look()
        assert time.monotonic() < deadline_s, "no row came out again"
        time.sleep(0.1)


@pytest.mark.parametrize("seed", [random.SystemRandom().randrange(1_000_000)])
def test_kills_at_random_moments(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    source = random.Random(seed)
    settings = DemoSettings(seed=seed, rate_per_s=200, data_directory=tmp_path / "data")
    data = tmp_path / "data"
    with Demo(settings, say=print) as demo:
        wait_until_running(demo, data)
        for number in range(KILLS):
            part = source.choice(PARTS)
            print(f"kill {number}: {part}, {demo.feed.acked} events acknowledged")
            try:
                kill(data, part)
            except NotFound as error:
                pytest.fail(str(error))
            if source.random() < 0.5:
                wait_until_running(demo, data)
            time.sleep(source.uniform(0.0, 5.0))
        report = demo.finish()
    print(report)
    assert report.is_clean, (seed, report)
    assert report.events_in > 0

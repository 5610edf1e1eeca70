from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headrace.demo.pipelines import LOW_BATTERY
from headrace.errors import HeadraceError
from headrace.kafka import Reader
from headrace.process import DataDirectory, RunInfo

pytestmark = pytest.mark.timeout(600)


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "headrace", "demo", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_everything_sent_comes_out_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = start("--headless", "--until-events", "2000", "--json", "--seed", "7", "--data-dir", str(data))
    out, err = process.communicate(timeout=550)
    assert process.returncode == 0, err
    (line,) = out.splitlines()
    result = json.loads(line)
    assert (result["lost"], result["duplicated"], result["wrong"], result["events_in"]) == (0, 0, 0, 2000)
    assert result["events_out"] > 500
    assert result["seconds"] > 0
    assert (data / "log").is_dir(), "a given directory is kept"
    again = start("--headless", "--until-events", "10", "--json", "--data-dir", str(data))
    out, err = again.communicate(timeout=550)
    assert again.returncode == 2
    assert "records of an earlier demo" in json.loads(out)["error"]["message"]


def rows_of(data: Path, topic: str) -> int:
    """None yet while the stack is starting."""
    try:
        with Reader(RunInfo.read(data).bootstrap, topic) as reader:
            return len(list(reader.records()))
    except HeadraceError:
        return 0


def test_ctrl_c_ends_it_with_the_comparison(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = start("--seed", "3", "--data-dir", str(data), "--rate", "200")
    deadline_s = time.monotonic() + 300
    while not rows_of(data, LOW_BATTERY):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s, "no alert came"
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert "0 lost, 0 doubled, 0 wrong" in out
    assert not (data / "run.json").exists()


def test_ctrl_c_while_it_starts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = start("--data-dir", str(data))
    assert process.stdout is not None
    assert "broker starts" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, "")
    with DataDirectory.open(data):
        pass

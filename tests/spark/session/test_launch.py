"""Java that is started by the command that Spark's scripts came to the last time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.spark.session.launch import COMMAND_FILE, MAIN_CLASS, keep_command, launch

CONF = {"spark.driver.memory": "64m", "spark.app.name": "x"}

TWICE = """
import sys
from pathlib import Path
from headrace.spark.session.liveness import forget_session, java_process
from headrace.spark.session.session import SparkSettings, begin_session, start_session

settings = SparkSettings(Path(sys.argv[1]))
first = start_session(settings)
assert first.range(7).count() == 7
java = java_process()
java.kill()
java.wait()
forget_session()
begin_session(settings)
second = start_session(settings)
assert second.range(9).count() == 9
assert java_process().pid != java.pid
assert "headrace-java" not in str(java.args) and "trap" in str(java_process().args), "the command was kept"
second.stop()
"""


@pytest.mark.slow
def test_a_session_starts_again_by_the_kept_command(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TWICE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_is_kept_without_settings_and_for_the_same_driver_only(tmp_path: Path) -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "read line", "java", "-Xss2m", MAIN_CLASS, "--conf", "a=secret"], stdin=subprocess.PIPE
    ) as java:
        while MAIN_CLASS not in Path(f"/proc/{java.pid}/cmdline").read_text():
            assert java.poll() is None
        keep_command(tmp_path, CONF, java.pid)
    assert "secret" not in (tmp_path / COMMAND_FILE).read_text()
    assert launch(tmp_path, {**CONF, "spark.driver.memory": "65m"}) is None
    started = launch(tmp_path, {**CONF, "spark.app.name": "other"})
    assert started is not None
    assert started.process.stdin is not None
    started.process.stdin.close()
    started.process.wait()
    assert started.connection() is None, "it ended without saying where it listens"


def test_nothing_is_launched_where_nothing_is_known(tmp_path: Path) -> None:
    assert launch(tmp_path, CONF) is None
    (tmp_path / COMMAND_FILE).write_text("no JSON")
    assert launch(tmp_path, CONF) is None
    assert not os.environ.get("PYSPARK_GATEWAY_PORT")

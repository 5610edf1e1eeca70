from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TIMEOUT_S = 240


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        (line,) = self.out.splitlines()
        value: dict[str, Any] = json.loads(line)
        return value


@dataclass(frozen=True)
class Program:
    """`headrace` as a process, in a directory of its own."""

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, stdin: str = "") -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "headrace", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=self.directory,
            env={**os.environ, "COLUMNS": "200", **self.environment},
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headrace", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.directory,
        )

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        """Each line of standard output as an object."""
        result = self(*arguments)
        assert result.code == 0, result.err
        return [json.loads(line) for line in result.out.splitlines()]


@pytest.fixture
def headrace(tmp_path: Path) -> Program:
    """Nothing runs."""
    return Program(tmp_path)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """`headrace up` runs in this directory, once for the module: closed to clients that do not authenticate.

    The commands show the credential of the data directory, so that its owner notices nothing.
    """
    program = Program(tmp_path_factory.mktemp("up"))
    process = program.start("up", "--port", "0", "--http-port", "0", "--no-anonymous", "--json")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    assert json.loads(line)["ready"] is True
    yield program
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert not (program.directory / "headrace-data" / "run.json").exists()

"""Spark's Python processes: forked from a server, gone with those who wanted them, started plainly without it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.bench import processes
from headrace.spark.session import fork_request, fork_server

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

DEADLINE_S = 60.0


@pytest.fixture
def directory() -> Iterator[Path]:
    """Short: the path of a socket has little room."""
    path = Path(tempfile.mkdtemp(prefix="headrace-test-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def server(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", fork_server.__name__, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        wait_for((directory / fork_server.SOCKET).exists)
        yield process
        assert process.stdin
        process.stdin.close()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def request(directory: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-I",
        "-S",
        str(fork_request.__file__),
        str(directory / fork_server.SOCKET),
        fork_server.PLANNER,
        "-m",
        "unused",
    ]
    return subprocess.Popen(command, env=environment)


def test_a_fork_runs_with_the_wanted_environment_and_ends_with_the_request(
    directory: Path, server: subprocess.Popen[bytes]
) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "spark"))
        listener.listen()
        listener.settimeout(DEADLINE_S)
        requested = request(directory, {"PYTHON_WORKER_FACTORY_SOCK_PATH": str(directory / "spark")})
        with listener.accept()[0] as channel:
            channel.settimeout(DEADLINE_S)
            (pid,) = struct.unpack("!i", channel.recv(4))
            assert pid not in (requested.pid, server.pid)
            os.kill(pid, 0)
            requested.kill()
            requested.wait()
            assert channel.recv(1) == b""


def test_the_request_ends_with_its_fork(directory: Path, server: subprocess.Popen[bytes]) -> None:
    assert request(directory, {"PYTHON_WORKER_FACTORY_SOCK_PATH": str(directory / "nobody")}).wait(DEADLINE_S) == 0
    assert server.poll() is None


@pytest.fixture
def daemon(directory: Path, server: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """As Java starts it."""
    command = [sys.executable, "-I", "-S", str(fork_request.__file__), str(directory / fork_server.SOCKET)]
    wanted = [fork_server.DAEMON, "-m", fork_server.DAEMON, "pyspark.worker"]
    environment = {"PYTHON_UNIX_DOMAIN_ENABLED": "true", "PYTHON_WORKER_FACTORY_SOCK_DIR": str(directory)}
    with subprocess.Popen(
        [*command, *wanted], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as requested:
        yield requested
        if requested.stdin is not None:
            requested.stdin.close()


def worker_of(daemon: subprocess.Popen[bytes], connection: socket.socket) -> int:
    assert daemon.stdout is not None
    (length,) = struct.unpack(">i", daemon.stdout.read(4))
    connection.connect(daemon.stdout.read(length).decode())
    connection.settimeout(DEADLINE_S)
    (pid,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
    return int(pid)


def test_the_daemon_of_workers_is_a_fork_and_ends_with_its_input(
    server: subprocess.Popen[bytes], daemon: subprocess.Popen[bytes]
) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        worker = worker_of(daemon, connection)
        assert worker in processes.tree(server.pid)
        assert b"numba" in Path(f"/proc/{worker}/maps").read_bytes(), "all is imported before the fork"
        assert fork_server.DAEMON.encode() in processes.command_line(worker)
        assert daemon.stdin is not None
        daemon.stdin.close()
        assert daemon.wait(DEADLINE_S) == 0
        wait_for(lambda: worker not in processes.tree(server.pid))


def test_who_wanted_a_daemon_hears_of_its_death_while_workers_live(
    server: subprocess.Popen[bytes], daemon: subprocess.Popen[bytes]
) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        worker = worker_of(daemon, connection)
        (fork,) = (pid for pid in processes.tree(server.pid) if pid not in (server.pid, worker))
        processes.kill([fork])
        daemon.wait(DEADLINE_S)
        os.kill(worker, signal.SIGKILL)


def test_the_server_ends_with_its_starter_and_removes_its_files(
    directory: Path, server: subprocess.Popen[bytes]
) -> None:
    assert server.stdin
    server.stdin.close()
    assert server.wait(DEADLINE_S) == 0
    assert not directory.exists()


def test_without_a_server_the_interpreter_starts_as_always(directory: Path) -> None:
    command = [
        sys.executable,
        "-I",
        "-S",
        str(fork_request.__file__),
        str(directory / "none"),
        "unused",
        "-c",
        "print(6 * 7)",
    ]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"42\n"


def test_spark_starts_all_else_plainly() -> None:
    command = [fork_server.start_fork_server().python, "-c", "import sys; print(sys.executable)"]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip() == sys.executable


def forks() -> set[int]:
    server = fork_server.start_fork_server().server
    assert server
    listed = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
    return {pid for pid in map(int, listed.split()) if fork_server.PLANNER.encode() in processes.command_line(pid)}


@pytest.mark.skipif(sys.platform != "linux", reason="forks are found in /proc")
def test_a_query_plans_in_a_fork_and_leaves_none_behind(stack: Stack) -> None:
    source = stack.topic("planned", [{"k": 1}])
    document = stack.pipeline(f'topic {source} schema="k INT" ! to-topic {source}-out')
    before = forks()
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, DEADLINE_S)
    assert len(forks() - before) == 1
    stack.engine.stop(document.name)
    wait_for(lambda: not forks() - before)

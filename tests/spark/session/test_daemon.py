"""The daemon that Spark's Python workers are forked from."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.process.python import python_module

DEADLINE_S = 30.0


@pytest.fixture
def sockets() -> Iterator[str]:
    """A folder with a short name: the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder


@pytest.fixture
def daemon(sockets: str) -> subprocess.Popen[bytes]:
    """As the JVM starts it; ended by closing its input."""
    environment = {
        **os.environ,
        "PYTHON_UNIX_DOMAIN_ENABLED": "true",
        "PYTHON_WORKER_FACTORY_SOCK_DIR": sockets,
        "SPARK_REUSE_WORKER": "1",
        "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1",
    }
    command = python_module("headrace.spark.session.daemon", "pyspark.worker")
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_worker_that_the_jvm_let_go_of_ends(daemon: subprocess.Popen[bytes]) -> None:
    """Spark closes the connection of a worker that was idle for a minute."""
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    with daemon:
        (length,) = struct.unpack(">i", daemon.stdout.read(4))
        path = daemon.stdout.read(length).decode()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            (worker,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
            assert lives(worker)
        deadline_s = time.monotonic() + DEADLINE_S
        while lives(worker) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        ended = not lives(worker)
        daemon.stdin.close()
    assert ended, "the worker goes on without anybody to work for"

"""Processes that plan the offsets of streams, forked from one that has imported everything.

Spark starts a Python process for the source of every streaming query: half a second, spent on imports. Here it starts
`planner_request.py` in its place, which hands the start over to a server in this module and costs a few milliseconds;
the forks share their memory. Should the server be away, the process starts as it would have without it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from headrace.process.python import look_where_the_driver_does, python_module, safe_python
from headrace.spark.session import planner_request

RUNNER: Final = "pyspark.sql.streaming.python_streaming_source_runner"
PRELOADED: Final = (
    RUNNER,
    "headrace.spark.sources.topic_source",
    "headrace.spark.sources.python_source",
    "headrace.spark.reading.table_versions",
    "headrace.spark.sources.trigger_source",
)
# As many starts may wait while the server imports.
BACKLOG: Final = 64
SOCKET: Final = "socket"
QUIET_DAEMON: Final = "quiet_daemon.py"
END_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Planners:
    """`python` is the interpreter that Spark is to start. The server ends when its standard input does."""

    python: str
    server: subprocess.Popen[bytes] | None


@cache
def start_planners() -> Planners:
    """One server for this process, whatever the number of its sessions."""
    directory = Path(tempfile.mkdtemp(prefix="headrace-planners-"))
    launcher = directory / "python"
    launcher.write_text(_launcher(directory))
    launcher.chmod(0o700)
    if not os.access(launcher, os.X_OK):
        # Nothing can be executed from the directory of temporary files.
        shutil.rmtree(directory)
        return Planners(sys.executable, None)
    command = python_module(__name__, str(directory))
    # In a session of its own: it serves to the end, also when the terminal interrupts.
    with safe_python():
        server = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    atexit.register(_end, server)
    return Planners(str(launcher), server)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.stdin is not None:
        server.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(END_TIMEOUT_S)


def _launcher(directory: Path) -> str:
    """An interpreter to Spark. The runner alone is handed over; the daemon that Spark always takes for data sources is
    the quiet one, and all else starts as always."""
    files = (sys.executable, planner_request.__file__, directory / SOCKET, Path(__file__).with_name(QUIET_DAEMON))
    own, request, place, daemon = (shlex.quote(str(file)) for file in files)
    return f"""#!/bin/sh
if [ "$2" = {RUNNER} ]; then
  exec {own} -I -S {request} {place} "$@"
fi
if [ "$2" = pyspark.daemon ]; then
  shift 2
  exec {own} -P {daemon} "$@"
fi
exec {own} -P "$@"
"""


def serve(directory: Path) -> None:
    """Forks a process for every request, until the process that started this one is gone."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / SOCKET))
        listener.listen(BACKLOG)
        look_where_the_driver_does()
        for module in PRELOADED:
            importlib.import_module(module)
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _become_runner(connection)


def _become_runner(connection: socket.socket) -> None:
    """Runs in the fork, as the process that Spark wanted to start; it ends with the one that Spark did start."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        message, descriptors, _, _ = socket.recv_fds(connection, planner_request.MESSAGE_BYTES_MAX, 3)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        wanted = json.loads(message)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["directory"])
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        _run()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 0xFF)


def _run() -> None:
    runner = importlib.import_module(RUNNER)
    with runner.get_sock_file_to_executor(timeout=None) as channel:
        runner.main(channel, channel)


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    try:
        serve(Path(sys.argv[1]))
    finally:
        shutil.rmtree(sys.argv[1], ignore_errors=True)

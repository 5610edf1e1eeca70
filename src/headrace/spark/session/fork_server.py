"""Python processes for Spark, forked from one that has imported everything.

Spark starts a Python process for the source of every streaming query, a daemon for each kind of planning, and a daemon
for the workers of tasks: up to two seconds each, spent on imports, and one after another before the first row. Here
Spark starts `fork_request.py` in their place, which hands the start over to a server in this module and costs a few
milliseconds. The server imports while Java starts, once for all, and its forks share their memory. Should the server be
away, a process starts as it would have without it.
"""

from __future__ import annotations

import atexit
import contextlib
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
from headrace.spark.session import fork_request
from headrace.spark.session.process_name import name_process

PLANNER: Final = "pyspark.sql.streaming.python_streaming_source_runner"
DAEMON: Final = "headrace.spark.session.daemon"
PLANNING_DAEMON: Final = "pyspark.daemon"
PRELOADED: Final = (
    PLANNER,
    "headrace.spark.sources.topic_source",
    "headrace.spark.sources.python_source",
    "headrace.spark.reading.table_versions",
    "headrace.spark.sources.trigger_source",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.plan_data_source_read",
)
# As many starts may wait while the server imports.
BACKLOG: Final = 64
SOCKET: Final = "socket"
QUIET_DAEMON: Final = "quiet_daemon.py"
END_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class ForkServer:
    """`python` is the interpreter that Spark is to start. The server ends when its standard input does."""

    python: str
    server: subprocess.Popen[bytes] | None


@cache
def start_fork_server() -> ForkServer:
    """One server for this process, whatever the number of its sessions."""
    directory = Path(tempfile.mkdtemp(prefix="headrace-forks-"))
    launcher = directory / "python"
    launcher.write_text(_launcher(directory))
    launcher.chmod(0o700)
    if not os.access(launcher, os.X_OK):
        # Nothing can be executed from the directory of temporary files.
        shutil.rmtree(directory)
        return ForkServer(sys.executable, None)
    command = python_module(__name__, str(directory))
    # In a session of its own: it serves to the end, also when the terminal interrupts.
    with safe_python():
        # Text has the same hash in all workers, as where Spark starts them.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        server = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, env=environment)
    atexit.register(_end, server)
    return ForkServer(str(launcher), server)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.stdin is not None:
        server.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(END_TIMEOUT_S)


def _launcher(directory: Path) -> str:
    """An interpreter to Spark. Without the server the daemon that Spark always takes for data sources is the quiet
    one; what is not handed over starts as always."""
    files = (sys.executable, fork_request.__file__, directory / SOCKET, Path(__file__).with_name(QUIET_DAEMON))
    own, request, place, daemon = (shlex.quote(str(file)) for file in files)
    return f"""#!/bin/sh
case "$1 $2" in
  "-m {PLANNER}" | "-m {DAEMON}") exec {own} -I -S {request} {place} "$2" "$@" ;;
  "-m {PLANNING_DAEMON}") shift 2; exec {own} -I -S {request} {place} {PLANNING_DAEMON} {daemon} "$@" ;;
esac
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
        _preload()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _become_wanted(connection)


def _preload() -> None:
    importlib.import_module(DAEMON).preload()


def _become_wanted(connection: socket.socket) -> None:
    """Runs in the fork, as the process that Spark wanted to start; it ends with the one that Spark did start."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        message, descriptors, _, _ = socket.recv_fds(connection, fork_request.MESSAGE_BYTES_MAX, 3)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        wanted = json.loads(message)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["directory"])
        look_where_the_driver_does()
        if wanted["module"] == PLANNER:
            _plan(connection)
        else:
            _serve_tasks(connection, wanted["module"], wanted["arguments"])
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 0xFF)


def _plan(connection: socket.socket) -> None:
    name_process(f"python -m {PLANNER}")
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    runner = importlib.import_module(PLANNER)
    with runner.get_sock_file_to_executor(timeout=None) as channel:
        runner.main(channel, channel)


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)
    os._exit(1)


def _serve_tasks(connection: socket.socket, module: str, arguments: list[str]) -> None:
    """A daemon ends when its standard input does, as Spark has it: no thread watches the connection, for it forks."""
    worker = arguments[-1]
    name_process(f"python -m {module} {worker}")
    # Whoever wanted the daemon waits for it, not for its workers.
    os.register_at_fork(after_in_child=connection.close)
    sys.argv = [module, worker]
    if module == DAEMON:
        _preload()  # what was compiled since the server started
    importlib.import_module("headrace.spark.session.quiet_daemon").manager()


if __name__ == "__main__":
    try:
        serve(Path(sys.argv[1]))
    finally:
        shutil.rmtree(sys.argv[1], ignore_errors=True)

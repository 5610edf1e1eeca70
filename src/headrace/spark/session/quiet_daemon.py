"""Spark's worker daemon, whose workers end without a traceback when the JVM has let go of them.

Runs as a file too, without our package: then nothing but pyspark is imported.
"""

from __future__ import annotations

import socket

from pyspark import daemon

_ENDED = 1
_run_worker = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """At the latest when Spark ends a worker has nobody left to write to: that is its end."""
    try:
        return _run_worker(sock, authenticated)
    except BrokenPipeError:
        # After a 0 the daemon would run the worker again, on the same dead socket, without end.
        return _ENDED


def manager() -> None:
    daemon.worker = worker
    daemon.manager()


if __name__ == "__main__":
    manager()

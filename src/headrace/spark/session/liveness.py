"""Spark's Java process, as seen from here: whether it lives, how it ended, and what this process keeps of it."""

from __future__ import annotations

import contextlib
import logging
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Final

from headrace.errors import EngineLost

# From the end of a connection to the end of the process behind it.
END_WAIT_S: Final = 1.0
_POLL_S: Final = 0.02
HINT: Final = "it is started again by itself; pipelines go on from their last commit"

_log = logging.getLogger(__name__)

# Why this process killed Java, by process id.
_killed: dict[int, str] = {}


def java_process() -> subprocess.Popen[bytes] | None:
    """None before the first session, and where somebody else started Java."""
    from pyspark import SparkContext  # noqa: PLC0415  (pyspark costs half a second: only where it is used)

    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process


def how_java_ended(process: subprocess.Popen[bytes] | None = None) -> str | None:
    """None while it runs: the one that is given, or else the newest."""
    process = process or java_process()
    code = None if process is None else process.poll()
    if code is None:
        return None
    ending = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    own = None if process is None else _killed.get(process.pid)
    return f"Spark's Java process {ending if own is None else f'was killed: {own}'}"


def kill_java(reason: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Whoever watches it sees its end, and starts it again."""
    process = process or java_process()
    if process is not None and process.poll() is None:
        _log.error("Spark's Java process %d is killed: %s", process.pid, reason)
        _killed[process.pid] = reason
        process.kill()


def engine_lost(error: BaseException, process: subprocess.Popen[bytes] | None = None) -> EngineLost | None:
    """What a failed call into Java means, if it means that nobody is there."""
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError  # noqa: PLC0415

    if isinstance(error, EngineLost):
        return error
    if not isinstance(error, Py4JError | ConnectionError | EOFError) or isinstance(error, Py4JJavaError):
        return None
    deadline_s = time.monotonic() + END_WAIT_S
    while (ended := how_java_ended(process)) is None and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
    if ended is not None:
        return EngineLost(ended, hint=HINT)
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return EngineLost("Spark's Java process does not answer", hint=HINT)
    return None


@contextlib.contextmanager
def named_loss() -> Iterator[None]:
    """Raises EngineLost for whatever a call into Java raises when nobody is there."""
    try:
        yield
    except Exception as error:
        lost = engine_lost(error)
        if lost is None or lost is error:
            raise
        raise lost from error


def forget_session() -> None:
    """Afterwards this process has no Spark, as before its first session. Called when Java has ended."""
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    # What is left are sockets and threads of ours; whatever closing them says, nobody is at their other end.
    with contextlib.suppress(Exception):
        if context is not None and context._accumulatorServer is not None:
            context._accumulatorServer.shutdown()
    with contextlib.suppress(Exception):
        if gateway is not None:
            gateway.close(keep_callback_server=False, close_callback_server_connections=True)

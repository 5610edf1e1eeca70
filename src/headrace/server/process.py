"""The server as a process: HTTP at once, Spark beside it, one line when both are ready, one sentence when not."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvloop

from headrace.errors import Conflict, HeadraceError, InvalidConfig
from headrace.process.child import tell_parent
from headrace.process.ports import LOOPBACK
from headrace.server.settings import TOKEN_VARIABLE, ServerSettings
from headrace.spark.session.session import SparkSettings, begin_session

if TYPE_CHECKING:
    from headrace.server.service import Service

EXIT_REFUSED: Final = 2
# The broker may start at the same time; it reads its log first.
BROKER_WAIT_MS: Final = 110_000

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until SIGTERM or SIGINT. Exits with 2 and a sentence on stderr when it cannot start."""
    for talkative in ("py4j", "httpx"):  # the latter has a line with the whole address, and passwords in it
        logging.getLogger(talkative).setLevel(logging.WARNING)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format='{"time": "%(asctime)s", "event": "%(message)s"}')
    try:
        run_server(_parse(arguments))
    except HeadraceError as error:
        # The empty line parts the sentence from what Java wrote before it.
        print(f"\n{error}", file=sys.stderr)
        raise SystemExit(EXIT_REFUSED) from None


def run_server(settings: ServerSettings) -> None:
    """Returns when it was asked to stop, and has. Raises HeadraceError when it cannot start."""
    listener = _listen(settings.port)
    with contextlib.suppress(OSError):  # told when the session is started
        begin_session(SparkSettings.below(settings.data_directory, settings.spark, None, {}))

    from headrace.server.service import Service  # noqa: PLC0415  (Java starts while it is imported)

    service = Service(settings)
    service.notices.said = tell_parent
    opening = _Opening(service)
    opening.start()  # the JVM starts while the rest is imported
    uvloop.run(_serve(settings, service, opening, listener))


class _Opening(threading.Thread):
    """Opens the service, and keeps the error if it cannot be opened."""

    def __init__(self, service: Service) -> None:
        super().__init__(name="open-service", daemon=True)
        self._service = service
        self.failure: HeadraceError | None = None

    def run(self) -> None:
        try:
            _wait_for_broker(self._service.settings)
            self._service.open()
        except HeadraceError as error:
            self.failure = error


def _wait_for_broker(settings: ServerSettings) -> None:
    """Returns when the broker beside this process answers. Raises ExternalFailure when it does not."""
    if settings.log_directory is None:
        return
    from headrace.wire.client import Client  # noqa: PLC0415 - after the JVM was started

    with Client(settings.bootstrap, "headrace-server", timeout_ms=BROKER_WAIT_MS) as client:
        client.metadata([])


async def _serve(settings: ServerSettings, service: Service, opening: _Opening, listener: socket.socket) -> None:
    from headrace.server.app import create_app  # noqa: PLC0415 - after the JVM was started
    from headrace.server.http import HttpServer  # noqa: PLC0415

    port = listener.getsockname()[1]
    server = HttpServer(create_app(service, token=settings.token, port=port), settings.limits)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    serving = asyncio.create_task(server.serve([listener]))
    await asyncio.to_thread(opening.join)
    if opening.failure is None:
        _announce(port)
    else:
        server.stop()
    await serving
    await asyncio.to_thread(service.close)
    if opening.failure is not None:
        raise opening.failure


def _announce(port: int) -> None:
    line = {"ready": True, "host": LOOPBACK, "port": port, "pid": os.getpid()}
    os.write(1, json.dumps(line).encode() + b"\n")


def _listen(port: int) -> socket.socket:
    """Raises Conflict when the port is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise Conflict(f"the server cannot listen on port {port}: {error.strerror}", hint="--http-port 0") from error
    listener.listen()
    return listener


def _parse(arguments: Sequence[str] | None) -> ServerSettings:
    parser = argparse.ArgumentParser(prog="python -m headrace.server", description="Runs pipelines; HTTP on loopback.")
    parser.add_argument("--data-dir", type=Path, required=True, help="where versions, jobs and state are kept")
    parser.add_argument("--bootstrap", required=True, help="the address of the broker")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--log-dir", type=Path, help="the broker's log, when it is on this machine")
    parser.add_argument("--spark", help="a Spark master, such as spark://host:7077; default: in this process")
    given = parser.parse_args(arguments)
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if not token:
        raise InvalidConfig(f"the environment variable {TOKEN_VARIABLE} holds no token")
    return ServerSettings(given.data_dir, given.bootstrap, token, given.port, given.log_dir, given.spark)

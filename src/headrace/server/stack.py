"""The whole of Headrace on one machine: a broker process and a server process, kept running over one data directory."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from headrace.credential import announced, credential_path
from headrace.errors import ExternalFailure
from headrace.process import (
    Command,
    DataDirectory,
    RunInfo,
    Supervisor,
    SupervisorLimits,
    keep_token,
    require_free_port,
)
from headrace.process.files import PRIVATE
from headrace.process.ports import LOOPBACK
from headrace.process.supervisor import Answers, Part
from headrace.server.settings import TOKEN_VARIABLE

BROKER_PORT: Final = 9092
HTTP_PORT: Final = 8484

BROKER: Final = "broker"
SERVER: Final = "server"


@dataclass(frozen=True, slots=True)
class StackSettings:
    """`broker` is the address of a Kafka cluster to use instead of a broker of our own; port 0 picks a free one.

    With `new_token`, browsers that were let in before must be let in anew.
    """

    data_directory: Path
    broker_port: int = BROKER_PORT
    http_port: int = HTTP_PORT
    broker: str | None = None
    spark: str | None = None
    # Settings of our own broker. Our own processes reach it by a port of their own, on loopback.
    broker_config: Path | None = None
    # Without, our own broker takes only clients that authenticate.
    anonymous: bool = True
    new_token: bool = False
    limits: SupervisorLimits = field(default_factory=SupervisorLimits)


class Stack:
    """`run` does everything, in the thread that calls it; the rest may be called from any thread."""

    def __init__(self, settings: StackSettings, *, log: Callable[[str], None] = lambda sentence: None) -> None:
        self.settings = settings
        self._log = log
        self._token = ""
        self._stop = threading.Event()

    def run(self, on_ready: Callable[[RunInfo], None]) -> None:
        """Returns after `stop`, with nothing left running. `on_ready` is called once, when all can be used.

        Raises Conflict (port or data directory in use), InvalidInput (newer format), ChildRefused when a part says
        that it cannot start, ExternalFailure when one dies too often, DiskFailure.
        """
        with DataDirectory.open(self.settings.data_directory) as data:
            if self.settings.broker is None:
                require_free_port(self.settings.broker_port, "broker", "--port")
            require_free_port(self.settings.http_port, "server", "--http-port")
            self._token = keep_token(data.path, renew=self.settings.new_token)
            log = self._logger(data.path)
            if data.note is not None:
                log(data.note)
            supervisor = Supervisor(self._parts(data), log=log, limits=self.settings.limits)
            try:
                self._keep(supervisor, data.path, on_ready)
            finally:
                supervisor.stop()
                RunInfo.remove(data.path)

    def stop(self) -> None:
        """`run` returns soon after."""
        self._stop.set()

    def _keep(self, supervisor: Supervisor, data: Path, on_ready: Callable[[RunInfo], None]) -> None:
        written: RunInfo | None = None
        while not self._stop.wait(supervisor.limits.poll_s):
            supervisor.tick()
            if written is None and not supervisor.is_ready:
                continue
            info = self._run_info(supervisor, data)
            if info != written:
                info.write(data)
                if written is None:
                    on_ready(info)
                written = info

    def _run_info(self, supervisor: Supervisor, data: Path) -> RunInfo:
        pids, port = supervisor.pids, supervisor.answers[SERVER]["port"]
        bootstrap, broker = self._bootstrap(supervisor.answers), supervisor.answers.get(BROKER, {})
        return RunInfo(
            os.getpid(),
            pids.get(BROKER, 0),
            pids.get(SERVER, 0),
            bootstrap,
            int(str(port)),
            self._token,
            credential="" if self.settings.broker else str(credential_path(data / "log")),
            public=str(broker.get("address", "")),
            authenticated=bool(broker.get("authenticated", False)),
        )

    def _bootstrap(self, answers: Answers) -> str:
        """Where our own processes reach the broker."""
        ready = answers.get(BROKER, {"port": self.settings.broker_port})
        return self.settings.broker or f"{LOOPBACK}:{ready.get('local_port', ready.get('port'))}"

    def _parts(self, data: DataDirectory) -> list[Part]:
        # Where it is known what port the broker will have, the server starts beside it.
        is_port_known = self.settings.broker_port != 0 and self.settings.broker_config is None
        server = Part(SERVER, lambda answers: self._server_command(data, answers), early=is_port_known)
        if self.settings.broker is not None:
            return [server]
        return [Part(BROKER, lambda answers: self._broker_command(data, answers)), server]

    def _broker_command(self, data: DataDirectory, answers: Answers) -> Command:
        port = answers.get(BROKER, {}).get("port", self.settings.broker_port)
        arguments = ["--data-dir", str(data.path / "log"), "--port", str(port)]
        if self.settings.broker_config is not None:
            local_port = answers.get(BROKER, {}).get("local_port", 0)
            arguments += ["--config", str(self.settings.broker_config), "--local-port", str(local_port)]
        if not self.settings.anonymous:
            arguments.append("--no-anonymous")
        log_path = data.path / "logs" / "broker.log"
        return Command(BROKER, "headrace.wire", tuple(arguments), log_path, inherited=(data.lock_descriptor,))

    def _server_command(self, data: DataDirectory, answers: Answers) -> Command:
        port = answers.get(SERVER, {}).get("port", self.settings.http_port)
        arguments = ["--data-dir", str(data.path), "--port", str(port), "--bootstrap", self._bootstrap(answers)]
        if self.settings.broker is None:
            arguments += ["--log-dir", str(data.path / "log")]
        if self.settings.spark is not None:
            arguments += ["--spark", self.settings.spark]
        # The environment of a process is its owner's secret; its arguments are not.
        secret = {TOKEN_VARIABLE: self._token}
        if self.settings.broker is None:
            secret |= announced(self._bootstrap(answers), credential_path(data.path / "log"))
        log_path = data.path / "logs" / "server.log"
        return Command(SERVER, "headrace.server", tuple(arguments), log_path, secret, (data.lock_descriptor,))

    def _logger(self, data: Path) -> Callable[[str], None]:
        """Says each sentence, and keeps it in `logs/up.log`."""

        def log(sentence: str) -> None:
            # A full disk is told by the parts themselves; it must not end what keeps them running.
            with contextlib.suppress(OSError), open(data / "logs" / "up.log", "a", opener=_private) as file:
                file.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {sentence}\n")
            self._log(sentence)

        return log


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


class BackgroundStack:
    """A stack in a thread of its own: running inside `with`, stopped after it."""

    def __init__(self, settings: StackSettings, *, log: Callable[[str], None] = lambda sentence: None) -> None:
        self._stack = Stack(settings, log=log)
        self._ready = threading.Event()
        self._info: RunInfo | None = None
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="headrace-stack", daemon=True)

    def start(self, timeout_s: float) -> RunInfo:
        """Raises whatever `Stack.run` raises, and ExternalFailure when it takes too long."""
        self._thread.start()
        deadline_s = time.monotonic() + timeout_s
        while not self._ready.wait(0.05):
            self.check()
            if time.monotonic() > deadline_s:
                self.stop()
                raise ExternalFailure(f"Headrace was not ready after {timeout_s:.0f} s")
        if self._info is None:
            raise ExternalFailure("Headrace stopped while it was starting")
        return self._info

    def check(self) -> None:
        """Raises the error that ended the stack, if one did."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        self._stack.stop()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._stack.run(self._on_ready)
        except Exception as error:  # whatever it is, the caller of `check` gets it
            self._failure = error

    def _on_ready(self, info: RunInfo) -> None:
        self._info = info
        self._ready.set()

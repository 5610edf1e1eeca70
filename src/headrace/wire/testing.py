"""Brokers for tests: processes that can be killed, and brokers in a thread with the test's own disk and clock."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headrace.credential import credential_path, use_credential
from headrace.errors import Conflict, ExternalFailure
from headrace.log import Storage, now_ms
from headrace.process.python import python_module
from headrace.wire.broker import Broker
from headrace.wire.config import BrokerConfig

END_TIMEOUT_S: Final = 30.0


class BrokerProcess:
    """A broker with its own data directory. Started again, it keeps its port, so that clients find it."""

    def __init__(self, data_dir: Path, *arguments: str) -> None:
        self.data_dir = data_dir
        self.port = 0
        # That of the listener for this machine, where one was asked for.
        self.local_port = 0
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._log_path = data_dir.with_name(data_dir.name + ".log")

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def log(self) -> str:
        """Everything it said on stderr since the first start."""
        return self._log_path.read_text()

    def start(self) -> None:
        """Ready to serve when it returns. Raises ExternalFailure with what the broker said when it is not."""
        command = python_module("headrace.wire", "--data-dir", str(self.data_dir), "--port", str(self.port))
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen([*command, *self._arguments], stdout=subprocess.PIPE, stderr=log)
        line = self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            self._end(signal.SIGKILL)
            raise ExternalFailure(f"the broker did not start: {self.log}")
        ready = json.loads(line)
        self.port, self.local_port = ready["port"], ready.get("local_port", 0)
        use_credential(f"127.0.0.1:{self.local_port or self.port}", credential_path(self.data_dir))

    def kill(self) -> None:
        """No warning, no clean-up."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """The exit code of a clean stop; 0 when it does not run."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(number)
        code = process.wait(END_TIMEOUT_S)
        if process.stdout:
            process.stdout.close()
        return code

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise Conflict("the broker is not running")
        return self._process

    def restart(self) -> None:
        """As after a crash: killed, then started on the same data."""
        self.kill()
        self.start()


@contextmanager
def broker_in_thread(
    config: BrokerConfig, *, storage: Storage | None = None, clock: Callable[[], int] = now_ms
) -> Iterator[str]:
    """The address of a broker that serves in a thread of this process until the block ends, and then stops cleanly."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(config, storage, clock, started)))
    thread.start()
    try:
        loop, stopping, port = started.result(END_TIMEOUT_S)
    except BaseException:
        thread.join()
        raise
    try:
        use_credential(f"{config.host}:{port}", credential_path(config.data_dir))
        yield f"{config.host}:{port}"
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()


async def _serve(
    config: BrokerConfig,
    storage: Storage | None,
    clock: Callable[[], int],
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]],
) -> None:
    broker = Broker(config, storage=storage, clock=clock)
    try:
        await broker.start()
    except BaseException as error:
        started.set_exception(error)
        return
    stopping = asyncio.Event()
    started.set_result((asyncio.get_running_loop(), stopping, broker.port))
    await stopping.wait()
    await broker.stop()

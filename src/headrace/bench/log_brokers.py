"""The brokers that the suite `log` compares: ours, and real ones beside it, each a process on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace.bench import processes
from headrace.bench.log_kafka import start_kafka
from headrace.errors import ExternalFailure
from headrace.process import Child, Command

READY_TIMEOUT_S: Final = 60.0
CALL_TIMEOUT_S: Final = 20.0
STOP_TIMEOUT_S: Final = 20.0
POLL_S: Final = 0.01
SETTLE_S: Final = 0.5

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class Broker(Protocol):
    """A running broker. `ready_s` is from its start until it answers a client."""

    bootstrap: str
    ready_s: float

    @property
    def pid(self) -> int: ...

    def close(self) -> None:
        """It does not run afterwards; its files may be removed."""
        ...


class Ours:
    """Headrace's broker, acknowledging what is on disk; with durability `os` what the system holds, as Kafka ships."""

    def __init__(self, directory: Path, *, durability: str = "fsync") -> None:
        arguments = ("--data-dir", str(directory / "log"), "--port", "0", "--durability", durability)
        began_s = time.monotonic()
        directory.mkdir(parents=True, exist_ok=True)
        self._child = Child(Command("broker", "headrace.wire", arguments, directory / "broker.log"))
        self.bootstrap = f"127.0.0.1:{self._child.wait_ready(READY_TIMEOUT_S)['port']}"
        self.ready_s = time.monotonic() - began_s

    @property
    def pid(self) -> int:
        return self._child.pid

    def close(self) -> None:
        self._child.stop()


class Kafka:
    """Apache Kafka as it ships."""

    def __init__(self, directory: Path) -> None:
        port, controller_port = _free_port(), _free_port()
        self.bootstrap = f"127.0.0.1:{port}"
        self._process, began_s = start_kafka(directory, port, controller_port)
        try:
            _wait_answering(self._process, self.bootstrap)
        except BaseException:
            self.close()
            raise
        self.ready_s = time.monotonic() - began_s

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def unavailable(name: str) -> ExternalFailure:
    """Why a peer that the suite knows cannot take part."""
    reasons = {
        "klite": "its module cannot be had from the Go proxy",
        "nats": "it does not speak Kafka, so the same client cannot load it",
    }
    return ExternalFailure(f"{name}: {reasons[name]}")


class Topics:
    """Topics of one broker, made for an item and removed after it."""

    def __init__(self, broker: Broker) -> None:
        self._admin = _admin(broker.bootstrap)

    def create(self, name: str, partitions: int, config: Mapping[str, str]) -> None:
        """Raises ExternalFailure."""
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(config))
        self._wait(self._admin.create_topics([topic])[name])
        time.sleep(SETTLE_S)

    def delete(self, name: str) -> None:
        """Raises ExternalFailure."""
        self._wait(self._admin.delete_topics([name])[name])

    def _wait(self, future: Any) -> None:
        try:
            future.result(CALL_TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise ExternalFailure(f"the broker refused: {error}") from error


def cpu_s(pid: int) -> float:
    """CPU time of a process and its threads so far; of its children too, for ours is tethered."""
    return sum(_cpu_s(member) for member in processes.tree(pid))


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _admin(bootstrap: str) -> AdminClient:
    """Silent: it outlives the broker by a moment."""
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_answering(process: subprocess.Popen[bytes], bootstrap: str) -> None:
    """Raises ExternalFailure."""
    host, _, port = bootstrap.rpartition(":")
    deadline_s = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise ExternalFailure(f"the broker ended with code {process.returncode} before it was ready")
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(POLL_S)
            continue
        _admin(bootstrap).list_topics(timeout=CALL_TIMEOUT_S)
        return
    raise ExternalFailure(f"no answer on {bootstrap} within {READY_TIMEOUT_S:.0f} s")

"""The peers as processes: started when first needed, left out with a reason when they cannot run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from headrace.bench import processes
from headrace.bench.connector import kafka_connector
from headrace.errors import ExternalFailure, HeadraceError
from headrace.process.python import python_module
from headrace.spark.session.java import find_java

START_TIMEOUT_S: Final = 240.0
ANSWER_TIMEOUT_S: Final = 1_800.0
END_TIMEOUT_S: Final = 30.0

Say = Callable[[str], None]


class Peer:
    """One process that answers commands line by line. After a failure it must not be asked again."""

    def __init__(self, name: str, command: Sequence[str], directory: Path) -> None:
        self.name = name
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=directory,
                env={**os.environ, "JAVA_HOME": str(find_java(directory).home), "PYSPARK_PYTHON": sys.executable},
                text=True,
                start_new_session=True,
            )
        self._answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name=f"{name}-output", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_ready(self) -> None:
        """Raises ExternalFailure."""
        self._answer(START_TIMEOUT_S)

    def ask(self, command: Mapping[str, object]) -> Any:
        """What the peer found. Raises ExternalFailure with its own words."""
        if self._process.stdin is None:
            raise ExternalFailure(f"{self.name} has ended")
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(dict(command)) + "\n")
            self._process.stdin.flush()
        return self._answer(ANSWER_TIMEOUT_S)["result"]

    def close(self) -> None:
        """Nothing of it runs afterwards."""
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(END_TIMEOUT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join(END_TIMEOUT_S)

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        try:
            answer = self._answers.get(timeout=timeout_s)
        except Empty:
            raise ExternalFailure(f"no answer within {timeout_s:.0f} s") from None
        if "error" in answer:
            raise ExternalFailure(str(answer["error"]))
        return answer

    def _listen(self) -> None:
        """Java may write to the same output: only JSON objects are answers."""
        if self._process.stdout is None:
            return
        with self._process.stdout as output:
            for line in output:
                if line.startswith("{"):
                    self._answers.put(json.loads(line))
        self._answers.put({"error": "the process ended"})


def _no_settings() -> dict[str, str]:
    return {}


def _tuned() -> dict[str, str]:
    """What a careful user changes for two cores: by default a window has 200 partitions."""
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.stateStore.providerClass": provider}


CONFS: Final[dict[str, Callable[[], dict[str, str]]]] = {
    "pyspark": _no_settings,
    "pyspark-kafka": kafka_connector,
    "pyspark-tuned": _tuned,
    "tws": _tuned,
}


def spark_peer(name: str, directory: Path) -> Peer:
    """PySpark with the settings that the name stands for. Raises ExternalFailure where they cannot be had."""
    return _spark_peer(name, CONFS[name](), directory)


def tuned_spark_peer(name: str, directory: Path) -> Peer:
    """PySpark under any name, with what a careful user changes; days begin where ours do."""
    return _spark_peer(name, {**_tuned(), "spark.sql.session.timeZone": "UTC"}, directory)


def _spark_peer(name: str, conf: Mapping[str, str], directory: Path) -> Peer:
    return Peer(name, python_module("headrace.bench.peer", json.dumps(dict(conf))), directory)


class Peers:
    """Those to compare with. One that fails is said to, once, and is gone from then on."""

    def __init__(
        self,
        names: tuple[str, ...],
        directory: Path,
        say: Say,
        start: Callable[[str, Path], Peer] = spark_peer,
    ) -> None:
        self._start = start
        self._wanted = list(names)
        self._directory = directory
        self._say = say
        self._running: dict[str, Peer] = {}

    def names(self, among: tuple[str, ...]) -> list[str]:
        return [name for name in self._wanted if name in among]

    def ask(self, name: str, command: Mapping[str, object]) -> Any:
        """What the peer found; None when it cannot run."""
        if name not in self._wanted:
            return None
        try:
            return self._peer(name).ask(command)
        except HeadraceError as error:
            self._say(f"{name} is left out: {error.message}")
            self._wanted.remove(name)
            return None

    def cpu_s(self, name: str) -> float:
        """What the peer has used so far, with all processes that it started; nothing while it does not run."""
        return processes.cpu_s(processes.tree(self._running[name].pid)) if name in self._running else 0.0

    def all_cpu_s(self) -> float:
        return sum(self.cpu_s(name) for name in self._running)

    def close(self) -> None:
        for peer in self._running.values():
            peer.close()
        self._running.clear()

    def _peer(self, name: str) -> Peer:
        if name not in self._running:
            self._running[name] = self._start(name, self._directory / name)
            self._running[name].wait_ready()
        return self._running[name]

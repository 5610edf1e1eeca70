"""Single measurements of the suite `log`: load processes on one topic of one broker."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Final

from headrace.bench.log_brokers import Broker, cpu_s
from headrace.errors import ExternalFailure
from headrace.process.python import python_module

WORK_TIMEOUT_S: Final = 180.0
# Above this share of a core for each of its processes the load is the limit, and not the broker.
BUSY_SHARE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run found. `load_share` is the part of a core that each load process used."""

    seconds: float
    broker_cpu_s: float
    load_share: float
    answers: tuple[dict[str, Any], ...]

    @property
    def load_is_limit(self) -> bool:
        return self.load_share >= BUSY_SHARE


def run_load(broker: Broker, specs: list[dict[str, Any]]) -> Measured:
    """All processes connect first, then start together. Raises ExternalFailure when one fails."""
    with contextlib.ExitStack() as stack:
        load = [stack.enter_context(_Load({"bootstrap": broker.bootstrap, **spec})) for spec in specs]
        for process in load:
            process.wait_connected()
        began_cpu_s, began_s = cpu_s(broker.pid), time.monotonic()
        for process in load:
            process.go()
        answers = tuple(process.answer() for process in load)
        seconds = time.monotonic() - began_s
        used_cpu_s = cpu_s(broker.pid) - began_cpu_s
    busy_s = sum(answer["cpu_s"] for answer in answers)
    return Measured(seconds, used_cpu_s, busy_s / seconds / len(specs), answers)


class _Load:
    """One process of `headrace.bench.log_load`; killed at the end of `with` if it still runs."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._role = spec["role"]
        self._process = subprocess.Popen(
            python_module("headrace.bench.log_load", json.dumps(spec)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> _Load:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def wait_connected(self) -> None:
        if self._line() != "ready":
            raise ExternalFailure(f"the load process {self._role} cannot connect")

    def go(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        line = self._line()
        if not line.startswith("{"):
            raise ExternalFailure(f"the load process {self._role} failed")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self) -> str:
        return "" if self._process.stdout is None else self._process.stdout.readline().strip()

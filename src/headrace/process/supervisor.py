"""Keeps parts running: starts them in order, starts a part again that died, stops them in reverse order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from headrace.errors import ExternalFailure, HeadraceError
from headrace.process.child import Answer, Child, ChildRefused, Command

Answers = Mapping[str, Answer]
State = Literal["waiting", "starting", "ready", "stopped"]


@dataclass(frozen=True, slots=True)
class SupervisorLimits:
    start_timeout_s: float = 120.0
    restarts_max: int = 20
    restart_window_s: float = 60.0
    backoff_first_s: float = 0.1
    backoff_max_s: float = 5.0
    poll_s: float = 0.05


@dataclass(frozen=True, slots=True)
class Part:
    """`command` is called before each start with the newest ready answers of all parts: ports once picked stay.

    A part waits until the one before it was ready once. One that is `early` does not: its process waits by itself.
    """

    name: str
    command: Callable[[Answers], Command]
    early: bool = False


class Process(Protocol):
    """What the supervisor asks of a child."""

    @property
    def pid(self) -> int: ...
    @property
    def answer(self) -> Answer | None: ...
    def poll(self) -> int | None: ...
    def failure(self) -> HeadraceError: ...
    def notices(self) -> list[str]: ...
    def stop(self) -> None: ...


class Supervisor:
    """Call `start`, then `tick` again and again, then `stop`. `log` gets one sentence for whatever happens."""

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        log: Callable[[str], None],
        limits: SupervisorLimits | None = None,
        spawn: Callable[[Command], Process] = Child,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits or SupervisorLimits()
        self._kept = [_Kept(part, self.limits, log, spawn, clock_s) for part in parts]

    @property
    def is_ready(self) -> bool:
        return all(kept.state == "ready" for kept in self._kept)

    @property
    def answers(self) -> dict[str, Answer]:
        """The newest ready answer of each part that was ever ready."""
        return {kept.part.name: kept.ready_answer for kept in self._kept if kept.ready_answer is not None}

    @property
    def pids(self) -> dict[str, int]:
        """Of the parts that run."""
        return {kept.part.name: kept.process.pid for kept in self._kept if kept.process is not None}

    def tick(self) -> None:
        """One look at every part.

        Raises ChildRefused when a part says that it can never start, ExternalFailure when one died too often.
        """
        for kept in self._kept:
            if kept.part.early or self._were_ready_before(kept):
                kept.tick(self.answers)

    def _were_ready_before(self, kept: _Kept) -> bool:
        return all(one.ready_answer is not None for one in self._kept[: self._kept.index(kept)])

    def stop(self) -> None:
        """Nothing runs afterwards."""
        for kept in reversed(self._kept):
            kept.stop()


class _Kept:
    """One part and its history."""

    def __init__(
        self,
        part: Part,
        limits: SupervisorLimits,
        log: Callable[[str], None],
        spawn: Callable[[Command], Process],
        clock_s: Callable[[], float],
    ) -> None:
        self.part = part
        self.state: State = "waiting"
        self.process: Process | None = None
        self.ready_answer: Answer | None = None
        self._limits, self._log, self._spawn, self._clock_s = limits, log, spawn, clock_s
        self._due_s = clock_s()
        self._started_s = 0.0
        self._vain_starts = 0
        self._deaths_s: deque[float] = deque(maxlen=limits.restarts_max + 1)

    def tick(self, answers: Answers) -> None:
        for sentence in self.process.notices() if self.process is not None else ():
            self._log(f"{self.part.name}: {sentence}")
        if self.state == "waiting" and self._clock_s() >= self._due_s:
            self._start(answers)
        elif self.process is not None and self.process.poll() is not None:
            self._died(self.process.failure())
        elif self.state == "starting":
            self._look()

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop()
        self.process, self.state = None, "stopped"

    def _start(self, answers: Answers) -> None:
        self.process = self._spawn(self.part.command(answers))
        self.state, self._started_s = "starting", self._clock_s()
        self._log(f"{self.part.name} starts (process {self.process.pid})")

    def _look(self) -> None:
        answer = self.process.answer if self.process else None
        if answer is not None:
            self.state, self.ready_answer, self._vain_starts = "ready", answer, 0
            self._log(f"{self.part.name} is ready after {self._clock_s() - self._started_s:.1f} s")
        elif self._clock_s() - self._started_s > self._limits.start_timeout_s:
            self._died(ExternalFailure(f"the {self.part.name} was not ready in {self._limits.start_timeout_s:.0f} s"))

    def _died(self, failure: HeadraceError) -> None:
        if isinstance(failure, ChildRefused) and self.ready_answer is None:
            raise failure
        if self.process is not None:
            self.process.stop()
        now_s = self._clock_s()
        self._deaths_s.append(now_s)
        recent = sum(now_s - death_s <= self._limits.restart_window_s for death_s in self._deaths_s)
        if recent > self._limits.restarts_max:
            often = (
                f"the {self.part.name} died {recent} times in {self._limits.restart_window_s:.0f} s: {failure.message}"
            )
            raise ExternalFailure(often, hint=failure.hint)
        wait_s = min(self._limits.backoff_max_s, self._limits.backoff_first_s * 2**self._vain_starts)
        self._vain_starts += 1
        self.process, self.state, self._due_s = None, "waiting", now_s + wait_s
        hint = "" if failure.hint is None else f" ({failure.hint})"
        self._log(f"{failure.message}{hint}; it is started again in {wait_s:.1f} s")

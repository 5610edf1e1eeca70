from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from headrace.errors import ExternalFailure, HeadraceError
from headrace.process.child import Answer, ChildRefused, Command
from headrace.process.supervisor import Answers, Part, Supervisor, SupervisorLimits

LIMITS = SupervisorLimits(start_timeout_s=10, restarts_max=3, restart_window_s=60, backoff_first_s=1, backoff_max_s=4)


@dataclass
class FakeProcess:
    pid: int
    command: Command
    answer: Answer | None = None
    exit_code: int | None = None
    refusal: str | None = None
    stops: int = 0
    said: list[str] = field(default_factory=list)

    def notices(self) -> list[str]:
        said, self.said = self.said, []
        return said

    def poll(self) -> int | None:
        return self.exit_code

    def failure(self) -> HeadraceError:
        return (
            ChildRefused(self.refusal)
            if self.refusal
            else ExternalFailure(f"process {self.pid} died", hint="see the log")
        )

    def stop(self) -> None:
        self.stops += 1


@dataclass
class World:
    """Time and processes by hand."""

    now_s: float = 0.0
    started: list[FakeProcess] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def spawn(self, command: Command) -> FakeProcess:
        self.started.append(FakeProcess(len(self.started) + 1, command))
        return self.started[-1]

    def supervisor(self, *names: str) -> Supervisor:
        parts = [Part(name, partial(command, name)) for name in names]
        return Supervisor(parts, log=self.said.append, limits=LIMITS, spawn=self.spawn, clock_s=lambda: self.now_s)


def command(name: str, answers: Answers) -> Command:
    return Command(name, "module", tuple(f"{part}={answer['port']}" for part, answer in answers.items()), Path("log"))


def is_ready(supervisor: Supervisor) -> bool:
    return supervisor.is_ready


def test_second_part_waits_for_the_first_and_hears_its_answer() -> None:
    world = World()
    supervisor = world.supervisor("broker", "server")
    supervisor.tick()
    supervisor.tick()
    assert [process.command.name for process in world.started] == ["broker"]
    world.started[0].answer = {"port": 7}
    supervisor.tick()
    assert [process.command.name for process in world.started] == ["broker", "server"]
    assert world.started[1].command.arguments == ("broker=7",)
    assert not is_ready(supervisor)
    world.started[1].answer = {"port": 8}
    supervisor.tick()
    assert is_ready(supervisor)
    assert supervisor.pids == {"broker": 1, "server": 2}


def test_an_early_part_starts_beside_the_first_and_both_must_be_ready() -> None:
    world = World()
    early = Part("server", partial(command, "server"), early=True)
    parts = [Part("broker", partial(command, "broker")), early]
    supervisor = Supervisor(parts, log=world.said.append, limits=LIMITS, spawn=world.spawn, clock_s=lambda: world.now_s)
    supervisor.tick()
    assert [process.command.name for process in world.started] == ["broker", "server"]
    world.started[1].answer = {"port": 8}
    supervisor.tick()
    assert not is_ready(supervisor)
    world.started[0].refusal, world.started[0].exit_code = "the port is in use", 2
    with pytest.raises(ChildRefused, match="the port is in use"):
        supervisor.tick()


def test_dead_part_is_started_again_with_the_port_it_had() -> None:
    world = World()
    supervisor = world.supervisor("broker")
    supervisor.tick()
    world.started[0].answer = {"port": 7}
    supervisor.tick()
    world.started[0].exit_code = -9
    supervisor.tick()
    assert not is_ready(supervisor)
    supervisor.tick()
    assert len(world.started) == 1, "not before the back-off is over"
    world.now_s += LIMITS.backoff_first_s
    supervisor.tick()
    assert world.started[1].command.arguments == ("broker=7",)
    assert "process 1 died (see the log); it is started again in 1.0 s" in world.said


def test_back_off_doubles_up_to_its_limit_and_the_restarts_end() -> None:
    world = World()
    supervisor = world.supervisor("broker")
    starts_s: list[float] = []

    def live() -> None:
        for _ in range(200):
            before = len(world.started)
            supervisor.tick()
            if len(world.started) > before:
                starts_s.append(world.now_s)
                world.started[-1].exit_code = 1
            world.now_s += 0.5

    with pytest.raises(ExternalFailure, match=r"the broker died 4 times in 60 s: process 4 died"):
        live()
    assert [later - earlier for earlier, later in pairwise(starts_s)] == [1.5, 2.5, 4.5]


def test_deaths_long_ago_are_forgiven() -> None:
    world = World()
    supervisor = world.supervisor("broker")
    for _ in range(10):
        supervisor.tick()
        world.started[-1].answer = {"port": 7}
        supervisor.tick()
        assert is_ready(supervisor)
        world.started[-1].exit_code = 1
        supervisor.tick()
        world.now_s += LIMITS.restart_window_s
    assert len(world.started) == 10


def test_refusal_at_the_first_start_is_final() -> None:
    world = World()
    supervisor = world.supervisor("broker")
    supervisor.tick()
    world.started[0].exit_code, world.started[0].refusal = 2, "the disk is full"
    with pytest.raises(ChildRefused, match="the disk is full"):
        supervisor.tick()


def test_part_that_is_never_ready_is_stopped_and_tried_again() -> None:
    world = World()
    supervisor = world.supervisor("server")
    supervisor.tick()
    world.now_s += LIMITS.start_timeout_s + 1
    supervisor.tick()
    assert world.started[0].stops == 1
    world.now_s += LIMITS.backoff_first_s
    supervisor.tick()
    assert len(world.started) == 2


def test_stop_goes_backwards() -> None:
    world = World()
    supervisor = world.supervisor("broker", "server")
    for _ in range(3):
        supervisor.tick()
        world.started[-1].answer = {"port": 7}
    order: list[int] = []
    for process in world.started:
        process.stop = lambda pid=process.pid: order.append(pid)  # type: ignore[method-assign,misc]
    supervisor.stop()
    assert order == [2, 1]
    assert supervisor.pids == {}

"""The suite `memory`: loans, and payloads to another process that reads every byte, beside a Unix socket, a queue of
`multiprocessing` and iceoryx2."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

import numpy as np

from headrace.bench.memory_reader import sum_of
from headrace.bench.memory_ways import OURS, PEERS, Way
from headrace.bench.names import check_names
from headrace.bench.peers import Say
from headrace.bench.report import Report, Result
from headrace.errors import HeadraceError
from headrace.memory import Pool

FRAME_BYTES: Final = 1920 * 1080 * 3
LANES: Final = {"lane-64k": 64 << 10, "lane-1m": 1 << 20, "lane-64m": 64 << 20}
HANDOFFS: Final = {"handoff-p50": 0.5, "handoff-p99": 0.99, "handoff-p999": 0.999}
FRAMES: Final = ("frame-6mb", "frame-6mb-p99", "frame-6mb-cpu")
ITEMS: Final = ("loan", "fill-6mb", *HANDOFFS, *FRAMES, *LANES)
ROUNDS: Final = 5
LOANS: Final = 20_000
HANDOFF_BYTES: Final = 64
HANDOFFS_A_ROUND: Final = 2_000
# In one round of a lane; the machine's caches have them twice and more.
LANE_BYTES: Final = 512 << 20
ONE_PROCESS: Final = "one-process"
FRESH: Final = "fresh"


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Raises InvalidInput for an item or a peer that does not exist."""

    frames: int = 100
    """Of 6 MB, in each round."""
    items: tuple[str, ...] = ITEMS
    against: tuple[str, ...] = PEERS

    def __post_init__(self) -> None:
        check_names("item", self.items, ITEMS)
        check_names("peer", self.against, PEERS)


def run_memory(settings: MemorySettings, say: Say) -> Report:
    """All sides by turns, in one run. A peer that cannot run is left out. Raises HeadraceError."""
    found: dict[str, Result] = {}
    wanted = set(settings.items)
    if "loan" in wanted:
        found["loan"] = _loan()
    if "fill-6mb" in wanted:
        found["fill-6mb"] = _fill(settings.frames)
    if wanted & {*HANDOFFS}:
        found |= _handoffs(settings, say)
    if wanted & {*FRAMES}:
        found |= _frames(settings, say)
    for name in (name for name in LANES if name in wanted):
        found[name] = _lane(name, LANES[name], settings, say)
    return Report("memory", tuple(found[name] for name in settings.items))


@dataclass(slots=True)
class _Times:
    """Seconds of single payloads, and the CPU of both processes for all of them."""

    each_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def quantile_s(self, share: float) -> float:
        return sorted(self.each_s)[min(len(self.each_s) - 1, int(share * len(self.each_s)))]

    @property
    def each_cpu_s(self) -> float:
        return self.cpu_s / len(self.each_s)


def _measured(size: int, count: int, settings: MemorySettings, say: Say) -> dict[str, _Times]:
    """Each way some at a time, by turns; the first one of a turn is not counted."""
    times: dict[str, _Times] = {}
    with ExitStack() as stack:
        ways: list[Way] = []
        for name in (OURS, *settings.against):
            try:
                ways.append(stack.enter_context(Way(name, size)))
            except HeadraceError as error:
                if name == OURS:
                    raise
                say(f"{name} is left out: {error.message}")
        for number in range(ROUNDS):
            for way in ways:
                way.one(number)
                before_s = way.cpu_s()
                of_way = times.setdefault(way.name, _Times())
                of_way.each_s += [way.one((number + turn) & 0xFF) for turn in range(count)]
                of_way.cpu_s += way.cpu_s() - before_s
    for name, of_way in times.items():
        say(f"{size:,} bytes by {name}: p50 {of_way.quantile_s(0.5) * 1e6:,.0f} µs")
    return times


def _results(times: dict[str, _Times], name: str, unit: str, figure: Callable[[_Times], float]) -> Result:
    peers: dict[str, float] = {peer: figure(times[peer]) for peer in PEERS if peer in times}
    return Result(name, unit, figure(times[OURS]), peers)


def _handoffs(settings: MemorySettings, say: Say) -> dict[str, Result]:
    times = _measured(HANDOFF_BYTES, HANDOFFS_A_ROUND, settings, say)
    return {name: _results(times, name, "µs", _quantile(share, 1e6)) for name, share in HANDOFFS.items()}


def _frames(settings: MemorySettings, say: Say) -> dict[str, Result]:
    times = _measured(FRAME_BYTES, settings.frames, settings, say)
    return {
        "frame-6mb": _results(times, "frame-6mb", "ms", _quantile(0.5, 1e3)),
        "frame-6mb-p99": _results(times, "frame-6mb-p99", "ms", _quantile(0.99, 1e3)),
        "frame-6mb-cpu": _results(times, "frame-6mb-cpu", "CPU-ms", lambda of_way: of_way.each_cpu_s * 1e3),
    }


def _quantile(share: float, factor: float) -> Callable[[_Times], float]:
    return lambda of_way: of_way.quantile_s(share) * factor


def _lane(name: str, size: int, settings: MemorySettings, say: Say) -> Result:
    count = min(LANE_BYTES // size, settings.frames * FRAME_BYTES // size) or 1
    times = _measured(size, count, settings, say)
    result = _results(times, name, "MB/s", lambda of_way: size / of_way.quantile_s(0.5) / 1e6)
    alone = size / _one_process(size, count * ROUNDS) / 1e6
    return Result(name, "MB/s", result.ours, {ONE_PROCESS: alone, **result.peers})


def _one_process(size: int, count: int) -> float:
    """Seconds for the same fill and the same sum, median."""
    loan = Pool(size, slots=1).loan(size)
    seconds = []
    for number in range(count):
        began_s = time.perf_counter()
        np.frombuffer(loan.edit(), np.uint8).fill(number & 0xFF)
        sum_of(loan.memory())
        seconds.append(time.perf_counter() - began_s)
    return median(seconds)


def _loan() -> Result:
    """A loan, a view of Arrow and one of numpy, and the return. The best round, for it shows what the work is."""
    pool = Pool(FRAME_BYTES, slots=2)

    def once() -> None:
        loan = pool.loan(FRAME_BYTES)
        np.frombuffer(memoryview(loan.arrow()), np.uint8)

    return Result("loan", "CPU-µs", min(_cpu_of(once, LOANS) for _ in range(ROUNDS)) * 1e6)


def _fill(count: int) -> Result:
    """A frame into a slot, and into memory that is fresh each time."""
    pool = Pool(FRAME_BYTES, slots=2)

    def slot() -> None:
        np.frombuffer(pool.loan(FRAME_BYTES).edit(), np.uint8).fill(1)

    def fresh() -> None:
        memory: Any = mmap.mmap(-1, FRAME_BYTES)
        np.frombuffer(memory, np.uint8).fill(1)

    best = {made: min(_cpu_of(made, count) for _ in range(ROUNDS)) * 1e3 for made in (slot, fresh)}
    return Result("fill-6mb", "CPU-ms", best[slot], {FRESH: best[fresh]})


def _cpu_of(once: Callable[[], None], count: int) -> float:
    began_s = time.process_time()
    for _ in range(count):
        once()
    return (time.process_time() - began_s) / count

"""Views that outlive all else, and memory that goes when nobody refers to it."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, consumes, invariant, multiple, rule

from headrace.memory import Buffer, LimitReached, Pool
from headrace.memory.memfd import NAME

MIB = 1 << 20


def maps() -> int:
    """Maps of shared segments in this process."""
    return Path("/proc/self/maps").read_text().count(f"memfd:{NAME}")


def descriptors() -> int:
    """Of shared segments: other threads of a test run open and close files of their own."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += entry.readlink().name.startswith(f"memfd:{NAME}")
    return found


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


VIEWS: dict[str, Any] = {
    "memory": lambda loan: loan.memory()[1:],
    "numpy": lambda loan: np.frombuffer(loan.memory(), np.uint8)[1:].view(np.uint8),
    "arrow": lambda loan: loan.arrow().slice(1),
    "array": lambda loan: pa.Array.from_buffers(pa.uint8(), 7, [None, loan.arrow()])[1:],
    "written": lambda loan: np.frombuffer(loan.edit(), np.uint8)[1:],
}


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_outlives_all_else_and_takes_the_memory_with_it(kind: str, close: bool) -> None:
    gc.collect()
    before = (maps(), descriptors())
    pool = Pool(MIB, slots=2, memory="shared")
    loan = pool.loan(8)
    loan.edit()[:] = b"abcdefgh"
    view = VIEWS[kind](loan)
    if close:
        pool.close()
    del loan, pool
    assert maps() == before[0] + 1
    content = bytes(view.buffers()[1])[1:8] if kind == "array" else bytes(view)
    assert content == b"bcdefgh"
    del view
    assert (maps(), descriptors()) == before, "without the garbage collector"


def test_a_closed_pool_that_somebody_keeps_holds_no_memory() -> None:
    before = (maps(), descriptors())
    pool = Pool(MIB, slots=2, memory="shared")
    view = pool.loan(8).memory()
    pool.close()
    assert maps() == before[0] + 1
    del view
    assert (maps(), descriptors()) == before


def test_pools_come_and_go() -> None:
    before = (maps(), descriptors())
    kinds: tuple[Literal["heap", "shared"], ...] = ("heap", "shared")
    for memory in kinds * 4:
        Pool(MIB, slots=4, memory=memory).loan(1).edit()
    first = resident_bytes()
    for memory in kinds * 40:
        with Pool(MIB, slots=4, memory=memory) as pool:
            held = [pool.loan(MIB) for _ in range(4)]
            held[0].clone().slice(0, 9).memory()
            del held
    assert (maps(), descriptors()) == before
    assert resident_bytes() - first < 64 * MIB, "320 MB came and went"


def test_loans_without_end_take_no_memory() -> None:
    pool = Pool(MIB, slots=2)

    def once() -> None:
        loan = pool.loan(100)
        loan.clone().slice(1, 3).memory()
        np.frombuffer(memoryview(loan.arrow()), np.uint8)

    for _ in range(1_000):
        once()
    first = sys.getallocatedblocks()
    for _ in range(20_000):
        once()
    assert sys.getallocatedblocks() - first < 20_000, "a loan that leaks leaves several objects"
    assert (pool.stats.slots_lent, pool.returned.qsize()) == (0, 0)


def test_threads_that_share_a_pool_never_share_a_slot() -> None:
    """Buffers end in other threads, in cycles that the collector finds at any moment, also inside the pool's lock."""
    pool = Pool(4096, slots=3, max_bytes=6 * 4096)
    failures: list[str] = []
    before = gc.get_threshold()
    gc.set_threshold(20)

    def work(number: int) -> None:
        mark = bytes([number]) * 64
        for turn in range(300):
            loan = pool.loan(64, timeout_s=60)
            loan.edit()[:] = mark
            cycle: list[object] = [loan.clone()]
            cycle.append(cycle)
            view = loan.memory()
            if turn % 7 == 0:
                pool.shrink()
            if bytes(view) != mark:
                failures.append(f"thread {number} sees {bytes(view[:1])!r}")
            del cycle

    def collect() -> None:
        while any(thread.is_alive() for thread in threads):
            gc.collect()

    gc.freeze()
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 4)]
        for thread in threads:
            thread.start()
        collect()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    gc.collect()
    assert (failures, pool.stats.slots_lent) == ([], 0)


Written = tuple[Buffer[memoryview], bytes]


class Pools(RuleBasedStateMachine):
    """Buffers and views of a real pool that grows and shrinks: each shows what was written to it, to the end."""

    buffers: Bundle[Written] = Bundle("buffers")
    views: Bundle[int] = Bundle("views")

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(4096, slots=2, max_bytes=4 * 2 * 4096, max_loans=7)
        self.written = 0
        # By number: nobody else may refer to a view.
        self.views_of: dict[int, Any] = {}
        self.alive: list[tuple[Any, bytes]] = []

    @rule(target=buffers, size=st.integers(1, 20))
    def loan(self, size: int) -> Written | MultipleResults[Written]:
        try:
            loan = self.pool.loan(size)
        except LimitReached:
            return multiple()
        return self._filled(loan)

    @rule(target=buffers, source=buffers)
    def clone(self, source: Written) -> Written | MultipleResults[Written]:
        return (self._noted(source[0].clone(), source[1]), source[1])

    @rule(target=buffers, source=buffers, data=st.data())
    def slice(self, source: Written, data: st.DataObject) -> Written:
        start = data.draw(st.integers(0, len(source[1])))
        length = data.draw(st.integers(0, len(source[1]) - start))
        content = source[1][start : start + length]
        return (self._noted(source[0].slice(start, length), content), content)

    @rule(target=views, source=buffers, kind=st.sampled_from(["memory", "numpy", "arrow"]))
    def look(self, source: Written, kind: str) -> int | MultipleResults[int]:
        if not source[1]:
            return multiple()
        memory = source[0].memory()
        view: Any = {"memory": memory, "numpy": np.frombuffer(memory, np.uint8), "arrow": source[0].arrow()}[kind]
        self.views_of[len(self.views_of)] = self._noted(view, source[1])
        return len(self.views_of) - 1

    @rule(target=buffers, source=consumes(buffers))
    def change(self, source: Written) -> Written | MultipleResults[Written]:
        self._forget(source[0])
        try:
            writable = source[0].writable()
        except LimitReached:
            source[0].release()
            return multiple()
        if writable is not source[0]:
            source[0].release()
        return self._filled(writable)

    @rule(one=consumes(buffers))
    def drop(self, one: Written) -> None:
        self._forget(one[0])
        one[0].release()

    @rule(one=consumes(views))
    def drop_view(self, one: int) -> None:
        self._forget(self.views_of[one])
        self.views_of[one] = None

    @rule()
    def shrink(self) -> None:
        self.pool.shrink()

    @rule()
    def grow(self) -> None:
        self.pool.grow()

    @invariant()
    def all_show_what_was_written(self) -> None:
        for one, content in self.alive:
            assert (one.tobytes() if isinstance(one, Buffer) else bytes(one)) == content

    @invariant()
    def limits_hold(self) -> None:
        stats = self.pool.stats
        assert stats.slots_lent <= 7
        assert stats.mapped_bytes <= stats.max_bytes
        if not self.alive:
            assert stats.slots_lent == 0

    def _filled(self, buffer: Buffer[memoryview]) -> Written:
        self.written += 1
        content = (self.written.to_bytes(4, "little") * 5)[: buffer.nbytes]
        buffer.edit()[:] = content
        return self._noted(buffer, content), content

    def _noted(self, one: Any, content: bytes) -> Any:
        self.alive.append((one, content))
        return one

    def _forget(self, one: Any) -> None:
        self.alive = [(other, content) for other, content in self.alive if other is not one]


TestPools = Pools.TestCase
TestPools.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)

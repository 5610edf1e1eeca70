"""Pools: limits by name, waiting, growing, draining, their end."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any, assert_type

import pytest

from headrace.errors import InvalidInput
from headrace.memory import BYTES, Buffer, Closed, Image, ImageFormat, LimitReached, Pool

SLOT = 4096


def test_a_slot_comes_back_with_the_last_buffer_of_it() -> None:
    pool = Pool(SLOT, slots=1)
    loan = pool.loan(10)
    clone = loan.clone()
    loan.release()
    with pytest.raises(LimitReached):
        pool.loan(10)
    del clone
    assert pool.loan(10).nbytes == 10


def test_a_limit_is_named_when_it_is_reached() -> None:
    pool = Pool(SLOT, slots=2)
    held = [pool.loan(1), pool.loan(1)]
    with pytest.raises(LimitReached, match=r"2 are lent, and max_bytes \(8,192\)"):
        pool.loan(1)
    few = Pool(SLOT, slots=2, max_loans=1)
    held.append(few.loan(1))
    with pytest.raises(LimitReached, match=r"1 are lent, and max_loans \(1\)"):
        few.loan(1)
    assert few.stats.slots_free == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"slot_bytes": 0}, "slot_bytes must be 1 or more"),
        ({"slots": 0}, "slots must be 1 or more"),
        ({"max_loans": 0}, "max_loans must be 1 or more"),
        ({"max_bytes": SLOT}, "one segment of 8 slots takes 32,768"),
        ({"memory": "disk"}, "valid: heap, shared"),
        ({"huge_pages": "maybe"}, "valid: no, advise, require"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Pool(**{"slot_bytes": SLOT, **arguments})


def test_a_length_that_does_not_fit_is_refused() -> None:
    pool = Pool(SLOT)
    with pytest.raises(InvalidInput, match=r"slot_bytes is 4,096"):
        pool.loan(SLOT + 1)
    with pytest.raises(InvalidInput, match="do not fit"):
        pool.loan(-1)
    with pytest.raises(InvalidInput, match="how many bytes"):
        pool.loan(format=BYTES)
    with pytest.raises(InvalidInput, match="is 48 bytes, the buffer has 47"):
        pool.loan(47, format=ImageFormat("rgb24", 4, 4))
    assert pool.stats.slots_lent == 0


def test_it_grows_up_to_its_limit() -> None:
    pool = Pool(SLOT, slots=2, max_bytes=5 * SLOT)
    held = [pool.loan(1) for _ in range(4)]
    with pytest.raises(LimitReached, match="4 are lent"):
        pool.loan(1)
    stats = pool.stats
    assert (stats.segments, stats.mapped_bytes, len(held)) == (2, 4 * SLOT, 4)
    assert not pool.grow()


def test_a_segment_that_drains_lends_nothing_and_goes_with_its_last_slot() -> None:
    pool = Pool(SLOT, slots=1, max_bytes=2 * SLOT)
    first, second = pool.loan(1), pool.loan(1)
    first.edit()[0], second.edit()[0] = 1, 2
    assert pool.shrink()
    assert not pool.shrink(), "the last one stays"
    assert pool.stats.mapped_bytes == 2 * SLOT, "what drains counts until it is gone"
    assert [first.memory()[0], second.memory()[0]] == [1, 2]
    del second
    assert pool.stats.segments == 1
    del first
    assert (pool.loan(1).nbytes, pool.stats.segments) == (1, 1)
    assert pool.grow()


def test_waiting_ends_when_a_slot_comes_back() -> None:
    pool = Pool(SLOT, slots=1)
    held = [pool.loan(1)]
    found: list[Buffer[memoryview]] = []
    waiter = threading.Thread(target=lambda: found.append(pool.loan(1, timeout_s=60)))
    waiter.start()
    held.clear()
    waiter.join(60)
    assert len(found) == 1


def test_waiting_ends_at_its_deadline_with_the_limit() -> None:
    pool = Pool(SLOT, slots=1)
    held = pool.loan(1)
    with pytest.raises(LimitReached, match=r"no slot is free for 0\.01 s"):
        pool.loan(1, timeout_s=0.01)
    assert held.nbytes == 1


def test_all_who_wait_are_served_though_others_take_in_what_came_back() -> None:
    pool = Pool(SLOT, slots=4)
    held = [pool.loan(1) for _ in range(4)]
    served = threading.Barrier(5)

    def wait() -> None:
        loan = pool.loan(1, timeout_s=60)
        served.wait(60)
        loan.release()

    waiters = [threading.Thread(target=wait) for _ in range(4)]
    for waiter in waiters:
        waiter.start()
    while held:
        held.pop()
        pool.stats  # noqa: B018 - it takes in what came back, and must hand it on
    served.wait(60)
    for waiter in waiters:
        waiter.join(60)
    assert pool.stats.slots_free == 4


def test_a_closed_pool_lends_nothing_and_leaves_what_it_lent() -> None:
    with Pool(SLOT, slots=2) as pool:
        loan = pool.loan(3)
        loan.edit()[:] = b"abc"
    with pytest.raises(Closed):
        pool.loan(1)
    assert loan.clone().tobytes() == b"abc"
    assert not pool.grow()
    del loan
    assert pool.stats.mapped_bytes == 0


def test_closing_ends_all_waiting() -> None:
    pool = Pool(SLOT, slots=1)
    held = pool.loan(1)
    ended: list[str] = []

    def wait() -> None:
        with pytest.raises(Closed):
            pool.loan(1, timeout_s=60)
        ended.append("closed")

    waiters = [threading.Thread(target=wait) for _ in range(3)]
    for waiter in waiters:
        waiter.start()
    pool.close()
    for waiter in waiters:
        waiter.join(60)
    assert (ended, held.nbytes) == (["closed"] * 3, 1)


def test_the_types_of_views_are_known() -> None:
    frame = Pool(SLOT).loan(format=ImageFormat("gray8", 4, 4))
    assert_type(frame, Buffer[Image])
    assert_type(frame.view(), Image)
    assert_type(frame.slice(0, 4).view(), memoryview)
    assert_type(frame.as_format(BYTES).clone(), Buffer[memoryview])


def test_the_module_loads_nothing_large_before_bytes_are_looked_at() -> None:
    script = """
import sys
from headrace.memory import ImageFormat, Metadata, Pool
loan = Pool(4096, slots=1).loan(format=ImageFormat("gray8", 4, 4), metadata=Metadata(sequence=1))
loan.clone().release()
print([name for name in ("numpy", "pyarrow", "pandas", "pyspark", "pydantic", "asyncio") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"

"""A process that forks while it holds loans: no slot comes back early, nobody writes into the memory of the other.

Each case is a script in a process of its own, for the tests' own process has threads.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PRELUDE = """
import gc, os, sys
import numpy as np
from headrace.errors import InvalidInput
from headrace.memory import Inherited, Pool

def child(run):
    pid = os.fork()
    if pid == 0:
        try:
            run()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def run(script: str) -> str:
    # Since 3.12 Python warns of a fork beside threads, which libraries have.
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PRELUDE + script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("memory", ["heap", "shared"])
def test_the_end_of_a_child_returns_nothing(memory: str) -> None:
    run(f"""
pool = Pool(4096, slots=2, memory={memory!r})
loan = pool.loan(3); loan.edit()[:] = b"abc"
view = loan.memory()
def drop():
    global loan, view, pool
    loan.release()
    del loan, view
    gc.collect()
assert child(drop) == 0
assert (pool.stats.slots_lent, bytes(view)) == (1, b"abc")
other = pool.loan(3); other.edit()[:] = b"xyz"
assert bytes(view) == b"abc"
""")


@pytest.mark.parametrize("memory", ["heap", "shared"])
def test_what_a_child_writes_the_parent_does_not_see(memory: str) -> None:
    run(f"""
pool = Pool(4096, slots=2, memory={memory!r})
loan = pool.loan(3)
mine = loan.edit(); mine[:] = b"abc"
def write():
    mine[:] = b"xyz"
    assert bytes(mine) == b"xyz"
assert child(write) == 0
assert bytes(mine) == b"abc"
""")


def test_a_child_of_a_child_has_what_its_own_parent_wrote() -> None:
    run("""
pool = Pool(4096, slots=2, memory="shared")
loan = pool.loan(3)
mine = loan.edit(); mine[:] = b"abc"
def write():
    mine[:] = b"xyz"
    own = Pool(4096, slots=1, memory="shared").loan(3).edit()
    own[:] = b"own"
    def read():
        assert (bytes(mine), bytes(own)) == (b"xyz", b"own")
        mine[:] = own[:] = b"123"
    assert child(read) == 0
    assert (bytes(mine), bytes(own)) == (b"xyz", b"own")
assert child(write) == 0
assert bytes(mine) == b"abc"
""")


def test_a_view_of_shared_memory_can_be_read_in_the_child_while_the_parent_holds_it() -> None:
    run("""
pool = Pool(1 << 20, slots=2, memory="shared")
loan = pool.loan(1 << 20); loan.edit()[:] = bytes([7]) * (1 << 20)
view = np.frombuffer(loan.memory(), np.uint8)
def read():
    assert view.sum() == 7 << 20
assert child(read) == 0
""")


def test_the_memory_of_the_child_stays_its_own_when_it_drops_the_parents() -> None:
    """Were the map only left out of the child, other memory would take its place and be unmapped with it."""
    run("""
import mmap
pool = Pool(8 << 20, slots=1, memory="shared", huge_pages="no")
def drop():
    global pool
    own = [mmap.mmap(-1, 8 << 20) for _ in range(4)]
    for one in own:
        one[:4] = b"mine"
    del pool
    gc.collect()
    assert all(one[:4] == b"mine" for one in own)
assert child(drop) == 0
""")


def test_a_child_cannot_use_the_pool_of_its_parent() -> None:
    out = run("""
for memory in ("heap", "shared"):
    pool = Pool(4096, slots=2, memory=memory)
    loan = pool.loan(3); loan.edit()[:] = b"abc"
    def use():
        for what in (lambda: pool.loan(1), loan.memory, loan.clone, loan.edit, loan.writable):
            try:
                what()
                print(memory, "allowed")
            except (Inherited, InvalidInput) as error:
                print(memory, type(error).__name__)
        assert Pool(4096).loan(3).nbytes == 3
        sys.stdout.flush()
    assert child(use) == 0
""")
    assert out.splitlines() == [
        *["heap Inherited", "heap allowed", "heap allowed", "heap InvalidInput", "heap Inherited"],
        *["shared Inherited", *["shared Inherited"] * 2, "shared InvalidInput", "shared Inherited"],
    ]


def test_locks_held_by_other_threads_hold_nobody_up_in_the_child() -> None:
    run("""
import threading
pool = Pool(4096, slots=1, memory="heap")
loan = pool.loan(1)
waiter = threading.Thread(target=lambda: pool.loan(1, timeout_s=30))
waiter.start()
with pool.lock:
    assert child(lambda: (pool.stats, loan.clone(), gc.collect())) == 0
loan.release()
waiter.join()
""")


def test_a_parent_that_ends_first_leaves_the_bytes_to_its_child() -> None:
    out = run("""
pool = Pool(4096, slots=1, memory="shared")
loan = pool.loan(3); loan.edit()[:] = b"abc"
view = loan.memory()
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    os.read(reader, 1)   # the end of the parent
    print(bytes(view), flush=True)
    os._exit(0)
os.close(reader)
sys.stdout.flush()
os._exit(0)
""")
    assert out == "b'abc'\n"


def test_workers_of_multiprocessing_end_without_touching_the_pool() -> None:
    run("""
import multiprocessing
pool = Pool(4096, slots=2, memory="shared")
loan = pool.loan(4096); loan.edit()[:] = bytes([3]) * 4096
view = np.frombuffer(loan.memory(), np.uint8)
def work(number):
    return int(view[number])
with multiprocessing.get_context("fork").Pool(2) as workers:
    assert workers.map(work, range(64)) == [3] * 64
    workers.close()
    workers.join()
assert pool.stats.slots_lent == 1
del view
assert loan.writable() is loan
""")

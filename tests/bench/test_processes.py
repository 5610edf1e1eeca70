from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from headrace.bench.processes import kill, proportional_mb, resident_mb, tree

PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"])
time.sleep(60)
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    """A process that has a child, which is running."""
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == "up\n"
        yield process
        kill(tree(process.pid))
        process.wait()


def test_a_tree_is_found_and_killed(parent: subprocess.Popen[str]) -> None:
    found = tree(parent.pid)
    assert found[0] == parent.pid
    assert len(found) == 2
    kill(found)
    assert parent.wait() == -9
    assert not os.path.exists(f"/proc/{found[1]}/exe")


def test_memory_is_told_in_megabytes(parent: subprocess.Popen[str]) -> None:
    each = [resident_mb(pid) for pid in tree(parent.pid)]
    assert all(1 < memory < 500 for memory in each)
    assert 1 < proportional_mb(tree(parent.pid)) <= sum(each)


def test_a_process_that_is_gone_holds_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert resident_mb(ended.pid) == 0
    kill([ended.pid])

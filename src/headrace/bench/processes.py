"""Process trees as Linux shows them: who belongs to one, what memory and CPU it takes, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

END_TIMEOUT_S: Final = 20.0
POLL_S: Final = 0.02
_PROC: Final = Path("/proc")


def tree(root: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def command_line(pid: int) -> bytes:
    """Empty when the process has ended."""
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def spark_java(root: int) -> int | None:
    """Spark's Java process below this one."""
    return next((pid for pid in tree(root) if b"org.apache.spark.deploy.SparkSubmit" in command_line(pid)), None)


def cpu_s(pids: Iterable[int]) -> float:
    """Seconds of CPU that these processes used, and their children that have ended."""
    return sum(_cpu_ticks(pid) for pid in pids) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    return _memory_kb(pid, "Rss") / 1024


def proportional_mb(pids: Iterable[int]) -> float:
    """Of several processes together: a page that some of them share is counted once."""
    return sum(_memory_kb(pid, "Pss") for pid in pids) / 1024


def kill(pids: Iterable[int]) -> None:
    """kill −9, all of them; none runs afterwards, or TimeoutError is raised. Our children are still to reap."""
    left = list(pids)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline_s = time.monotonic() + END_TIMEOUT_S
    while left := [pid for pid in left if _runs(pid)]:
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"processes {left} do not end")
        time.sleep(POLL_S)


def _parent(entry: Path) -> int | None:
    try:
        # The name stands in brackets and may hold anything, brackets too.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _cpu_ticks(pid: int) -> int:
    try:
        # User, system, and both of children that were waited for.
        return sum(map(int, (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[11:15]))
    except (OSError, ValueError):
        return 0


def _runs(pid: int) -> bool:
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def _memory_kb(pid: int, name: str) -> int:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

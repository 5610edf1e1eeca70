"""How much memory may still be touched here: a limit of the cgroup ends a process without a word, so ask before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from headrace.memory.failures import NoRoom

_PROC: Final = Path("/proc")
_CGROUPS: Final = Path("/sys/fs/cgroup")


def require_room(needed_bytes: int, *, proc: Path = _PROC, cgroups: Path = _CGROUPS) -> None:
    """Raises NoRoom that names the tightest limit. What cannot be read is no limit."""
    for limit, left_bytes in _limits(proc, cgroups):
        if left_bytes < needed_bytes:
            raise NoRoom(
                f"a segment needs {needed_bytes:,} bytes, and {limit} leaves {max(0, left_bytes):,}",
                hint="ask for fewer or smaller slots, or raise the limit",
            )


def _limits(proc: Path, cgroups: Path) -> Iterator[tuple[str, int]]:
    available_kb = _fields(proc / "meminfo").get("MemAvailable:")
    if available_kb is not None:
        yield "MemAvailable of the machine", available_kb << 10
    for group in _groups(proc, cgroups):
        maximum = _number(group / "memory.max")
        current = _number(group / "memory.current")
        if maximum is not None and current is not None:
            # Pages of files that nobody used lately are given up before a process is ended.
            reclaimable = _fields(group / "memory.stat").get("inactive_file", 0)
            yield f"{group / 'memory.max'} ({maximum:,})", maximum - current + reclaimable


def _groups(proc: Path, cgroups: Path) -> Iterator[Path]:
    """Of cgroups v2: our own and all above it, each of which has a limit."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    if own is None:
        return
    place = Path(own.lstrip("/"))
    yield from (cgroups / above for above in (place, *place.parents))


def _number(file: Path) -> int | None:
    """None for a file that is missing, and for `max`."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _fields(file: Path) -> dict[str, int]:
    try:
        words = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return {}
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}

"""What `ps` shows of a process that was forked to do something else than its command line says."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc/self")
# Of `stat`, counted from the state: the field behind the name of the process, which may hold anything.
_ARGUMENTS_START, _ARGUMENTS_END = 45, 46


def name_process(command: str) -> None:
    """Shows this command instead of the one it was started by, as much of it as there is room for.

    Where the system does not let a process write its own memory that way, nothing changes.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (_PROC / "stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[_ARGUMENTS_START]), int(fields[_ARGUMENTS_END])
        room = end - start
        shown = command.replace(" ", "\0").encode()[: room - 1].ljust(room, b"\0")
        with open(_PROC / "mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(shown)

"""Files that only their owner may read: everything in a data directory, and nothing that a user asked for elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# Takes every right from the group and from others, of what a process creates.
PRIVATE_UMASK: Final = 0o077
PRIVATE_DIRECTORY: Final = 0o700
# Tells processes with the private umask what the user's own is, for files that are made for others.
UMASK_VARIABLE: Final = "HEADRACE_UMASK"


def tighten(directory: Path) -> str | None:
    """A directory that others could look into is closed to them, with all that is in it. What is to be told of it."""
    if not directory.stat().st_mode & PRIVATE_UMASK:
        return None
    try:
        directory.chmod(PRIVATE_DIRECTORY)
        for path in _everything_in(directory):
            path.chmod(path.lstat().st_mode & 0o700)
    except OSError as error:
        return f"{directory} stays readable for other accounts: {error.strerror}"
    return f"{directory} could be read by other accounts: it is now private (mode 0700, files 0600)"


def _everything_in(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = Path(folder) / name
            if not path.is_symlink():
                yield path


def child_environment() -> Mapping[str, str]:
    """What a child with the private umask must know."""
    return {UMASK_VARIABLE: os.environ.get(UMASK_VARIABLE) or f"{_umask():o}"}


@contextmanager
def users_umask() -> Iterator[None]:
    """Files that are made meanwhile get the rights that the user's own programs would give them."""
    told = os.environ.get(UMASK_VARIABLE)
    if told is None:  # no process of ours with the private umask
        yield
        return
    before = os.umask(int(told, 8))
    try:
        yield
    finally:
        os.umask(before)


def _umask() -> int:
    """Linux tells it; elsewhere it can only be set, and set back."""
    try:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1], 8) for line in status.splitlines() if line.startswith("Umask:"))
    except (OSError, StopIteration):
        os.umask(found := os.umask(PRIVATE_UMASK))
        return found

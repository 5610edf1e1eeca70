"""The data directory: one owner at a time, and a format that this version can read."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from headrace.errors import Conflict, CorruptData, DiskFailure, InvalidInput
from headrace.process.files import PRIVATE, write_atomically
from headrace.process.private import PRIVATE_DIRECTORY, tighten

# 2: versions of pipelines know when they ran, jobs have ledgers, groups keep their members.
DATA_FORMAT: Final = 2

# Children hold the lock too: after a kill of their parent they need a moment to stop.
LOCK_WAIT_S: Final = 15.0
LOCK_POLL_S: Final = 0.1


class DataDirectory:
    """Locked from `open` to `close`, and for as long as a child that inherited `lock_descriptor` lives."""

    def __init__(self, path: Path, lock_descriptor: int, note: str | None = None) -> None:
        """`note` is a sentence for the log, if there is one."""
        self.path = path
        self.note = note
        self.lock_descriptor = lock_descriptor

    @classmethod
    def open(
        cls, path: Path, *, wait_s: float = LOCK_WAIT_S, clock_s: Callable[[], float] = time.monotonic
    ) -> DataDirectory:
        """Makes the directory if need be; only its owner may look into it afterwards.

        Raises Conflict when another process owns it, InvalidInput when it cannot be used or its format is newer,
        DiskFailure when the disk refuses a write.
        """
        path = path.absolute()
        try:
            path.mkdir(PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT, PRIVATE)
        except OSError as error:
            raise InvalidInput(f"the data directory {path} cannot be used: {error.strerror}") from error
        try:
            _lock(path, descriptor, clock_s() + wait_s, clock_s)
            _check_format(path)
            note = tighten(path)
            _sign(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, note)

    def close(self) -> None:
        os.close(self.lock_descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lock(path: Path, descriptor: int, deadline_s: float, clock_s: Callable[[], float]) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode(errors="replace")
            if _lives(owner) or clock_s() > deadline_s:
                hint = "stop it first, or give another --data-dir"
                raise Conflict(f"the data directory {path} is in use by process {owner}", hint=hint) from None
            time.sleep(LOCK_POLL_S)
        else:
            return


def _sign(path: Path, descriptor: int) -> None:
    """For whoever finds the directory in use."""
    try:
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    except OSError as error:
        raise DiskFailure(f"{path / 'lock'} cannot be written: {error.strerror}") from error


def _lives(pid: str) -> bool:
    """A process that is about to write its number is taken for alive."""
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _check_format(path: Path) -> None:
    file = path / "format"
    if not file.exists():
        write_atomically(file, f"{DATA_FORMAT}\n")
        return
    written = file.read_text(errors="replace").strip()
    if not written.isdigit():
        raise CorruptData(f"{file} should hold a number and holds {written[:40]!r}")
    if int(written) > DATA_FORMAT:
        raise InvalidInput(
            f"the data directory {path} has format {written}; this version of Headrace reads up to {DATA_FORMAT}",
            hint="upgrade Headrace, or give another --data-dir",
        )
    if int(written) < DATA_FORMAT:
        # From now on an older Headrace refuses it, in words.
        write_atomically(file, f"{DATA_FORMAT}\n")

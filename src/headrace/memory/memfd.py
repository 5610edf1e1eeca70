"""Memory that other processes can map for reading: a memfd, mapped and touched by its one writer, then sealed."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import sys
from typing import Final

from headrace.errors import InvalidInput
from headrace.memory.failures import NoRoom

# Not in Python's modules.
_MFD_NOEXEC_SEAL: Final = 0x8
_SEAL_FUTURE_WRITE: Final = 0x10
_POPULATE_WRITE: Final = 23
HUGE_PAGE_BYTES: Final = 2 << 20
PAGE_BYTES: Final = mmap.PAGESIZE
NAME: Final = "headrace-pool"


def open_memory(size: int, *, huge: bool) -> int:
    """A descriptor of new memory of this size, which can no longer change its size. Raises InvalidInput, NoRoom."""
    if sys.platform != "linux":
        raise InvalidInput(f"shared memory needs Linux; this is {sys.platform}", hint="use memory='heap'")
    descriptor = _created(os.MFD_HUGETLB | os.MFD_HUGE_2MB if huge else 0)
    try:
        os.ftruncate(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    except OSError as error:
        os.close(descriptor)
        raise NoRoom(f"shared memory of {size:,} bytes: {error.strerror}") from error
    return descriptor


def seal(descriptor: int) -> None:
    """From here on nobody can map it for writing, write to it, punch holes, or seal more; maps that are there stay."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEAL_FUTURE_WRITE)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)


def touch(mapped: mmap.mmap) -> None:
    """Every page is there afterwards: the first touch costs fifty times what a later one does. Raises OSError."""
    try:
        mapped.madvise(_POPULATE_WRITE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # A kernel before 5.14.
        with memoryview(mapped) as view:
            for start in range(0, len(view), PAGE_BYTES):
                view[start] = 0


def _created(flags: int) -> int:
    flags |= os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        return os.memfd_create(NAME, flags | _MFD_NOEXEC_SEAL)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise NoRoom(f"no shared memory: {error.strerror}") from error
        # A kernel before 6.3.
        return os.memfd_create(NAME, flags)

"""A file, or its beginning, as memory."""

from __future__ import annotations

import mmap
import os
from pathlib import Path


class MappedFile:
    """A read-only view of a file as long as it was when mapped.

    The memory stays valid when the file is renamed or removed, and is given back when nobody refers to it.
    """

    __slots__ = ("path", "view")

    def __init__(self, path: Path) -> None:
        """Raises OSError, FileNotFoundError among them."""
        self.path = path
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.view = _map(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def __len__(self) -> int:
        return len(self.view)


def _map(descriptor: int, size: int) -> memoryview:
    if size == 0:
        return memoryview(b"")
    mapped = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    mapped.madvise(mmap.MADV_SEQUENTIAL)
    return memoryview(mapped)

"""A piece of memory with one owner: on the heap, shared with other processes, or a file mapped for reading."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from pathlib import Path
from typing import Final, Literal

from headrace.errors import InvalidInput
from headrace.memory import forked, memfd
from headrace.memory.failures import NoRoom
from headrace.memory.mapped import MappedFile
from headrace.memory.room import require_room

Kind = Literal["heap", "shared", "file"]
HugePages = Literal["no", "advise", "require"]
HUGE_PAGES: Final = ("no", "advise", "require")


class Segment:
    """Memory that stays where it is and as long as it is, until nobody refers to it; then it is unmapped.

    Whoever keeps an address of it keeps the segment. `descriptor` is for other processes, which can map a sealed
    segment for reading only. In a forked child a shared segment is a private copy: what the child writes, nobody sees.
    """

    __slots__ = ("__weakref__", "_mapped", "address", "descriptor", "kind", "size", "view")

    def __init__(self, kind: Kind, memory: mmap.mmap | memoryview, descriptor: int | None = None) -> None:
        """Use `heap`, `shared` or `file`."""
        self.kind: Kind = kind
        self.size = len(memory)
        self.descriptor = descriptor
        self._mapped = memory
        self.view = memoryview(memory)
        self.address = 0 if kind == "file" else ctypes.addressof(ctypes.c_char.from_buffer(memory))
        if kind == "shared":
            forked.made_private(self)

    def __del__(self) -> None:
        descriptor = getattr(self, "descriptor", None)
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def __len__(self) -> int:
        return self.size

    @classmethod
    def heap(cls, size: int, *, huge_pages: HugePages = "advise") -> Segment:
        """Memory of this process, touched. A forked child has a copy of its own. Raises InvalidInput, NoRoom."""
        size = _rounded(size, huge_pages)
        if huge_pages == "require":
            raise InvalidInput("memory on the heap cannot require huge pages", valid=HUGE_PAGES[:2])
        require_room(size)
        try:
            mapped = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            return cls("heap", _touched(mapped, huge_pages))
        except OSError as error:
            raise _refused(size, error) from error

    @classmethod
    def shared(cls, size: int, *, huge_pages: HugePages = "advise") -> Segment:
        """Memory that other processes can be given, touched and sealed. Raises InvalidInput, NoRoom."""
        size = _rounded(size, huge_pages)
        if huge_pages != "require":
            require_room(size)
        descriptor = memfd.open_memory(size, huge=huge_pages == "require")
        try:
            mapped = _touched(mmap.mmap(descriptor, size), huge_pages)
            memfd.seal(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise _refused(size, error, huge_pages) from error
        return cls("shared", mapped, descriptor)

    @classmethod
    def file(cls, path: Path) -> Segment:
        """A file as it is, for reading only. Never of a file that others can shorten: reading what is gone kills the
        process. Raises OSError."""
        return cls("file", MappedFile(path).view)


def _rounded(size: int, huge_pages: HugePages) -> int:
    if huge_pages not in HUGE_PAGES:
        raise InvalidInput(f"huge_pages is {huge_pages!r}", valid=HUGE_PAGES)
    if size < 1:
        raise InvalidInput(f"a segment needs at least 1 byte, not {size}")
    unit = memfd.HUGE_PAGE_BYTES if huge_pages == "require" else memfd.PAGE_BYTES
    return -(-size // unit) * unit


def _touched(mapped: mmap.mmap, huge_pages: HugePages) -> mmap.mmap:
    if huge_pages == "advise":
        # A kernel without huge pages has small ones.
        with contextlib.suppress(OSError, ValueError):
            mapped.madvise(mmap.MADV_HUGEPAGE)
    memfd.touch(mapped)
    return mapped


def _refused(size: int, error: OSError, huge_pages: HugePages = "no") -> NoRoom:
    if huge_pages == "require":
        return NoRoom(
            f"{size:,} bytes of huge pages: {error.strerror}",
            hint=f"set vm.nr_hugepages to {size // memfd.HUGE_PAGE_BYTES} or more, or use huge_pages='advise'",
        )
    return NoRoom(f"a segment of {size:,} bytes: {error.strerror}", hint="ask for fewer or smaller slots")

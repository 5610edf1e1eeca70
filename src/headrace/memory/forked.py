"""Memory of the parent in a process that was forked from it.

A shared mapping would go on in the child, which could write into the parent's slots. MADV_DONTFORK would leave a hole
that other memory of the child soon takes, and that the finaliser of the parent's map then unmaps. So the child gets a
private mapping of the same memory at the same place: views stay valid, and what it writes is its own.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import Any, Final, Protocol
from weakref import WeakSet


class SharedMemory(Protocol):
    address: int
    size: int
    descriptor: int | None


class Owner(Protocol):
    def on_inherited(self) -> None:
        """Called in the child, which has one thread: locks may be held by threads that are not there."""


_MAP_FIXED: Final = 0x10
_memory: WeakSet[Any] = WeakSet()
_owners: WeakSet[Any] = WeakSet()


def made_private(memory: SharedMemory) -> None:
    """From now on forked children have a copy of this memory."""
    _libc()
    _memory.add(memory)


def watch(owner: Owner) -> None:
    """A forked child reports to this owner that it is inherited there, from now on."""
    _owners.add(owner)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    arguments: list[Any] = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mmap.argtypes, libc.mmap.restype = arguments, ctypes.c_void_p
    return libc


def _in_child() -> None:
    for memory in _memory:
        _made_private(memory)
    # What is private already goes on to children of this one as it is.
    _memory.clear()
    for owner in _owners:
        owner.on_inherited()


def _made_private(memory: SharedMemory) -> None:
    place, flags = ctypes.c_void_p(memory.address), _MAP_FIXED | mmap.MAP_PRIVATE
    descriptor = -1 if memory.descriptor is None else memory.descriptor
    if _libc().mmap(place, memory.size, mmap.PROT_READ | mmap.PROT_WRITE, flags, descriptor, 0) != memory.address:
        # Huge pages may be used up. Better no memory than the parent's.
        _libc().mmap(place, memory.size, 0, flags | mmap.MAP_ANONYMOUS, -1, 0)


os.register_at_fork(after_in_child=_in_child)

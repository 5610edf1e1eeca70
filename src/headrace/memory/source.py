"""Where the bytes of a buffer lie: in a slot of a pool, or in memory of somebody else."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from headrace.errors import InvalidInput
from headrace.memory.failures import Closed
from headrace.memory.ledger import HANDLE, READER, WRITER, Ticket

if TYPE_CHECKING:
    import pyarrow as pa

    from headrace.memory.pool import Pool
    from headrace.memory.segment import Segment


class Place(NamedTuple):
    """Where another process finds bytes. The descriptor belongs to the segment, and is open while a buffer of it lives;
    it can be mapped for reading only."""

    descriptor: int
    segment_bytes: int
    offset: int
    length: int


class Source(Protocol):
    """One handle of a buffer on its memory."""

    @property
    def pool(self) -> Pool | None: ...

    @property
    def is_shared(self) -> bool: ...

    def again(self) -> Source:
        """One handle more on the same memory."""

    def reading(self, offset: int, length: int) -> pa.Buffer:
        """A view that keeps the memory as it is while it lives."""

    def writing(self, offset: int, length: int) -> memoryview:
        """Raises InvalidInput if anybody else can see the memory."""

    def place(self, offset: int, length: int) -> Place:
        """Raises InvalidInput if no other process can have the memory."""

    def release(self) -> None: ...


class _View:
    """What a view of numpy or Arrow refers to: its end is the end of the last slice of that view.

    It may end in any thread, also in the garbage collector inside of the pool's lock: so it takes no lock itself.
    """

    __slots__ = ("__array_interface__", "_holder", "_pool", "_segment", "_ticket")
    __array_interface__: dict[str, object]

    def __init__(self, pool: Pool, segment: Segment, ticket: Ticket, holder: int) -> None:
        self._pool, self._segment, self._ticket, self._holder = pool, segment, ticket, holder

    def __del__(self) -> None:
        self._pool.returned.put((self._ticket, self._holder))


class Lent:
    """A handle on a slot. The one who made it has counted it."""

    __slots__ = ("_address", "_pool", "_segment", "_ticket")

    def __init__(self, pool: Pool, segment: Segment, ticket: Ticket, address: int) -> None:
        self._pool = pool
        self._segment = segment
        self._address = address
        self._ticket: Ticket | None = ticket

    def __del__(self) -> None:
        ticket = getattr(self, "_ticket", None)
        if ticket is not None:
            self._pool.returned.put((ticket, HANDLE))

    @property
    def pool(self) -> Pool:
        return self._pool

    @property
    def ticket(self) -> Ticket:
        """Raises Closed after `release`."""
        if self._ticket is None:
            raise Closed("the buffer was released", hint="take a clone() for everyone who needs it longer")
        return self._ticket

    @property
    def is_shared(self) -> bool:
        return self._pool.is_shared(self.ticket)

    def again(self) -> Lent:
        self._pool.hold(self.ticket, HANDLE)
        return Lent(self._pool, self._segment, self.ticket, self._address)

    def reading(self, offset: int, length: int) -> pa.Buffer:
        ticket = self.ticket
        self._pool.hold(ticket, READER)
        view = _View(self._pool, self._segment, ticket, READER)
        made: pa.Buffer = _arrow().foreign_buffer(self._address + offset, length, view)
        return made

    def writing(self, offset: int, length: int) -> memoryview:
        import numpy as np  # noqa: PLC0415

        ticket = self.ticket
        if not self._pool.hold_to_write(ticket):
            raise _cannot_write()
        view = _View(self._pool, self._segment, ticket, WRITER)
        place = (self._address + offset, False)
        view.__array_interface__ = {"data": place, "shape": (length,), "typestr": "|u1", "version": 3}
        memory: Any = np.asarray(view)
        return memoryview(memory)

    def place(self, offset: int, length: int) -> Place:
        segment, ticket = self._segment, self.ticket
        if segment.descriptor is None:
            raise _no_place()
        start = ticket.slot * self._pool.slot_bytes
        return Place(segment.descriptor, segment.size, start + offset, length)

    def release(self) -> None:
        with self._pool.lock:
            ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._pool.returned.put((ticket, HANDLE))


class Foreign:
    """Memory of somebody else, a mapped file or Python's own: never written, kept by those who refer to it."""

    __slots__ = ("_memory",)

    pool = None
    is_shared = True

    def __init__(self, memory: memoryview) -> None:
        self._memory: memoryview | None = memory

    def again(self) -> Foreign:
        return Foreign(self._open())

    def reading(self, offset: int, length: int) -> pa.Buffer:
        made: pa.Buffer = _arrow().py_buffer(self._open()[offset : offset + length])
        return made

    def writing(self, offset: int, length: int) -> memoryview:
        raise _cannot_write()

    def place(self, offset: int, length: int) -> Place:
        raise _no_place()

    def release(self) -> None:
        self._memory = None

    def _open(self) -> memoryview:
        if self._memory is None:
            raise Closed("the buffer was released", hint="take a clone() for everyone who needs it longer")
        return self._memory


def _no_place() -> InvalidInput:
    return InvalidInput("no other process can map this buffer", hint="lend it from a pool with memory='shared'")


@cache
def _arrow() -> Any:
    """Loaded where bytes are looked at, for that takes a while."""
    import pyarrow as pa  # noqa: PLC0415

    return pa


def _cannot_write() -> InvalidInput:
    return InvalidInput("others can see this buffer", hint="call writable() first: it copies what is shared")

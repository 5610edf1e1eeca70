"""Slots that were touched once and are lent again and again."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from headrace.errors import InvalidInput
from headrace.memory import forked
from headrace.memory.buffer import Buffer
from headrace.memory.failures import Closed, Inherited, LimitReached
from headrace.memory.figures import PoolStats
from headrace.memory.formats import BYTES, Format
from headrace.memory.ledger import WRITER, Ledger, Ticket
from headrace.memory.metadata import Metadata
from headrace.memory.segment import HugePages, Segment
from headrace.memory.source import Lent

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")

Memory = Literal["heap", "shared"]
MEMORY: Final = ("heap", "shared")
SLOTS_DEFAULT: Final = 8
# Slots begin at whole pages.
SLOT_UNIT_BYTES: Final = 4096
_NOTHING: Final = Metadata()


class Pool:
    """Lends slots of one size. A slot is lent again when the last buffer and the last view of it are gone.

    It begins with one segment of `slots` slots, and grows by further ones up to `max_bytes`. All threads of the process
    that made it may use it; a forked child may not. Dropping the pool does not end what it lent.
    """

    def __init__(
        self,
        slot_bytes: int,
        *,
        slots: int = SLOTS_DEFAULT,
        memory: Memory = "heap",
        huge_pages: HugePages = "advise",
        max_bytes: int | None = None,
        max_loans: int | None = None,
    ) -> None:
        """`max_bytes` is that of one segment where it is not said. Raises InvalidInput, NoRoom."""
        if memory not in MEMORY:
            raise InvalidInput(f"a pool's memory is {memory!r}", valid=MEMORY)
        for name, value in (("slot_bytes", slot_bytes), ("slots", slots), ("max_loans", max_loans)):
            if value is not None and value < 1:
                raise InvalidInput(f"{name} must be 1 or more, not {value}")
        self.slot_bytes = -(-slot_bytes // SLOT_UNIT_BYTES) * SLOT_UNIT_BYTES
        self.slots_per_segment = slots
        self.memory: Memory = memory
        self.max_bytes = self._segment_bytes if max_bytes is None else max_bytes
        self.max_loans = max_loans
        if self.max_bytes < self._segment_bytes:
            raise InvalidInput(
                f"max_bytes is {self.max_bytes:,}, and one segment of {slots} slots takes {self._segment_bytes:,}",
                hint="fewer slots, smaller ones, or a higher max_bytes",
            )
        self._huge_pages: HugePages = huge_pages
        self._ledger = Ledger()
        self._segments: dict[int, Segment] = {}
        self._next_segment = self._waiting = self._copies = self._copied_bytes = 0
        self._is_closed = self._is_inherited = False
        self._new_locks()
        self.grow()
        forked.watch(self)

    @property
    def _segment_bytes(self) -> int:
        return self.slot_bytes * self.slots_per_segment

    @property
    def _mapped_bytes(self) -> int:
        """With those that drain."""
        return len(self._ledger.segments) * self._segment_bytes

    @overload
    def loan(self, nbytes: int, *, metadata: Metadata = ..., timeout_s: float = ...) -> Buffer[memoryview]: ...

    @overload
    def loan(
        self, nbytes: int | None = ..., *, format: Format[T], metadata: Metadata = ..., timeout_s: float = ...
    ) -> Buffer[T]: ...

    def loan(
        self,
        nbytes: int | None = None,
        *,
        format: Format[Any] = BYTES,
        metadata: Metadata = _NOTHING,
        timeout_s: float = 0.0,
    ) -> Buffer[Any]:
        """A buffer that only the caller sees, with bytes of an earlier one in it.

        Its length may be left out where the format says it. It waits up to `timeout_s` for a slot. Raises LimitReached,
        InvalidInput, Closed, Inherited.
        """
        length = format.nbytes if nbytes is None else nbytes
        if length is None:
            raise InvalidInput(f"format {str(format)!r} does not say how many bytes to lend", hint="loan(nbytes, …)")
        if not 0 <= length <= self.slot_bytes:
            raise InvalidInput(f"{length:,} bytes do not fit a slot: slot_bytes is {self.slot_bytes:,}")
        lent = self._lent() or self._lent_within(timeout_s)
        return Buffer(lent, 0, length, format, metadata)

    def copy(
        self, memory: memoryview, format: Format[T], metadata: Metadata = _NOTHING, *, timeout_s: float = 0.0
    ) -> Buffer[T]:
        """These bytes in a slot of their own, counted."""
        made = self.loan(len(memory), format=format, metadata=metadata, timeout_s=timeout_s)
        if len(memory):
            made._source.writing(0, len(memory))[:] = memory
        with self.lock:
            self._copies += 1
            self._copied_bytes += len(memory)
        return made

    def grow(self) -> bool:
        """One segment more, touched before it is lent; False if `max_bytes` does not allow it. Raises NoRoom."""
        with self._growing:
            with self.lock:
                self._settle()
                if self._is_closed or self._mapped_bytes + self._segment_bytes > self.max_bytes:
                    return False
            make = Segment.shared if self.memory == "shared" else Segment.heap
            segment = make(self._segment_bytes, huge_pages=self._huge_pages)
            with self.lock:
                self._segments[self._next_segment] = segment
                self._ledger.add(self._next_segment, self.slots_per_segment)
                self._next_segment += 1
                self._wake()
            return True

    def shrink(self) -> bool:
        """The segment with the fewest loans lends nothing more, and is unmapped when its last slot is back. False if it
        is the only one."""
        with self.lock:
            self._settle()
            open_ones = [one for one in self._ledger.segments if not self._ledger.is_draining(one)]
            if len(open_ones) < 2:
                return False
            self._drain(min(open_ones, key=lambda one: (self._ledger.lent_of(one), -one)))
            return True

    def close(self) -> None:
        """It lends nothing more. What it lent stays, and each segment is unmapped when its last slot is back."""
        with self.lock:
            self._is_closed = True
            self._settle()
            for segment in self._ledger.segments:
                self._drain(segment)
            self._wake()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def stats(self) -> PoolStats:
        with self.lock:
            self._settle()
            return PoolStats(
                self.slot_bytes, len(self._ledger.segments), self._ledger.free_count, self._ledger.lent_count,
                self._mapped_bytes, self.max_bytes, self.max_loans,
                self._copies, self._copied_bytes,
            )  # fmt: skip

    def hold(self, ticket: Ticket, holder: int) -> None:
        """For handles and views of this pool. Raises Inherited."""
        if self._is_inherited and self.memory == "shared":
            raise Inherited(
                "this buffer lies in shared memory of the parent process, which may lend it again at any time",
                hint="take tobytes() before the fork, or use a pool with memory='heap'",
            )
        with self.lock:
            self._ledger.hold(ticket, holder)

    def hold_to_write(self, ticket: Ticket) -> bool:
        """False if others can see the slot; then nothing is held."""
        with self.lock:
            self._settle()
            if self._ledger.is_shared(ticket) or self._is_inherited:
                return False
            self._ledger.hold(ticket, WRITER)
            return True

    def is_shared(self, ticket: Ticket) -> bool:
        with self.lock:
            self._settle()
            return self._is_inherited or self._ledger.is_shared(ticket)

    def on_inherited(self) -> None:
        """In a forked child, where locks may be held by threads that are not there."""
        self._is_inherited = True
        self._new_locks()

    def _new_locks(self) -> None:
        self.lock = threading.Lock()
        self._growing = threading.Lock()
        # The only thing that finalisers touch. None wakes one who waits.
        self.returned: SimpleQueue[tuple[Ticket, int] | None] = SimpleQueue()

    def _lent(self) -> Lent | None:
        """A slot, from a new segment if need be; None if all are lent and no limit allows more."""
        while True:
            with self.lock:
                self._require_open()
                self._settle()
                if self.max_loans is not None and self._ledger.lent_count >= self.max_loans:
                    return None
                ticket = self._ledger.take()
                if self._waiting:
                    self._wake()
                if ticket is not None:
                    segment = self._segments[ticket.segment]
                    return Lent(self, segment, ticket, segment.address + ticket.slot * self.slot_bytes)
            if not self.grow():
                return None

    def _lent_within(self, timeout_s: float) -> Lent:
        deadline_s = time.monotonic() + timeout_s
        while (left_s := deadline_s - time.monotonic()) > 0 and self._wait(left_s):
            if (lent := self._lent()) is not None:
                return lent
        raise self._refusal(timeout_s)

    def _wait(self, timeout_s: float) -> bool:
        """Until something came back; False if nothing did."""
        with self.lock:
            self._waiting += 1
        try:
            token = self.returned.get(timeout=timeout_s)
        except Empty:
            return False
        finally:
            with self.lock:
                self._waiting -= 1
        with self.lock:
            self._take_back(token)
            self._wake()
        return True

    def _settle(self) -> None:
        """Under the lock: takes in what came back."""
        returned = self.returned
        # Those who wait take tokens too, without the lock.
        with suppress(Empty):
            while not returned.empty():
                self._take_back(returned.get_nowait())
        if self._waiting:
            self._wake()

    def _take_back(self, token: tuple[Ticket, int] | None) -> None:
        if token is None:
            return
        self._ledger.drop(*token)

    def _wake(self) -> None:
        """Under the lock: one who waits, if a slot could be lent: what came back for it was taken in by another."""
        is_full = self.max_loans is not None and self._ledger.lent_count >= self.max_loans
        can_lend = self._ledger.free_count > 0 and not is_full
        if self._waiting and (can_lend or self._is_closed) and self.returned.empty():
            self.returned.put(None)

    def _drain(self, segment: int) -> None:
        """Those who hold its slots keep the segment: it is unmapped with the last of them."""
        self._ledger.drain(segment)
        self._segments.pop(segment, None)

    def _require_open(self) -> None:
        if self._is_inherited:
            raise Inherited(
                "the pool belongs to the process that this one was forked from", hint="make a pool in this process"
            )
        if self._is_closed:
            raise Closed("the pool is closed")

    def _refusal(self, timeout_s: float) -> LimitReached:
        stats = self.stats
        reason = f"max_bytes ({self.max_bytes:,})"
        if self.max_loans is not None and stats.slots_lent >= self.max_loans:
            reason = f"max_loans ({self.max_loans})"
        waited = f" for {timeout_s:g} s" if timeout_s > 0 else ""
        return LimitReached(
            f"no slot is free{waited}: {stats.slots_lent} are lent, and {reason} allows no more",
            hint="drop buffers and views that are done with, wait with timeout_s, or raise the limit",
        )

"""Which slots are free, which are lent, and who holds them. No memory and no threads in here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from headrace.errors import InvalidInput
from headrace.memory.failures import StaleReturn

# Kinds of holders: a buffer, a view for reading, and one for writing, of somebody who could write when it was made.
# Plain numbers: this is what every loan waits for.
HANDLE: Final = 0
READER: Final = 1
WRITER: Final = 2
_NAMES: Final = ("handle", "reader", "writer")


class Ticket(NamedTuple):
    """One loan of a slot: the same slot lent again has another generation."""

    segment: int
    slot: int
    generation: int


@dataclass(slots=True)
class _Loan:
    generation: int
    holders: list[int]


@dataclass(slots=True)
class _Slots:
    """The slots of one segment."""

    free: list[int]
    generations: list[int]
    lent: dict[int, _Loan] = field(default_factory=dict)
    is_draining: bool = False


class Ledger:
    """A slot is lent until its last holder gave it back. A segment that drains lends nothing more, and is gone when its
    last slot is back."""

    def __init__(self) -> None:
        self._segments: dict[int, _Slots] = {}

    @property
    def segments(self) -> list[int]:
        return list(self._segments)

    @property
    def lent_count(self) -> int:
        return sum(len(slots.lent) for slots in self._segments.values())

    @property
    def free_count(self) -> int:
        return sum(len(slots.free) for slots in self._segments.values() if not slots.is_draining)

    def lent_of(self, segment: int) -> int:
        return len(self._segments[segment].lent)

    def is_draining(self, segment: int) -> bool:
        return self._segments[segment].is_draining

    def add(self, segment: int, slot_count: int) -> None:
        if segment in self._segments:
            raise InvalidInput(f"segment {segment} is there already")
        self._segments[segment] = _Slots(list(range(slot_count - 1, -1, -1)), [0] * slot_count)

    def drain(self, segment: int) -> bool:
        """Returns True if it is gone already."""
        slots = self._segments[segment]
        slots.is_draining = True
        return self._gone(segment, slots)

    def take(self) -> Ticket | None:
        """A slot for one handle; the one that came back last, for the caches still know it. None if all are lent."""
        for segment, slots in self._segments.items():
            if slots.free and not slots.is_draining:
                slot = slots.free.pop()
                slots.generations[slot] += 1
                slots.lent[slot] = _Loan(slots.generations[slot], [1, 0, 0])
                return Ticket(segment, slot, slots.generations[slot])
        return None

    def hold(self, ticket: Ticket, holder: int) -> None:
        """One holder more. Raises StaleReturn if the loan has ended."""
        self._loan(ticket).holders[holder] += 1

    def drop(self, ticket: Ticket, holder: int) -> int | None:
        """One holder less. Returns the segment that is gone with it. Raises StaleReturn, and nothing has changed."""
        holders = self._loan(ticket).holders
        if not holders[holder]:
            raise StaleReturn(f"{ticket} has no {_NAMES[holder]} to give it back")
        holders[holder] -= 1
        if any(holders):
            return None
        slots = self._segments[ticket.segment]
        del slots.lent[ticket.slot]
        slots.free.append(ticket.slot)
        return ticket.segment if self._gone(ticket.segment, slots) else None

    def is_shared(self, ticket: Ticket) -> bool:
        """True if anybody but one handle, and what that one writes with, can see the slot."""
        holders = self._loan(ticket).holders
        return holders[HANDLE] > 1 or holders[READER] > 0

    def _gone(self, segment: int, slots: _Slots) -> bool:
        if slots.lent or not slots.is_draining:
            return False
        del self._segments[segment]
        return True

    def _loan(self, ticket: Ticket) -> _Loan:
        slots = self._segments.get(ticket.segment)
        loan = None if slots is None else slots.lent.get(ticket.slot)
        if loan is None or loan.generation != ticket.generation:
            raise StaleReturn(f"{ticket} is not lent any more")
        return loan

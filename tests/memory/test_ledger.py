"""Counts and generations, against a model that remembers every loan there ever was."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, consumes, invariant, multiple, rule

from headrace.memory.failures import StaleReturn
from headrace.memory.ledger import HANDLE, READER, WRITER, Ledger, Ticket

SLOTS_MAX = 4
KINDS = st.sampled_from([HANDLE, READER, WRITER])


class Loans(RuleBasedStateMachine):
    """Takes, holds and drops in any order; `ended` are tickets that must never be taken for a loan again."""

    tickets: Bundle[Ticket] = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.held: dict[Ticket, Counter[int]] = {}
        self.ended: set[Ticket] = set()
        self.sizes: dict[int, int] = {}
        self.draining: set[int] = set()
        self.added = 0

    @rule(slots=st.integers(1, SLOTS_MAX))
    def add(self, slots: int) -> None:
        self.ledger.add(self.added, slots)
        self.sizes[self.added] = slots
        self.added += 1

    @rule(target=tickets)
    def take(self) -> Ticket | MultipleResults[Ticket]:
        ticket = self.ledger.take()
        free = self._free()
        if ticket is None:
            assert not free
            return multiple()
        assert ticket[:2] in free, "lent twice, or of a segment that drains"
        assert ticket not in self.ended, "a generation came again"
        self.held[ticket] = Counter({HANDLE: 1})
        return ticket

    @rule(ticket=tickets, kind=KINDS)
    def hold(self, ticket: Ticket, kind: int) -> None:
        if ticket in self.ended:
            with pytest.raises(StaleReturn, match="not lent"):
                self.ledger.hold(ticket, kind)
            return
        self.ledger.hold(ticket, kind)
        self.held[ticket][kind] += 1

    @rule(ticket=tickets, kind=KINDS)
    def drop(self, ticket: Ticket, kind: int) -> None:
        if ticket in self.ended or not self.held[ticket][kind]:
            with pytest.raises(StaleReturn):
                self.ledger.drop(ticket, kind)
            return
        self.held[ticket][kind] -= 1
        is_over = not self.held[ticket].total()
        if is_over:
            self._end(ticket)
        gone = self.ledger.drop(ticket, kind)
        is_gone = is_over and ticket.segment in self.draining and not self._lent_of(ticket.segment)
        assert gone == (ticket.segment if is_gone else None)
        if is_gone:
            self._forget(ticket.segment)

    @rule(ticket=consumes(tickets))
    def drop_all(self, ticket: Ticket) -> None:
        for kind, count in self.held.get(ticket, Counter()).copy().items():
            for _ in range(count):
                self.drop(ticket, kind)
        with pytest.raises(StaleReturn):
            self.ledger.drop(ticket, HANDLE)

    @rule(data=st.data())
    def drain(self, data: st.DataObject) -> None:
        if not self.sizes:
            return
        segment = data.draw(st.sampled_from(sorted(self.sizes)))
        self.draining.add(segment)
        is_gone = not self._lent_of(segment)
        assert self.ledger.drain(segment) == is_gone
        if is_gone:
            self._forget(segment)

    @invariant()
    def counts_are_those_of_the_model(self) -> None:
        assert self.ledger.lent_count == len(self.held)
        assert self.ledger.free_count == len(self._free())
        assert self.ledger.segments == list(self.sizes)
        for ticket, kinds in self.held.items():
            assert self.ledger.is_shared(ticket) == (kinds[HANDLE] > 1 or kinds[READER] > 0)

    def _end(self, ticket: Ticket) -> None:
        del self.held[ticket]
        self.ended.add(ticket)

    def _forget(self, segment: int) -> None:
        del self.sizes[segment]
        self.draining.discard(segment)

    def _lent_of(self, segment: int) -> int:
        return sum(ticket.segment == segment for ticket in self.held)

    def _free(self) -> set[tuple[int, int]]:
        open_slots = {(s, i) for s, size in self.sizes.items() if s not in self.draining for i in range(size)}
        return open_slots - {(ticket.segment, ticket.slot) for ticket in self.held}


TestLoans = Loans.TestCase
TestLoans.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_the_slot_that_came_back_last_is_lent_first() -> None:
    ledger = Ledger()
    ledger.add(0, 3)
    first, second = ledger.take(), ledger.take()
    assert first is not None
    assert second is not None
    ledger.drop(first, HANDLE)
    again = ledger.take()
    assert again == Ticket(0, first.slot, first.generation + 1)

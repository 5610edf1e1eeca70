"""Which spans of event time a row lies in: windows that tumble, hop or grow, all aligned to the epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrace.operators.late_rows import Flags
from headrace.operators.window_state import repeated
from headrace.serial.keys import Integers


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of a size. One begins every `every_us`; or, where they grow, one ends every `every_us`, and they begin anew
    when they have their size. A span's name is its start, or its end where several have the same start."""

    size_us: int
    every_us: int
    grow: bool = False

    @property
    def count(self) -> int:
        """In how many spans a row lies, at most."""
        return -(-self.size_us // self.every_us)

    def last_end(self, at_us: Integers) -> Integers:
        """The end of the last span that has rows of these times."""
        return at_us - at_us % (self.size_us if self.grow else self.every_us) + self.size_us

    def last_end_expression(self, at_us: str) -> str:
        """The same of a time that is an expression."""
        return f"{at_us} - pmod({at_us}, {self.size_us if self.grow else self.every_us}) + {self.size_us}"

    def names(self, at_us: Integers) -> tuple[Integers, Flags]:
        """For each of these times `count` names of spans, and which of those the time lies in."""
        steps = np.tile(np.arange(self.count) * self.every_us, len(at_us))
        last = repeated(at_us - at_us % self.every_us, self.count)
        if not self.grow:
            starts = last - steps
            # The first of them may have ended, where the size is no multiple.
            return starts, starts + self.size_us > repeated(at_us, self.count)
        ends = last + self.every_us + steps
        return ends, ends <= repeated(self.last_end(at_us), self.count)

    def bounds(self, names: Integers) -> tuple[Integers, Integers]:
        """The starts and ends of spans."""
        if not self.grow:
            return names, names + self.size_us
        return names - 1 - (names - 1) % self.size_us, names

    def taken(
        self, at_us: Integers, counting: Flags | None = None, closed_us: int | None = None
    ) -> tuple[Integers | None, Integers]:
        """Row numbers, each as often as its row lies in a span that ends after `closed_us`, and the names of those
        spans. None for the numbers of all rows, each once. Rows that are not `counting` are left out."""
        names, taken = self.names(at_us)
        if counting is not None:
            taken &= repeated(counting, self.count)
        if closed_us is not None:
            taken &= self.bounds(names)[1] > closed_us
        if self.count == 1 and taken.all():
            return None, names
        return repeated(np.arange(len(at_us)), self.count)[taken], names[taken]

"""How far apart in time the rows of a pair may be, and when a row can have no partner any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headrace.operators.durations import duration_ms
from headrace.operators.join_sides import Side
from headrace.serial.keys import Integers

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

# Rows that are made of others at once, one for each window: so many of the memory, and those of one row more.
MADE_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Spans:
    """In which spans of time rows look for partners: the number of the row, and the first and last moment of the span.
    With windows that overlap a row has several."""

    rows: Integers
    low_us: Integers
    high_us: Integers

    def where(self, low_us: int | None, high_us: int) -> Spans:
        """Those whose last moment is not before the first time, and before the second."""
        chosen = self.high_us < high_us
        if low_us is not None:
            chosen &= self.high_us >= low_us
        return self if chosen.all() else Spans(self.rows[chosen], self.low_us[chosen], self.high_us[chosen])

    def portions(self) -> Iterator[Spans]:
        for start in range(0, len(self.rows), MADE_AT_ONCE):
            part = slice(start, start + MADE_AT_ONCE)
            yield Spans(self.rows[part], self.low_us[part], self.high_us[part])


@dataclass(frozen=True, slots=True)
class Bound:
    """The right row is `before_us` earlier to `after_us` later than the left; or, with a window, both are in one that
    begins `every_us`. Times are those of rows that are not late."""

    before_us: int
    after_us: int
    window_us: int | None = None
    every_us: int = 0

    @classmethod
    def of(cls, config: JoinConfig) -> Bound:
        before_us, after_us = (duration_ms(bound or "0 seconds") * 1000 for bound in (config.before, config.after))
        if config.window is None:
            return cls(before_us, after_us)
        window_us = duration_ms(config.window) * 1000
        return cls(0, 0, window_us, window_us if config.every is None else duration_ms(config.every) * 1000)

    @property
    def width_us(self) -> int:
        """Between the first and the last moment of a span."""
        return self.before_us + self.after_us if self.window_us is None else self.window_us - 1

    def lag_us(self, kind: str) -> int:
        """How much earlier than the watermark the event time of an emitted row may be: it is that of the left or the
        right row, which may have waited for its partner; or the end of a window that was open."""
        lags = {"inner": self.after_us, "left": self.after_us, "right": self.before_us}
        return lags.get(kind, max(self.before_us, self.after_us))

    def partners(self, side: Side, at_us: Integers) -> tuple[Integers, Integers]:
        """The first and the last time that partners of rows of these times have."""
        if self.window_us is not None:
            return self._first_start(at_us), at_us // self.every_us * self.every_us + (self.window_us - 1)
        before_us, after_us = self._around(side)
        return at_us - before_us, at_us + after_us

    def needed_from(self, side: Side, reached_us: int) -> int:
        """Rows of this side before this time have no span that ends at `reached_us` or later."""
        if self.window_us is not None:
            return ((reached_us - self.window_us) // self.every_us + 1) * self.every_us
        return reached_us - self._around(side)[1]

    def ended_before(self, side: Side, reached_us: int) -> int:
        """Rows of this side from this time on have no span that ends before `reached_us`."""
        if self.window_us is not None:
            return (reached_us - self.window_us) // self.every_us * self.every_us + self.window_us
        return self.needed_from(side, reached_us)

    def spans(self, side: Side, at_us: Integers) -> Spans:
        """All spans of rows of these times."""
        low_us, high_us = self.partners(side, at_us)
        if self.window_us is None or self.window_us == self.every_us:
            return Spans(np.arange(len(at_us)), low_us, high_us)
        counts = (high_us - low_us + 1 - self.window_us) // self.every_us + 1
        rows, starts = self._starts(low_us, counts)
        return Spans(rows, starts, starts + (self.window_us - 1))

    def shared(self, one_us: Integers, other_us: Integers) -> tuple[Integers, Integers]:
        """The windows that both rows of pairs are in: the number of the pair, and the last moment of the window."""
        if self.window_us is None:
            raise AssertionError("a join without windows")
        first = self._first_start(np.maximum(one_us, other_us))
        last = np.minimum(one_us, other_us) // self.every_us * self.every_us
        pairs, starts = self._starts(first, (last - first) // self.every_us + 1)
        return pairs, starts + (self.window_us - 1)

    def _around(self, side: Side) -> tuple[int, int]:
        return (self.before_us, self.after_us) if side == "left" else (self.after_us, self.before_us)

    def _first_start(self, at_us: Integers) -> Integers:
        """Of the windows that rows of these times are in."""
        first: Integers = ((at_us - (self.window_us or 0)) // self.every_us + 1) * self.every_us
        return first

    def _starts(self, first_us: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """As many windows for each row as are counted, from the first on."""
        rows = np.repeat(np.arange(len(counts)), counts)
        ordinals = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, first_us[rows] + ordinals * self.every_us

"""Where micro-batches must end: pure functions of offsets and of the signals that are known.

Which signals a micro-batch carries follows from its start and end alone, so that running it again repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.signals import SignalRecord
from headrace.spark.specs import Offsets

# These let a job go on that a pause holds.
_RELEASING = ("resume", "start")


@dataclass(frozen=True, slots=True)
class Cuts:
    """The signals to one pipeline in one topic, in order. `waiting`: one was asked for, and its cut is not known yet.

    Cuts of one topic never cross: each signal takes an offset in every partition.
    """

    topic: str
    signals: tuple[SignalRecord, ...] = ()
    waiting: bool = False
    began: Offsets = field(default_factory=dict)
    """Where the query began: what lies before is no business of it."""

    @classmethod
    def of(cls, records: Iterable[SignalRecord], topic: str, pipeline: str, began: Mapping[str, int]) -> Cuts:
        mine = [r for r in records if topic in r.request.topics and r.request.pipeline in (None, pipeline)]
        placed = [r for r in mine if r.state == "placed" and topic in r.cut]
        waiting = any(r.state == "requested" for r in mine)
        return cls(topic, tuple(sorted(placed, key=lambda r: r.number)), waiting, dict(began))

    def limited(self, begin: Offsets, end: Offsets) -> Offsets:
        """As far towards `end` as a micro-batch that starts at `begin` may go."""
        limit = self._limit(begin)
        if limit is None:
            return dict(begin) if self.waiting else end
        return {p: min(stop, max(limit.get(p, 0), begin[p])) for p, stop in end.items()}

    def between(self, start: Offsets, end: Offsets) -> list[SignalRecord]:
        """The signals that a micro-batch carries, after its rows."""
        return [s for s in self.signals if not self._is_passed(s, start) and self._is_passed(s, end)]

    def is_held(self, position: Offsets, released: Offsets) -> bool:
        """Whether nothing may be read on: paused and not resumed, or stopped since `released`."""
        passed = [s for s in self.signals if self._is_passed(s, position) and not self._is_passed(s, self.began)]
        if any(s.request.kind == "stop" and not self._is_passed(s, released) for s in passed):
            return True
        pause = max((s.number for s in passed if s.request.kind == "pause"), default=None)
        return pause is not None and not any(s.request.kind in _RELEASING and s.number > pause for s in self.signals)

    def _limit(self, begin: Offsets) -> Offsets | None:
        """The first cut ahead, or the last of those that follow it with nothing between; None when there is none."""
        ahead = [s for s in self.signals if not self._is_passed(s, begin)]
        limit: Offsets | None = None
        for signal in ahead:
            ends = self._ends(signal)
            if limit is not None and ends != {p: offset + 1 for p, offset in limit.items()}:
                break
            limit = ends
            if signal.request.kind in ("pause", "stop"):
                break
        return limit

    def _ends(self, signal: SignalRecord) -> Offsets:
        return {str(partition): offset for partition, offset in signal.cut[self.topic].items()}

    def _is_passed(self, signal: SignalRecord, position: Offsets) -> bool:
        return all(position.get(p, 0) >= offset for p, offset in self._ends(signal).items())

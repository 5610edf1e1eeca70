"""Where micro-batches must end: pure functions of offsets and of the signals that are known.

Which signals a micro-batch carries follows from its start and end alone, so that running it again repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.signals import SignalRecord
from headrace.spark.reading.positions import Position
from headrace.spark.specs import Offsets

# These let a job go on that a pause holds.
_RELEASING = ("resume", "start")


@dataclass(frozen=True, slots=True)
class Cuts:
    """The signals to one query, in order. `topics` are what its sources read, by node; `waiting` are topics in which a
    signal was asked for whose cut is not known yet.

    Cuts of one topic never cross: each signal takes an offset in every partition.
    """

    topics: Mapping[str, str]
    signals: tuple[SignalRecord, ...] = ()
    waiting: frozenset[str] = frozenset()
    began: Position = field(default_factory=dict)
    """Where the query began: what lies before is no business of it."""

    @classmethod
    def of(cls, records: Iterable[SignalRecord], topics: Mapping[str, str], pipeline: str, began: Position) -> Cuts:
        read = set(topics.values())
        mine = [r for r in records if read.intersection(r.request.topics) and r.request.pipeline in (None, pipeline)]
        placed = [r for r in mine if r.state == "placed" and read.intersection(r.cut)]
        waiting = frozenset(topic for r in mine if r.state == "requested" for topic in r.request.topics)
        return cls(topics, tuple(sorted(placed, key=lambda r: r.number)), waiting, began)

    def limited(self, node: str, position: Position, begin: Offsets, end: Offsets) -> Offsets:
        """As far towards `end` as a source at `begin` may go in a micro-batch that starts at `position`.

        A source that has reached a cut goes no further until every other one has reached it too.
        """
        limit = self._limit(node, position)
        if limit is None:
            return dict(begin) if self.topics[node] in self.waiting else end
        return {p: min(stop, max(limit.get(p, 0), begin[p])) for p, stop in end.items()}

    def between(self, start: Position, end: Position) -> list[SignalRecord]:
        """The signals that a micro-batch carries, after its rows."""
        return [s for s in self.signals if not self.is_passed(s, start) and self.is_passed(s, end)]

    def is_held(self, position: Position, released: Position) -> bool:
        """Whether nothing may be read on: paused and not resumed, or stopped since `released`."""
        passed = [s for s in self.signals if self.is_passed(s, position) and not self.is_passed(s, self.began)]
        if any(s.request.kind == "stop" and not self.is_passed(s, released) for s in passed):
            return True
        pause = max((s.number for s in passed if s.request.kind == "pause"), default=None)
        return pause is not None and not any(s.request.kind in _RELEASING and s.number > pause for s in self.signals)

    def _limit(self, node: str, position: Position) -> Offsets | None:
        """The first cut ahead in a source's topic, or the last of those that follow it with nothing between; None when
        there is none."""
        topic = self.topics[node]
        ahead = [s for s in self.signals if topic in s.cut and not self.is_passed(s, position)]
        limit: Offsets | None = None
        for signal in ahead:
            ends = _ends(signal, topic)
            if limit is not None and ends != {p: offset + 1 for p, offset in limit.items()}:
                break
            limit = ends
            if signal.request.kind in ("pause", "stop"):
                break
        return limit

    def is_passed(self, signal: SignalRecord, position: Position) -> bool:
        """By every source whose topic the signal stands in."""
        return all(
            position.get(node, {}).get(partition, 0) >= offset
            for node, topic in self.topics.items()
            if topic in signal.cut
            for partition, offset in _ends(signal, topic).items()
        )


def _ends(signal: SignalRecord, topic: str) -> Offsets:
    return {str(partition): offset for partition, offset in signal.cut[topic].items()}

"""The watermark of a stream, in plain Python: what every way to run a query must agree with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.oracle.cuts import Cut, Origin, Row

# A partition without rows for this long no longer holds the watermark back.
PARTITION_IDLE_US = 30_000_000


@dataclass(slots=True)
class StreamClock:
    """After a micro-batch the slowest partition that counts, minus the bound; the watermark never goes back.

    A partition without its first row holds the watermark until the idle time is over, counted from the first
    micro-batch. When all are idle, those count that were not when the last row came. Times are the micro-batch's own.
    """

    bound_us: int
    origins: frozenset[Origin]
    idle_us: int = PARTITION_IDLE_US
    watermark_us: int | None = None
    _latest_us: dict[Origin, int] = field(default_factory=dict)
    _seen_us: dict[Origin, int] = field(default_factory=dict)

    def after(self, cut: Cut, rows: Iterable[Row]) -> None:
        for origin in self.origins:
            self._seen_us.setdefault(origin, cut.now_us)
        for row in rows:
            self._latest_us[row.origin] = max(row.time_us, self._latest_us.get(row.origin, row.time_us))
            self._seen_us[row.origin] = cut.now_us
        awake = self._awake(cut.now_us, self.origins)
        if not awake and self._latest_us:
            last_us = max(self._seen_us[origin] for origin in self._latest_us)
            awake = self._awake(last_us, self._latest_us)
        if awake and all(origin in self._latest_us for origin in awake):
            reached_us = min(self._latest_us[origin] for origin in awake) - self.bound_us
            self.watermark_us = reached_us if self.watermark_us is None else max(self.watermark_us, reached_us)

    def _awake(self, now_us: int, origins: Iterable[Origin]) -> list[Origin]:
        return [origin for origin in origins if now_us - self._seen_us[origin] < self.idle_us]


@dataclass(slots=True)
class QueryClock:
    """Of a node over several streams: the lowest of theirs."""

    streams: tuple[StreamClock, ...]

    @property
    def watermark_us(self) -> int | None:
        reached = [stream.watermark_us for stream in self.streams]
        return None if None in reached else min(us for us in reached if us is not None)

    def after(self, cut: Cut, rows: Iterable[Row]) -> None:
        listed = list(rows)
        for stream in self.streams:
            stream.after(cut, [row for row in listed if row.origin in stream.origins])

    def has_passed(self, at_us: int) -> bool:
        return self.watermark_us is not None and at_us <= self.watermark_us

"""The watermark: no row before it is waited for. Agreed once for each micro-batch, from the micro-batches before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

# A watermark after every row: what a bounded input ends with.
END_OF_TIME_US = (1 << 62) - 1
# So many fields did commit records of older releases have.
_FIELDS_BEFORE_BEGAN = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """How far event time came in each source partition, and when it last had a row. Part of the commit record.

    `began_us` is the time of the query's first micro-batch.
    """

    latest_us: Mapping[int, int] = field(default_factory=dict)
    seen_us: Mapping[int, int] = field(default_factory=dict)
    watermark_us: int | None = None
    began_us: int | None = None

    def advanced(
        self,
        latest_us: Mapping[int, int],
        now_us: int,
        delay_us: int,
        idle_us: int | None,
        *,
        partitions: Collection[int] = (),
        unread: Collection[int] = (),
    ) -> Progress:
        """After a micro-batch in which partitions had rows up to `latest_us`.

        The slowest partition counts; one that had nothing for `idle_us` does not. One of `partitions` that has not had
        its first row holds the watermark for as long, from the first micro-batch on: its rows may be older than all.
        Partitions in `unread` have rows that were not read yet: they are not idle. The watermark never goes back.
        """
        latest = {**self.latest_us, **{p: max(us, self.latest_us.get(p, us)) for p, us in latest_us.items()}}
        seen = {**self.seen_us, **dict.fromkeys([*latest_us, *unread], now_us)}
        after = replace(
            self, latest_us=latest, seen_us=seen, began_us=now_us if self.began_us is None else self.began_us
        )
        awake = {*latest, *partitions, *unread} - after.idle(now_us, idle_us, partitions)
        if not awake:
            # Nothing says that time went on. But no one holds it any more, either.
            awake = after._last_awake(idle_us)
        if not awake or not awake <= latest.keys():
            return after
        return after.raised(min(latest[partition] for partition in awake) - delay_us)

    def idle(self, now_us: int, idle_us: int | None, partitions: Collection[int] = ()) -> frozenset[int]:
        """The partitions that have had no row for so long; those without a first one since the first micro-batch."""
        if idle_us is None:
            return frozenset()
        began_us = now_us if self.began_us is None else self.began_us
        known = {*self.latest_us, *self.seen_us, *partitions}
        return frozenset(p for p in known if now_us - self.seen_us.get(p, began_us) >= idle_us)

    def idled(
        self, now_us: int, delay_us: int, timeout_us: int, idle_us: int | None = None, handed_us: int | None = None
    ) -> Progress:
        """When no partition had a row for `timeout_us`, event time goes on at the pace of the clock (`at_pace`). Where
        nodes before hold rows back, up to `handed_us`: no row before that is still to come."""
        if not self.latest_us or any(now_us - seen_us < timeout_us for seen_us in self.seen_us.values()):
            return self
        if handed_us is not None:
            return self.raised(handed_us)
        left_us = min(self.latest_us[partition] for partition in self._last_awake(idle_us))
        return self.raised(at_pace(left_us, now_us - self._last_us() - timeout_us, now_us - timeout_us) - delay_us)

    def _last_awake(self, idle_us: int | None) -> set[int]:
        """The partitions that counted when the last row came, of those that had rows."""
        return set(self.latest_us) - self.idle(self._last_us(), idle_us)

    def _last_us(self) -> int:
        return max((self.seen_us[partition] for partition in self.latest_us), default=0)

    def raised(self, watermark_us: int) -> Progress:
        """After a signal that said how far event time is: the watermark never goes back."""
        return replace(self, watermark_us=later(self.watermark_us, watermark_us))

    def has_reached(self, at_us: int | None) -> bool:
        return at_us is not None and self.watermark_us is not None and at_us <= self.watermark_us

    def to_json(self) -> list[object]:
        return [_texts(self.latest_us), _texts(self.seen_us), self.watermark_us, self.began_us]

    @classmethod
    def from_json(cls, value: list[object]) -> Progress:
        """Records of older releases do not say when the query began: that was long ago."""
        latest, seen, watermark, began = value if len(value) > _FIELDS_BEFORE_BEGAN else (*value, 0)
        return cls(_numbers(latest), _numbers(seen), watermark, began)  # type: ignore[arg-type]


def at_pace(left: int, passed: int, clock: int) -> int:
    """Where event time is on a quiet stream, whose rows left it at `left`: `passed` further, so that a stream of old or
    simulated events goes on as one of today does. Rows may have had their time from a clock, and that after their
    micro-batch began: then it does not pass the `clock`, or the next ones would be late."""
    return left + passed if left > clock else min(left + passed, clock)


def later(one: int | None, other: int | None) -> int | None:
    """The later of two times; None is before all."""
    return max((us for us in (one, other) if us is not None), default=None)


def _texts(partitions: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): us for partition, us in partitions.items()}


def _numbers(partitions: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): us for partition, us in partitions.items()}

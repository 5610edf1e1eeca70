"""The watermark: no row before it is waited for. Agreed once for each micro-batch, from the micro-batches before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

# A watermark after every row: what a bounded input ends with.
END_OF_TIME_US = (1 << 62) - 1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far event time came in each source partition, and when it last had a row. Part of the commit record."""

    latest_us: Mapping[int, int] = field(default_factory=dict)
    seen_us: Mapping[int, int] = field(default_factory=dict)
    watermark_us: int | None = None

    def advanced(self, latest_us: Mapping[int, int], now_us: int, delay_us: int, idle_us: int | None) -> Progress:
        """After a micro-batch in which partitions had rows up to `latest_us`.

        The slowest partition counts; one that had nothing for `idle_us` does not. The watermark never goes back.
        """
        latest = {**self.latest_us, **{p: max(us, self.latest_us.get(p, us)) for p, us in latest_us.items()}}
        seen = {**self.seen_us, **dict.fromkeys(latest_us, now_us)}
        awake = [us for p, us in latest.items() if idle_us is None or now_us - seen[p] < idle_us]
        # When all are idle, nothing says that time went on.
        reached = min(awake) - delay_us if awake else self.watermark_us
        return Progress(latest, seen, later(self.watermark_us, reached))

    def idled(self, now_us: int, delay_us: int, timeout_us: int, handed_us: int | None = None) -> Progress:
        """When no partition had a row for so long, event time goes on that far behind the clock; not beyond `handed_us`
        where rows after that are held back before they come here."""
        if not self.seen_us or any(now_us - seen_us < timeout_us for seen_us in self.seen_us.values()):
            return self
        reached_us = now_us - timeout_us - delay_us
        return self.raised(reached_us if handed_us is None else min(reached_us, handed_us))

    def raised(self, watermark_us: int) -> Progress:
        """After a signal that said how far event time is: the watermark never goes back."""
        return replace(self, watermark_us=later(self.watermark_us, watermark_us))

    def has_reached(self, at_us: int | None) -> bool:
        return at_us is not None and self.watermark_us is not None and at_us <= self.watermark_us

    def to_json(self) -> list[object]:
        return [_texts(self.latest_us), _texts(self.seen_us), self.watermark_us]

    @classmethod
    def from_json(cls, value: list[object]) -> Progress:
        latest, seen, watermark = value
        return cls(_numbers(latest), _numbers(seen), watermark)  # type: ignore[arg-type]


def later(one: int | None, other: int | None) -> int | None:
    """The later of two times; None is before all."""
    return max((us for us in (one, other) if us is not None), default=None)


def _texts(partitions: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): us for partition, us in partitions.items()}


def _numbers(partitions: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): us for partition, us in partitions.items()}

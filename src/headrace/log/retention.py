"""Which of a partition's oldest segments are no longer wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headrace.log.segment import Segment
from headrace.log.topics import UNLIMITED, TopicConfig


@dataclass(frozen=True, slots=True)
class SealedSegment:
    """What is known of a segment that is never written again, without opening it."""

    base_offset: int
    end_offset: int
    size_bytes: int
    max_timestamp_ms: int

    @classmethod
    def of(cls, segment: Segment) -> SealedSegment:
        return cls(segment.base_offset, segment.end_offset, segment.size_bytes, segment.max_timestamp_ms)


def is_too_old(max_timestamp_ms: int, config: TopicConfig, now_ms: int) -> bool:
    """Whether retention.ms has passed since the newest record."""
    return config.retention_ms != UNLIMITED and max_timestamp_ms < now_ms - config.retention_ms


def expired_count(
    segments: Iterable[SealedSegment],
    total_bytes: int,
    config: TopicConfig,
    now_ms: int,
    newest_ms: Callable[[SealedSegment], int] = lambda segment: segment.max_timestamp_ms,
) -> int:
    """How many of the oldest segments are too old, or more than retention.bytes wants."""
    count = 0
    for segment in segments:
        too_much = config.retention_bytes != UNLIMITED and total_bytes - segment.size_bytes >= config.retention_bytes
        if not too_much and not is_too_old(newest_ms(segment), config, now_ms):
            break
        total_bytes -= segment.size_bytes
        count += 1
    return count

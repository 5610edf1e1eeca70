"""Back-pressure at ingest: how far the slowest reader of a partition is behind, and whether that is too far.

Readers are the jobs that hold offsets (`holds`) and whoever the broker knows of, such as consumer groups. What a topic
does about too long a backlog is its policy: `headrace.backlog.policy` and `headrace.backlog.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from headrace.log.holds import Holds, read_holds
from headrace.log.partition import Partition
from headrace.log.storage import Storage
from headrace.log.topics import UNLIMITED, TopicConfig

HOLDS_AGE_MS_MAX = 100
"""Holds are files: they are looked at so often, not for every request."""

Readers = Callable[[str, int], Iterable[int]]


@dataclass(slots=True)
class PressureCounts:
    """What a topic's policy did since the broker started."""

    blocked_requests: int = 0
    dropped_requests: int = 0
    timed_out_requests: int = 0
    """Of the blocked ones: the backlog stayed full for as long as they could wait."""


def _no_readers(topic: str, index: int) -> Iterable[int]:
    return ()


class Pressure:
    """The backlog of every partition. Single-threaded, like the store."""

    def __init__(self, storage: Storage, log_directory: Path, clock: Callable[[], int]) -> None:
        self._storage = storage
        self._log_directory = log_directory
        self._clock = clock
        self._holds = Holds({}, {})
        self._read_at_ms: int | None = None
        self._counts: dict[str, PressureCounts] = {}
        self.readers: Readers = _no_readers
        """Offsets that other readers of a partition have come to."""

    def holds(self, age_ms_max: int = 0) -> Holds:
        """What is needed now, or was a moment ago. Raises OSError."""
        now_ms = self._clock()
        if self._read_at_ms is None or not 0 <= now_ms - self._read_at_ms < age_ms_max:
            self._holds = read_holds(self._storage, self._log_directory)
            self._read_at_ms = now_ms
        return self._holds

    def backlog(self, partition: Partition) -> int:
        """Records that the slowest reader has not read; 0 when nobody reads."""
        offsets = [*self.readers(partition.topic, partition.index)]
        offsets += self.holds(HOLDS_AGE_MS_MAX).reached(partition.topic, partition.index).values()
        start = max(partition.log_start_offset, min(offsets, default=partition.log_end_offset))
        return partition.log_end_offset - start

    def is_full(self, partition: Partition, config: TopicConfig) -> bool:
        """Whether the partition's policy has to act before the next append."""
        limit = config.headrace_backlog_records
        return limit != UNLIMITED and self.backlog(partition) >= limit

    def counts(self, topic: str) -> PressureCounts:
        return self._counts.setdefault(topic, PressureCounts())

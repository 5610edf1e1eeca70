"""Reading topics: the files themselves when the log is on this machine, else a broker through librdkafka."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from headrace.errors import NotFound
from headrace.log.watermark import read_watermark
from headrace.spark.specs import TopicLocation

if TYPE_CHECKING:
    from headrace.log import Records, UnreadableBatch

# How often a reader looks for partitions that were added.
_PARTITIONS_REFRESH_S = 1.0


class Topic(Protocol):
    """A topic as a source sees it: committed records only."""

    def bounds(self) -> dict[int, tuple[int, int]]:
        """Partition → first offset kept, and the offset after the last committed one."""

    def read(self, partition: int, start: int, end: int, *, headers: bool = False) -> Iterator[Records]:
        """The committed records in [start, end), in order, in chunks; with their headers if those are wanted."""

    def offsets_at(self, timestamp_ms: int) -> dict[int, int]:
        """Partition → first offset at or after a time (its end, when there is none)."""

    def close(self) -> None:
        """Whatever was connected is closed afterwards."""


def open_topic(location: TopicLocation) -> Topic:
    if location.log_directory is not None:
        return LocalTopic(location)
    # librdkafka and the protocol are loaded only where they are used.
    from headrace.spark.reading.remote import RemoteTopic  # noqa: PLC0415

    return RemoteTopic(location)


def read_past_unreadable(
    topic: Topic, partition: int, start: int, end: int, *, headers: bool = False
) -> Iterator[Records | UnreadableBatch]:
    """As `Topic.read`, with batches that nobody can read in their places: whoever reads decides about them."""
    from headrace.log import UnreadableBatch  # noqa: PLC0415  (with it comes what planning does not need)

    while start < end:
        try:
            yield from topic.read(partition, start, end, headers=headers)
        except UnreadableBatch as unreadable:
            yield unreadable
            start = unreadable.header.next_offset
        else:
            return


class LocalTopic:
    """Maps the log's files: no broker CPU, no socket, and it goes on while the broker is down."""

    def __init__(self, location: TopicLocation) -> None:
        self._location = location
        self._directory = Path(location.log_directory or "")
        self._partitions: list[Path] = []
        self._refreshed_s = 0.0

    def bounds(self) -> dict[int, tuple[int, int]]:
        self._refresh()
        marks = [read_watermark(directory) for directory in self._partitions]
        return {index: (mark.log_start_offset, mark.last_stable_offset) for index, mark in enumerate(marks)}

    def read(self, partition: int, start: int, end: int, *, headers: bool = False) -> Iterator[Records]:
        from headrace.log import PartitionReader  # noqa: PLC0415  (needs Arrow, which planning does not)

        return PartitionReader(self._directory_of(partition)).read(start, end, committed=True, headers=headers)

    def offsets_at(self, timestamp_ms: int) -> dict[int, int]:
        from headrace.spark.reading.remote import offsets_at  # noqa: PLC0415  (the broker keeps the time index)

        return offsets_at(self._location, timestamp_ms)

    def close(self) -> None:
        """Nothing stays open between calls."""

    def _refresh(self) -> None:
        now_s = time.monotonic()
        if self._partitions and now_s - self._refreshed_s < _PARTITIONS_REFRESH_S:
            return
        self._refreshed_s = now_s
        while (directory := self._directory_of(len(self._partitions))).is_dir():
            self._partitions.append(directory)
        if not self._partitions:
            raise NotFound(f"topic {self._location.topic!r} does not exist")

    def _directory_of(self, partition: int) -> Path:
        return self._directory / f"{self._location.topic}-{partition}"

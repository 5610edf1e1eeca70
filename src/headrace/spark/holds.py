"""What a query still needs of its topic: retention does not pass it, whether the job runs or is stopped."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from headrace.log import advance_hold, hold_owners, place_hold, release_hold
from headrace.spark.checkpoint import source_offsets
from headrace.spark.commit import CommitRecord
from headrace.spark.specs import Offsets, TopicLocation


class QueryHold:
    """The hold of one query; of a source that is no topic, or not on this machine, there is none."""

    def __init__(self, location: TopicLocation | None, pipeline: str, query: str) -> None:
        self._topic = "" if location is None else location.topic
        directory = None if location is None else location.log_directory
        self._log_directory = None if directory is None else Path(directory)
        self._owner = _owner(pipeline, query)

    def place(self, last: CommitRecord) -> None:
        """Before the query starts: what follows its last record, and what that batch read, is kept. Raises OSError."""
        if self._log_directory is not None and last.start is not None:
            needed, reached = self._positions(last)
            place_hold(self._log_directory, self._owner, needed, reached=reached)

    def advance(self, committed: CommitRecord) -> None:
        """After a commit. A disk that refuses leaves the older hold, which only keeps more."""
        if self._log_directory is not None and committed.start is not None:
            with suppress(OSError):
                advance_hold(self._log_directory, self._owner, *self._positions(committed))

    def _positions(self, record: CommitRecord) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]]:
        """What is needed, and how far the query has read.

        Spark runs the last batch once more where it had not noted its end, so its beginning is needed too. A partition
        that appeared with it was read from its first offset.
        """
        reached = _offsets(record.offsets, record.start or {})
        before = _offsets(record.previous_offsets, record.start or {})
        needed = {partition: before.get(partition, 0) for partition in reached}
        return self._by_topic(needed), self._by_topic(reached)

    def _by_topic(self, offsets: Offsets) -> dict[tuple[str, int], int]:
        return {(self._topic, int(partition)): offset for partition, offset in offsets.items()}


def release_holds(log_directory: Path | None, pipeline: str, *, keep: Collection[str] = ()) -> None:
    """The pipeline's queries, but those in `keep`, need nothing any more. Raises OSError."""
    if log_directory is None:
        return
    kept = {_owner(pipeline, query) for query in keep}
    for owner in hold_owners(log_directory):
        if owner.startswith(_owner(pipeline, "")) and owner not in kept:
            release_hold(log_directory, owner)


def _owner(pipeline: str, query: str) -> str:
    return f"{pipeline}/{query}"


def _offsets(write_ahead: str | None, start: Offsets) -> Offsets:
    """The partitions' offsets in Spark's write-ahead file; without one, the start."""
    offsets: Offsets = start if write_ahead is None else json.loads(source_offsets(write_ahead)[0])
    return {partition: offset for partition, offset in offsets.items() if partition.isdigit()}

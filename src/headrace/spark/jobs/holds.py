"""What a query still needs of its topic: retention does not pass it, whether the job runs or is stopped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from headrace.log import advance_hold, hold_owners, place_hold, release_hold
from headrace.spark.reading.positions import Position, position_in
from headrace.spark.specs import TopicLocation
from headrace.spark.writing.commit import CommitRecord


class QueryHold:
    """The hold of one query; of sources that are no topics, or not on this machine, there is none."""

    def __init__(self, topics: Mapping[str, TopicLocation], pipeline: str, query: str) -> None:
        self._topics = {node: location.topic for node, location in topics.items()}
        directory = next((location.log_directory for location in topics.values()), None)
        self._log_directory = None if directory is None else Path(directory)
        self._owner = _owner(pipeline, query)

    def place(self, last: CommitRecord) -> None:
        """Before the query starts: what follows its last record, and what that batch read, is kept. Raises OSError."""
        if self._log_directory is not None and last.starts:
            needed, reached = self._positions(last)
            place_hold(self._log_directory, self._owner, needed, reached=reached)

    def advance(self, committed: CommitRecord) -> None:
        """After a commit. A disk that refuses leaves the older hold, which only keeps more."""
        if self._log_directory is not None and committed.starts:
            with suppress(OSError):
                advance_hold(self._log_directory, self._owner, *self._positions(committed))

    def _positions(self, record: CommitRecord) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]]:
        """What is needed, and how far the query has read.

        Spark runs the last batch once more where it had not noted its end, so its beginning is needed too. A partition
        that appeared with it was read from its first offset.
        """
        reached = self._by_topic(position_in(record.offsets, record.starts))
        before = self._by_topic(position_in(record.previous_offsets, record.starts))
        return {partition: before.get(partition, 0) for partition in reached}, reached

    def _by_topic(self, position: Position) -> dict[tuple[str, int], int]:
        """The smallest offset, where several sources read one topic."""
        found: dict[tuple[str, int], int] = {}
        for node, partitions in position.items():
            for partition, offset in partitions.items():
                key = (self._topics[node], int(partition))
                found[key] = min(offset, found.get(key, offset))
        return found


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

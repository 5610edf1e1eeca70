"""Partitions that are being made, for a new topic or a growing one: thousands of directories, each synced.

The log serves everything else meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.errors import Conflict
from headrace.log.partition import Partition
from headrace.log.segment import LOG_SUFFIX, segment_bases, segment_path
from headrace.log.storage import OpenFile, Storage
from headrace.log.topics import TopicMetadata


@dataclass(slots=True)
class TopicCreation:
    """Begun and finished by the store, in its thread. Only `make` may run in others, several at once."""

    # The topic as it will be. A growing topic keeps the settings that it has when the growth ends.
    metadata: TopicMetadata
    # Of the new partitions only.
    directories: Sequence[Path]
    storage: Storage
    # Those that are open already, in the order of their numbers.
    partitions: list[Partition] = field(default_factory=list)
    # The number of the first new partition; above 0 if the topic grows.
    first_index: int = 0
    # Set when the partitions are not wanted any more.
    is_stopped: bool = False

    def make(self, first: int = 0, step: int = 1) -> None:
        """Make every `step`-th directory from the `first` on. Raises Conflict, OSError; the other threads stop then."""
        try:
            for directory in self.directories[first::step]:
                if self.is_stopped:
                    return
                create_partition(self.storage, directory)
        except BaseException:
            self.is_stopped = True
            raise


def create_partition(storage: Storage, directory: Path) -> None:
    """A directory that an interrupted creation left is used again, one with records is not touched."""
    for base_offset in segment_bases(storage.list_directory(directory)):
        size = OpenFile.open(storage, segment_path(directory, base_offset, LOG_SUFFIX)).size()
        if base_offset or size:
            raise Conflict(
                f"{directory.name} holds records of a topic that is not known", hint="move the directory away first"
            )
    Partition.create(storage, directory)

"""All topics of a data directory, owned by one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self
from uuid import UUID, uuid4

from headrace.errors import Conflict, HeadraceError, InvalidInput, NotFound, did_you_mean
from headrace.log.archive import RemoteSegment
from headrace.log.creation import TopicCreation
from headrace.log.directory import DirectoryLock, check_format
from headrace.log.files import FileCache, open_files_max
from headrace.log.partition import Partition
from headrace.log.pressure import Pressure
from headrace.log.refusal import LogRefusal
from headrace.log.storage import OsStorage, Storage
from headrace.log.topics import PARTITIONS_MAX, TopicConfig, TopicMetadata
from headrace.topic_names import require_topic_name

TOPICS_DIRECTORY = "topics"
SYNCED_SHARE = 4
"""One of so many files of the log that may be open is held open by a sync, at most."""

_GONE_SUFFIX = ".gone"
"""Of the file of a topic that is being deleted."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its partitions, in the order of their numbers."""

    name: str
    topic_id: UUID
    config: TopicConfig
    partitions: tuple[Partition, ...]


class LogStore:
    """The log of one data directory. Single-threaded, like its partitions. Open it with `LogStore.open`."""

    def __init__(
        self,
        directory: Path,
        storage: Storage,
        clock: Callable[[], int],
        new_id: Callable[[], UUID],
        lock: DirectoryLock,
    ) -> None:
        self.directory = directory
        self._storage = storage
        self._clock = clock
        self._new_id = new_id
        self._lock = lock
        self._topics: dict[str, Topic] = {}
        self._topics_view = MappingProxyType(self._topics)
        self._names: dict[UUID, str] = {}
        # Deleted topics whose files are not all removed.
        self._leaving: dict[str, TopicMetadata] = {}
        self._creations: dict[str, TopicCreation] = {}
        self._orphans: list[RemoteSegment] = []
        # Kept by the partitions: looking at each of thousands would take longer than a sync.
        self._unsynced: dict[Partition, None] = {}
        self._files = FileCache(open_files_max())
        self.pressure = Pressure(storage, directory, clock)

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        storage: Storage | None = None,
        clock: Callable[[], int] = now_ms,
        new_id: Callable[[], UUID] = uuid4,
    ) -> LogStore:
        """Lock the directory, check its format, recover every partition.

        Damaged partitions come up read-only, see `Partition.failure`. Raises Conflict when another process has the
        directory or its format is newer, CorruptData when a topic's files are missing, OSError.
        """
        storage = storage or OsStorage()
        storage.make_directory(directory)
        # A new directory's own name is in its parent: without this the whole log could go with the power.
        storage.fsync_directory(directory.parent)
        lock = DirectoryLock(directory)
        try:
            check_format(storage, directory)
            store = cls(directory, storage, clock, new_id, lock)
            store._load_topics()
        except BaseException:
            lock.release()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def topics(self) -> Mapping[str, Topic]:
        return self._topics_view

    def name_of(self, topic_id: UUID) -> str | None:
        """The name of the topic with this id; None when there is none."""
        return self._names.get(topic_id)

    def partition(self, topic: str, index: int) -> Partition:
        """Raises NotFound."""
        found = self._topic(topic)
        if not 0 <= index < len(found.partitions):
            raise NotFound(f"topic {topic!r} has partitions 0 to {len(found.partitions) - 1}, not {index}")
        return found.partitions[index]

    def create_topic(self, name: str, partition_count: int, config: Mapping[str, str]) -> Topic:
        """Durable afterwards. Raises Conflict when it exists, InvalidInput and InvalidConfig for bad arguments."""
        return self.carry_out(self.begin_topic(name, partition_count, config))

    def carry_out(self, creation: TopicCreation) -> Topic:
        """All steps of a creation or a growth that has begun; blocks. Raises Conflict, OSError."""
        try:
            creation.make()
            self.open_made(creation, len(creation.directories))
            return self.finish_creation(creation)
        finally:
            self.end_creation(creation)

    def begin_topic(self, name: str, partition_count: int, config: Mapping[str, str]) -> TopicCreation:
        """The name is taken from now on, until `end_creation`. Raises as `create_topic`.

        Next come `TopicCreation.make` in any thread, `open_made` until all are open, and `finish_creation`.
        """
        require_topic_name(name)
        if name in self._topics or name in self._creations:
            raise Conflict(f"topic {name!r} exists already")
        if not 1 <= partition_count <= PARTITIONS_MAX:
            raise InvalidInput(f"{partition_count} partitions", valid=[f"1 to {PARTITIONS_MAX}"])
        metadata = TopicMetadata(name, self._new_id(), partition_count, TopicConfig.from_names(config))
        if name in self._leaving:
            self._remove_topic(self._leaving[name])
        return self._begin(metadata)

    def _begin(self, metadata: TopicMetadata, first_index: int = 0) -> TopicCreation:
        indexes = range(first_index, metadata.partition_count)
        directories = [self._partition_directory(metadata.name, index) for index in indexes]
        creation = TopicCreation(metadata, directories, self._storage, first_index=first_index)
        self._creations[metadata.name] = creation
        return creation

    def open_made(self, creation: TopicCreation, count_max: int) -> None:
        """Open some more partitions that were made. Raises Conflict when the store was closed meanwhile, OSError."""
        if creation.is_stopped:
            raise Conflict(f"the partitions of {creation.metadata.name!r} were not created: the log is closed")
        start = creation.first_index + len(creation.partitions)
        for index in range(start, min(start + count_max, creation.metadata.partition_count)):
            creation.partitions.append(self._open_partition(creation.metadata, index))

    def finish_creation(self, creation: TopicCreation) -> Topic:
        """All new partitions are open: the topic has them from now on, durably. Raises as `open_made`."""
        self.open_made(creation, 0)
        metadata, existing = creation.metadata, self._topics.get(creation.metadata.name)
        if existing is not None:
            # The settings may have changed since the growth began.
            metadata = replace(metadata, config=existing.config)
            for partition in creation.partitions:
                partition.reconfigure(metadata.config)
        self._storage.fsync_directory(self.directory)
        metadata.save(self._storage, self._topics_directory)
        kept = () if existing is None else existing.partitions
        return self._add_topic(metadata, (*kept, *creation.partitions))

    def end_creation(self, creation: TopicCreation) -> None:
        """Called in any case: from now on the name is free, unless the topic exists, and the topic may grow again."""
        creation.is_stopped = True
        self._creations.pop(creation.metadata.name, None)

    @property
    def creating(self) -> Mapping[str, int]:
        """Topics that are being made or are growing, with the number of their new partitions."""
        return {name: len(creation.directories) for name, creation in self._creations.items()}

    def delete_topic(self, name: str) -> None:
        """The topic and its records are gone afterwards, for good. Raises NotFound, Conflict while it grows."""
        topic = self._topic(name)
        self._require_settled(name)
        # Renamed, not written: it must also be possible while the disk has no byte left.
        self._storage.rename(self._topics_directory / f"{name}.json", self._topics_directory / f"{name}{_GONE_SUFFIX}")
        self._storage.fsync_directory(self._topics_directory)
        metadata = TopicMetadata(name, topic.topic_id, len(topic.partitions), topic.config, deleted=True)
        self._leaving[name] = metadata
        for partition in topic.partitions:
            self._orphans += partition.take_orphans(all_archived=True)
            self._unsynced.pop(partition, None)
        del self._topics[name]
        del self._names[topic.topic_id]
        self._remove_topic(metadata)

    def add_partitions(self, name: str, partition_count: int) -> Topic:
        """The topic has so many partitions afterwards, durably. Raises as `begin_growth`."""
        return self.carry_out(self.begin_growth(name, partition_count))

    def begin_growth(self, name: str, partition_count: int) -> TopicCreation:
        """As `begin_topic`, for a topic that gets more partitions. It cannot be deleted until `end_creation`.

        A crash before `finish_creation` leaves directories, which the next growth uses. Raises NotFound, InvalidInput
        unless the partitions are more than before, Conflict while the topic grows already.
        """
        topic = self._topic(name)
        self._require_settled(name)
        existing = len(topic.partitions)
        if not existing < partition_count <= PARTITIONS_MAX:
            raise InvalidInput(
                f"topic {name!r} has {existing} partitions, not to be made {partition_count}",
                valid=[f"{existing + 1} to {PARTITIONS_MAX}"],
            )
        return self._begin(TopicMetadata(name, topic.topic_id, partition_count, topic.config), existing)

    def _require_settled(self, name: str) -> None:
        if name in self._creations:
            raise Conflict(f"topic {name!r} is getting more partitions", hint="try again when it has them")

    def alter_config(self, name: str, config: Mapping[str, str]) -> Topic:
        """The topic has exactly these settings afterwards, and defaults for all others, durably.

        Raises NotFound, InvalidConfig.
        """
        topic = self._topic(name)
        changed = TopicConfig.from_names(config)
        TopicMetadata(name, topic.topic_id, len(topic.partitions), changed).save(self._storage, self._topics_directory)
        for partition in topic.partitions:
            partition.reconfigure(changed)
        self._topics[name] = replace(topic, config=changed)
        return self._topics[name]

    @property
    def syncs_max(self) -> int:
        """Partitions that may be synced at once."""
        return max(1, self._files.limit // SYNCED_SHARE)

    def dirty(self) -> tuple[Partition, ...]:
        """Partitions with something to sync and no sync under way."""
        return tuple(partition for partition in self._unsynced if partition.is_dirty)

    def sync(self) -> None:
        """Make everything appended durable; blocks. A partition whose disk fails says so in `failure`."""
        for partition in self.dirty():
            ticket = partition.begin_sync()
            try:
                ticket.run()
            except OSError as error:
                partition.fail_sync(ticket, error)
            else:
                partition.finish_sync(ticket)

    def apply_retention(self) -> None:
        """Remove what no topic wants any more and nobody holds. A partition whose disk fails says so in `failure`.

        Raises OSError when it cannot be known what is held; then nothing is removed.
        """
        holds = self.pressure.holds()
        for partition in self._partitions():
            try:
                partition.apply_retention(holds.lowest(partition.topic, partition.index))
            except LogRefusal:
                continue

    def take_orphans(self) -> list[RemoteSegment]:
        """Archived segments of which only the objects are left, to be deleted by the caller; each is given once."""
        orphans, self._orphans = self._orphans, []
        return orphans + [orphan for partition in self._partitions() for orphan in partition.take_orphans()]

    def heal(self) -> tuple[Partition, ...]:
        """Try partitions again that a disk failed; those that take writes again."""
        failed = [partition for partition in self._partitions() if partition.failure is not None]
        return tuple(partition for partition in failed if partition.heal())

    def compact(self) -> None:
        """Compact whatever is due; blocks. A partition whose disk fails says so in `failure`."""
        for partition in self._partitions():
            _compact(partition)

    def close(self) -> None:
        """Sync, write checkpoints, give up the lock. The store cannot be used afterwards."""
        for creation in self._creations.values():
            creation.is_stopped = True
        self.sync()
        for partition in self._partitions():
            partition.close()
        self._files.close()
        self._topics.clear()
        self._lock.release()

    def _partitions(self) -> Iterator[Partition]:
        return (partition for topic in self._topics.values() for partition in topic.partitions)

    def _topic(self, name: str) -> Topic:
        if name not in self._topics:
            raise NotFound(f"no topic {name!r}", hint=did_you_mean(name, self._topics))
        return self._topics[name]

    @property
    def _topics_directory(self) -> Path:
        return self.directory / TOPICS_DIRECTORY

    def _partition_directory(self, name: str, index: int) -> Path:
        return self.directory / f"{name}-{index}"

    def _load_topics(self) -> None:
        self._storage.make_directory(self._topics_directory)
        self._storage.fsync_directory(self.directory)
        for file_name in self._storage.list_directory(self._topics_directory):
            if not file_name.endswith((".json", _GONE_SUFFIX)):
                self._storage.unlink(self._topics_directory / file_name)
                continue
            metadata = TopicMetadata.load(self._storage, self._topics_directory / file_name)
            if metadata.deleted or file_name.endswith(_GONE_SUFFIX):
                self._remove_topic(metadata)
            else:
                self._open_topic(metadata)

    def _open_topic(self, metadata: TopicMetadata) -> Topic:
        partitions = tuple(self._open_partition(metadata, index) for index in range(metadata.partition_count))
        return self._add_topic(metadata, partitions)

    def _add_topic(self, metadata: TopicMetadata, partitions: tuple[Partition, ...]) -> Topic:
        topic = Topic(metadata.name, metadata.topic_id, metadata.config, partitions)
        self._topics[metadata.name] = topic
        self._names[topic.topic_id] = topic.name
        return topic

    def _open_partition(self, metadata: TopicMetadata, index: int) -> Partition:
        return Partition(
            self._storage,
            self._partition_directory(metadata.name, index),
            topic=metadata.name,
            index=index,
            config=metadata.config,
            clock=self._clock,
            unsynced=self._unsynced,
            files=self._files,
        )

    def _remove_topic(self, metadata: TopicMetadata) -> None:
        for index in range(metadata.partition_count):
            directory = self._partition_directory(metadata.name, index)
            names = self._storage.list_directory(directory)
            for name in names:
                self._storage.unlink(directory / name)
            if names:
                self._storage.remove_directory(directory)
        self._storage.fsync_directory(self.directory)
        names = self._storage.list_directory(self._topics_directory)
        for file_name in {f"{metadata.name}.json", f"{metadata.name}{_GONE_SUFFIX}"}.intersection(names):
            self._storage.unlink(self._topics_directory / file_name)
        self._storage.fsync_directory(self._topics_directory)
        self._leaving.pop(metadata.name, None)


def _compact(partition: Partition) -> None:
    compaction = partition.begin_compaction()
    if compaction is None:
        return
    failure: Exception | None = None
    try:
        compaction.run()
    except (OSError, HeadraceError) as error:
        failure = error
    with suppress(LogRefusal):
        partition.finish_compaction(compaction, failure)

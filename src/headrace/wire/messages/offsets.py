"""Offsets: those of the log, by time or by epoch, and those that groups committed."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode


class ListOffsetsPartition(NamedTuple):
    partition_index: int
    timestamp: int
    current_leader_epoch: int = -1


class ListOffsetsTopic(NamedTuple):
    name: str
    partitions: tuple[ListOffsetsPartition, ...]


class ListOffsetsRequest(NamedTuple):
    replica_id: int
    topics: tuple[ListOffsetsTopic, ...]
    isolation_level: int = 0
    timeout_ms: int = 0


class ListedPartition(NamedTuple):
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


class ListedTopic(NamedTuple):
    name: str
    partitions: tuple[ListedPartition, ...]


class ListOffsetsResponse(NamedTuple):
    topics: tuple[ListedTopic, ...]


class EpochPartition(NamedTuple):
    partition: int
    leader_epoch: int
    current_leader_epoch: int = -1


class EpochTopic(NamedTuple):
    topic: str
    partitions: tuple[EpochPartition, ...]


class OffsetForLeaderEpochRequest(NamedTuple):
    topics: tuple[EpochTopic, ...]
    replica_id: int = -2


class EpochEndOffset(NamedTuple):
    error_code: ErrorCode
    partition: int
    leader_epoch: int = -1
    end_offset: int = -1


class EpochEndTopic(NamedTuple):
    topic: str
    partitions: tuple[EpochEndOffset, ...]


class OffsetForLeaderEpochResponse(NamedTuple):
    topics: tuple[EpochEndTopic, ...]


class CommitPartition(NamedTuple):
    partition_index: int
    committed_offset: int
    committed_metadata: str | None
    committed_leader_epoch: int = -1


class CommitTopic(NamedTuple):
    """Versions from 10 on give the id in the place of the name; so do the others below."""

    name: str = ""
    partitions: tuple[CommitPartition, ...] = ()
    topic_id: UUID | None = None


class OffsetCommitRequest(NamedTuple):
    group_id: str
    topics: tuple[CommitTopic, ...]
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    retention_time_ms: int = -1


class CommittedPartition(NamedTuple):
    partition_index: int
    error_code: ErrorCode


class CommittedTopic(NamedTuple):
    name: str = ""
    partitions: tuple[CommittedPartition, ...] = ()
    topic_id: UUID | None = None


class OffsetCommitResponse(NamedTuple):
    topics: tuple[CommittedTopic, ...]


class OffsetFetchTopic(NamedTuple):
    name: str = ""
    partition_indexes: tuple[int, ...] = ()
    topic_id: UUID | None = None


class OffsetFetchGroup(NamedTuple):
    group_id: str
    topics: tuple[OffsetFetchTopic, ...] | None
    member_id: str | None = None
    member_epoch: int = -1


class OffsetFetchRequest(NamedTuple):
    """Versions below 8 ask for one group, later ones for several. `topics` None means all of a group."""

    group_id: str = ""
    topics: tuple[OffsetFetchTopic, ...] | None = ()
    groups: tuple[OffsetFetchGroup, ...] = ()
    require_stable: bool = False


class FetchedOffset(NamedTuple):
    partition_index: int
    committed_offset: int = -1
    committed_leader_epoch: int = -1
    metadata: str | None = ""
    error_code: ErrorCode = ErrorCode.NONE


class FetchedTopicOffsets(NamedTuple):
    name: str = ""
    partitions: tuple[FetchedOffset, ...] = ()
    topic_id: UUID | None = None


class FetchedGroupOffsets(NamedTuple):
    group_id: str
    topics: tuple[FetchedTopicOffsets, ...]
    error_code: ErrorCode = ErrorCode.NONE


class OffsetFetchResponse(NamedTuple):
    topics: tuple[FetchedTopicOffsets, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE
    groups: tuple[FetchedGroupOffsets, ...] = ()


class DeletedOffsetPartition(NamedTuple):
    partition_index: int


class OffsetDeleteTopic(NamedTuple):
    name: str
    partitions: tuple[DeletedOffsetPartition, ...]


class OffsetDeleteRequest(NamedTuple):
    group_id: str
    topics: tuple[OffsetDeleteTopic, ...]


class OffsetDeleteResponse(NamedTuple):
    error_code: ErrorCode
    topics: tuple[CommittedTopic, ...] = ()

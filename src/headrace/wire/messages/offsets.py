"""Offsets: those of the log, by time or by epoch, and those that groups committed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from headrace.wire.codes import ErrorCode


@dataclass(frozen=True, slots=True)
class ListOffsetsPartition:
    partition_index: int
    timestamp: int
    current_leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class ListOffsetsTopic:
    name: str
    partitions: tuple[ListOffsetsPartition, ...]


@dataclass(frozen=True, slots=True)
class ListOffsetsRequest:
    replica_id: int
    topics: tuple[ListOffsetsTopic, ...]
    isolation_level: int = 0
    timeout_ms: int = 0


@dataclass(frozen=True, slots=True)
class ListedPartition:
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class ListedTopic:
    name: str
    partitions: tuple[ListedPartition, ...]


@dataclass(frozen=True, slots=True)
class ListOffsetsResponse:
    topics: tuple[ListedTopic, ...]


@dataclass(frozen=True, slots=True)
class EpochPartition:
    partition: int
    leader_epoch: int
    current_leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class EpochTopic:
    topic: str
    partitions: tuple[EpochPartition, ...]


@dataclass(frozen=True, slots=True)
class OffsetForLeaderEpochRequest:
    topics: tuple[EpochTopic, ...]
    replica_id: int = -2


@dataclass(frozen=True, slots=True)
class EpochEndOffset:
    error_code: ErrorCode
    partition: int
    leader_epoch: int = -1
    end_offset: int = -1


@dataclass(frozen=True, slots=True)
class EpochEndTopic:
    topic: str
    partitions: tuple[EpochEndOffset, ...]


@dataclass(frozen=True, slots=True)
class OffsetForLeaderEpochResponse:
    topics: tuple[EpochEndTopic, ...]


@dataclass(frozen=True, slots=True)
class CommitPartition:
    partition_index: int
    committed_offset: int
    committed_metadata: str | None
    committed_leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class CommitTopic:
    """Versions from 10 on give the id in the place of the name; so do the others below."""

    name: str = ""
    partitions: tuple[CommitPartition, ...] = ()
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OffsetCommitRequest:
    group_id: str
    topics: tuple[CommitTopic, ...]
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    retention_time_ms: int = -1


@dataclass(frozen=True, slots=True)
class CommittedPartition:
    partition_index: int
    error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class CommittedTopic:
    name: str = ""
    partitions: tuple[CommittedPartition, ...] = ()
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OffsetCommitResponse:
    topics: tuple[CommittedTopic, ...]


@dataclass(frozen=True, slots=True)
class OffsetFetchTopic:
    name: str = ""
    partition_indexes: tuple[int, ...] = ()
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OffsetFetchGroup:
    group_id: str
    topics: tuple[OffsetFetchTopic, ...] | None
    member_id: str | None = None
    member_epoch: int = -1


@dataclass(frozen=True, slots=True)
class OffsetFetchRequest:
    """Versions below 8 ask for one group, later ones for several. `topics` None means all of a group."""

    group_id: str = ""
    topics: tuple[OffsetFetchTopic, ...] | None = ()
    groups: tuple[OffsetFetchGroup, ...] = ()
    require_stable: bool = False


@dataclass(frozen=True, slots=True)
class FetchedOffset:
    partition_index: int
    committed_offset: int = -1
    committed_leader_epoch: int = -1
    metadata: str | None = ""
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class FetchedTopicOffsets:
    name: str = ""
    partitions: tuple[FetchedOffset, ...] = ()
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class FetchedGroupOffsets:
    group_id: str
    topics: tuple[FetchedTopicOffsets, ...]
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class OffsetFetchResponse:
    topics: tuple[FetchedTopicOffsets, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE
    groups: tuple[FetchedGroupOffsets, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletedOffsetPartition:
    partition_index: int


@dataclass(frozen=True, slots=True)
class OffsetDeleteTopic:
    name: str
    partitions: tuple[DeletedOffsetPartition, ...]


@dataclass(frozen=True, slots=True)
class OffsetDeleteRequest:
    group_id: str
    topics: tuple[OffsetDeleteTopic, ...]


@dataclass(frozen=True, slots=True)
class OffsetDeleteResponse:
    error_code: ErrorCode
    topics: tuple[CommittedTopic, ...] = ()

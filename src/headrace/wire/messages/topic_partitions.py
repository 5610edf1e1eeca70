"""DescribeTopicPartitions: topics and their partitions, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.cluster import OPERATIONS_UNKNOWN


@dataclass(frozen=True, slots=True)
class WantedTopic:
    name: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """The first partition that has not been told yet."""

    topic_name: str
    partition_index: int


@dataclass(frozen=True, slots=True)
class DescribeTopicPartitionsRequest:
    """No topics means all."""

    topics: tuple[WantedTopic, ...] = ()
    response_partition_limit: int = 2_000
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True)
class DescribedPartition:
    error_code: ErrorCode
    partition_index: int
    leader_id: int
    leader_epoch: int = 0
    replica_nodes: tuple[int, ...] = ()
    isr_nodes: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] | None = ()
    last_known_elr: tuple[int, ...] | None = ()
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribedTopic:
    error_code: ErrorCode
    name: str | None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: tuple[DescribedPartition, ...] = ()
    topic_authorized_operations: int = OPERATIONS_UNKNOWN


@dataclass(frozen=True, slots=True)
class DescribeTopicPartitionsResponse:
    topics: tuple[DescribedTopic, ...]
    next_cursor: Cursor | None = None

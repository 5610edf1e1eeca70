"""DescribeTopicPartitions: topics and their partitions, page by page."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.cluster import OPERATIONS_UNKNOWN


class WantedTopic(NamedTuple):
    name: str


class Cursor(NamedTuple):
    """The first partition that has not been told yet."""

    topic_name: str
    partition_index: int


class DescribeTopicPartitionsRequest(NamedTuple):
    """No topics means all."""

    topics: tuple[WantedTopic, ...] = ()
    response_partition_limit: int = 2_000
    cursor: Cursor | None = None


class DescribedPartition(NamedTuple):
    error_code: ErrorCode
    partition_index: int
    leader_id: int
    leader_epoch: int = 0
    replica_nodes: tuple[int, ...] = ()
    isr_nodes: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] | None = ()
    last_known_elr: tuple[int, ...] | None = ()
    offline_replicas: tuple[int, ...] = ()


class DescribedTopic(NamedTuple):
    error_code: ErrorCode
    name: str | None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: tuple[DescribedPartition, ...] = ()
    topic_authorized_operations: int = OPERATIONS_UNKNOWN


class DescribeTopicPartitionsResponse(NamedTuple):
    topics: tuple[DescribedTopic, ...]
    next_cursor: Cursor | None = None

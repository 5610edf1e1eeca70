"""Partitions as an administrator sees them: their number, their place on disk, their leaders, their producers."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from headrace.wire.codes import ErrorCode
from headrace.wire.schema import WireName


class PartitionAssignment(NamedTuple):
    broker_ids: tuple[int, ...] = ()


class GrownTopic(NamedTuple):
    """`partition_count` is how many partitions the topic shall have in all."""

    name: str
    partition_count: Annotated[int, WireName("count")]
    assignments: tuple[PartitionAssignment, ...] | None = None


class CreatePartitionsRequest(NamedTuple):
    topics: tuple[GrownTopic, ...]
    timeout_ms: int = 60_000
    validate_only: bool = False


class CreatePartitionsResult(NamedTuple):
    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


class CreatePartitionsResponse(NamedTuple):
    results: tuple[CreatePartitionsResult, ...]


class TopicPartitions(NamedTuple):
    topic: str
    partitions: tuple[int, ...] = ()


class DescribeLogDirsRequest(NamedTuple):
    """`topics` None means all."""

    topics: tuple[TopicPartitions, ...] | None = None


class LogDirPartition(NamedTuple):
    partition_index: int
    partition_size: int
    offset_lag: int = 0
    is_future_key: bool = False


class LogDirTopic(NamedTuple):
    name: str
    partitions: tuple[LogDirPartition, ...]


class LogDir(NamedTuple):
    error_code: ErrorCode
    log_dir: str
    topics: tuple[LogDirTopic, ...]
    total_bytes: int = -1
    usable_bytes: int = -1


class DescribeLogDirsResponse(NamedTuple):
    results: tuple[LogDir, ...]
    error_code: ErrorCode = ErrorCode.NONE


class ElectLeadersRequest(NamedTuple):
    topic_partitions: tuple[TopicPartitions, ...] | None
    election_type: int = 0
    timeout_ms: int = 60_000


class ElectedPartition(NamedTuple):
    partition_id: int
    error_code: ErrorCode
    error_message: str | None = None


class ElectedTopic(NamedTuple):
    topic: str
    partition_result: tuple[ElectedPartition, ...]


class ElectLeadersResponse(NamedTuple):
    replica_election_results: tuple[ElectedTopic, ...]
    error_code: ErrorCode = ErrorCode.NONE


class NamedPartitions(NamedTuple):
    name: str
    partition_indexes: tuple[int, ...] = ()


class ListPartitionReassignmentsRequest(NamedTuple):
    topics: tuple[NamedPartitions, ...] | None
    timeout_ms: int = 60_000


class ReassignedPartition(NamedTuple):
    partition_index: int
    replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()


class ReassignedTopic(NamedTuple):
    name: str
    partitions: tuple[ReassignedPartition, ...]


class ListPartitionReassignmentsResponse(NamedTuple):
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    topics: tuple[ReassignedTopic, ...] = ()


class DescribeProducersRequest(NamedTuple):
    topics: tuple[NamedPartitions, ...]


class ActiveProducer(NamedTuple):
    producer_id: int
    producer_epoch: int
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = -1
    current_txn_start_offset: int = -1


class ProducersOfPartition(NamedTuple):
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    active_producers: tuple[ActiveProducer, ...] = ()


class ProducersOfTopic(NamedTuple):
    name: str
    partitions: tuple[ProducersOfPartition, ...]


class DescribeProducersResponse(NamedTuple):
    topics: tuple[ProducersOfTopic, ...]

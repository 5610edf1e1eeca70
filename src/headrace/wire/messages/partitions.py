"""Partitions as an administrator sees them: their number, their place on disk, their leaders, their producers."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.wire.codes import ErrorCode


@dataclass(frozen=True, slots=True)
class PartitionAssignment:
    broker_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GrownTopic:
    """`count` is how many partitions the topic shall have in all."""

    name: str
    count: int
    assignments: tuple[PartitionAssignment, ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitionsRequest:
    topics: tuple[GrownTopic, ...]
    timeout_ms: int = 60_000
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class CreatePartitionsResult:
    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitionsResponse:
    results: tuple[CreatePartitionsResult, ...]


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    topic: str
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeLogDirsRequest:
    """`topics` None means all."""

    topics: tuple[TopicPartitions, ...] | None = None


@dataclass(frozen=True, slots=True)
class LogDirPartition:
    partition_index: int
    partition_size: int
    offset_lag: int = 0
    is_future_key: bool = False


@dataclass(frozen=True, slots=True)
class LogDirTopic:
    name: str
    partitions: tuple[LogDirPartition, ...]


@dataclass(frozen=True, slots=True)
class LogDir:
    error_code: ErrorCode
    log_dir: str
    topics: tuple[LogDirTopic, ...]
    total_bytes: int = -1
    usable_bytes: int = -1


@dataclass(frozen=True, slots=True)
class DescribeLogDirsResponse:
    results: tuple[LogDir, ...]
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class ElectLeadersRequest:
    topic_partitions: tuple[TopicPartitions, ...] | None
    election_type: int = 0
    timeout_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class ElectedPartition:
    partition_id: int
    error_code: ErrorCode
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class ElectedTopic:
    topic: str
    partition_result: tuple[ElectedPartition, ...]


@dataclass(frozen=True, slots=True)
class ElectLeadersResponse:
    replica_election_results: tuple[ElectedTopic, ...]
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class NamedPartitions:
    name: str
    partition_indexes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ListPartitionReassignmentsRequest:
    topics: tuple[NamedPartitions, ...] | None
    timeout_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class ReassignedPartition:
    partition_index: int
    replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReassignedTopic:
    name: str
    partitions: tuple[ReassignedPartition, ...]


@dataclass(frozen=True, slots=True)
class ListPartitionReassignmentsResponse:
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    topics: tuple[ReassignedTopic, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeProducersRequest:
    topics: tuple[NamedPartitions, ...]


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    producer_id: int
    producer_epoch: int
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = -1
    current_txn_start_offset: int = -1


@dataclass(frozen=True, slots=True)
class ProducersOfPartition:
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    active_producers: tuple[ActiveProducer, ...] = ()


@dataclass(frozen=True, slots=True)
class ProducersOfTopic:
    name: str
    partitions: tuple[ProducersOfPartition, ...]


@dataclass(frozen=True, slots=True)
class DescribeProducersResponse:
    topics: tuple[ProducersOfTopic, ...]

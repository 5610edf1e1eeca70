"""Topics: creating, deleting, deleting their oldest records."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from headrace.wire.codes import ErrorCode


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    partition_index: int
    broker_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class CreatableTopic:
    name: str
    num_partitions: int
    replication_factor: int
    assignments: tuple[ReplicaAssignment, ...] = ()
    configs: tuple[ConfigEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTopicsRequest:
    topics: tuple[CreatableTopic, ...]
    timeout_ms: int = 60_000
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class CreatedConfig:
    name: str
    value: str | None
    read_only: bool = False
    config_source: int = 5
    is_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    topic_id: UUID | None = None
    num_partitions: int = -1
    replication_factor: int = -1
    configs: tuple[CreatedConfig, ...] | None = None


@dataclass(frozen=True, slots=True)
class CreateTopicsResponse:
    topics: tuple[CreatedTopic, ...]


@dataclass(frozen=True, slots=True)
class DeletableTopic:
    name: str | None = None
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DeleteTopicsRequest:
    """Versions below 6 name topics; later ones name them or give their ids."""

    topic_names: tuple[str, ...] = ()
    topics: tuple[DeletableTopic, ...] = ()
    timeout_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    name: str | None
    error_code: ErrorCode = ErrorCode.NONE
    topic_id: UUID | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteTopicsResponse:
    responses: tuple[DeletedTopic, ...]


@dataclass(frozen=True, slots=True)
class DeleteRecordsPartition:
    partition_index: int
    offset: int


@dataclass(frozen=True, slots=True)
class DeleteRecordsTopic:
    name: str
    partitions: tuple[DeleteRecordsPartition, ...]


@dataclass(frozen=True, slots=True)
class DeleteRecordsRequest:
    topics: tuple[DeleteRecordsTopic, ...]
    timeout_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class DeletedRecordsPartition:
    partition_index: int
    low_watermark: int
    error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class DeletedRecordsTopic:
    name: str
    partitions: tuple[DeletedRecordsPartition, ...]


@dataclass(frozen=True, slots=True)
class DeleteRecordsResponse:
    topics: tuple[DeletedRecordsTopic, ...]

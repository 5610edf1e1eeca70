"""Topics: creating, deleting, deleting their oldest records."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode


class ReplicaAssignment(NamedTuple):
    partition_index: int
    broker_ids: tuple[int, ...] = ()


class ConfigEntry(NamedTuple):
    name: str
    value: str | None


class CreatableTopic(NamedTuple):
    name: str
    num_partitions: int
    replication_factor: int
    assignments: tuple[ReplicaAssignment, ...] = ()
    configs: tuple[ConfigEntry, ...] = ()


class CreateTopicsRequest(NamedTuple):
    topics: tuple[CreatableTopic, ...]
    timeout_ms: int = 60_000
    validate_only: bool = False


class CreatedConfig(NamedTuple):
    name: str
    value: str | None
    read_only: bool = False
    config_source: int = 5
    is_sensitive: bool = False


class CreatedTopic(NamedTuple):
    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    topic_id: UUID | None = None
    num_partitions: int = -1
    replication_factor: int = -1
    configs: tuple[CreatedConfig, ...] | None = None


class CreateTopicsResponse(NamedTuple):
    topics: tuple[CreatedTopic, ...]


class DeletableTopic(NamedTuple):
    name: str | None = None
    topic_id: UUID | None = None


class DeleteTopicsRequest(NamedTuple):
    """Versions below 6 name topics; later ones name them or give their ids."""

    topic_names: tuple[str, ...] = ()
    topics: tuple[DeletableTopic, ...] = ()
    timeout_ms: int = 60_000


class DeletedTopic(NamedTuple):
    name: str | None
    error_code: ErrorCode = ErrorCode.NONE
    topic_id: UUID | None = None
    error_message: str | None = None


class DeleteTopicsResponse(NamedTuple):
    responses: tuple[DeletedTopic, ...]


class DeleteRecordsPartition(NamedTuple):
    partition_index: int
    offset: int


class DeleteRecordsTopic(NamedTuple):
    name: str
    partitions: tuple[DeleteRecordsPartition, ...]


class DeleteRecordsRequest(NamedTuple):
    topics: tuple[DeleteRecordsTopic, ...]
    timeout_ms: int = 60_000


class DeletedRecordsPartition(NamedTuple):
    partition_index: int
    low_watermark: int
    error_code: ErrorCode


class DeletedRecordsTopic(NamedTuple):
    name: str
    partitions: tuple[DeletedRecordsPartition, ...]


class DeleteRecordsResponse(NamedTuple):
    topics: tuple[DeletedRecordsTopic, ...]

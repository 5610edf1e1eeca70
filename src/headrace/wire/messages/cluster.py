"""What a client asks first: which requests are understood, which brokers and topics there are, who coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from headrace.wire.codes import ErrorCode

# The protocol's way to say that authorised operations were not asked for.
OPERATIONS_UNKNOWN: Final = -(2**31)


@dataclass(frozen=True, slots=True)
class ApiVersionsRequest:
    client_software_name: str = ""
    client_software_version: str = ""


@dataclass(frozen=True, slots=True)
class ApiRange:
    api_key: int
    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class SupportedFeature:
    name: str
    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class FinalizedFeature:
    name: str
    max_version_level: int
    min_version_level: int


@dataclass(frozen=True, slots=True)
class ApiVersionsResponse:
    error_code: ErrorCode
    api_keys: tuple[ApiRange, ...]
    supported_features: tuple[SupportedFeature, ...] = ()
    finalized_features_epoch: int = -1
    finalized_features: tuple[FinalizedFeature, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataTopicRequest:
    name: str | None = None
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class MetadataRequest:
    """`topics` None means all; in version 0 an empty tuple means all."""

    topics: tuple[MetadataTopicRequest, ...] | None
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


@dataclass(frozen=True, slots=True)
class MetadataBroker:
    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataPartition:
    error_code: ErrorCode
    partition_index: int
    leader_id: int
    leader_epoch: int = 0
    replica_nodes: tuple[int, ...] = ()
    isr_nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataTopic:
    error_code: ErrorCode
    name: str | None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: tuple[MetadataPartition, ...] = ()
    topic_authorized_operations: int = OPERATIONS_UNKNOWN


@dataclass(frozen=True, slots=True)
class MetadataResponse:
    brokers: tuple[MetadataBroker, ...]
    topics: tuple[MetadataTopic, ...]
    cluster_id: str | None = None
    controller_id: int = -1
    error_code: ErrorCode = ErrorCode.NONE
    cluster_authorized_operations: int = OPERATIONS_UNKNOWN


@dataclass(frozen=True, slots=True)
class DescribeClusterRequest:
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False


@dataclass(frozen=True, slots=True)
class DescribeClusterBroker:
    broker_id: int
    host: str
    port: int
    is_fenced: bool = False


@dataclass(frozen=True, slots=True)
class DescribeClusterResponse:
    error_code: ErrorCode
    cluster_id: str
    controller_id: int
    brokers: tuple[DescribeClusterBroker, ...]
    cluster_authorized_operations: int = OPERATIONS_UNKNOWN
    endpoint_type: int = 1
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class FindCoordinatorRequest:
    """Versions below 4 ask for one key, later ones for several."""

    key: str = ""
    key_type: int = 0
    coordinator_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coordinator:
    key: str
    node_id: int
    host: str
    port: int
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class FindCoordinatorResponse:
    node_id: int = -1
    host: str = ""
    port: int = -1
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    coordinators: tuple[Coordinator, ...] = ()

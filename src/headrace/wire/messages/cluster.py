"""What a client asks first: which requests are understood, which brokers and topics there are, who coordinates."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode

# The protocol's way to say that authorised operations were not asked for.
OPERATIONS_UNKNOWN: Final = -(2**31)


class ApiVersionsRequest(NamedTuple):
    client_software_name: str = ""
    client_software_version: str = ""


class ApiRange(NamedTuple):
    api_key: int
    min_version: int
    max_version: int


class SupportedFeature(NamedTuple):
    name: str
    min_version: int
    max_version: int


class FinalizedFeature(NamedTuple):
    name: str
    max_version_level: int
    min_version_level: int


class ApiVersionsResponse(NamedTuple):
    error_code: ErrorCode
    api_keys: tuple[ApiRange, ...]
    supported_features: tuple[SupportedFeature, ...] = ()
    finalized_features_epoch: int = -1
    finalized_features: tuple[FinalizedFeature, ...] = ()


class MetadataTopicRequest(NamedTuple):
    name: str | None = None
    topic_id: UUID | None = None


class MetadataRequest(NamedTuple):
    """`topics` None means all; in version 0 an empty tuple means all."""

    topics: tuple[MetadataTopicRequest, ...] | None
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


class MetadataBroker(NamedTuple):
    node_id: int
    host: str
    port: int
    rack: str | None = None


class MetadataPartition(NamedTuple):
    error_code: ErrorCode
    partition_index: int
    leader_id: int
    leader_epoch: int = 0
    replica_nodes: tuple[int, ...] = ()
    isr_nodes: tuple[int, ...] = ()


class MetadataTopic(NamedTuple):
    error_code: ErrorCode
    name: str | None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: tuple[MetadataPartition, ...] = ()
    topic_authorized_operations: int = OPERATIONS_UNKNOWN


class MetadataResponse(NamedTuple):
    brokers: tuple[MetadataBroker, ...]
    topics: tuple[MetadataTopic, ...]
    cluster_id: str | None = None
    controller_id: int = -1
    error_code: ErrorCode = ErrorCode.NONE
    cluster_authorized_operations: int = OPERATIONS_UNKNOWN


class DescribeClusterRequest(NamedTuple):
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False


class DescribeClusterBroker(NamedTuple):
    broker_id: int
    host: str
    port: int
    is_fenced: bool = False


class DescribeClusterResponse(NamedTuple):
    error_code: ErrorCode
    cluster_id: str
    controller_id: int
    brokers: tuple[DescribeClusterBroker, ...]
    cluster_authorized_operations: int = OPERATIONS_UNKNOWN
    endpoint_type: int = 1
    error_message: str | None = None


class FindCoordinatorRequest(NamedTuple):
    """Versions below 4 ask for one key, later ones for several."""

    key: str = ""
    key_type: int = 0
    coordinator_keys: tuple[str, ...] = ()


class Coordinator(NamedTuple):
    key: str
    node_id: int
    host: str
    port: int
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


class FindCoordinatorResponse(NamedTuple):
    node_id: int = -1
    host: str = ""
    port: int = -1
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    coordinators: tuple[Coordinator, ...] = ()

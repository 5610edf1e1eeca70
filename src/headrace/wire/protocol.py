"""The requests that are spoken here: key, versions, and how each is encoded. Used by the broker and by the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from headrace.wire import codec
from headrace.wire.frames import Part, Piece
from headrace.wire.messages import (
    cluster,
    configs,
    consumer_groups,
    fetch,
    groups,
    offsets,
    partitions,
    produce,
    security,
    topic_partitions,
    topics,
    transactions,
)
from headrace.wire.packing import Reader

Request = TypeVar("Request")
Response = TypeVar("Response")


class Codec(Protocol[Request, Response]):
    """How one API's messages become bytes. Decoding raises Malformed and nothing else."""

    def decode_request(self, version: int, reader: Reader) -> Request: ...

    def encode_response(self, version: int, response: Response) -> Sequence[Piece]: ...

    def encode_request(self, version: int, request: Request) -> Sequence[Part]: ...

    def decode_response(self, version: int, reader: Reader) -> Response: ...


@dataclass(frozen=True, slots=True)
class Api(Generic[Request, Response]):
    """One kind of request. Versions from `flexible_since` on use the compact encoding and longer headers."""

    key: int
    name: str
    version_min: int
    version_max: int
    flexible_since: int
    codec: Codec[Request, Response]
    # Our own client names topics and uses the older transaction protocol: it stays below versions that do otherwise.
    client_version_max: int | None = None

    def speaks(self, version: int) -> bool:
        return self.version_min <= version <= self.version_max

    def flexible_request(self, version: int) -> bool:
        return version >= self.flexible_since

    def flexible_response(self, version: int) -> bool:
        # A client reads the answer to ApiVersions before it knows what the broker speaks: its header never changes.
        return version >= self.flexible_since and self.key != API_VERSIONS_KEY


@dataclass(frozen=True, slots=True)
class SchemaCodec(Generic[Request, Response]):
    """Messages encoded by the schemas of the protocol."""

    schema: str
    request: type[Request]
    response: type[Response]

    def decode_request(self, version: int, reader: Reader) -> Request:
        return codec.decode(self.request, self.schema, "request", version, reader)

    def encode_response(self, version: int, response: Response) -> Sequence[Piece]:
        return [codec.encode(response, self.schema, "response", version)]

    def encode_request(self, version: int, request: Request) -> Sequence[Part]:
        return [codec.encode(request, self.schema, "request", version)]

    def decode_response(self, version: int, reader: Reader) -> Response:
        return codec.decode(self.response, self.schema, "response", version, reader)


def _api(  # noqa: PLR0917 - one line per API reads as a table
    key: int,
    schema: str,
    versions: tuple[int, int],
    flexible_since: int,
    request: type[Request],
    response: type[Response],
    *,
    client_version_max: int | None = None,
) -> Api[Request, Response]:
    return Api(key, schema, *versions, flexible_since, SchemaCodec(schema, request, response), client_version_max)


API_VERSIONS_KEY: Final = 18

PRODUCE: Final[Api[produce.ProduceRequest, produce.ProduceResponse]] = Api(
    0, "produce", 0, 13, produce.FLEXIBLE_SINCE, produce, client_version_max=11
)
FETCH: Final[Api[fetch.FetchRequest, fetch.FetchResponse]] = Api(
    1, "fetch", 4, 18, fetch.FLEXIBLE_SINCE, fetch, client_version_max=12
)

LIST_OFFSETS: Final = _api(2, "list_offsets", (1, 10), 6, offsets.ListOffsetsRequest, offsets.ListOffsetsResponse)
METADATA: Final = _api(3, "metadata", (0, 13), 9, cluster.MetadataRequest, cluster.MetadataResponse)
OFFSET_COMMIT: Final = _api(
    8,
    "offset_commit",
    (2, 10),
    8,
    offsets.OffsetCommitRequest,
    offsets.OffsetCommitResponse,
    client_version_max=9,
)
OFFSET_FETCH: Final = _api(
    9, "offset_fetch", (1, 10), 6, offsets.OffsetFetchRequest, offsets.OffsetFetchResponse, client_version_max=9
)
FIND_COORDINATOR: Final = _api(
    10, "find_coordinator", (0, 6), 3, cluster.FindCoordinatorRequest, cluster.FindCoordinatorResponse
)
JOIN_GROUP: Final = _api(11, "join_group", (0, 9), 6, groups.JoinGroupRequest, groups.JoinGroupResponse)
HEARTBEAT: Final = _api(12, "heartbeat", (0, 4), 4, groups.HeartbeatRequest, groups.HeartbeatResponse)
LEAVE_GROUP: Final = _api(13, "leave_group", (0, 5), 4, groups.LeaveGroupRequest, groups.LeaveGroupResponse)
SYNC_GROUP: Final = _api(14, "sync_group", (0, 5), 4, groups.SyncGroupRequest, groups.SyncGroupResponse)
DESCRIBE_GROUPS: Final = _api(
    15, "describe_groups", (0, 6), 5, groups.DescribeGroupsRequest, groups.DescribeGroupsResponse
)
LIST_GROUPS: Final = _api(16, "list_groups", (0, 5), 3, groups.ListGroupsRequest, groups.ListGroupsResponse)
API_VERSIONS: Final = _api(
    API_VERSIONS_KEY, "api_versions", (0, 4), 3, cluster.ApiVersionsRequest, cluster.ApiVersionsResponse
)
CREATE_TOPICS: Final = _api(19, "create_topics", (2, 7), 5, topics.CreateTopicsRequest, topics.CreateTopicsResponse)
DELETE_TOPICS: Final = _api(20, "delete_topics", (1, 6), 4, topics.DeleteTopicsRequest, topics.DeleteTopicsResponse)
DELETE_RECORDS: Final = _api(21, "delete_records", (0, 2), 2, topics.DeleteRecordsRequest, topics.DeleteRecordsResponse)
INIT_PRODUCER_ID: Final = _api(
    22, "init_producer_id", (0, 5), 2, transactions.InitProducerIdRequest, transactions.InitProducerIdResponse
)
OFFSET_FOR_LEADER_EPOCH: Final = _api(
    23, "offset_for_leader_epoch", (2, 4), 4, offsets.OffsetForLeaderEpochRequest, offsets.OffsetForLeaderEpochResponse
)
ADD_PARTITIONS_TO_TXN: Final = _api(
    24,
    "add_partitions_to_txn",
    (0, 3),
    3,
    transactions.AddPartitionsToTxnRequest,
    transactions.AddPartitionsToTxnResponse,
)
ADD_OFFSETS_TO_TXN: Final = _api(
    25, "add_offsets_to_txn", (0, 4), 3, transactions.AddOffsetsToTxnRequest, transactions.AddOffsetsToTxnResponse
)
END_TXN: Final = _api(
    26, "end_txn", (0, 5), 3, transactions.EndTxnRequest, transactions.EndTxnResponse, client_version_max=4
)
TXN_OFFSET_COMMIT: Final = _api(
    28,
    "txn_offset_commit",
    (0, 5),
    3,
    transactions.TxnOffsetCommitRequest,
    transactions.TxnOffsetCommitResponse,
    client_version_max=4,
)
DESCRIBE_CONFIGS: Final = _api(
    32, "describe_configs", (1, 4), 4, configs.DescribeConfigsRequest, configs.DescribeConfigsResponse
)
ALTER_CONFIGS: Final = _api(33, "alter_configs", (0, 2), 2, configs.AlterConfigsRequest, configs.AlterConfigsResponse)
DESCRIBE_LOG_DIRS: Final = _api(
    35, "describe_log_dirs", (1, 4), 2, partitions.DescribeLogDirsRequest, partitions.DescribeLogDirsResponse
)
CREATE_PARTITIONS: Final = _api(
    37, "create_partitions", (0, 3), 2, partitions.CreatePartitionsRequest, partitions.CreatePartitionsResponse
)
ELECT_LEADERS: Final = _api(
    43, "elect_leaders", (0, 2), 2, partitions.ElectLeadersRequest, partitions.ElectLeadersResponse
)
INCREMENTAL_ALTER_CONFIGS: Final = _api(
    44, "incremental_alter_configs", (0, 1), 1, configs.AlterConfigsRequest, configs.AlterConfigsResponse
)
LIST_PARTITION_REASSIGNMENTS: Final = _api(
    46,
    "list_partition_reassignments",
    (0, 0),
    0,
    partitions.ListPartitionReassignmentsRequest,
    partitions.ListPartitionReassignmentsResponse,
)
OFFSET_DELETE: Final = _api(47, "offset_delete", (0, 0), 1, offsets.OffsetDeleteRequest, offsets.OffsetDeleteResponse)
DESCRIBE_PRODUCERS: Final = _api(
    61, "describe_producers", (0, 0), 0, partitions.DescribeProducersRequest, partitions.DescribeProducersResponse
)
DESCRIBE_TRANSACTIONS: Final = _api(
    65,
    "describe_transactions",
    (0, 0),
    0,
    transactions.DescribeTransactionsRequest,
    transactions.DescribeTransactionsResponse,
)
CONSUMER_GROUP_HEARTBEAT: Final = _api(
    68, "consumer_group_heartbeat", (0, 1), 0, consumer_groups.HeartbeatRequest, consumer_groups.HeartbeatResponse
)
CONSUMER_GROUP_DESCRIBE: Final = _api(
    69, "consumer_group_describe", (0, 1), 0, consumer_groups.DescribeRequest, consumer_groups.DescribeResponse
)
DESCRIBE_TOPIC_PARTITIONS: Final = _api(
    75,
    "describe_topic_partitions",
    (0, 0),
    0,
    topic_partitions.DescribeTopicPartitionsRequest,
    topic_partitions.DescribeTopicPartitionsResponse,
)
LIST_TRANSACTIONS: Final = _api(
    66, "list_transactions", (0, 2), 0, transactions.ListTransactionsRequest, transactions.ListTransactionsResponse
)
LIST_CONFIG_RESOURCES: Final = _api(
    74, "list_config_resources", (0, 1), 0, configs.ListConfigResourcesRequest, configs.ListConfigResourcesResponse
)
SASL_HANDSHAKE: Final = _api(
    17, "sasl_handshake", (0, 1), 2, security.SaslHandshakeRequest, security.SaslHandshakeResponse
)
DESCRIBE_ACLS: Final = _api(29, "describe_acls", (1, 3), 2, security.DescribeAclsRequest, security.DescribeAclsResponse)
CREATE_ACLS: Final = _api(30, "create_acls", (1, 3), 2, security.CreateAclsRequest, security.CreateAclsResponse)
DELETE_ACLS: Final = _api(31, "delete_acls", (1, 3), 2, security.DeleteAclsRequest, security.DeleteAclsResponse)
SASL_AUTHENTICATE: Final = _api(
    36, "sasl_authenticate", (0, 2), 2, security.SaslAuthenticateRequest, security.SaslAuthenticateResponse
)
DESCRIBE_CLIENT_QUOTAS: Final = _api(
    48, "describe_client_quotas", (0, 1), 1, security.DescribeQuotasRequest, security.DescribeQuotasResponse
)
ALTER_CLIENT_QUOTAS: Final = _api(
    49, "alter_client_quotas", (0, 1), 1, security.AlterQuotasRequest, security.AlterQuotasResponse
)
DESCRIBE_USER_SCRAM_CREDENTIALS: Final = _api(
    50, "describe_user_scram_credentials", (0, 0), 0, security.DescribeScramRequest, security.DescribeScramResponse
)
ALTER_USER_SCRAM_CREDENTIALS: Final = _api(
    51, "alter_user_scram_credentials", (0, 0), 0, security.AlterScramRequest, security.AlterScramResponse
)
DELETE_GROUPS: Final = _api(42, "delete_groups", (0, 2), 2, groups.DeleteGroupsRequest, groups.DeleteGroupsResponse)
DESCRIBE_CLUSTER: Final = _api(
    60, "describe_cluster", (0, 2), 0, cluster.DescribeClusterRequest, cluster.DescribeClusterResponse
)

"""The one table: which requests the broker answers, in which versions, and by which function.

What ApiVersions says is derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from headrace.wire import protocol
from headrace.wire.codes import ErrorCode
from headrace.wire.handlers import (
    acls,
    authentication,
    cluster,
    configs,
    consumer_groups,
    fetch,
    group_configs,
    group_offsets,
    groups,
    offset_delete,
    offsets,
    partitions,
    produce,
    quotas,
    scram,
    topic_partitions,
    topics,
    transaction_list,
    transactions,
)
from headrace.wire.messages.cluster import (
    ApiRange,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeature,
    SupportedFeature,
)
from headrace.wire.protocol import Api
from headrace.wire.services import AfterSync, Call, Services

Request = TypeVar("Request")
Response = TypeVar("Response")

Handler = Callable[
    [Services, Call, Request], Response | AfterSync[Response] | Coroutine[Any, Any, Response | None] | None
]


# Version 2 of transactions: every transaction has an epoch of its own, and partitions are added by being written to.
SUPPORTED_FEATURES: Final = (SupportedFeature("transaction.version", 0, 2),)
FINALIZED_FEATURES: Final = (FinalizedFeature("transaction.version", 2, 2),)
FEATURES_EPOCH: Final = 1


@dataclass(frozen=True, slots=True)
class Route:
    """`pipelined`: the next request may start before this one is answered. All others keep a connection in order.

    `waits`: it waits for other clients and has nothing left to do, so it is given up when its own client is gone. Any
    other request is carried through to its end.
    """

    api: Api[Any, Any]
    handle: Handler[Any, Any]
    pipelined: bool = False
    waits: bool = False


def _route(
    api: Api[Request, Response], handle: Handler[Request, Response], *, pipelined: bool = False, waits: bool = False
) -> tuple[int, Route]:
    return api.key, Route(api, handle, pipelined, waits)


def api_versions(services: Services, call: Call, request: ApiVersionsRequest) -> ApiVersionsResponse:
    return ApiVersionsResponse(ErrorCode.NONE, _ranges(), SUPPORTED_FEATURES, FEATURES_EPOCH, FINALIZED_FEATURES)


def unsupported_api_versions() -> ApiVersionsResponse:
    """The answer to an ApiVersions request of a version not spoken here; the client then asks in one that is."""
    return ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, _ranges())


def _ranges() -> tuple[ApiRange, ...]:
    apis = [route.api for route in ROUTES.values()]
    return tuple(ApiRange(api.key, api.version_min, api.version_max) for api in apis)


ROUTES: Final[dict[int, Route]] = dict(
    [
        _route(protocol.PRODUCE, produce.produce, pipelined=True),
        _route(protocol.FETCH, fetch.fetch, waits=True),
        _route(protocol.LIST_OFFSETS, offsets.list_offsets),
        _route(protocol.METADATA, cluster.metadata),
        _route(protocol.OFFSET_COMMIT, group_offsets.offset_commit),
        _route(protocol.OFFSET_FETCH, group_offsets.offset_fetch),
        _route(protocol.FIND_COORDINATOR, cluster.find_coordinator),
        _route(protocol.JOIN_GROUP, groups.join_group, waits=True),
        _route(protocol.HEARTBEAT, groups.heartbeat),
        _route(protocol.LEAVE_GROUP, groups.leave_group),
        _route(protocol.SYNC_GROUP, groups.sync_group, waits=True),
        _route(protocol.DESCRIBE_GROUPS, groups.describe_groups),
        _route(protocol.LIST_GROUPS, groups.list_groups),
        _route(protocol.SASL_HANDSHAKE, authentication.sasl_handshake),
        _route(protocol.API_VERSIONS, api_versions),
        _route(protocol.CREATE_TOPICS, topics.create_topics),
        _route(protocol.DELETE_TOPICS, topics.delete_topics),
        _route(protocol.DELETE_RECORDS, topics.delete_records),
        _route(protocol.INIT_PRODUCER_ID, transactions.init_producer_id),
        _route(protocol.OFFSET_FOR_LEADER_EPOCH, offsets.offset_for_leader_epoch),
        _route(protocol.ADD_PARTITIONS_TO_TXN, transactions.add_partitions_to_txn),
        _route(protocol.ADD_OFFSETS_TO_TXN, transactions.add_offsets_to_txn),
        _route(protocol.END_TXN, transactions.end_txn),
        _route(protocol.TXN_OFFSET_COMMIT, transactions.txn_offset_commit),
        _route(protocol.DESCRIBE_ACLS, acls.describe_acls),
        _route(protocol.CREATE_ACLS, acls.create_acls),
        _route(protocol.DELETE_ACLS, acls.delete_acls),
        _route(protocol.DESCRIBE_CONFIGS, configs.describe_configs),
        _route(protocol.ALTER_CONFIGS, configs.alter_configs),
        _route(protocol.DESCRIBE_LOG_DIRS, partitions.describe_log_dirs),
        _route(protocol.SASL_AUTHENTICATE, authentication.sasl_authenticate),
        _route(protocol.CREATE_PARTITIONS, partitions.create_partitions),
        _route(protocol.DELETE_GROUPS, groups.delete_groups),
        _route(protocol.ELECT_LEADERS, partitions.elect_leaders),
        _route(protocol.INCREMENTAL_ALTER_CONFIGS, configs.incremental_alter_configs),
        _route(protocol.LIST_PARTITION_REASSIGNMENTS, partitions.list_partition_reassignments),
        _route(protocol.OFFSET_DELETE, offset_delete.offset_delete),
        _route(protocol.DESCRIBE_CLIENT_QUOTAS, quotas.describe_quotas),
        _route(protocol.ALTER_CLIENT_QUOTAS, quotas.alter_quotas),
        _route(protocol.DESCRIBE_USER_SCRAM_CREDENTIALS, scram.describe_scram),
        _route(protocol.ALTER_USER_SCRAM_CREDENTIALS, scram.alter_scram),
        _route(protocol.DESCRIBE_CLUSTER, cluster.describe_cluster),
        _route(protocol.DESCRIBE_PRODUCERS, partitions.describe_producers),
        _route(protocol.DESCRIBE_TRANSACTIONS, transaction_list.describe_transactions),
        _route(protocol.LIST_TRANSACTIONS, transaction_list.list_transactions),
        _route(protocol.CONSUMER_GROUP_HEARTBEAT, consumer_groups.heartbeat),
        _route(protocol.CONSUMER_GROUP_DESCRIBE, consumer_groups.describe),
        _route(protocol.LIST_CONFIG_RESOURCES, group_configs.list_config_resources),
        _route(protocol.DESCRIBE_TOPIC_PARTITIONS, topic_partitions.describe_topic_partitions),
    ]
)

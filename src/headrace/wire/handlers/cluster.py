"""ApiVersions, Metadata, DescribeCluster, FindCoordinator: how a client finds its way."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from headrace.log import Topic
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import create_topic
from headrace.wire.messages.cluster import (
    OPERATIONS_UNKNOWN,
    Coordinator,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataResponse,
    MetadataTopic,
    MetadataTopicRequest,
)
from headrace.wire.security.resources import CLUSTER, Operation, group, transactional_id
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

_COORDINATED = {0: group, 1: transactional_id}
# The kind of nodes that DescribeCluster is asked for.
_BROKERS = 1


def metadata(services: Services, call: Call, request: MetadataRequest) -> MetadataResponse:
    """Unknown topics are created, where the client and the broker's settings allow it."""
    node_id = services.config.node_id
    wants_all = request.topics is None or (call.version == 0 and not request.topics)
    if wants_all or request.topics is None:
        visible = [t for t in services.store.topics.values() if call.allows(Operation.DESCRIBE, topic_resource(t.name))]
        topics = [_described(services, topic) for topic in visible]
    else:
        topics = [_looked_up(services, call, wanted, request.allow_auto_topic_creation) for wanted in request.topics]
    if request.include_topic_authorized_operations:
        topics = [_with_operations(call, topic) for topic in topics]
    cluster_operations = call.access.operations(CLUSTER) if request.include_cluster_authorized_operations else None
    return MetadataResponse(
        brokers=(MetadataBroker(node_id, call.endpoint.host, call.endpoint.port),),
        topics=tuple(topics),
        cluster_id=services.cluster_id,
        controller_id=node_id,
        cluster_authorized_operations=OPERATIONS_UNKNOWN if cluster_operations is None else cluster_operations,
    )


def _with_operations(call: Call, topic: MetadataTopic) -> MetadataTopic:
    if topic.name is None or topic.error_code is not ErrorCode.NONE:
        return topic
    return topic._replace(topic_authorized_operations=call.access.operations(topic_resource(topic.name)))


def _looked_up(services: Services, call: Call, wanted: MetadataTopicRequest, may_create: bool) -> MetadataTopic:
    if wanted.name is None:
        return _looked_up_by_id(services, call, wanted.topic_id)
    topic = services.store.topics.get(wanted.name)
    try:
        call.require(Operation.DESCRIBE, topic_resource(wanted.name))
        is_wanted = may_create and services.config.auto_create_topics and wanted.name not in services.store.creating
        if topic is None and is_wanted:
            topic = _auto_created(services, call, wanted.name)
    except Refusal as refusal:
        return MetadataTopic(refusal.code, wanted.name)
    if topic is None:
        return MetadataTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, wanted.name)
    return _described(services, topic)


def _looked_up_by_id(services: Services, call: Call, topic_id: UUID | None) -> MetadataTopic:
    name = None if topic_id is None else services.store.name_of(topic_id)
    if name is None or not call.allows(Operation.DESCRIBE, topic_resource(name)):
        return MetadataTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
    return _described(services, services.store.topics[name])


def _auto_created(services: Services, call: Call, name: str) -> Topic:
    call.require_creation(name)
    return create_topic(services, name, services.config.default_partition_count, {})


def _described(services: Services, topic: Topic) -> MetadataTopic:
    node_id = services.config.node_id
    partitions = tuple(
        MetadataPartition(ErrorCode.NONE, partition.index, node_id, replica_nodes=(node_id,), isr_nodes=(node_id,))
        for partition in topic.partitions
    )
    return MetadataTopic(ErrorCode.NONE, topic.name, topic.topic_id, topic.name in INTERNAL_TOPICS, partitions)


def describe_cluster(services: Services, call: Call, request: DescribeClusterRequest) -> DescribeClusterResponse:
    node_id = services.config.node_id
    if request.endpoint_type != _BROKERS:
        message = "this broker has no controllers of their own: ask for brokers (1)"
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        return DescribeClusterResponse(code, "", -1, (), error_message=message, endpoint_type=request.endpoint_type)
    broker = DescribeClusterBroker(node_id, call.endpoint.host, call.endpoint.port)
    asked = request.include_cluster_authorized_operations
    operations = call.access.operations(CLUSTER) if asked else OPERATIONS_UNKNOWN
    return DescribeClusterResponse(ErrorCode.NONE, services.cluster_id, node_id, (broker,), operations)


def find_coordinator(services: Services, call: Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """This broker coordinates everything."""
    keys: Iterable[str] = request.coordinator_keys if call.version >= 4 else (request.key,)
    found = tuple(_coordinator(services, call, request.key_type, key) for key in keys)
    first = found[0] if found else Coordinator("", -1, "", -1)
    return FindCoordinatorResponse(
        first.node_id, first.host, first.port, first.error_code, first.error_message, coordinators=found
    )


def _coordinator(services: Services, call: Call, key_type: int, key: str) -> Coordinator:
    try:
        if key_type not in _COORDINATED:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"key type {key_type}; known are 0 (group), 1 (transaction)")
        call.require(Operation.DESCRIBE, _COORDINATED[key_type](key))
    except Refusal as refusal:
        return Coordinator(key, -1, "", -1, refusal.code, refusal.message)
    return Coordinator(key, services.config.node_id, call.endpoint.host, call.endpoint.port)

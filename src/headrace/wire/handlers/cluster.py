"""ApiVersions, Metadata, DescribeCluster, FindCoordinator: how a client finds its way."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.log import Topic
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import create_topic
from headrace.wire.messages.cluster import (
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
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

_GROUP_KEY = 0
_TRANSACTION_KEY = 1


def metadata(services: Services, call: Call, request: MetadataRequest) -> MetadataResponse:
    """Unknown topics are created, where the client and the broker's settings allow it."""
    node_id = services.config.node_id
    wants_all = request.topics is None or (call.version == 0 and not request.topics)
    if wants_all or request.topics is None:
        topics = [_described(services, topic) for topic in services.store.topics.values()]
    else:
        topics = [_looked_up(services, wanted, request.allow_auto_topic_creation) for wanted in request.topics]
    return MetadataResponse(
        brokers=(MetadataBroker(node_id, services.host, services.port),),
        topics=tuple(topics),
        cluster_id=services.cluster_id,
        controller_id=node_id,
    )


def _looked_up(services: Services, wanted: MetadataTopicRequest, may_create: bool) -> MetadataTopic:
    if wanted.name is None:
        by_id = next((t for t in services.store.topics.values() if t.topic_id == wanted.topic_id), None)
        if by_id is None:
            return MetadataTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
        return _described(services, by_id)
    topic = services.store.topics.get(wanted.name)
    if topic is None and may_create and services.config.auto_create_topics:
        try:
            topic = create_topic(services, wanted.name, services.config.default_partition_count, {})
        except Refusal as refusal:
            return MetadataTopic(refusal.code, wanted.name)
    if topic is None:
        return MetadataTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, wanted.name)
    return _described(services, topic)


def _described(services: Services, topic: Topic) -> MetadataTopic:
    node_id = services.config.node_id
    partitions = tuple(
        MetadataPartition(ErrorCode.NONE, partition.index, node_id, replica_nodes=(node_id,), isr_nodes=(node_id,))
        for partition in topic.partitions
    )
    return MetadataTopic(ErrorCode.NONE, topic.name, topic.topic_id, topic.name in INTERNAL_TOPICS, partitions)


def describe_cluster(services: Services, call: Call, request: DescribeClusterRequest) -> DescribeClusterResponse:
    node_id = services.config.node_id
    broker = DescribeClusterBroker(node_id, services.host, services.port)
    return DescribeClusterResponse(ErrorCode.NONE, services.cluster_id, node_id, (broker,))


def find_coordinator(services: Services, call: Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """This broker coordinates everything."""
    keys: Iterable[str] = request.coordinator_keys if call.version >= 4 else (request.key,)
    node_id, host, port = services.config.node_id, services.host, services.port
    if request.key_type not in (_GROUP_KEY, _TRANSACTION_KEY):
        code, message = ErrorCode.INVALID_REQUEST, f"key type {request.key_type}; known are 0 (group), 1 (transaction)"
        refused = tuple(Coordinator(key, -1, "", -1, code, message) for key in keys)
        return FindCoordinatorResponse(error_code=code, error_message=message, coordinators=refused)
    found = tuple(Coordinator(key, node_id, host, port) for key in keys)
    return FindCoordinatorResponse(node_id, host, port, coordinators=found)

"""DescribeTopicPartitions: what Metadata says of topics, in the order of their names and in pages."""

from __future__ import annotations

from typing import Final

from headrace.log import Topic
from headrace.wire.codes import ErrorCode
from headrace.wire.messages.topic_partitions import (
    Cursor,
    DescribedPartition,
    DescribedTopic,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from headrace.wire.security.resources import Operation
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

# Of one answer, whatever the client asks for.
PARTITIONS_MAX: Final = 2_000


def describe_topic_partitions(
    services: Services, call: Call, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """The next cursor is set when there is more. Topics that the client may not see are left out, unless named."""
    left = max(1, min(request.response_partition_limit, PARTITIONS_MAX))
    described: list[DescribedTopic] = []
    for name in _wanted_names(services, call, request):
        if left == 0:
            return DescribeTopicPartitionsResponse(tuple(described), Cursor(name, 0))
        topic = services.store.topics.get(name)
        refusal = _refusal(call, name, topic)
        if topic is None or refusal is not None:
            described.append(DescribedTopic(refusal or ErrorCode.NONE, name))
            continue
        first = _first_index(request.cursor, name)
        entry = _described(services, call, topic, first, left)
        described.append(entry)
        left -= len(entry.partitions)
        if first + len(entry.partitions) < len(topic.partitions):
            return DescribeTopicPartitionsResponse(tuple(described), Cursor(name, first + len(entry.partitions)))
    return DescribeTopicPartitionsResponse(tuple(described))


def _wanted_names(services: Services, call: Call, request: DescribeTopicPartitionsRequest) -> list[str]:
    named = {topic.name for topic in request.topics}
    visible = (name for name in services.store.topics if call.allows(Operation.DESCRIBE, topic_resource(name)))
    start = "" if request.cursor is None else request.cursor.topic_name
    return sorted(name for name in (named or visible) if name >= start)


def _refusal(call: Call, name: str, topic: Topic | None) -> ErrorCode | None:
    if not call.allows(Operation.DESCRIBE, topic_resource(name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else None


def _first_index(cursor: Cursor | None, name: str) -> int:
    return max(0, cursor.partition_index) if cursor is not None and cursor.topic_name == name else 0


def _described(services: Services, call: Call, topic: Topic, first: int, count: int) -> DescribedTopic:
    nodes = (services.config.node_id,)
    partitions = tuple(
        DescribedPartition(ErrorCode.NONE, partition.index, nodes[0], replica_nodes=nodes, isr_nodes=nodes)
        for partition in topic.partitions[first : first + count]
    )
    return DescribedTopic(
        ErrorCode.NONE,
        topic.name,
        topic.topic_id,
        topic.name in INTERNAL_TOPICS,
        partitions,
        call.access.operations(topic_resource(topic.name)),
    )

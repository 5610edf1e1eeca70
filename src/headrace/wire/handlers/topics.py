"""CreateTopics, DeleteTopics, DeleteRecords."""

from __future__ import annotations

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals, check_room, create_topic
from headrace.wire.messages.topics import (
    CreatableTopic,
    CreatedConfig,
    CreatedTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeletableTopic,
    DeletedRecordsPartition,
    DeletedRecordsTopic,
    DeletedTopic,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

# A client that leaves counts to the broker sends this.
_BROKERS_CHOICE = -1


def create_topics(services: Services, call: Call, request: CreateTopicsRequest) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        tuple(_created(services, topic, validate_only=request.validate_only) for topic in request.topics)
    )


def _created(services: Services, wanted: CreatableTopic, *, validate_only: bool) -> CreatedTopic:
    try:
        count = _partition_count(services, wanted)
        config = {entry.name: entry.value for entry in wanted.configs if entry.value is not None}
        if validate_only:
            check_room(services, wanted.name, count)
            return CreatedTopic(wanted.name, num_partitions=count, replication_factor=1)
        topic = create_topic(services, wanted.name, count, config)
    except Refusal as refusal:
        return CreatedTopic(wanted.name, refusal.code, refusal.message)
    configs = tuple(CreatedConfig(name, value) for name, value in topic.config.to_names().items())
    return CreatedTopic(
        wanted.name, topic_id=topic.topic_id, num_partitions=count, replication_factor=1, configs=configs
    )


def _partition_count(services: Services, wanted: CreatableTopic) -> int:
    if wanted.assignments:
        brokers = {broker for entry in wanted.assignments for broker in entry.broker_ids}
        if brokers != {services.config.node_id}:
            raise Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"the only broker is {services.config.node_id}")
        return len(wanted.assignments)
    if wanted.replication_factor not in (_BROKERS_CHOICE, 1):
        raise Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, "the replication factor of a single broker is 1")
    if wanted.num_partitions == _BROKERS_CHOICE:
        return services.config.default_partition_count
    return wanted.num_partitions


async def delete_topics(services: Services, call: Call, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Committed offsets of the topics go with them."""
    wanted = request.topics if call.version >= 6 else tuple(DeletableTopic(name) for name in request.topic_names)
    return DeleteTopicsResponse(tuple([await _deleted(services, topic) for topic in wanted]))


async def _deleted(services: Services, wanted: DeletableTopic) -> DeletedTopic:
    name = wanted.name
    if name is None:
        name = next((t.name for t in services.store.topics.values() if t.topic_id == wanted.topic_id), None)
        if name is None:
            return DeletedTopic(None, ErrorCode.UNKNOWN_TOPIC_ID, wanted.topic_id)
    try:
        if name in INTERNAL_TOPICS:
            raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is the broker's own")
        with as_refusals():
            services.store.delete_topic(name)
        services.waiters.wake_all()
        await services.offsets.forget_topic(name)
    except Refusal as refusal:
        return DeletedTopic(name, refusal.code, wanted.topic_id, refusal.message)
    return DeletedTopic(name, topic_id=wanted.topic_id)


def delete_records(services: Services, call: Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        tuple(
            DeletedRecordsTopic(
                topic.name,
                tuple(_records_deleted(services, topic.name, p.partition_index, p.offset) for p in topic.partitions),
            )
            for topic in request.topics
        )
    )


def _records_deleted(services: Services, topic: str, index: int, offset: int) -> DeletedRecordsPartition:
    try:
        with as_refusals():
            partition = services.store.partition(topic, index)
            before_offset = partition.high_watermark if offset == -1 else offset
            if not 0 <= before_offset <= partition.high_watermark:
                raise Refusal(ErrorCode.OFFSET_OUT_OF_RANGE)
            partition.delete_records(before_offset)
            return DeletedRecordsPartition(index, partition.log_start_offset, ErrorCode.NONE)
    except Refusal as refusal:
        return DeletedRecordsPartition(index, -1, refusal.code)

"""CreateTopics, DeleteTopics, DeleteRecords."""

from __future__ import annotations

from headrace.log import TopicConfig
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import AT_ONCE_MAX, as_refusals, check_room, create_large_topic, create_topic
from headrace.wire.handlers.topic_settings import source_of
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
from headrace.wire.security.resources import Operation
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

# A client that leaves counts to the broker sends this.
_BROKERS_CHOICE = -1


async def create_topics(services: Services, call: Call, request: CreateTopicsRequest) -> CreateTopicsResponse:
    names = [topic.name for topic in request.topics]
    doubled = {name for name in names if names.count(name) > 1}
    created = [
        CreatedTopic(topic.name, ErrorCode.INVALID_REQUEST, "the topic is named more than once")
        if topic.name in doubled
        else await _created(services, call, topic, validate_only=request.validate_only)
        for topic in request.topics
    ]
    return CreateTopicsResponse(tuple(created))


async def _created(services: Services, call: Call, wanted: CreatableTopic, *, validate_only: bool) -> CreatedTopic:
    try:
        call.require_creation(wanted.name)
        count = _partition_count(services, wanted)
        settings = {entry.name: entry.value for entry in wanted.configs if entry.value is not None}
        with as_refusals():
            config = TopicConfig.from_names(settings)
        if validate_only:
            check_room(services, wanted.name, count)
            return _answer(wanted.name, count, config, call)
        if count <= AT_ONCE_MAX:
            topic = create_topic(services, wanted.name, count, settings)
        else:
            topic = await create_large_topic(services, wanted.name, count, settings)
    except Refusal as refusal:
        return CreatedTopic(wanted.name, refusal.code, refusal.message)
    return _answer(wanted.name, count, topic.config, call)._replace(topic_id=topic.topic_id)


def _answer(name: str, partition_count: int, config: TopicConfig, call: Call) -> CreatedTopic:
    """The settings are shown to those who may see them."""
    if not call.allows(Operation.DESCRIBE_CONFIGS, topic_resource(name)):
        return CreatedTopic(name)
    configs = tuple(
        CreatedConfig(setting, value, config_source=source_of(setting, value))
        for setting, value in config.to_names().items()
    )
    return CreatedTopic(name, num_partitions=partition_count, replication_factor=1, configs=configs)


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
    return DeleteTopicsResponse(tuple([await _deleted(services, call, topic, request.timeout_ms) for topic in wanted]))


async def _deleted(services: Services, call: Call, wanted: DeletableTopic, timeout_ms: int) -> DeletedTopic:
    name, topic_id = wanted.name, wanted.topic_id
    if name is None:
        name = None if topic_id is None else services.store.name_of(topic_id)
        # Whoever may not see a topic must not learn its name from an id.
        if name is None or not call.allows(Operation.DESCRIBE, topic_resource(name)):
            return DeletedTopic(None, ErrorCode.UNKNOWN_TOPIC_ID, topic_id)
    try:
        call.require(Operation.DELETE, topic_resource(name))
        if name in INTERNAL_TOPICS:
            raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is the broker's own")
        async with services.topic_turns.turn(name, timeout_ms):
            if topic_id is not None and services.store.name_of(topic_id) != name:
                # Another request deleted it first, and the name may belong to a new topic.
                raise Refusal(ErrorCode.UNKNOWN_TOPIC_ID, f"no topic has the id {topic_id}")
            with as_refusals():
                services.store.delete_topic(name)
            services.waiters.wake_all()
            await services.offsets.forget_topic(name)
            await services.sequencer.forget_topic(name)
    except Refusal as refusal:
        return DeletedTopic(name, refusal.code, topic_id, refusal.message)
    return DeletedTopic(name, topic_id=topic_id)


def delete_records(services: Services, call: Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        tuple(
            DeletedRecordsTopic(
                topic.name,
                tuple(_emptied(services, call, topic.name, p.partition_index, p.offset) for p in topic.partitions),
            )
            for topic in request.topics
        )
    )


def _emptied(services: Services, call: Call, topic: str, index: int, offset: int) -> DeletedRecordsPartition:
    try:
        call.require(Operation.DELETE, topic_resource(topic))
        if topic in INTERNAL_TOPICS:
            raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is the broker's own")
        with as_refusals():
            partition = services.store.partition(topic, index)
            if "delete" not in services.store.topics[topic].config.cleanup_policy:
                raise Refusal(ErrorCode.POLICY_VIOLATION, "cleanup.policy of the topic is compact only")
            before_offset = partition.high_watermark if offset == -1 else offset
            if not 0 <= before_offset <= partition.high_watermark:
                raise Refusal(ErrorCode.OFFSET_OUT_OF_RANGE)
            partition.delete_records(before_offset)
            return DeletedRecordsPartition(index, partition.log_start_offset, ErrorCode.NONE)
    except Refusal as refusal:
        return DeletedRecordsPartition(index, -1, refusal.code)

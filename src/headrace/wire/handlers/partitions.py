"""CreatePartitions, DescribeLogDirs, ElectLeaders, ListPartitionReassignments, DescribeProducers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from headrace.log import Partition
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals, check_partition_room, grow_topic
from headrace.wire.messages.partitions import (
    ActiveProducer,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsResult,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    ElectedPartition,
    ElectedTopic,
    ElectLeadersRequest,
    ElectLeadersResponse,
    GrownTopic,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    LogDir,
    LogDirPartition,
    LogDirTopic,
    ProducersOfPartition,
    ProducersOfTopic,
    TopicPartitions,
)
from headrace.wire.security.resources import CLUSTER, Operation
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import INTERNAL_TOPICS, Call, Services


async def create_partitions(
    services: Services, call: Call, request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(tuple([await _grown(services, call, topic, request) for topic in request.topics]))


async def _grown(
    services: Services, call: Call, wanted: GrownTopic, request: CreatePartitionsRequest
) -> CreatePartitionsResult:
    try:
        call.require(Operation.ALTER, topic_resource(wanted.name))
        if request.validate_only:
            _check_growth(services, wanted)
        else:
            async with services.topic_turns.turn(wanted.name, request.timeout_ms):
                _check_growth(services, wanted)
                await grow_topic(services, wanted.name, wanted.partition_count)
    except Refusal as refusal:
        return CreatePartitionsResult(wanted.name, refusal.code, refusal.message)
    return CreatePartitionsResult(wanted.name)


def _check_growth(services: Services, wanted: GrownTopic) -> None:
    topic = services.store.topics.get(wanted.name)
    if topic is None:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {wanted.name!r}")
    if wanted.name in INTERNAL_TOPICS:
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{wanted.name} is the broker's own")
    existing = len(topic.partitions)
    if wanted.partition_count <= existing:
        raise Refusal(ErrorCode.INVALID_PARTITIONS, f"topic {wanted.name!r} has {existing} partitions already")
    node_id = services.config.node_id
    if wanted.assignments is not None:
        added = wanted.partition_count - existing
        if len(wanted.assignments) != added:
            raise Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{added} assignments are needed")
        if any(entry.broker_ids != (node_id,) for entry in wanted.assignments):
            raise Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"the only broker is {node_id}")
    check_partition_room(services, wanted.partition_count - existing)


def describe_log_dirs(services: Services, call: Call, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    if not call.allows(Operation.DESCRIBE, CLUSTER):
        return DescribeLogDirsResponse((), ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    directory = services.store.directory
    topics = tuple(
        LogDirTopic(entry.topic, tuple(LogDirPartition(p.index, p.size_bytes) for p in _existing(services, entry)))
        for entry in _asked(services, request.topics)
    )
    try:
        usage = shutil.disk_usage(directory)
    except OSError:
        return DescribeLogDirsResponse((LogDir(ErrorCode.KAFKA_STORAGE_ERROR, str(directory), ()),))
    found = LogDir(ErrorCode.NONE, str(directory), tuple(t for t in topics if t.partitions), usage.total, usage.free)
    return DescribeLogDirsResponse((found,))


def _asked(services: Services, topics: tuple[TopicPartitions, ...] | None) -> Iterable[TopicPartitions]:
    if topics is not None:
        return topics
    return [TopicPartitions(t.name, tuple(p.index for p in t.partitions)) for t in services.store.topics.values()]


def _existing(services: Services, entry: TopicPartitions) -> list[Partition]:
    topic = services.store.topics.get(entry.topic)
    return [] if topic is None else [p for p in topic.partitions if p.index in entry.partitions]


def elect_leaders(services: Services, call: Call, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """The only broker leads already."""
    if not call.allows(Operation.ALTER, CLUSTER):
        return ElectLeadersResponse((), ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if request.topic_partitions is None:
        return ElectLeadersResponse(())
    return ElectLeadersResponse(tuple(_elected(services, entry) for entry in request.topic_partitions))


def _elected(services: Services, entry: TopicPartitions) -> ElectedTopic:
    known = {partition.index for partition in _existing(services, entry)}
    return ElectedTopic(
        entry.topic,
        tuple(
            ElectedPartition(index, ErrorCode.ELECTION_NOT_NEEDED, "the only broker leads already")
            if index in known
            else ElectedPartition(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such partition")
            for index in entry.partitions
        ),
    )


def list_partition_reassignments(
    services: Services, call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """One broker never moves a partition."""
    try:
        call.require(Operation.DESCRIBE, CLUSTER)
    except Refusal as refusal:
        return ListPartitionReassignmentsResponse(refusal.code, refusal.message)
    return ListPartitionReassignmentsResponse()


def describe_producers(services: Services, call: Call, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        tuple(
            ProducersOfTopic(
                topic.name, tuple(_producers(services, call, topic.name, i) for i in topic.partition_indexes)
            )
            for topic in request.topics
        )
    )


def _producers(services: Services, call: Call, topic: str, index: int) -> ProducersOfPartition:
    try:
        call.require(Operation.READ, topic_resource(topic))
        with as_refusals():
            states = services.store.partition(topic, index).producers()
    except Refusal as refusal:
        return ProducersOfPartition(index, refusal.code, refusal.message)
    active = tuple(
        ActiveProducer(
            state.producer_id,
            state.epoch,
            state.batches[-1].last_sequence if state.batches else -1,
            state.seen_ms,
            current_txn_start_offset=-1 if state.transaction_offset is None else state.transaction_offset,
        )
        for state in states
    )
    return ProducersOfPartition(index, active_producers=active)

"""ListOffsets, OffsetForLeaderEpoch, OffsetCommit, OffsetFetch."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.log import Partition
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.offsets import CommittedOffset, OffsetKey
from headrace.wire.handlers.creation import as_refusals
from headrace.wire.messages.offsets import (
    CommitPartition,
    CommittedPartition,
    CommittedTopic,
    CommitTopic,
    EpochEndOffset,
    EpochEndTopic,
    FetchedGroupOffsets,
    FetchedOffset,
    FetchedTopicOffsets,
    ListedPartition,
    ListedTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from headrace.wire.security.resources import Operation, group
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import Call, Services

_LATEST = -1
_EARLIEST = -2
_NEWEST_TIME = -3
_EARLIEST_LOCAL = -4
_LATEST_TIERED = -5
_LEADER_EPOCH = 0
_TIME_MAX_MS = 2**62


def list_offsets(services: Services, call: Call, request: ListOffsetsRequest) -> ListOffsetsResponse:
    committed = request.isolation_level == 1
    return ListOffsetsResponse(
        tuple(
            ListedTopic(topic.name, tuple(_listed(services, call, topic.name, p, committed) for p in topic.partitions))
            for topic in request.topics
        )
    )


def _listed(
    services: Services, call: Call, topic: str, wanted: ListOffsetsPartition, committed: bool
) -> ListedPartition:
    index = wanted.partition_index
    try:
        call.require(Operation.DESCRIBE, topic_resource(topic))
        with as_refusals():
            partition = services.store.partition(topic, index)
            timestamp_ms, offset = _offset_at(partition, wanted.timestamp, committed)
    except Refusal as refusal:
        return ListedPartition(index, refusal.code)
    return ListedPartition(index, ErrorCode.NONE, timestamp_ms, offset, _LEADER_EPOCH if offset >= 0 else -1)


def _offset_at(partition: Partition, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    """Timestamp and offset; both -1 when there is no such record."""
    end_offset = partition.last_stable_offset if committed else partition.high_watermark
    if timestamp_ms == _LATEST:
        return -1, end_offset
    if timestamp_ms in (_EARLIEST, _EARLIEST_LOCAL):
        return -1, partition.log_start_offset
    if timestamp_ms == _LATEST_TIERED:
        return -1, -1
    if timestamp_ms == _NEWEST_TIME:
        timestamp_ms = _newest_time_ms(partition)
    if timestamp_ms < 0:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"timestamp {timestamp_ms}")
    found = partition.offset_for_time(timestamp_ms)
    if found is None or found.offset >= end_offset:
        return -1, -1
    return found.timestamp_ms, found.offset


def _newest_time_ms(partition: Partition) -> int:
    """The largest timestamp of any record, by bisection: the log knows only what comes at or after a time."""
    low, high = 0, _TIME_MAX_MS
    while low < high:
        middle = (low + high + 1) // 2
        if partition.offset_for_time(middle) is None:
            high = middle - 1
        else:
            low = middle
    return low


def offset_for_leader_epoch(
    services: Services, call: Call, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """There is one epoch, 0, and it ends where the log does."""
    return OffsetForLeaderEpochResponse(
        tuple(
            EpochEndTopic(
                topic.topic,
                tuple(_epoch_end(services, call, topic.topic, p.partition, p.leader_epoch) for p in topic.partitions),
            )
            for topic in request.topics
        )
    )


def _epoch_end(services: Services, call: Call, topic: str, index: int, leader_epoch: int) -> EpochEndOffset:
    try:
        call.require(Operation.DESCRIBE, topic_resource(topic))
        with as_refusals():
            partition = services.store.partition(topic, index)
    except Refusal as refusal:
        return EpochEndOffset(refusal.code, index)
    if leader_epoch != _LEADER_EPOCH:
        return EpochEndOffset(ErrorCode.NONE, index)
    return EpochEndOffset(ErrorCode.NONE, index, _LEADER_EPOCH, partition.high_watermark)


async def offset_commit(services: Services, call: Call, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Answered when durable. A refused member changes nothing; a refused partition does not stop the others."""
    try:
        call.require(Operation.READ, group(request.group_id))
        check_commit(
            services,
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
        )
        entries, refused = offsets_to_commit(services, call, request.group_id, request.topics)
        await services.offsets.commit(entries)
    except Refusal as refusal:
        return OffsetCommitResponse(commit_answers(request.topics, {}, refusal.code))
    return OffsetCommitResponse(commit_answers(request.topics, refused))


def check_commit(services: Services, group_id: str, member_id: str, instance_id: str | None, generation: int) -> None:
    """Raises a Refusal unless the member may commit, by the rules of its group's protocol."""
    found = services.consumer_groups.get(group_id)
    if found is not None:
        found.check_commit(member_id, generation)
    elif generation >= 0 and services.groups.is_gone(group_id) and services.offsets.committed.of_group(group_id):
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no members")
    else:
        services.groups.check_commit(group_id, member_id, instance_id, generation, services.monotonic_ms())


def offsets_to_commit(
    services: Services, call: Call, group_id: str, topics: Iterable[CommitTopic]
) -> tuple[dict[OffsetKey, CommittedOffset], dict[OffsetKey, ErrorCode]]:
    """What can be committed, and what cannot and why. Raises a Refusal when there are too many groups."""
    known = services.offsets.committed.groups()
    if group_id not in known and len(known) >= services.config.groups_max:
        raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {services.config.groups_max} groups")
    entries: dict[OffsetKey, CommittedOffset] = {}
    refused: dict[OffsetKey, ErrorCode] = {}
    for topic in topics:
        for partition in topic.partitions:
            key = OffsetKey(group_id, topic.name, partition.partition_index)
            code = _commit_problem(services, call, topic.name, partition)
            if code is ErrorCode.NONE:
                entries[key] = CommittedOffset(
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.committed_metadata or "",
                    services.clock(),
                )
            else:
                refused[key] = code
    return entries, refused


def _commit_problem(services: Services, call: Call, topic: str, entry: CommitPartition) -> ErrorCode:
    if not call.allows(Operation.READ, topic_resource(topic)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if len((entry.committed_metadata or "").encode()) > services.config.offset_metadata_bytes_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    known = services.store.topics.get(topic)
    if known is None or not 0 <= entry.partition_index < len(known.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def commit_answers(
    topics: Iterable[CommitTopic], refused: dict[OffsetKey, ErrorCode], otherwise: ErrorCode = ErrorCode.NONE
) -> tuple[CommittedTopic, ...]:
    codes = {(key.topic, key.partition): code for key, code in refused.items()}
    return tuple(
        CommittedTopic(
            topic.name,
            tuple(
                CommittedPartition(p.partition_index, codes.get((topic.name, p.partition_index), otherwise))
                for p in topic.partitions
            ),
        )
        for topic in topics
    )


def offset_fetch(services: Services, call: Call, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if call.version >= 8:
        groups = tuple(_fetched_group(services, call, entry, request.require_stable) for entry in request.groups)
        return OffsetFetchResponse(groups=groups)
    only = _fetched_group(services, call, OffsetFetchGroup(request.group_id, request.topics), request.require_stable)
    return OffsetFetchResponse(topics=only.topics, error_code=only.error_code)


def _fetched_group(
    services: Services, call: Call, wanted: OffsetFetchGroup, require_stable: bool
) -> FetchedGroupOffsets:
    try:
        call.require(Operation.DESCRIBE, group(wanted.group_id))
        found = services.consumer_groups.get(wanted.group_id)
        if found is not None and wanted.member_id:
            found.check_commit(wanted.member_id, wanted.member_epoch)
    except Refusal as refusal:
        return FetchedGroupOffsets(wanted.group_id, (), refusal.code)
    topics = wanted.topics
    if topics is None:
        everything = _all_topics(services, wanted.group_id)
        topics = tuple(t for t in everything if call.allows(Operation.DESCRIBE, topic_resource(t.name)))
    return FetchedGroupOffsets(
        wanted.group_id,
        tuple(
            FetchedTopicOffsets(
                topic.name,
                tuple(
                    _fetched(services, call, OffsetKey(wanted.group_id, topic.name, index), require_stable)
                    for index in topic.partition_indexes
                ),
            )
            for topic in topics
        ),
    )


def _all_topics(services: Services, group_id: str) -> tuple[OffsetFetchTopic, ...]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in services.offsets.committed.of_group(group_id):
        by_topic.setdefault(topic, []).append(index)
    return tuple(OffsetFetchTopic(topic, tuple(indexes)) for topic, indexes in by_topic.items())


def _fetched(services: Services, call: Call, key: OffsetKey, require_stable: bool) -> FetchedOffset:
    if not call.allows(Operation.DESCRIBE, topic_resource(key.topic)):
        return FetchedOffset(key.partition, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if require_stable and services.transactions.transactions.has_pending_offset(key):
        return FetchedOffset(key.partition, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    committed = services.offsets.committed.get(key)
    if committed is None:
        return FetchedOffset(key.partition)
    return FetchedOffset(key.partition, committed.offset, committed.leader_epoch, committed.metadata)

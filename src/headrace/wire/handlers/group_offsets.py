"""OffsetCommit, OffsetFetch: how far groups have come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.offsets import CommittedOffset, OffsetKey
from headrace.wire.messages.offsets import (
    CommitPartition,
    CommittedPartition,
    CommittedTopic,
    CommitTopic,
    FetchedGroupOffsets,
    FetchedOffset,
    FetchedTopicOffsets,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
)
from headrace.wire.security.resources import Operation, group
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import Call, Services

# Topics have ids instead of names from here on.
BY_ID_SINCE: Final = 10


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
        topics = tuple(_named(services, topic) for topic in request.topics)
        entries, refused = offsets_to_commit(services, call, request.group_id, topics)
        await services.offsets.commit(entries)
    except Refusal as refusal:
        return OffsetCommitResponse(commit_answers(request.topics, {}, refusal.code))
    return OffsetCommitResponse(commit_answers(topics, refused))


Named = TypeVar("Named", CommitTopic, OffsetFetchTopic)


def _named(services: Services, topic: Named) -> Named:
    """With the name of the topic where only its id was given; none when no topic has that id."""
    return topic if topic.topic_id is None else topic._replace(name=services.store.name_of(topic.topic_id) or "")


def check_commit(services: Services, group_id: str, member_id: str, instance_id: str | None, generation: int) -> None:
    """Raises a Refusal unless the member may commit, by the rules of its group's protocol."""
    found = services.consumer_groups.get(group_id)
    if found is not None:
        found.check_commit(member_id, generation)
    elif generation >= 0 and services.groups.is_gone(group_id) and services.offsets.committed.of_group(group_id):
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no members")
    else:
        services.groups.check_commit(group_id, member_id, instance_id, generation, services.listening_ms())


def offsets_to_commit(
    services: Services, call: Call, group_id: str, topics: Iterable[CommitTopic]
) -> tuple[dict[OffsetKey, CommittedOffset], dict[OffsetKey, ErrorCode]]:
    """What can be committed, and what cannot and why. Raises a Refusal when there are too many groups."""
    services.group_room.check(group_id)
    entries: dict[OffsetKey, CommittedOffset] = {}
    refused: dict[OffsetKey, ErrorCode] = {}
    for topic in topics:
        for partition in topic.partitions:
            key = OffsetKey(group_id, topic.name, partition.partition_index)
            code = _commit_problem(services, call, topic, partition)
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


def _commit_problem(services: Services, call: Call, topic: CommitTopic, entry: CommitPartition) -> ErrorCode:
    if topic.topic_id is not None and not topic.name:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not call.allows(Operation.READ, topic_resource(topic.name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if len((entry.committed_metadata or "").encode()) > services.config.offset_metadata_bytes_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    known = services.store.topics.get(topic.name)
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
            topic.topic_id,
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
    if topics is not None:
        topics = tuple(_named(services, topic) for topic in topics)
    else:
        everything = _all_topics(services, wanted.group_id)
        topics = tuple(t for t in everything if call.allows(Operation.DESCRIBE, topic_resource(t.name)))
        if call.version >= BY_ID_SINCE:
            topics = tuple(t for t in topics if t.topic_id is not None)
    return FetchedGroupOffsets(
        wanted.group_id,
        tuple(
            FetchedTopicOffsets(
                topic.name,
                tuple(
                    _fetched(services, call, OffsetKey(wanted.group_id, topic.name, index), require_stable)
                    for index in topic.partition_indexes
                ),
                topic.topic_id,
            )
            for topic in topics
        ),
    )


def _all_topics(services: Services, group_id: str) -> tuple[OffsetFetchTopic, ...]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in services.offsets.committed.of_group(group_id):
        by_topic.setdefault(topic, []).append(index)
    known = services.store.topics
    return tuple(
        OffsetFetchTopic(topic, tuple(indexes), known[topic].topic_id if topic in known else None)
        for topic, indexes in by_topic.items()
    )


def _fetched(services: Services, call: Call, key: OffsetKey, require_stable: bool) -> FetchedOffset:
    if not key.topic and call.version >= BY_ID_SINCE:
        return FetchedOffset(key.partition, error_code=ErrorCode.UNKNOWN_TOPIC_ID)
    if not call.allows(Operation.DESCRIBE, topic_resource(key.topic)):
        return FetchedOffset(key.partition, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if require_stable and services.transactions.transactions.has_pending_offset(key):
        return FetchedOffset(key.partition, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    committed = services.offsets.committed.get(key)
    if committed is None:
        return FetchedOffset(key.partition)
    return FetchedOffset(key.partition, committed.offset, committed.leader_epoch, committed.metadata)

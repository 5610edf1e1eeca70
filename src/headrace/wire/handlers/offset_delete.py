"""OffsetDelete: forget what a group committed for some partitions."""

from __future__ import annotations

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.offsets import OffsetKey
from headrace.wire.messages.offsets import (
    CommittedPartition,
    CommittedTopic,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
)
from headrace.wire.security.resources import Operation, group, topic
from headrace.wire.services import Call, Services


async def offset_delete(services: Services, call: Call, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Offsets of topics that a member reads are kept: it would commit them again."""
    group_id = request.group_id
    try:
        call.require(Operation.DELETE, group(group_id))
        populated = services.groups.has_members(group_id) or services.consumer_groups.has_members(group_id)
        if not populated and not services.offsets.committed.of_group(group_id):
            raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND)
        codes = {entry.name: _problem(services, call, group_id, entry.name) for entry in request.topics}
        gone = [
            OffsetKey(group_id, entry.name, partition.partition_index)
            for entry in request.topics
            if codes[entry.name] is ErrorCode.NONE
            for partition in entry.partitions
        ]
        await services.offsets.forget(gone)
    except Refusal as refusal:
        return OffsetDeleteResponse(refusal.code)
    return OffsetDeleteResponse(ErrorCode.NONE, tuple(_answer(entry, codes[entry.name]) for entry in request.topics))


def _problem(services: Services, call: Call, group_id: str, name: str) -> ErrorCode:
    if not call.allows(Operation.READ, topic(name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if name not in services.store.topics:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    newer = services.consumer_groups.get(group_id)
    if newer is not None and any(name in member.wanted for member in newer.members.values()):
        return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    if services.groups.is_subscribed(group_id, name):
        return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    return ErrorCode.NONE


def _answer(entry: OffsetDeleteTopic, code: ErrorCode) -> CommittedTopic:
    return CommittedTopic(
        entry.name, tuple(CommittedPartition(partition.partition_index, code) for partition in entry.partitions)
    )

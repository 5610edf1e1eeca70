"""ConsumerGroupHeartbeat, ConsumerGroupDescribe."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.consumer_group import JOINS, ConsumerGroup, ConsumerMember, Report
from headrace.wire.coordinators.groups import check_group_id
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.coordinators.transactions import TopicPartition
from headrace.wire.messages.consumer_groups import (
    AssignedTopic,
    Assignment,
    DescribedAssignment,
    DescribedGroup,
    DescribedMember,
    DescribedTopic,
    DescribeRequest,
    DescribeResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from headrace.wire.security.resources import Operation, group, topic
from headrace.wire.services import Call, Services


def heartbeat(
    services: Services, call: Call, request: HeartbeatRequest
) -> HeartbeatResponse | Coroutine[Any, Any, HeartbeatResponse]:
    """Answered at once where nothing changed, else when the change is on disk."""
    groups = services.consumer_groups
    try:
        call.require(Operation.READ, group(request.group_id))
        for name in request.subscribed_topic_names or ():
            call.require(Operation.DESCRIBE, topic(name))
        check_group_id(request.group_id)
        if services.groups.has_members(request.group_id):
            raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"{request.group_id!r} is a group of the classic protocol")
        if request.member_epoch == JOINS:
            services.group_room.check(request.group_id)
        identity = ClientIdentity(call.client_id, call.client_host)
        told = groups.heartbeat(request.group_id, _report(services, request), identity, services.listening_ms())
        services.group_service.write(request.group_id)
    except Refusal as refusal:
        return HeartbeatResponse(refusal.code, refusal.message or None)
    services.wake_ticker()
    assignment = None if told.assignment is None else Assignment(_assigned(services, told.assignment))
    interval_ms = groups.heartbeat_interval_ms(request.group_id)
    answer = HeartbeatResponse(ErrorCode.NONE, None, told.member_id, told.epoch, interval_ms, assignment)
    if services.group_service.is_durable(request.group_id):
        return answer
    return _once_durable(services, request.group_id, answer)


async def _once_durable(services: Services, group_id: str, answer: HeartbeatResponse) -> HeartbeatResponse:
    try:
        await services.group_service.durable(group_id)
    except Refusal as refusal:
        return HeartbeatResponse(refusal.code, refusal.message or None)
    return answer


def _report(services: Services, request: HeartbeatRequest) -> Report:
    member_id = request.member_id
    if not member_id:
        if request.member_epoch != JOINS:
            raise Refusal(ErrorCode.INVALID_REQUEST, "the member id is empty")
        member_id = services.consumer_groups.new_member_id()
    names = request.subscribed_topic_names
    return Report(
        member_id,
        request.member_epoch,
        request.instance_id,
        request.rack_id,
        request.rebalance_timeout_ms if request.rebalance_timeout_ms >= 0 else None,
        None if names is None else frozenset(names),
        request.subscribed_topic_regex,
        request.server_assignor,
        None if request.topic_partitions is None else _owned(services, request.topic_partitions),
    )


def _owned(services: Services, topics: Iterable[AssignedTopic]) -> frozenset[TopicPartition]:
    """Topics that were deleted meanwhile are owned by nobody."""
    named = [(services.store.name_of(entry.topic_id), entry) for entry in topics if entry.topic_id is not None]
    return frozenset((name, index) for name, entry in named if name is not None for index in entry.partitions)


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for name, index in sorted(partitions):
        found[name] = (*found.get(name, ()), index)
    return found


def _assigned(services: Services, partitions: Iterable[TopicPartition]) -> tuple[AssignedTopic, ...]:
    topics = services.store.topics
    return tuple(
        AssignedTopic(topics[name].topic_id, indexes)
        for name, indexes in _by_topic(partitions).items()
        if name in topics
    )


def describe(services: Services, call: Call, request: DescribeRequest) -> DescribeResponse:
    described = (_described(services, call, group_id) for group_id in request.group_ids)
    if request.include_authorized_operations:
        described = (
            entry._replace(authorized_operations=call.access.operations(group(entry.group_id))) for entry in described
        )
    return DescribeResponse(tuple(described))


def _described(services: Services, call: Call, group_id: str) -> DescribedGroup:
    try:
        call.require(Operation.DESCRIBE, group(group_id))
        found = services.consumer_groups.get(group_id)
        if found is None:
            raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"no group {group_id!r} of the newer protocol")
    except Refusal as refusal:
        return DescribedGroup(refusal.code, group_id, refusal.message)
    return DescribedGroup(
        ErrorCode.NONE,
        group_id,
        None,
        found.state,
        found.epoch,
        found.epoch,
        found.assignor,
        tuple(_member(services, found, member) for member in found.members.values()),
    )


def _member(services: Services, found: ConsumerGroup, member: ConsumerMember) -> DescribedMember:
    return DescribedMember(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.epoch,
        member.identity.client_id,
        member.identity.client_host,
        tuple(sorted(member.topics)),
        member.regex or None,
        _shown(services, member.assigned),
        _shown(services, found.target[member.member_id]),
    )


def _shown(services: Services, partitions: Iterable[TopicPartition]) -> DescribedAssignment:
    topics = services.store.topics
    return DescribedAssignment(
        tuple(
            DescribedTopic(topics[name].topic_id, name, indexes)
            for name, indexes in _by_topic(partitions).items()
            if name in topics
        )
    )

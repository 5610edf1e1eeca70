"""Consumer groups: requests to the state machines, and their late answers back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.group import GroupState
from headrace.wire.coordinators.groups import MemberIdRequired
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.messages.groups import (
    DeletedGroup,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    LeftMember,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from headrace.wire.security.resources import CLUSTER, Operation, group
from headrace.wire.services import Call, Services

# From this version on a client is told its member id before it joins.
_MEMBER_ID_REQUIRED_SINCE = 4
# From this version on a client says what it believes the group agreed on.
_AGREED_REQUIRED_SINCE = 5
_EMPTY = GroupState.EMPTY.value

Answer = TypeVar("Answer")


async def join_group(services: Services, call: Call, request: JoinGroupRequest) -> JoinGroupResponse:
    """Answered when the whole group has joined."""
    waiting: asyncio.Future[JoinGroupResponse] = asyncio.get_running_loop().create_future()
    identity = ClientIdentity(call.client_id, call.client_host)
    required = call.version >= _MEMBER_ID_REQUIRED_SINCE
    try:
        call.require(Operation.READ, group(request.group_id))
        if services.consumer_groups.has_members(request.group_id):
            raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "the group speaks the newer protocol")
        services.group_room.check(request.group_id)
        services.groups.join(
            request, identity, services.listening_ms(), _replying(waiting), member_id_required=required
        )
    except MemberIdRequired as refusal:
        return JoinGroupResponse(refusal.code, member_id=refusal.member_id)
    except Refusal as refusal:
        return JoinGroupResponse(refusal.code, member_id=request.member_id)
    services.wake_ticker()
    services.group_service.save_soon([request.group_id])
    answer = await waiting
    try:
        # A static member that came back takes its place in a group that goes on.
        await services.group_service.settled(request.group_id)
    except Refusal as refusal:
        return JoinGroupResponse(refusal.code, member_id=request.member_id)
    return answer


def _replying(waiting: asyncio.Future[Answer]) -> Callable[[Answer], None]:
    """The member's connection may be gone by the time its group has agreed."""

    def reply(answer: Answer) -> None:
        if not waiting.done():
            waiting.set_result(answer)

    return reply


async def sync_group(services: Services, call: Call, request: SyncGroupRequest) -> SyncGroupResponse:
    """Answered when the leader has brought the assignment and it is on disk."""
    waiting: asyncio.Future[SyncGroupResponse] = asyncio.get_running_loop().create_future()
    try:
        call.require(Operation.READ, group(request.group_id))
        if call.version >= _AGREED_REQUIRED_SINCE and None in (request.protocol_type, request.protocol_name):
            raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "protocol type and name are missing")
        services.groups.existing(request.group_id).sync(request, services.listening_ms(), _replying(waiting))
        services.group_service.write(request.group_id)
        answer = await waiting
        if answer.error_code is ErrorCode.NONE:
            await services.group_service.durable(request.group_id)
    except Refusal as refusal:
        return SyncGroupResponse(refusal.code)
    return answer


def heartbeat(services: Services, call: Call, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        call.require(Operation.READ, group(request.group_id))
        services.groups.existing(request.group_id).heartbeat(
            request.member_id, request.group_instance_id, request.generation_id, services.listening_ms()
        )
    except Refusal as refusal:
        return HeartbeatResponse(refusal.code)
    return HeartbeatResponse(ErrorCode.NONE)


async def leave_group(services: Services, call: Call, request: LeaveGroupRequest) -> LeaveGroupResponse:
    """Answered when it is on disk that they are gone."""
    if not call.allows(Operation.READ, group(request.group_id)):
        return LeaveGroupResponse(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    members = request.members if call.version >= 3 else (LeavingMember(request.member_id),)
    left = tuple(_left(services, request.group_id, member) for member in members)
    try:
        await services.group_service.durable(request.group_id)
    except Refusal as refusal:
        return LeaveGroupResponse(refusal.code)
    return LeaveGroupResponse(ErrorCode.NONE, left) if call.version >= 3 else LeaveGroupResponse(left[0].error_code)


def _left(services: Services, group_id: str, member: LeavingMember) -> LeftMember:
    code = ErrorCode.NONE
    try:
        existing = services.groups.existing(group_id)
        existing.leave(member.member_id, member.group_instance_id, services.listening_ms())
    except Refusal as refusal:
        code = refusal.code
    return LeftMember(member.member_id, member.group_instance_id, code)


def list_groups(services: Services, call: Call, request: ListGroupsRequest) -> ListGroupsResponse:
    """Groups with members, and those of which only committed offsets are left."""
    listed = {group_id: ListedGroup(group_id, "consumer", _EMPTY) for group_id in services.offsets.committed.groups()}
    listed.update({entry.group_id: entry for entry in services.groups.listed()})
    newer = services.consumer_groups.all()
    listed.update({g.group_id: ListedGroup(g.group_id, "consumer", g.state, "consumer") for g in newer})
    states = {name.lower() for name in request.states_filter}
    types = {name.lower() for name in request.types_filter}
    sees_all = call.allows(Operation.DESCRIBE, CLUSTER)
    wanted = (
        entry
        for entry in listed.values()
        if (not states or entry.group_state.lower() in states)
        and (not types or entry.group_type in types)
        and (sees_all or call.allows(Operation.DESCRIBE, group(entry.group_id)))
    )
    return ListGroupsResponse(ErrorCode.NONE, tuple(wanted))


def describe_groups(services: Services, call: Call, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    described = (_described(services, call, group_id) for group_id in request.groups)
    if request.include_authorized_operations:
        described = (_with_operations(call, entry) for entry in described)
    return DescribeGroupsResponse(tuple(described))


def _with_operations(call: Call, described: DescribedGroup) -> DescribedGroup:
    if described.error_code is not ErrorCode.NONE:
        return described
    return described._replace(authorized_operations=call.access.operations(group(described.group_id)))


def _described(services: Services, call: Call, group_id: str) -> DescribedGroup:
    try:
        call.require(Operation.DESCRIBE, group(group_id))
    except Refusal as refusal:
        return DescribedGroup(refusal.code, group_id, "", error_message=refusal.message)
    described = services.groups.described(group_id)
    if described is not None:
        return described
    if services.offsets.committed.of_group(group_id):
        return DescribedGroup(ErrorCode.NONE, group_id, _EMPTY, "consumer")
    if call.version >= 6:
        return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, group_id, error_message=f"no group {group_id!r}")
    return DescribedGroup(ErrorCode.NONE, group_id)


async def delete_groups(services: Services, call: Call, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Only what a group committed outlives its members, so that is what is deleted."""
    return DeleteGroupsResponse(tuple([await _deleted(services, call, group_id) for group_id in request.groups_names]))


async def _deleted(services: Services, call: Call, group_id: str) -> DeletedGroup:
    if not call.allows(Operation.DELETE, group(group_id)):
        return DeletedGroup(group_id, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    services.groups.drop_if_empty(group_id)
    if services.groups.has_members(group_id) or services.consumer_groups.has_members(group_id):
        return DeletedGroup(group_id, ErrorCode.NON_EMPTY_GROUP)
    if not services.offsets.committed.of_group(group_id):
        return DeletedGroup(group_id, ErrorCode.GROUP_ID_NOT_FOUND)
    try:
        await services.offsets.forget_group(group_id)
    except Refusal as refusal:
        return DeletedGroup(group_id, refusal.code)
    return DeletedGroup(group_id, ErrorCode.NONE)

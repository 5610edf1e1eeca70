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
from headrace.wire.services import Call, Services

# From this version on a client is told its member id before it joins.
_MEMBER_ID_REQUIRED_SINCE = 4
_EMPTY = GroupState.EMPTY.value

Answer = TypeVar("Answer")


async def join_group(services: Services, call: Call, request: JoinGroupRequest) -> JoinGroupResponse:
    """Answered when the whole group has joined."""
    waiting: asyncio.Future[JoinGroupResponse] = asyncio.get_running_loop().create_future()
    identity = ClientIdentity(call.client_id, call.client_host)
    required = call.version >= _MEMBER_ID_REQUIRED_SINCE
    try:
        services.groups.join(
            request, identity, services.monotonic_ms(), _replying(waiting), member_id_required=required
        )
    except MemberIdRequired as refusal:
        return JoinGroupResponse(refusal.code, member_id=refusal.member_id)
    except Refusal as refusal:
        return JoinGroupResponse(refusal.code, member_id=request.member_id)
    services.wake_ticker()
    return await waiting


def _replying(waiting: asyncio.Future[Answer]) -> Callable[[Answer], None]:
    """The member's connection may be gone by the time its group has agreed."""

    def reply(answer: Answer) -> None:
        if not waiting.done():
            waiting.set_result(answer)

    return reply


async def sync_group(services: Services, call: Call, request: SyncGroupRequest) -> SyncGroupResponse:
    """Answered when the leader has brought the assignment."""
    waiting: asyncio.Future[SyncGroupResponse] = asyncio.get_running_loop().create_future()
    try:
        services.groups.existing(request.group_id).sync(request, services.monotonic_ms(), _replying(waiting))
    except Refusal as refusal:
        return SyncGroupResponse(refusal.code)
    return await waiting


def heartbeat(services: Services, call: Call, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        services.groups.existing(request.group_id).heartbeat(
            request.member_id, request.group_instance_id, request.generation_id, services.monotonic_ms()
        )
    except Refusal as refusal:
        return HeartbeatResponse(refusal.code)
    return HeartbeatResponse(ErrorCode.NONE)


def leave_group(services: Services, call: Call, request: LeaveGroupRequest) -> LeaveGroupResponse:
    if call.version < 3:
        return LeaveGroupResponse(_left(services, request.group_id, LeavingMember(request.member_id)).error_code)
    return LeaveGroupResponse(
        ErrorCode.NONE, tuple(_left(services, request.group_id, member) for member in request.members)
    )


def _left(services: Services, group_id: str, member: LeavingMember) -> LeftMember:
    code = ErrorCode.NONE
    try:
        group = services.groups.existing(group_id)
        group.leave(member.member_id, member.group_instance_id, services.monotonic_ms())
    except Refusal as refusal:
        code = refusal.code
    return LeftMember(member.member_id, member.group_instance_id, code)


def list_groups(services: Services, call: Call, request: ListGroupsRequest) -> ListGroupsResponse:
    """Groups with members, and those of which only committed offsets are left."""
    listed = {group_id: ListedGroup(group_id, "consumer", _EMPTY) for group_id in services.offsets.committed.groups()}
    listed.update({group.group_id: group for group in services.groups.listed()})
    states = {name.lower() for name in request.states_filter}
    types = {name.lower() for name in request.types_filter}
    wanted = (
        group
        for group in listed.values()
        if (not states or group.group_state.lower() in states) and (not types or group.group_type in types)
    )
    return ListGroupsResponse(ErrorCode.NONE, tuple(wanted))


def describe_groups(services: Services, call: Call, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(tuple(_described(services, call, group_id) for group_id in request.groups))


def _described(services: Services, call: Call, group_id: str) -> DescribedGroup:
    described = services.groups.described(group_id)
    if described is not None:
        return described
    if services.offsets.committed.of_group(group_id):
        return DescribedGroup(ErrorCode.NONE, group_id, _EMPTY, "consumer")
    code = ErrorCode.GROUP_ID_NOT_FOUND if call.version >= 6 else ErrorCode.NONE
    return DescribedGroup(code, group_id)


async def delete_groups(services: Services, call: Call, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Only what a group committed outlives its members, so that is what is deleted."""
    return DeleteGroupsResponse(tuple([await _deleted(services, group_id) for group_id in request.groups_names]))


async def _deleted(services: Services, group_id: str) -> DeletedGroup:
    services.groups.drop_if_empty(group_id)
    if services.groups.has_members(group_id):
        return DeletedGroup(group_id, ErrorCode.NON_EMPTY_GROUP)
    if not services.offsets.committed.of_group(group_id):
        return DeletedGroup(group_id, ErrorCode.GROUP_ID_NOT_FOUND)
    try:
        await services.offsets.forget_group(group_id)
    except Refusal as refusal:
        return DeletedGroup(group_id, refusal.code)
    return DeletedGroup(group_id, ErrorCode.NONE)

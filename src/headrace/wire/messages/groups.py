"""Consumer groups: joining, agreeing on an assignment, staying alive, leaving, and being looked at."""

from __future__ import annotations

from typing import NamedTuple

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.cluster import OPERATIONS_UNKNOWN


class JoinProtocol(NamedTuple):
    name: str
    metadata: bytes


class JoinGroupRequest(NamedTuple):
    group_id: str
    session_timeout_ms: int
    member_id: str
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    rebalance_timeout_ms: int = -1
    group_instance_id: str | None = None
    reason: str | None = None


class JoinedMember(NamedTuple):
    member_id: str
    metadata: bytes
    group_instance_id: str | None = None


class JoinGroupResponse(NamedTuple):
    error_code: ErrorCode
    generation_id: int = -1
    protocol_name: str | None = ""
    leader: str = ""
    member_id: str = ""
    members: tuple[JoinedMember, ...] = ()
    protocol_type: str | None = None
    skip_assignment: bool = False


class MemberAssignment(NamedTuple):
    member_id: str
    assignment: bytes


class SyncGroupRequest(NamedTuple):
    group_id: str
    generation_id: int
    member_id: str
    assignments: tuple[MemberAssignment, ...]
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None


class SyncGroupResponse(NamedTuple):
    error_code: ErrorCode
    assignment: bytes = b""
    protocol_type: str | None = None
    protocol_name: str | None = None


class HeartbeatRequest(NamedTuple):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None


class HeartbeatResponse(NamedTuple):
    error_code: ErrorCode


class LeavingMember(NamedTuple):
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


class LeaveGroupRequest(NamedTuple):
    """Versions below 3 name one member, later ones several."""

    group_id: str
    member_id: str = ""
    members: tuple[LeavingMember, ...] = ()


class LeftMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    error_code: ErrorCode


class LeaveGroupResponse(NamedTuple):
    error_code: ErrorCode
    members: tuple[LeftMember, ...] = ()


class ListGroupsRequest(NamedTuple):
    states_filter: tuple[str, ...] = ()
    types_filter: tuple[str, ...] = ()


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str
    group_state: str = ""
    group_type: str = "classic"


class ListGroupsResponse(NamedTuple):
    error_code: ErrorCode
    groups: tuple[ListedGroup, ...]


class DescribeGroupsRequest(NamedTuple):
    groups: tuple[str, ...]
    include_authorized_operations: bool = False


class DescribedMember(NamedTuple):
    member_id: str
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes
    group_instance_id: str | None = None


class DescribedGroup(NamedTuple):
    error_code: ErrorCode
    group_id: str
    group_state: str = "Dead"
    protocol_type: str = ""
    protocol_data: str = ""
    members: tuple[DescribedMember, ...] = ()
    error_message: str | None = None
    authorized_operations: int = OPERATIONS_UNKNOWN


class DescribeGroupsResponse(NamedTuple):
    groups: tuple[DescribedGroup, ...]


class DeleteGroupsRequest(NamedTuple):
    groups_names: tuple[str, ...]


class DeletedGroup(NamedTuple):
    group_id: str
    error_code: ErrorCode


class DeleteGroupsResponse(NamedTuple):
    results: tuple[DeletedGroup, ...]

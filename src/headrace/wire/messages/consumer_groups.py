"""Consumer groups whose assignment the broker makes: one request to join, stay, report and leave."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.cluster import OPERATIONS_UNKNOWN


class AssignedTopic(NamedTuple):
    topic_id: UUID | None
    partitions: tuple[int, ...]


class HeartbeatRequest(NamedTuple):
    """Fields that are None did not change since the last one."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: tuple[AssignedTopic, ...] | None = None


class Assignment(NamedTuple):
    topic_partitions: tuple[AssignedTopic, ...]


class HeartbeatResponse(NamedTuple):
    """`assignment` None: it did not change."""

    error_code: ErrorCode
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


class DescribeRequest(NamedTuple):
    group_ids: tuple[str, ...]
    include_authorized_operations: bool = False


class DescribedTopic(NamedTuple):
    topic_id: UUID | None
    topic_name: str
    partitions: tuple[int, ...]


class DescribedAssignment(NamedTuple):
    topic_partitions: tuple[DescribedTopic, ...]


class DescribedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    assignment: DescribedAssignment
    target_assignment: DescribedAssignment
    # 1: a member of this protocol, 0: of the classic one.
    member_type: int = 1


class DescribedGroup(NamedTuple):
    error_code: ErrorCode
    group_id: str
    error_message: str | None = None
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: tuple[DescribedMember, ...] = ()
    authorized_operations: int = OPERATIONS_UNKNOWN


class DescribeResponse(NamedTuple):
    groups: tuple[DescribedGroup, ...]

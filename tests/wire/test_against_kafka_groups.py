"""Questions about groups and their offsets, to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from headrace.wire import protocol
from headrace.wire.asking import DEADLINE_MS, RETRY_S, Asker, asking, names
from headrace.wire.client.connection import Deadline
from headrace.wire.messages import cluster, consumer_groups, groups, offsets
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow


def groups_of_the_classic_kind(ask: Asker) -> Any:
    ask.create("grouped")

    def join(member: str, version: int = 9, session_ms: int = 30_000, group: str = "classic") -> Any:
        protocols = (groups.JoinProtocol("range", b"\0\0\0\0\0\1\0\7grouped\xff\xff\xff\xff"),)
        request = groups.JoinGroupRequest(group, session_ms, member, "consumer", protocols, 30_000)
        return ask(protocol.JOIN_GROUP, request, version)

    first = join("")
    told = [names(first), names(join("unknown")), names(join("", session_ms=1)), names(join("", group=""))]
    joined = join(first.member_id)
    told.append([*names(joined), joined.generation_id, joined.protocol_name, joined.leader == joined.member_id])
    assigned = (groups.MemberAssignment(joined.member_id, b"mine"),)
    synced = ask(protocol.SYNC_GROUP, groups.SyncGroupRequest("classic", 1, joined.member_id, assigned))
    told.append(names(synced))
    agreed = {"protocol_type": "consumer", "protocol_name": "range"}
    request = groups.SyncGroupRequest("classic", 1, joined.member_id, assigned, **agreed)
    synced = ask(protocol.SYNC_GROUP, request)
    told.append([*names(synced), synced.assignment])
    for member, generation in ((joined.member_id, 1), (joined.member_id, 5), ("other", 1)):
        told.append(names(ask(protocol.HEARTBEAT, groups.HeartbeatRequest("classic", generation, member))))

    def commit(
        member: str, generation: int, group: str = "classic", metadata: str = "x", topic: str = "grouped"
    ) -> Any:
        entry = offsets.CommitTopic(topic, (offsets.CommitPartition(0, 5, metadata),))
        return names(ask(protocol.OFFSET_COMMIT, offsets.OffsetCommitRequest(group, (entry,), generation, member)))

    told += [
        commit(joined.member_id, 1),
        commit(joined.member_id, 9),
        commit("", -1),
        commit("", -1, "simple"),
        commit("", 4, "simple"),
        commit("", -1, "simple", "m" * 5000),
        commit("", -1, "simple", topic="no-such"),
    ]

    def described(name: str) -> Any:
        (found,) = ask(protocol.DESCRIBE_GROUPS, groups.DescribeGroupsRequest((name,)), 6).groups
        # Of a group that never had members Kafka knows no type; here every group without members is a consumers' one.
        kind = None if name == "simple" else found.protocol_type
        return names(found), found.group_state, kind, found.protocol_data, len(found.members)

    told += [described("classic"), described("simple"), described("no-such")]
    delete = groups.DeleteGroupsRequest(("classic", "simple", "no-such"))
    told.append(names(ask(protocol.DELETE_GROUPS, delete)))
    leave = groups.LeaveGroupRequest("classic", members=(groups.LeavingMember(joined.member_id),))
    told += [names(ask(protocol.LEAVE_GROUP, leave)), names(ask(protocol.LEAVE_GROUP, leave)), described("classic")]
    return told


def groups_of_the_newer_kind(ask: Asker) -> Any:
    ask.create("spread", 2)

    def beat(member: str, epoch: int, **fields: Any) -> Any:
        return ask(
            protocol.CONSUMER_GROUP_HEARTBEAT, consumer_groups.HeartbeatRequest("modern", member, epoch, **fields), 1
        )

    whole = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ("spread",), "topic_partitions": ()}
    told = [
        names(beat("m1", 0, **{**whole, "server_assignor": "odd"})),
        names(beat("m1", 0, **{**whole, "subscribed_topic_names": None, "subscribed_topic_regex": "("})),
        names(beat("m1", 0, rebalance_timeout_ms=1000)),
    ]
    deadline = Deadline(DEADLINE_MS)
    joined = beat("m1", 0, **whole)
    while (joined.assignment is None or not joined.assignment.topic_partitions) and deadline.left_s() > 0:
        time.sleep(RETRY_S)
        joined = beat("m1", 0, **whole)  # Kafka learns of the new topic a moment later
    indexes = joined.assignment.topic_partitions[0].partitions
    told += [names(joined), sorted(indexes), names(beat("m1", joined.member_epoch + 5))]

    def described(name: str) -> Any:
        (found,) = ask(protocol.CONSUMER_GROUP_DESCRIBE, consumer_groups.DescribeRequest((name,))).groups
        return names(found), found.group_state, found.assignor_name, len(found.members)

    told += [described("modern"), described("no-such"), names(beat("m2", 3))]
    left = beat("m1", -1)
    return [*told, names(left), left.member_epoch, names(beat("m1", -1))]


def deleting_offsets(ask: Asker) -> Any:
    gone = offsets.OffsetDeleteTopic("no-such", (offsets.DeletedOffsetPartition(1),))
    return names(ask(protocol.OFFSET_DELETE, offsets.OffsetDeleteRequest("no-such", (gone,))))[:1]


def finding_coordinators(ask: Asker) -> Any:
    def tried(kind: int) -> list[str]:
        request = cluster.FindCoordinatorRequest(key_type=kind, coordinator_keys=("a", "b"))
        return [c.error_code.name for c in ask(protocol.FIND_COORDINATOR, request).coordinators]

    return tried(0), tried(1)


@pytest.mark.parametrize(
    "ask",
    [groups_of_the_classic_kind, groups_of_the_newer_kind, deleting_offsets, finding_coordinators],
    ids=lambda ask: ask.__name__,
)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Callable[[Asker], Any]) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)

"""The group's state machine, with time and members made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.group import GroupLimits, GroupState
from headrace.wire.coordinators.groups import Groups, GroupsLimits, MemberIdRequired
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.messages.groups import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinProtocol,
    MemberAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)

IDENTITY = ClientIdentity("client", "127.0.0.1")
SESSION_MS = 10_000
REBALANCE_MS = 30_000


def make_groups(rebalance_delay_ms: int = 0, members_max: int = 10) -> Groups:
    numbers = iter(range(1_000_000))
    limits = GroupsLimits(1_000, 100_000, GroupLimits(members_max, rebalance_delay_ms))
    return Groups(limits, lambda: str(next(numbers)))


@dataclass
class Peer:
    """A client of the group, as far as the protocol goes."""

    groups: Groups
    instance_id: str | None = None
    protocols: tuple[JoinProtocol, ...] = (JoinProtocol("range", b"topics"),)
    member_id: str = ""
    generation: int = -1
    assigned_generation: int = -1
    joins: list[JoinGroupResponse] = field(default_factory=list)
    syncs: list[SyncGroupResponse] = field(default_factory=list)

    def join(self, now_ms: int) -> None:
        request = JoinGroupRequest(
            "group", SESSION_MS, self.member_id, "consumer", self.protocols, REBALANCE_MS, self.instance_id
        )
        try:
            self.groups.join(request, IDENTITY, now_ms, self._joined, member_id_required=True)
        except MemberIdRequired as refusal:
            self.member_id = refusal.member_id
            self.join(now_ms)

    def _joined(self, response: JoinGroupResponse) -> None:
        self.joins.append(response)
        if response.error_code is ErrorCode.NONE:
            self.member_id, self.generation = response.member_id, response.generation_id
            self.assigned_generation = -1  # a join is always followed by a sync

    @property
    def leads(self) -> bool:
        return bool(self.joins) and self.joins[-1].leader == self.member_id

    def sync(self, now_ms: int) -> None:
        members = self.joins[-1].members if self.leads else ()
        assignments = tuple(MemberAssignment(member.member_id, member.member_id.encode()) for member in members)
        request = SyncGroupRequest("group", self.generation, self.member_id, assignments, self.instance_id)
        self.groups.existing("group").sync(request, now_ms, self._synced)

    def _synced(self, response: SyncGroupResponse) -> None:
        self.syncs.append(response)
        if response.error_code is ErrorCode.NONE:
            self.assigned_generation = self.generation

    def heartbeat(self, now_ms: int) -> ErrorCode:
        try:
            group = self.groups.existing("group")
            group.heartbeat(self.member_id, self.instance_id, self.generation, now_ms)
        except Refusal as refusal:
            return refusal.code
        return ErrorCode.NONE

    @property
    def waits(self) -> bool:
        """A request of this peer is not answered yet."""
        try:
            member = self.groups.existing("group").members.get(self.member_id)
        except Refusal:
            return False
        return member is not None and member.waits

    def leave(self, now_ms: int) -> None:
        self.groups.existing("group").leave(self.member_id, self.instance_id, now_ms)


def pair() -> tuple[Groups, Peer, Peer]:
    """Two members in a stable group: the first leads."""
    groups = make_groups(rebalance_delay_ms=50)
    first, second = Peer(groups), Peer(groups)
    first.join(0)
    second.join(0)
    groups.tick(50)
    second.sync(50)
    first.sync(50)
    return groups, first, second


def test_the_leader_assigns_and_everybody_learns_its_share() -> None:
    groups, first, second = pair()
    assert (first.leads, second.leads) == (True, False)
    assert {member.member_id for member in first.joins[0].members} == {first.member_id, second.member_id}
    assert second.joins[0].members == ()
    for peer in (first, second):
        assert [answer.assignment for answer in peer.syncs] == [peer.member_id.encode()]
        assert peer.heartbeat(100) is ErrorCode.NONE
    assert groups.existing("group").state is GroupState.STABLE


def test_a_new_group_waits_a_little_for_more_members() -> None:
    groups = make_groups(rebalance_delay_ms=100)
    peer = Peer(groups)
    peer.join(0)
    groups.tick(99)
    assert peer.joins == []
    groups.tick(100)
    assert [answer.generation_id for answer in peer.joins] == [1]


def test_a_newcomer_makes_the_others_join_again() -> None:
    groups, first, second = pair()
    third = Peer(groups)
    third.join(200)
    assert first.heartbeat(210) is ErrorCode.REBALANCE_IN_PROGRESS
    first.join(220)
    assert len(first.joins) == 1, "the second member is still awaited"
    second.join(230)
    assert [peer.generation for peer in (first, second, third)] == [2, 2, 2]


def test_a_member_that_does_not_join_again_in_time_is_left_out() -> None:
    groups, first, second = pair()
    third = Peer(groups)
    third.join(200)
    first.join(210)
    assert second.heartbeat(REBALANCE_MS) is ErrorCode.REBALANCE_IN_PROGRESS
    groups.tick(200 + REBALANCE_MS)
    assert (first.generation, third.generation) == (2, 2)
    assert second.heartbeat(REBALANCE_MS + 300) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_silent_member_is_removed_and_the_others_rebalance() -> None:
    groups, first, second = pair()
    first.heartbeat(9_000)
    groups.tick(50 + SESSION_MS)
    assert second.member_id not in groups.existing("group").members
    assert first.heartbeat(10_100) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_leader_that_never_brings_the_assignment_is_removed() -> None:
    groups = make_groups(rebalance_delay_ms=50)
    first, second = Peer(groups), Peer(groups)
    first.join(0)
    second.join(0)
    groups.tick(50)
    second.sync(60)
    for now_ms in range(5_000, REBALANCE_MS + 10_000, 5_000):
        first.heartbeat(now_ms)
        groups.tick(now_ms)
    assert [answer.error_code for answer in second.syncs] == [ErrorCode.REBALANCE_IN_PROGRESS]
    second.join(REBALANCE_MS + 20_000)
    assert second.leads


def test_leaving_takes_effect_at_once() -> None:
    groups, first, second = pair()
    first.leave(100)
    assert second.heartbeat(110) is ErrorCode.REBALANCE_IN_PROGRESS
    second.join(120)
    assert second.leads
    second.sync(130)
    second.leave(140)
    assert groups.existing("group").state is GroupState.EMPTY
    assert groups.tick(150) == ["group"], "it stays until it is written down that it is empty"
    groups.existing("group").unsaved = False
    assert groups.tick(200) == []
    assert groups.idle, "a group without members is forgotten"


def test_stale_generations_and_strangers_are_refused() -> None:
    groups, first, _ = pair()
    group = groups.existing("group")
    with pytest.raises(Refusal, match="ILLEGAL_GENERATION"):
        group.heartbeat(first.member_id, None, 0, 100)
    with pytest.raises(Refusal, match="UNKNOWN_MEMBER_ID"):
        group.heartbeat("stranger", None, 1, 100)
    with pytest.raises(Refusal, match="UNKNOWN_MEMBER_ID"):
        groups.check_commit("group", "", None, -1, 100)
    with pytest.raises(Refusal, match="ILLEGAL_GENERATION"):
        groups.check_commit("other", "member", None, 3, 100)
    groups.check_commit("group", first.member_id, None, 1, 100)
    groups.check_commit("free", "", None, -1, 100)


def test_members_that_share_no_protocol_are_refused() -> None:
    groups, _, _ = pair()
    with pytest.raises(Refusal, match="INCONSISTENT_GROUP_PROTOCOL"):
        Peer(groups, protocols=(JoinProtocol("sticky", b""),)).join(100)


def test_the_protocol_that_most_prefer_is_chosen() -> None:
    groups = make_groups(rebalance_delay_ms=50)
    both = [JoinProtocol("range", b"r"), JoinProtocol("sticky", b"s")]
    peers = [Peer(groups, protocols=tuple(both[::order])) for order in (1, -1, -1)]
    for peer in peers:
        peer.join(0)
    groups.tick(50)
    assert {peer.joins[0].protocol_name for peer in peers} == {"sticky"}
    assert {member.metadata for member in peers[0].joins[0].members} == {b"s"}


def test_a_static_member_comes_back_without_a_rebalance_and_fences_its_past() -> None:
    groups = make_groups(rebalance_delay_ms=50)
    first, second = Peer(groups, "one"), Peer(groups, "two")
    first.join(0)
    second.join(0)
    groups.tick(50)
    second.sync(50)
    first.sync(50)
    held = second.syncs[0].assignment
    back = Peer(groups, "two")
    back.join(100)
    assert back.joins[0].generation_id == 1
    back.sync(110)
    assert back.syncs[0].assignment == held
    assert first.heartbeat(120) is ErrorCode.NONE
    assert second.heartbeat(120) is ErrorCode.FENCED_INSTANCE_ID


def test_members_and_sessions_have_limits() -> None:
    groups = make_groups(members_max=2)
    for _ in range(2):
        Peer(groups).join(0)
    with pytest.raises(Refusal, match="GROUP_MAX_SIZE_REACHED"):
        Peer(groups).join(0)
    with pytest.raises(Refusal, match="INVALID_SESSION_TIMEOUT"):
        groups.join(JoinGroupRequest("g", 1, "", "consumer", ()), IDENTITY, 0, print, member_id_required=False)
    with pytest.raises(Refusal, match="INVALID_GROUP_ID"):
        groups.existing("")


def test_a_promised_id_that_is_never_used_holds_nobody_back() -> None:
    groups = make_groups()
    ghost = JoinGroupRequest("group", SESSION_MS, "", "consumer", (JoinProtocol("range", b""),), REBALANCE_MS)
    with pytest.raises(MemberIdRequired):
        groups.join(ghost, IDENTITY, 0, print, member_id_required=True)
    peer = Peer(groups)
    peer.join(0)
    assert peer.joins == []
    groups.tick(SESSION_MS)
    assert len(peer.joins) == 1


@given(st.integers(0, 2**32), st.integers(2, 5))
@settings(max_examples=150)
def test_whatever_members_do_the_group_comes_to_rest(seed: int, count: int) -> None:
    """Random joins, leaves, silences and delays; then everybody behaves, and all hold a share of one generation."""
    choice = Random(seed)
    groups = make_groups(choice.choice([0, 50]))
    peers = [Peer(groups, instance_id=choice.choice([None, f"static-{n}"])) for n in range(count)]
    now_ms = 0
    for _ in range(choice.randrange(60)):
        now_ms += choice.choice([1, 10, 100, 3_000])
        _act(choice, choice.choice(peers), now_ms)
        groups.tick(now_ms)
    for _ in range(200):
        now_ms += 500
        groups.tick(now_ms)
        for peer in peers:
            _behave(peer, now_ms)
    group = groups.existing("group")
    assert group.state is GroupState.STABLE
    assert set(group.members) == {peer.member_id for peer in peers}
    for peer in peers:
        assert peer.heartbeat(now_ms) is ErrorCode.NONE
        assert peer.syncs[-1].error_code is ErrorCode.NONE
        assert peer.generation == group.generation
    assert sum(peer.leads for peer in peers) == 1


def _act(choice: Random, peer: Peer, now_ms: int) -> None:
    try:
        choice.choice([peer.join, peer.join, peer.sync, peer.heartbeat, peer.leave])(now_ms)
    except Refusal as refusal:
        _take(peer, refusal.code)
    except IndexError:
        pass  # a sync before any answer to a join


def _take(peer: Peer, code: ErrorCode) -> None:
    if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
        peer.member_id, peer.generation = "", -1


def _behave(peer: Peer, now_ms: int) -> None:
    """One step of a client that keeps to the protocol."""
    if peer.waits:
        return
    try:
        code = peer.heartbeat(now_ms)
        _take(peer, code)
        if code is not ErrorCode.NONE:
            peer.join(now_ms)
        elif peer.assigned_generation != peer.generation:
            peer.sync(now_ms)
    except Refusal as refusal:
        _take(peer, refusal.code)

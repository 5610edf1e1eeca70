"""One consumer group: members join, one of them assigns, all stay alive by heartbeats, until someone comes or goes.

Empty ──join──▶ PreparingRebalance ──all joined, or time is up──▶ CompletingRebalance ──leader synced──▶ Stable
  ▲                   ▲   ▲                                              │                              │
  └──all gone─────────┘   └──────────── join, leave, expiry ─────────────┴──────────────────────────────┘
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.agreement import check_protocols, preferred_protocol
from headrace.wire.coordinators.group_records import GroupSnapshot, MemberSnapshot
from headrace.wire.coordinators.member import ClientIdentity, JoinReply, Member, SyncReply
from headrace.wire.messages.groups import (
    JoinedMember,
    JoinGroupRequest,
    JoinGroupResponse,
    JoinProtocol,
    SyncGroupRequest,
    SyncGroupResponse,
)


class GroupState(Enum):
    """Values are the names that tools show."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True)
class GroupLimits:
    members_max: int
    rebalance_delay_ms: int


class Group:
    """Every request is answered exactly once: by the method's result, by a Refusal it raises, or later by its reply."""

    def __init__(self, group_id: str, limits: GroupLimits, generation: int = 0) -> None:
        """`generation`: the last one of a group of this name, so that none is decided a second time."""
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.generation = generation
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, Member] = {}
        # The snapshot may have changed since this was last set to False.
        self.unsaved = False
        self._limits = limits
        self._static_ids: dict[str, str] = {}
        # Ids handed out to clients that have not joined with them yet, and when each expires.
        self._promised: dict[str, int] = {}
        self._complete_not_before_ms = 0
        self._deadline_ms = 0
        self._settled_generation = 0

    # -- requests -----------------------------------------------------------------------------------------------

    def promise_member_id(self, member_id: str, session_timeout_ms: int, now_ms: int) -> None:
        """A client must join again with this id, so that a lost answer leaves no ghost member behind."""
        self._check_size()
        self._promised[member_id] = now_ms + session_timeout_ms

    def join(
        self, request: JoinGroupRequest, member_id: str, identity: ClientIdentity, now_ms: int, reply: JoinReply
    ) -> None:
        """`member_id` is that of the request, or a new one. The reply comes when the group has agreed, or at once."""
        others = [member for member in self.members.values() if member.member_id != member_id]
        check_protocols(request, self.protocol_type, others)
        known = self._known_member(request, member_id)
        if known is None:
            self._add(request, member_id, identity, now_ms, reply)
        elif known.member_id != member_id:
            self._replace_static(known, request, member_id, now_ms, reply)
        else:
            self._rejoin(known, request, now_ms, reply)
        self._complete_join_if_ready(now_ms)

    def sync(self, request: SyncGroupRequest, now_ms: int, reply: SyncReply) -> None:
        """The leader brings the assignment, the others wait for it."""
        member = self._member(request.member_id, request.group_instance_id)
        self._check_generation(request.generation_id)
        self._check_agreed(request)
        if self.state is GroupState.PREPARING:
            raise Refusal(ErrorCode.REBALANCE_IN_PROGRESS)
        member.keep_alive(now_ms)
        member.answer_sync(SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_reply = reply
        if self.state is GroupState.COMPLETING and member.member_id == self.leader_id:
            self._assign({entry.member_id: entry.assignment for entry in request.assignments}, now_ms)
        elif self.state is GroupState.STABLE:
            self._answer_assignment(member)

    def heartbeat(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> None:
        """Raises a Refusal when the member must join again."""
        member = self._member(member_id, instance_id)
        self._check_generation(generation)
        member.keep_alive(now_ms)
        if self.state is GroupState.PREPARING:
            raise Refusal(ErrorCode.REBALANCE_IN_PROGRESS)

    def leave(self, member_id: str, instance_id: str | None, now_ms: int) -> None:
        if self._promised.pop(member_id, None) is not None:
            self._complete_join_if_ready(now_ms)
            return
        if instance_id is not None and not member_id:
            member_id = self._static_ids.get(instance_id, "")
        member = self._member(member_id, instance_id)
        self._remove(member, ErrorCode.UNKNOWN_MEMBER_ID)
        self._rebalance(now_ms)

    def check_commit(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> None:
        """Called before offsets are committed. Raises a Refusal unless the member holds the current assignment."""
        if generation < 0 and not member_id and self.state is GroupState.EMPTY:
            return
        member = self._member(member_id, instance_id)
        self._check_generation(generation)
        member.keep_alive(now_ms)
        if self.state is GroupState.COMPLETING:
            raise Refusal(ErrorCode.REBALANCE_IN_PROGRESS)

    def tick(self, now_ms: int) -> None:
        """Called often: members that went silent are removed, and a rebalance does not wait for ever."""
        promised = [member_id for member_id, expires_at_ms in self._promised.items() if expires_at_ms <= now_ms]
        for member_id in promised:
            del self._promised[member_id]
        silent = [member for member in self.members.values() if not member.waits and member.expires_at_ms <= now_ms]
        if self.state is GroupState.COMPLETING and self._deadline_ms <= now_ms:
            silent = [member for member in self.members.values() if member.sync_reply is None]
        for member in silent:
            self._remove(member, ErrorCode.UNKNOWN_MEMBER_ID)
        if silent:
            self._rebalance(now_ms)
        self._complete_join_if_ready(now_ms)

    @property
    def idle(self) -> bool:
        """Nothing here depends on the time."""
        return not self.members and not self._promised

    # -- what outlives the broker -------------------------------------------------------------------------------

    def snapshot(self) -> GroupSnapshot | None:
        """The last assignment that was agreed on; None while nobody is left who was told one.

        During a rebalance it has no leader: whoever reads it must have the members join again.
        """
        settled = tuple(self._member_snapshot(member) for member in self.members.values() if member.settled)
        if not settled:
            return None
        leader_id = self.leader_id if self.state is GroupState.STABLE else None
        return GroupSnapshot(self.protocol_type or "", self._settled_generation, self.protocol_name, leader_id, settled)

    def _member_snapshot(self, member: Member) -> MemberSnapshot:
        return MemberSnapshot(
            member.member_id,
            member.instance_id,
            member.identity.client_id,
            member.identity.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata_for(self.protocol_name),
            member.assignment,
        )

    def restore(self, snapshot: GroupSnapshot, now_ms: int) -> None:
        """Called once, before any request: the group as its snapshot tells; everybody's time begins anew."""
        for kept in snapshot.members:
            member = _restored(kept, snapshot.protocol_name, now_ms)
            self.members[member.member_id] = member
            if member.instance_id is not None:
                self._static_ids[member.instance_id] = member.member_id
        self.generation = self._settled_generation = snapshot.generation
        self.protocol_type, self.protocol_name = snapshot.protocol_type, snapshot.protocol_name
        self.leader_id = snapshot.leader_id
        self.state = GroupState.STABLE
        if snapshot.leader_id not in self.members:
            self._rebalance(now_ms)
        self.unsaved = False

    # -- membership ---------------------------------------------------------------------------------------------

    def _known_member(self, request: JoinGroupRequest, member_id: str) -> Member | None:
        if request.group_instance_id is not None and request.group_instance_id in self._static_ids:
            known = self.members[self._static_ids[request.group_instance_id]]
            if request.member_id and request.member_id != known.member_id:
                raise Refusal(ErrorCode.FENCED_INSTANCE_ID)
            return known
        if member_id in self.members:
            return self.members[member_id]
        if request.member_id and request.member_id not in self._promised:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        return None

    def _check_size(self) -> None:
        if len(self.members) + len(self._promised) >= self._limits.members_max:
            raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, f"at most {self._limits.members_max} members")

    def _add(
        self, request: JoinGroupRequest, member_id: str, identity: ClientIdentity, now_ms: int, reply: JoinReply
    ) -> None:
        if self._promised.pop(member_id, None) is None:
            self._check_size()
        member = Member(
            member_id=member_id,
            instance_id=request.group_instance_id,
            identity=identity,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=_rebalance_timeout_ms(request),
            protocols=request.protocols,
            expires_at_ms=now_ms + request.session_timeout_ms,
            join_reply=reply,
        )
        if not self.members:
            self.protocol_type = request.protocol_type
        self.members[member_id] = member
        if member.instance_id is not None:
            self._static_ids[member.instance_id] = member_id
        self._rebalance(now_ms)

    def _replace_static(
        self, known: Member, request: JoinGroupRequest, member_id: str, now_ms: int, reply: JoinReply
    ) -> None:
        """A static member came back under a new id: its assignment stays, and nobody else is disturbed."""
        known.refuse_all(ErrorCode.FENCED_INSTANCE_ID)
        unchanged = self._wants_the_same(known, request)
        previous_id, known.member_id = known.member_id, member_id
        self.members = {member.member_id: member for member in self.members.values()}
        self._static_ids[known.instance_id or ""] = member_id
        was_leader = self.leader_id == previous_id
        if was_leader:
            self.leader_id = member_id
        self._update(known, request, now_ms)
        self.unsaved = True
        if self.state is GroupState.STABLE and unchanged:
            reply(self._joined(known, skip_assignment=was_leader))
        else:
            known.join_reply = reply
            self._rebalance(now_ms)

    def _rejoin(self, member: Member, request: JoinGroupRequest, now_ms: int, reply: JoinReply) -> None:
        unchanged = self._wants_the_same(member, request)
        leads = member.member_id == self.leader_id
        self._update(member, request, now_ms)
        # A repeated join means that the answer was lost; a leader's join in a stable group asks for a rebalance.
        repeated = self.state is GroupState.COMPLETING or (self.state is GroupState.STABLE and not leads)
        if repeated and unchanged:
            reply(self._joined(member))
            return
        member.answer_join(JoinGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id))
        member.join_reply = reply
        self._rebalance(now_ms)

    def _wants_the_same(self, member: Member, request: JoinGroupRequest) -> bool:
        if not member.restored:
            return member.protocols == request.protocols
        return any(member.protocols == (protocol,) for protocol in request.protocols)

    def _update(self, member: Member, request: JoinGroupRequest, now_ms: int) -> None:
        member.protocols, member.restored = request.protocols, False
        member.session_timeout_ms = request.session_timeout_ms
        member.rebalance_timeout_ms = _rebalance_timeout_ms(request)
        member.keep_alive(now_ms)

    def _remove(self, member: Member, code: ErrorCode) -> None:
        del self.members[member.member_id]
        self.unsaved = True
        if member.instance_id is not None:
            self._static_ids.pop(member.instance_id, None)
        member.refuse_all(code)

    def _member(self, member_id: str, instance_id: str | None) -> Member:
        if instance_id is not None and self._static_ids.get(instance_id, member_id) != member_id:
            raise Refusal(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def _check_generation(self, generation: int) -> None:
        if generation != self.generation:
            raise Refusal(ErrorCode.ILLEGAL_GENERATION, f"the group's generation is {self.generation}")

    def _check_agreed(self, request: SyncGroupRequest) -> None:
        wrong_type = request.protocol_type not in (None, self.protocol_type)
        if wrong_type or request.protocol_name not in (None, self.protocol_name):
            raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    # -- rebalancing --------------------------------------------------------------------------------------------

    def _rebalance(self, now_ms: int) -> None:
        """Everybody must join again, except those whose join already waits."""
        if self.state is not GroupState.PREPARING:
            delay_ms = self._limits.rebalance_delay_ms if self.state is GroupState.EMPTY else 0
            self._complete_not_before_ms = now_ms + delay_ms
            self._deadline_ms = now_ms + max(self._longest_rebalance_ms(), delay_ms)
            self.state = GroupState.PREPARING
            self.unsaved = True
        for member in self.members.values():
            member.answer_sync(SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS))
        self._complete_join_if_ready(now_ms)

    def _longest_rebalance_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def _complete_join_if_ready(self, now_ms: int) -> None:
        if self.state is not GroupState.PREPARING or now_ms < self._complete_not_before_ms:
            return
        all_joined = not self._promised and all(member.join_reply is not None for member in self.members.values())
        if all_joined or now_ms >= self._deadline_ms:
            self._complete_join(now_ms)

    def _complete_join(self, now_ms: int) -> None:
        absent = [member for member in self.members.values() if member.join_reply is None]
        for member in absent:
            # A static member keeps its place until its session ends: that is what its instance id is for.
            if member.instance_id is None or len(absent) == len(self.members):
                self._remove(member, ErrorCode.UNKNOWN_MEMBER_ID)
        self.generation += 1
        if not self.members:
            self.state, self.protocol_name, self.leader_id = GroupState.EMPTY, None, None
            return
        self.state = GroupState.COMPLETING
        self.protocol_name = preferred_protocol(self.members.values())
        self._choose_leader()
        self._deadline_ms = now_ms + self._longest_rebalance_ms()
        for member in self.members.values():
            member.keep_alive(now_ms)
            member.answer_join(self._joined(member))

    def _choose_leader(self) -> None:
        leader = self.members.get(self.leader_id or "")
        if leader is None or leader.join_reply is None:
            self.leader_id = next(member.member_id for member in self.members.values() if member.join_reply is not None)

    def _joined(self, member: Member, *, skip_assignment: bool = False) -> JoinGroupResponse:
        return JoinGroupResponse(
            ErrorCode.NONE,
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            leader=self.leader_id or "",
            member_id=member.member_id,
            members=self._member_list() if member.member_id == self.leader_id else (),
            skip_assignment=skip_assignment,
        )

    def _member_list(self) -> tuple[JoinedMember, ...]:
        return tuple(
            JoinedMember(member.member_id, member.metadata_for(self.protocol_name), member.instance_id)
            for member in self.members.values()
        )

    def _assign(self, assignments: dict[str, bytes], now_ms: int) -> None:
        self.state = GroupState.STABLE
        self._settled_generation = self.generation
        self.unsaved = True
        for member in self.members.values():
            member.settled = True
            member.assignment = assignments.get(member.member_id, b"")
            member.keep_alive(now_ms)
            self._answer_assignment(member)

    def _answer_assignment(self, member: Member) -> None:
        member.answer_sync(SyncGroupResponse(ErrorCode.NONE, member.assignment, self.protocol_type, self.protocol_name))


def _restored(kept: MemberSnapshot, protocol_name: str | None, now_ms: int) -> Member:
    """Of the protocols it knows only the one that was agreed on is kept."""
    return Member(
        member_id=kept.member_id,
        instance_id=kept.instance_id,
        identity=ClientIdentity(kept.client_id, kept.client_host),
        session_timeout_ms=kept.session_timeout_ms,
        rebalance_timeout_ms=kept.rebalance_timeout_ms,
        protocols=() if protocol_name is None else (JoinProtocol(protocol_name, kept.subscription),),
        expires_at_ms=now_ms + kept.session_timeout_ms,
        assignment=kept.assignment,
        settled=True,
        restored=True,
    )


def _rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    return request.rebalance_timeout_ms if request.rebalance_timeout_ms > 0 else request.session_timeout_ms

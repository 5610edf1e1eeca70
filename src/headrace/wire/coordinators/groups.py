"""All groups of the broker."""

from __future__ import annotations

from collections.abc import Callable, KeysView
from dataclasses import dataclass

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.group import Group, GroupLimits, GroupState
from headrace.wire.coordinators.group_records import GroupSnapshot
from headrace.wire.coordinators.member import ClientIdentity, JoinReply
from headrace.wire.coordinators.subscription import subscribed_topics
from headrace.wire.messages.groups import DescribedGroup, DescribedMember, JoinGroupRequest, ListedGroup


@dataclass(frozen=True, slots=True)
class GroupsLimits:
    session_timeout_ms_min: int
    session_timeout_ms_max: int
    group: GroupLimits


class Groups:
    """Groups that have members, or are about to. Offsets of a group are kept elsewhere and outlive it."""

    def __init__(
        self, limits: GroupsLimits, new_id: Callable[[], str], last_generation: Callable[[str], int] = lambda _: 0
    ) -> None:
        """`last_generation`: of a group that had members before, as far as it is remembered."""
        self._limits = limits
        self._new_id = new_id
        self._last_generation = last_generation
        self._groups: dict[str, Group] = {}

    @property
    def idle(self) -> bool:
        """Nothing here depends on the time."""
        return not self._groups

    def tick(self, now_ms: int) -> list[str]:
        """Groups that have to be saved. One without members stays until that is done."""
        for group in tuple(self._groups.values()):
            group.tick(now_ms)
            self.drop_if_empty(group.group_id)
        return [group.group_id for group in self._groups.values() if group.unsaved]

    def restore(self, group_id: str, snapshot: GroupSnapshot, now_ms: int) -> None:
        """Called before any request, for each group that was kept."""
        self._groups[group_id] = Group(group_id, self._limits.group)
        self._groups[group_id].restore(snapshot, now_ms)

    def get(self, group_id: str) -> Group | None:
        return self._groups.get(group_id)

    def ids(self) -> KeysView[str]:
        return self._groups.keys()

    def join(
        self,
        request: JoinGroupRequest,
        identity: ClientIdentity,
        now_ms: int,
        reply: JoinReply,
        *,
        member_id_required: bool,
    ) -> None:
        """`member_id_required`: a client without an id is first given one, to join again with."""
        self._check_session_timeout(request.session_timeout_ms)
        group = self._groups.get(request.group_id)
        if group is None:
            if request.member_id:
                raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
            group = self._add(request.group_id)
        member_id = request.member_id or f"{identity.client_id}-{self._new_id()}"
        if member_id_required and not request.member_id and request.group_instance_id is None:
            group.promise_member_id(member_id, request.session_timeout_ms, now_ms)
            raise MemberIdRequired(member_id)
        group.join(request, member_id, identity, now_ms, reply)

    def _check_session_timeout(self, session_timeout_ms: int) -> None:
        least, most = self._limits.session_timeout_ms_min, self._limits.session_timeout_ms_max
        if not least <= session_timeout_ms <= most:
            raise Refusal(ErrorCode.INVALID_SESSION_TIMEOUT, f"{least} to {most} ms")

    def _add(self, group_id: str) -> Group:
        check_group_id(group_id)
        self._groups[group_id] = Group(group_id, self._limits.group, self._last_generation(group_id))
        return self._groups[group_id]

    def existing(self, group_id: str) -> Group:
        """Raises a Refusal in the words that make a member join again."""
        check_group_id(group_id)
        group = self._groups.get(group_id)
        if group is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        return group

    def check_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> None:
        """Called before offsets are committed. A consumer without a group's protocol commits with generation -1."""
        check_group_id(group_id)
        group = self._groups.get(group_id)
        if group is not None:
            group.check_commit(member_id, instance_id, generation, now_ms)
        elif generation >= 0:
            raise Refusal(ErrorCode.ILLEGAL_GENERATION)

    def drop_if_empty(self, group_id: str) -> None:
        """Not waiting for the next tick, so that a deleted group is gone at once."""
        group = self._groups.get(group_id)
        if group is not None and group.idle and not group.unsaved:
            del self._groups[group_id]

    def is_gone(self, group_id: str) -> bool:
        """Nobody is in the group or about to join it."""
        return group_id not in self._groups

    def has_members(self, group_id: str) -> bool:
        return group_id in self._groups and bool(self._groups[group_id].members)

    def is_subscribed(self, group_id: str, topic: str) -> bool:
        """Whether a member wants to read the topic, as far as its protocol lets the broker see."""
        group = self._groups.get(group_id)
        return group is not None and any(topic in subscribed_topics(member) for member in group.members.values())

    def listed(self) -> tuple[ListedGroup, ...]:
        return tuple(
            ListedGroup(group.group_id, group.protocol_type or "", group.state.value) for group in self._groups.values()
        )

    def described(self, group_id: str) -> DescribedGroup | None:
        group = self._groups.get(group_id)
        if group is None:
            return None
        name = group.protocol_name if group.state is GroupState.STABLE else None
        members = tuple(
            DescribedMember(
                member.member_id,
                member.identity.client_id,
                member.identity.client_host,
                member.metadata_for(name),
                member.assignment if name else b"",
                member.instance_id,
            )
            for member in group.members.values()
        )
        state, kind = group.state.value, group.protocol_type or ""
        return DescribedGroup(ErrorCode.NONE, group_id, state, kind, name or "", members)


def check_group_id(group_id: str) -> None:
    if not group_id:
        raise Refusal(ErrorCode.INVALID_GROUP_ID, "the group id is empty")


class MemberIdRequired(Refusal):
    """The client must join again with the id given here."""

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        super().__init__(ErrorCode.MEMBER_ID_REQUIRED)

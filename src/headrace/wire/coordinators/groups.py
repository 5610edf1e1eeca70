"""All groups of the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.group import Group, GroupLimits, GroupState
from headrace.wire.coordinators.member import ClientIdentity, JoinReply
from headrace.wire.messages.groups import DescribedGroup, DescribedMember, JoinGroupRequest, ListedGroup


@dataclass(frozen=True, slots=True)
class GroupsLimits:
    groups_max: int
    session_timeout_ms_min: int
    session_timeout_ms_max: int
    group: GroupLimits


class Groups:
    """Groups by id. One exists from the first join or committed offset on, until it is deleted or has neither."""

    def __init__(self, limits: GroupsLimits, new_id: Callable[[], str]) -> None:
        self._limits = limits
        self._new_id = new_id
        self._groups: dict[str, Group] = {}

    @property
    def idle(self) -> bool:
        """No group depends on the time."""
        return all(group.idle for group in self._groups.values())

    def tick(self, now_ms: int) -> None:
        for group in self._groups.values():
            group.tick(now_ms)

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
            group = self.ensure(request.group_id)
        member_id = request.member_id or f"{identity.client_id}-{self._new_id()}"
        if member_id_required and not request.member_id and request.group_instance_id is None:
            group.promise_member_id(member_id, request.session_timeout_ms, now_ms)
            raise MemberIdRequired(member_id)
        group.join(request, member_id, identity, now_ms, reply)

    def _check_session_timeout(self, session_timeout_ms: int) -> None:
        least, most = self._limits.session_timeout_ms_min, self._limits.session_timeout_ms_max
        if not least <= session_timeout_ms <= most:
            raise Refusal(ErrorCode.INVALID_SESSION_TIMEOUT, f"{least} to {most} ms")

    def ensure(self, group_id: str) -> Group:
        """The group, made if need be. Raises a Refusal for an empty id, or when there are too many."""
        if not group_id:
            raise Refusal(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        if group_id not in self._groups:
            if len(self._groups) >= self._limits.groups_max:
                raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {self._limits.groups_max} groups")
            self._groups[group_id] = Group(group_id, self._limits.group)
        return self._groups[group_id]

    def existing(self, group_id: str) -> Group:
        """Raises a Refusal in the words that make a member join again."""
        if not group_id:
            raise Refusal(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._groups.get(group_id)
        if group is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        return group

    def check_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> None:
        """Called before offsets are committed. A consumer without a group's protocol commits with generation -1."""
        group = self.ensure(group_id) if generation < 0 else self._groups.get(group_id)
        if group is None:
            raise Refusal(ErrorCode.ILLEGAL_GENERATION)
        group.check_commit(member_id, instance_id, generation, now_ms)

    def check_transactional_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> None:
        """As `check_commit`, but a producer that names no member is trusted: its transaction fences it."""
        if generation < 0 and not member_id:
            self.ensure(group_id)
            return
        self.check_commit(group_id, member_id, instance_id, generation, now_ms)

    def remove(self, group_id: str) -> None:
        """Raises a Refusal unless the group exists and has no members."""
        group = self._groups.get(group_id)
        if group is None:
            raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND)
        if group.members:
            raise Refusal(ErrorCode.NON_EMPTY_GROUP)
        del self._groups[group_id]

    def listed(self, states: Iterable[str], types: Iterable[str]) -> tuple[ListedGroup, ...]:
        """Those in one of the states and of one of the types; no names given means all."""
        wanted_states = {name.lower() for name in states}
        if (wanted_types := {name.lower() for name in types}) and "classic" not in wanted_types:
            return ()
        return tuple(
            ListedGroup(group.group_id, group.protocol_type or "", group.state.value)
            for group in self._groups.values()
            if not wanted_states or group.state.value.lower() in wanted_states
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


class MemberIdRequired(Refusal):
    """The client must join again with the id given here."""

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        super().__init__(ErrorCode.MEMBER_ID_REQUIRED)

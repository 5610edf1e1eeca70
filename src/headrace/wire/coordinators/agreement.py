"""How members of a group agree on a protocol: what all of them know, and most of them prefer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.member import Member
from headrace.wire.messages.groups import JoinGroupRequest


def check_protocols(request: JoinGroupRequest, protocol_type: str | None, others: Sequence[Member]) -> None:
    """Raises a Refusal when somebody who joins could not agree with the other members of a group of this type."""
    names = {protocol.name for protocol in request.protocols}
    if not request.protocol_type or not names:
        raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no protocol given")
    if not others:
        return
    if request.protocol_type != protocol_type:
        raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the group's protocol type is {protocol_type}")
    if not names.intersection(*(member.protocol_names() for member in others)):
        raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no protocol is common to all members")


def preferred_protocol(members: Iterable[Member]) -> str:
    """The protocol that most members prefer among those that all of them know. There is a member, and a common one."""
    names = [member.protocol_names() for member in members]
    common = set(names[0]).intersection(*names[1:])
    votes = Counter(next(name for name in own if name in common) for own in names)
    return votes.most_common(1)[0][0]

"""A member of a consumer group, and whom to answer when its group has agreed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.groups import JoinGroupResponse, JoinProtocol, SyncGroupResponse

JoinReply = Callable[[JoinGroupResponse], None]
SyncReply = Callable[[SyncGroupResponse], None]


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    client_id: str
    client_host: str


@dataclass(slots=True)
class Member:
    """`join_reply` and `sync_reply` are set while that request of the member waits for the others."""

    member_id: str
    instance_id: str | None
    identity: ClientIdentity
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[JoinProtocol, ...]
    expires_at_ms: int
    assignment: bytes = b""
    # It was there when the group last agreed on an assignment.
    settled: bool = False
    # It comes from before a restart: of its protocols only the one is known that was agreed on.
    restored: bool = False
    join_reply: JoinReply | None = None
    sync_reply: SyncReply | None = None

    @property
    def waits(self) -> bool:
        return self.join_reply is not None or self.sync_reply is not None

    def keep_alive(self, now_ms: int) -> None:
        self.expires_at_ms = now_ms + self.session_timeout_ms

    def protocol_names(self) -> list[str]:
        return [protocol.name for protocol in self.protocols]

    def metadata_for(self, protocol_name: str | None) -> bytes:
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")

    def answer_join(self, response: JoinGroupResponse) -> None:
        """The waiting join request, if there is one, is answered and forgotten."""
        reply, self.join_reply = self.join_reply, None
        if reply is not None:
            reply(response)

    def answer_sync(self, response: SyncGroupResponse) -> None:
        reply, self.sync_reply = self.sync_reply, None
        if reply is not None:
            reply(response)

    def refuse_all(self, code: ErrorCode) -> None:
        self.answer_join(JoinGroupResponse(code, member_id=self.member_id))
        self.answer_sync(SyncGroupResponse(code))

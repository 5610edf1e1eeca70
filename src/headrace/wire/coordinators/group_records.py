"""A classic group as a record of `__consumer_offsets`, in the layout of Kafka's own (GroupMetadataValue 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headrace.wire.coordinators.record_kinds import CLASSIC_GROUP, check_version, pack_key
from headrace.wire.packing import Reader, Writer

_VERSION: Final = 3
NO_TIME: Final = -1


@dataclass(frozen=True, slots=True)
class MemberSnapshot:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """What a group last agreed on. Without a leader its members have to join again."""

    protocol_type: str
    generation: int
    protocol_name: str | None
    leader_id: str | None
    members: tuple[MemberSnapshot, ...]
    # When the last member was gone; -1 while there is one.
    empty_since_ms: int = NO_TIME


def group_key(group_id: str) -> bytes:
    return pack_key(CLASSIC_GROUP, group_id)


def pack_group(snapshot: GroupSnapshot) -> bytes:
    writer = Writer()
    writer.int16(_VERSION)
    writer.string(snapshot.protocol_type)
    writer.int32(snapshot.generation)
    writer.string(snapshot.protocol_name)
    writer.string(snapshot.leader_id)
    writer.int64(snapshot.empty_since_ms)
    writer.array_length(len(snapshot.members))
    for member in snapshot.members:
        _pack_member(writer, member)
    return writer.getvalue()


def _pack_member(writer: Writer, member: MemberSnapshot) -> None:
    writer.string(member.member_id)
    writer.string(member.instance_id)
    writer.string(member.client_id)
    writer.string(member.client_host)
    writer.int32(member.rebalance_timeout_ms)
    writer.int32(member.session_timeout_ms)
    for content in (member.subscription, member.assignment):
        writer.bytes_length(len(content))
        writer.raw(content)


def unpack_group(raw: bytes) -> GroupSnapshot:
    """Raises Malformed, and Conflict for a later version."""
    reader = Reader(raw)
    check_version("a group", reader.int16(), _VERSION)
    protocol_type, generation = reader.string(), reader.int32()
    protocol_name, leader_id = reader.nullable_string(), reader.nullable_string()
    empty_since_ms = reader.int64()
    members = tuple(_unpack_member(reader) for _ in range(reader.array_length()))
    return GroupSnapshot(protocol_type, generation, protocol_name, leader_id, members, empty_since_ms)


def _unpack_member(reader: Reader) -> MemberSnapshot:
    return MemberSnapshot(
        reader.string(),
        reader.nullable_string(),
        reader.string(),
        reader.string(),
        reader.int32(),
        reader.int32(),
        bytes(reader.nullable_bytes() or b""),
        bytes(reader.nullable_bytes() or b""),
    )

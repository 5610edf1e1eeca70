"""A group of the newer protocol as records of `__consumer_offsets`, in the layouts of Kafka's own (all of version 0).

One record for the group's epoch and one for that of its target; three for each member: what it subscribes to, what it
shall have, what it has. So a heartbeat writes the records of one member, not those of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final
from uuid import UUID

from headrace.wire.coordinators.consumer_group import ConsumerGroup, ConsumerMember
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.coordinators.record_kinds import (
    CONSUMER_GROUP,
    CONSUMER_MEMBER,
    MEMBER_ASSIGNMENT,
    MEMBER_TARGET,
    TARGET,
    check_version,
    pack_key,
    unpack_key,
)
from headrace.wire.coordinators.transactions import TopicPartition
from headrace.wire.packing import Reader, Writer

_VERSION: Final = 0
# States of a member, for tools that read the topic; here they follow from the rest.
_STABLE: Final = 0
_REVOKING: Final = 1

TopicId = Callable[[str], UUID | None]
TopicName = Callable[[UUID], str | None]
Record = tuple[bytes, bytes | None]

KINDS: Final = (CONSUMER_GROUP, CONSUMER_MEMBER, TARGET, MEMBER_TARGET, MEMBER_ASSIGNMENT)


def epoch_key(group_id: str) -> bytes:
    return pack_key(CONSUMER_GROUP, group_id)


def changed_records(
    group_id: str,
    group: ConsumerGroup | None,
    member_ids: Iterable[str],
    known: Mapping[bytes, bytes],
    topic_id: TopicId,
) -> list[Record]:
    """What has to be written so that `known` tells of the group as it is; None: it is gone.

    `member_ids` are those who changed or are gone. A new target may be another one for everybody.
    """
    epoch = None if group is None else _pack_epoch(group.epoch)
    records: dict[bytes, bytes | None] = {epoch_key(group_id): epoch, pack_key(TARGET, group_id): epoch}
    if group is not None and known.get(epoch_key(group_id)) != epoch:
        records.update(_target_record(group_id, member_id, group, topic_id) for member_id in group.members)
    for member_id in member_ids:
        records.update(_member_records(group_id, member_id, group, topic_id))
    return [(key, value) for key, value in records.items() if known.get(key) != value]


def _member_records(group_id: str, member_id: str, group: ConsumerGroup | None, topic_id: TopicId) -> list[Record]:
    """None, or a group without that member: the member is gone."""
    member = None if group is None else group.members.get(member_id)
    keys = [pack_key(kind, group_id, member_id) for kind in (CONSUMER_MEMBER, MEMBER_ASSIGNMENT)]
    values = (None, None) if member is None else (_pack_member(member), _pack_assignment(member, topic_id))
    return [*zip(keys, values, strict=True), _target_record(group_id, member_id, group, topic_id)]


def _target_record(group_id: str, member_id: str, group: ConsumerGroup | None, topic_id: TopicId) -> Record:
    key = pack_key(MEMBER_TARGET, group_id, member_id)
    if group is None or member_id not in group.members:
        return key, None
    writer = _begun()
    _pack_partitions(writer, group.target[member_id], topic_id)
    writer.no_tagged_fields()
    return key, writer.getvalue()


def _begun() -> Writer:
    writer = Writer()
    writer.int16(_VERSION)
    return writer


def _pack_epoch(epoch: int) -> bytes:
    writer = _begun()
    writer.int32(epoch)
    writer.no_tagged_fields()
    return writer.getvalue()


def _pack_member(member: ConsumerMember) -> bytes:
    writer = _begun()
    for text in (member.instance_id, member.rack_id, member.identity.client_id, member.identity.client_host):
        writer.string(text, True)
    writer.array_length(len(member.topics), True)
    for topic in sorted(member.topics):
        writer.string(topic, True)
    writer.string(member.regex or None, True)
    writer.int32(member.rebalance_timeout_ms)
    writer.string(member.assignor or None, True)
    writer.no_tagged_fields()
    return writer.getvalue()


def _pack_assignment(member: ConsumerMember, topic_id: TopicId) -> bytes:
    writer = _begun()
    writer.int32(member.epoch)
    writer.int32(member.previous_epoch)
    writer.int8(_REVOKING if member.revoking else _STABLE)
    _pack_partitions(writer, member.assigned, topic_id)
    _pack_partitions(writer, member.revoking, topic_id)
    writer.no_tagged_fields()
    return writer.getvalue()


def _pack_partitions(writer: Writer, partitions: Iterable[TopicPartition], topic_id: TopicId) -> None:
    """Topics by their ids, so that a new topic of an old name is another one. Those that are gone have none."""
    topics: dict[UUID, list[int]] = {}
    for name, index in sorted(partitions):
        found = topic_id(name)
        if found is not None:
            topics.setdefault(found, []).append(index)
    writer.array_length(len(topics), True)
    for found, indexes in topics.items():
        writer.raw(found.bytes)
        writer.array_length(len(indexes), True)
        for index in indexes:
            writer.int32(index)
        writer.no_tagged_fields()


# -- and back ---------------------------------------------------------------------------------------------------


def restore_groups(
    records: Mapping[bytes, bytes], make: Callable[[str], ConsumerGroup], topic_name: TopicName, now_ms: int
) -> dict[str, ConsumerGroup]:
    """Groups as they were when the records were written; everybody's time begins anew.

    Raises Malformed, and Conflict for a later version.
    """
    found: dict[str, ConsumerGroup] = {}
    for key in records:
        kind, names = unpack_key(key)
        if kind == CONSUMER_MEMBER:
            group = found.setdefault(names[0], make(names[0]))
            group.members[names[1]] = _unpack_member(names[1], records[key])
    for group_id, group in found.items():
        epoch = records.get(epoch_key(group_id))
        group.epoch = 0 if epoch is None else _opened("a group's epoch", epoch).int32()
        for member_id, member in group.members.items():
            _unpack_assignment(member, records.get(pack_key(MEMBER_ASSIGNMENT, group_id, member_id)), topic_name)
            target = records.get(pack_key(MEMBER_TARGET, group_id, member_id))
            group.target[member_id] = _unpack_target(target, topic_name)
        group.restored(now_ms)
    return found


def _opened(what: str, raw: bytes) -> Reader:
    reader = Reader(raw)
    check_version(what, reader.int16(), _VERSION)
    return reader


def _unpack_member(member_id: str, raw: bytes) -> ConsumerMember:
    reader = _opened("a member", raw)
    instance_id, rack_id = reader.nullable_string(True), reader.nullable_string(True)
    identity = ClientIdentity(reader.string(True), reader.string(True))
    topics = frozenset(reader.string(True) for _ in range(reader.array_length(True)))
    regex, rebalance_timeout_ms, assignor = reader.nullable_string(True), reader.int32(), reader.nullable_string(True)
    member = ConsumerMember(member_id, identity, instance_id, rack_id, rebalance_timeout_ms, 0)
    member.topics, member.regex, member.assignor = topics, regex or "", assignor or ""
    return member


def _unpack_assignment(member: ConsumerMember, raw: bytes | None, topic_name: TopicName) -> None:
    if raw is None:
        return
    reader = _opened("a member's assignment", raw)
    member.epoch, member.previous_epoch = reader.int32(), reader.int32()
    reader.int8()  # the state
    member.assigned = _unpack_partitions(reader, topic_name)
    member.revoking = _unpack_partitions(reader, topic_name)


def _unpack_target(raw: bytes | None, topic_name: TopicName) -> frozenset[TopicPartition]:
    return frozenset() if raw is None else _unpack_partitions(_opened("a member's target", raw), topic_name)


def _unpack_partitions(reader: Reader, topic_name: TopicName) -> frozenset[TopicPartition]:
    found: set[TopicPartition] = set()
    for _ in range(reader.array_length(True)):
        name = topic_name(reader.uuid())
        indexes = [reader.int32() for _ in range(reader.array_length(True))]
        reader.skip_tagged_fields()
        if name is not None:
            found |= {(name, index) for index in indexes}
    return frozenset(found)

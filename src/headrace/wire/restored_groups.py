"""Groups of a directory that came from a backup: committed offsets stay, members do not.

The members are clients of another life of the broker. Kept, they would hold partitions that nobody reads until their
sessions end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from headrace.log import LogStore
from headrace.wire.coordinators.consumer_group_records import KINDS
from headrace.wire.coordinators.group_records import GroupSnapshot, group_key, pack_group, unpack_group
from headrace.wire.coordinators.record_kinds import CLASSIC_GROUP, kind_of, unpack_key
from headrace.wire.group_service import CONSUMERS
from headrace.wire.offset_service import OFFSETS_TOPIC
from headrace.wire.state_records import StateRecord
from headrace.wire.state_topic import StateTopic

_NEVER_REWRITTEN: Final = 1 << 62


def forget_members(store: LogStore, now_ms: int) -> None:
    """Every group is empty afterwards, from now on, and on disk. For a store that no broker uses."""
    if OFFSETS_TOPIC not in store.topics:
        return
    topic = StateTopic(store, OFFSETS_TOPIC, _NEVER_REWRITTEN, lambda: now_ms)
    records = [record for key, value in topic.values.items() for record in _emptied(key, value, now_ms)]
    if records:
        # Of one key the later wins: a group of the newer protocol is told to be empty once.
        topic.append(list(dict(records).items()))
        store.sync()


def _emptied(key: bytes, value: bytes, now_ms: int) -> Iterator[StateRecord]:
    kind = kind_of(key)
    if kind == CLASSIC_GROUP:
        snapshot = unpack_group(value)
        if snapshot.members:
            gone = replace(snapshot, protocol_name=None, leader_id=None, members=(), empty_since_ms=now_ms)
            yield key, pack_group(gone)
    elif kind in KINDS:
        yield key, None
        yield group_key(unpack_key(key)[1][0]), pack_group(GroupSnapshot(CONSUMERS, 0, None, None, (), now_ms))

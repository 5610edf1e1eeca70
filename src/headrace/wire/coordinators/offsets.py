"""Offsets that groups committed, and the records that keep them, in the format of Kafka's own `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from headrace.wire.coordinators.record_kinds import OFFSET, check_version
from headrace.wire.packing import Reader, Writer

_VALUE_VERSION: Final = 3


class OffsetKey(NamedTuple):
    group_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    offset: int
    leader_epoch: int
    metadata: str
    committed_at_ms: int


class CommittedOffsets:
    """The newest committed offset of every group and partition."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[tuple[str, int], CommittedOffset]] = {}

    def put(self, key: OffsetKey, committed: CommittedOffset | None) -> None:
        """None removes the offset."""
        if committed is not None:
            self._groups.setdefault(key.group_id, {})[key.topic, key.partition] = committed
            return
        offsets = self._groups.get(key.group_id, {})
        offsets.pop((key.topic, key.partition), None)
        if not offsets:
            self._groups.pop(key.group_id, None)

    def get(self, key: OffsetKey) -> CommittedOffset | None:
        return self._groups.get(key.group_id, {}).get((key.topic, key.partition))

    def of_group(self, group_id: str) -> dict[tuple[str, int], CommittedOffset]:
        return dict(self._groups.get(group_id, {}))

    def __len__(self) -> int:
        """How many groups committed."""
        return len(self._groups)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def groups(self) -> tuple[str, ...]:
        return tuple(self._groups)

    def last_commit_ms(self, group_id: str) -> int:
        """When the group last committed; it has."""
        return max(committed.committed_at_ms for committed in self._groups[group_id].values())

    def keys_of_topic(self, topic: str) -> list[OffsetKey]:
        return [key for key, _ in self.items() if key.topic == topic]

    def of_partition(self, topic: str, partition: int) -> list[int]:
        """How far each group that committed there has come."""
        found = (offsets.get((topic, partition)) for offsets in self._groups.values())
        return [committed.offset for committed in found if committed is not None]

    def items(self) -> Iterator[tuple[OffsetKey, CommittedOffset]]:
        for group_id, offsets in self._groups.items():
            for (topic, partition), committed in offsets.items():
                yield OffsetKey(group_id, topic, partition), committed


def to_records(
    entries: Iterable[tuple[OffsetKey, CommittedOffset | None]],
) -> list[tuple[bytes, bytes | None]]:
    return [(_pack_key(key), None if committed is None else _pack_value(committed)) for key, committed in entries]


def from_record(key: bytes, value: bytes | None) -> tuple[OffsetKey, CommittedOffset | None]:
    return _unpack_key(key), None if value is None else _unpack_value(value)


def _pack_key(key: OffsetKey) -> bytes:
    writer = Writer()
    writer.int16(OFFSET)
    writer.string(key.group_id)
    writer.string(key.topic)
    writer.int32(key.partition)
    return writer.getvalue()


def _unpack_key(raw: bytes) -> OffsetKey:
    reader = Reader(raw)
    reader.int16()
    return OffsetKey(reader.string(), reader.string(), reader.int32())


def _pack_value(committed: CommittedOffset) -> bytes:
    writer = Writer()
    writer.int16(_VALUE_VERSION)
    writer.int64(committed.offset)
    writer.int32(committed.leader_epoch)
    writer.string(committed.metadata)
    writer.int64(committed.committed_at_ms)
    return writer.getvalue()


def _unpack_value(raw: bytes) -> CommittedOffset:
    reader = Reader(raw)
    check_version("a committed offset", reader.int16(), _VALUE_VERSION)
    return CommittedOffset(reader.int64(), reader.int32(), reader.string(), reader.int64())

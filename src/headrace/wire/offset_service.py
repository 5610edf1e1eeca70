"""Committed offsets, kept durable in `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from headrace.wire.commit import Committer
from headrace.wire.coordinators.group_records import group_key, unpack_group
from headrace.wire.coordinators.offsets import CommittedOffset, CommittedOffsets, OffsetKey, from_record, to_records
from headrace.wire.coordinators.record_kinds import OFFSET, kind_of
from headrace.wire.state_records import StateRecord
from headrace.wire.state_topic import StateTopic

OFFSETS_TOPIC: Final = "__consumer_offsets"


class OffsetService:
    """What is committed here is readable at once and durable when the call returns."""

    def __init__(self, topic: StateTopic, committer: Committer) -> None:
        """Knows what was committed before. Raises Conflict for records of a newer Headrace."""
        self._topic = topic
        self._committer = committer
        self.committed = CommittedOffsets()
        for raw_key, raw_value in topic.values.items():
            if kind_of(raw_key) == OFFSET:
                self.committed.put(*from_record(raw_key, raw_value))

    async def commit(self, entries: Mapping[OffsetKey, CommittedOffset]) -> None:
        """Raises a Refusal when the disk failed; nothing changed for readers then."""
        if not entries:
            return
        await self._topic.write(to_records(entries.items()), self._committer)
        self._take_over(entries)

    def commit_with_next_sync(self, entries: Mapping[OffsetKey, CommittedOffset]) -> None:
        """For the end of a transaction, which waits for the sync itself. Raises a Refusal."""
        if entries:
            self._topic.append(to_records(entries.items()))
            self._take_over(entries)

    def _take_over(self, entries: Mapping[OffsetKey, CommittedOffset]) -> None:
        for key, committed in entries.items():
            self.committed.put(key, committed)

    async def forget_group(self, group_id: str) -> None:
        await self.forget(OffsetKey(group_id, *partition) for partition in self.committed.of_group(group_id))

    async def forget_topic(self, topic: str) -> None:
        """Called when a topic is deleted: a new one of the same name starts without committed offsets."""
        await self.forget(self.committed.keys_of_topic(topic))

    async def forget(self, keys: Iterable[OffsetKey]) -> None:
        gone = tuple(keys)
        if not gone:
            return
        await self._topic.write(self._forgetting(gone), self._committer)
        for key in gone:
            self.committed.put(key, None)

    def forget_with_next_sync(self, gone: Sequence[OffsetKey]) -> None:
        """For those that nobody asks for any more: gone at once, durably with the next sync. Raises a Refusal."""
        self._topic.append(self._forgetting(gone))
        for key in gone:
            self.committed.put(key, None)

    def _forgetting(self, gone: Sequence[OffsetKey]) -> list[StateRecord]:
        return [*to_records((key, None) for key in gone), *self._ended(gone)]

    def _ended(self, gone: Sequence[OffsetKey]) -> list[StateRecord]:
        """Groups of which nothing is left but that they once had members."""
        ended: list[StateRecord] = []
        for group_id in {key.group_id for key in gone}:
            key, left = group_key(group_id), self.committed.of_group(group_id).keys()
            kept = self._topic.values.get(key)
            if kept is not None and not unpack_group(kept).members and left <= {(k.topic, k.partition) for k in gone}:
                ended.append((key, None))
        return ended

    async def keep_small(self) -> None:
        """Called now and then: bounds what a restart has to read."""
        await self._topic.keep_small(self._committer)

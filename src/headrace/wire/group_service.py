"""Members of groups, kept durable in `__consumer_offsets`: a restart of the broker changes nothing for them.

The coordinators change at once; what they changed is written before anybody is answered who could act on it. All
records of all groups are in one log, so whatever a durable record builds upon is durable too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from headrace.errors import CorruptData
from headrace.log import LogStore
from headrace.wire.codes import Refusal
from headrace.wire.commit import Committer
from headrace.wire.coordinators.consumer_group_records import (
    KINDS,
    changed_records,
    epoch_key,
    restore_groups,
)
from headrace.wire.coordinators.consumer_groups import ConsumerGroups
from headrace.wire.coordinators.group import GroupState
from headrace.wire.coordinators.group_records import NO_TIME, GroupSnapshot, group_key, pack_group, unpack_group
from headrace.wire.coordinators.groups import Groups
from headrace.wire.coordinators.record_kinds import CLASSIC_GROUP, kind_of, unpack_key
from headrace.wire.event_log import EventLog
from headrace.wire.offset_service import OffsetService
from headrace.wire.packing import Malformed
from headrace.wire.state_records import StateRecord
from headrace.wire.state_topic import StateTopic

CONSUMERS: Final = "consumer"
# How long the generation of a group is remembered that has neither members nor offsets (as in Kafka), and of how many.
VACANT_MS: Final = 600_000
VACANT_MAX: Final = 10_000

_log = EventLog()


@dataclass(frozen=True, slots=True)
class _Written:
    """The last records of a group that may not be durable yet, and the members of the newer protocol among them."""

    offset: int
    members: frozenset[str]


class GroupService:
    """Between the coordinators, which know nothing of files, and the log."""

    def __init__(
        self,
        topic: StateTopic,
        committer: Committer,
        *,
        groups: Groups,
        consumer_groups: ConsumerGroups,
        offsets: OffsetService,
        store: LogStore,
        clock: Callable[[], int],
    ) -> None:
        self._topic = topic
        self._committer = committer
        self._groups = groups
        self._consumer_groups = consumer_groups
        self._offsets = offsets
        self._store = store
        self._clock = clock
        self._written: dict[str, _Written] = {}
        # Groups of which nothing but the generation is kept, and since when; the oldest first.
        self._vacant: dict[str, int] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._reported = False

    # -- loading ------------------------------------------------------------------------------------------------

    def restore(self, now_ms: int) -> None:
        """Called once, before the first request. Raises CorruptData, and Conflict for records of a newer Headrace."""
        try:
            self._restore(now_ms)
        except Malformed as error:
            raise CorruptData(f"a record of a group cannot be read: {error}") from error

    def _restore(self, now_ms: int) -> None:
        newer = {}
        for key, value in self._topic.values.items():
            kind = kind_of(key)
            if kind == CLASSIC_GROUP:
                snapshot = unpack_group(value)
                group_id = unpack_key(key)[1][0]
                if snapshot.members:
                    self._groups.restore(group_id, snapshot, now_ms)
                elif not self._offsets.committed.of_group(group_id):
                    self._vacant[group_id] = snapshot.empty_since_ms
            elif kind in KINDS:
                newer[key] = value
        self._consumer_groups.restore(restore_groups(newer, self._consumer_groups.make, self._store.name_of, now_ms))

    # -- saving -------------------------------------------------------------------------------------------------

    def write(self, group_id: str) -> None:
        """Called after every change of a group, before anything else runs: append what changed. Raises a Refusal.

        It becomes durable with the next sync, which only those wait for who are told of an assignment.
        """
        if not self._is_unsaved(group_id):
            return
        members = self._consumer_groups.unsaved.get(group_id, set())
        group = self._groups.get(group_id)
        records = self._changed(group_id, members)
        if records:
            self._note_vacancy(group_id, dict(records))
            before = self._written.get(group_id)
            touched = members if before is None else members | before.members
            self._written[group_id] = _Written(self._topic.append(records), frozenset(touched))
        self._consumer_groups.unsaved.pop(group_id, None)
        if group is not None:
            group.unsaved = False

    def _is_unsaved(self, group_id: str) -> bool:
        group = self._groups.get(group_id)
        return group_id in self._consumer_groups.unsaved or (group is not None and group.unsaved)

    def is_durable(self, group_id: str) -> bool:
        """Whether everything that changed in a group is on disk."""
        written = self._written.get(group_id)
        if written is not None and self._topic.is_durable(written.offset):
            del self._written[group_id]
            written = None
        return written is None and not self._is_unsaved(group_id)

    async def durable(self, group_id: str) -> None:
        """Everything that changed in the group is, when it returns; an assignment may be told then.

        Raises a Refusal when the disk failed: it is written again with the next change, or the next tick.
        """
        self.write(group_id)
        written = self._written.get(group_id)
        if written is None or self.is_durable(group_id):
            return
        try:
            await self._topic.durable(written.offset, self._committer)
        except Refusal:
            self._unsave(group_id, written)
            raise
        self.is_durable(group_id)

    async def settled(self, group_id: str) -> None:
        """As `durable`, unless the group is rebalancing: then there is no assignment that could be told."""
        if not self._is_rebalancing(group_id):
            await self.durable(group_id)

    def _unsave(self, group_id: str, written: _Written) -> None:
        group = self._groups.get(group_id)
        if group is not None:
            group.unsaved = True
        if written.members:
            self._consumer_groups.unsaved.setdefault(group_id, set()).update(written.members)
        self._written.pop(group_id, None)

    def save_soon(self, group_ids: Iterable[str]) -> None:
        """For changes that nobody waits for: members who went silent or left."""
        for group_id in group_ids:
            try:
                self.write(group_id)
            except Refusal as refusal:
                self._report(group_id, refusal)
                continue
            if not self._is_rebalancing(group_id) and not self.is_durable(group_id):
                task = asyncio.get_running_loop().create_task(self._made_durable(group_id))
                self._background.add(task)
                task.add_done_callback(self._background.discard)

    def _is_rebalancing(self, group_id: str) -> bool:
        """Its next record is due anyway, and makes this one durable."""
        group = self._groups.get(group_id)
        return group is not None and group.state in (GroupState.PREPARING, GroupState.COMPLETING)

    async def _made_durable(self, group_id: str) -> None:
        try:
            await self.durable(group_id)
            self._reported = False
        except Refusal as refusal:
            self._report(group_id, refusal)

    def _report(self, group_id: str, refusal: Refusal) -> None:
        """Once for a failure, not with every tick that tries again."""
        if not self._reported:
            _log.warning("groups cannot be saved yet", group=group_id, reason=str(refusal))
        self._reported = True

    # -- groups without members ---------------------------------------------------------------------------------

    def last_generation(self, group_id: str) -> int:
        """The generation that a group of this name last had; 0 for a new one."""
        raw = self._topic.values.get(group_key(group_id))
        return 0 if raw is None else unpack_group(raw).generation

    def forget_vacant(self) -> None:
        """Called now and then: groups without members and offsets for long are gone, durably with the next sync.

        Raises a Refusal.
        """
        now_ms = self._clock()
        for group_id, since_ms in tuple(self._vacant.items()):
            if since_ms + VACANT_MS <= now_ms or len(self._vacant) > VACANT_MAX:
                self._forget_vacant(group_id)

    def _forget_vacant(self, group_id: str) -> None:
        """Not while somebody joins. One that has members or offsets meanwhile ends in another way."""
        if self._groups.get(group_id) is not None:
            return
        key = group_key(group_id)
        raw, has_offsets = self._topic.values.get(key), self._offsets.committed.of_group(group_id)
        if raw is not None and not has_offsets and not unpack_group(raw).members:
            self._topic.append([(key, None)])
        del self._vacant[group_id]

    def _note_vacancy(self, group_id: str, records: dict[bytes, bytes | None]) -> None:
        if group_key(group_id) not in records:
            return
        raw = records[group_key(group_id)]
        self._vacant.pop(group_id, None)
        if raw is not None and not unpack_group(raw).members and not self._offsets.committed.of_group(group_id):
            self._vacant[group_id] = self._clock()
            if len(self._vacant) > VACANT_MAX:
                self.forget_vacant()

    # -- records ------------------------------------------------------------------------------------------------

    def _changed(self, group_id: str, members: Iterable[str]) -> list[StateRecord]:
        """Records that differ from what the log holds."""
        known = self._topic.values
        newer = self._consumer_groups.get(group_id)
        records = changed_records(group_id, newer, members, known, self._topic_id)
        key, value = self._classic_record(group_id)
        return [*records, (key, value)] if known.get(key) != value else records

    def _classic_record(self, group_id: str) -> StateRecord:
        key, group = group_key(group_id), self._groups.get(group_id)
        snapshot = None if group is None else group.snapshot()
        if snapshot is not None:
            return key, pack_group(snapshot)
        if self._consumer_groups.has_members(group_id):
            return key, None
        current = self._topic.values.get(key)
        if not self._had_members(group_id, current):
            return key, current
        if group is None and not self._offsets.committed.of_group(group_id):
            return key, None
        # Also without offsets: whoever joins next, maybe after a crash, must not get a generation that was told before.
        generation = 0 if group is None else group.generation
        return key, pack_group(GroupSnapshot(CONSUMERS, generation, None, None, (), self._clock()))

    def _had_members(self, group_id: str, current: bytes | None) -> bool:
        """By what the log holds."""
        return epoch_key(group_id) in self._topic.values or (
            current is not None and bool(unpack_group(current).members)
        )

    def _topic_id(self, name: str) -> UUID | None:
        topic = self._store.topics.get(name)
        return None if topic is None else topic.topic_id

    def empty_since_ms(self, group_id: str) -> int:
        """When the group's last member was gone; -1 while there is one, and where there never was."""
        raw = self._topic.values.get(group_key(group_id))
        return NO_TIME if raw is None else unpack_group(raw).empty_since_ms

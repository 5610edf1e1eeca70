"""How many groups there may be, and which of them are forgotten: those without members for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.consumer_groups import ConsumerGroups
from headrace.wire.coordinators.groups import Groups
from headrace.wire.coordinators.offsets import OffsetKey
from headrace.wire.event_log import EventLog
from headrace.wire.group_service import GroupService
from headrace.wire.offset_service import OffsetService

# Groups that one round forgets; the next round goes on.
FORGOTTEN_GROUPS_MAX: Final = 1_000

_log = EventLog()


class GroupRoom:
    def __init__(
        self,
        groups_max: int,
        expiry_ms: int,
        clock: Callable[[], int],
        *,
        groups: Groups,
        consumer_groups: ConsumerGroups,
        offsets: OffsetService,
        group_service: GroupService,
    ) -> None:
        """`expiry_ms`: how long after its last member or commit a group is forgotten."""
        self._groups_max = groups_max
        self._expiry_ms = expiry_ms
        self._clock = clock
        self._groups = groups
        self._consumer_groups = consumer_groups
        self._offsets = offsets
        self._group_service = group_service
        self._next_expiry_ms = 0
        self._is_full = False
        # Requests that were refused because there were too many groups.
        self.refused_requests = 0

    def count(self) -> int:
        """Groups with members, and those with committed offsets."""
        return len({*self._offsets.committed.groups(), *self._groups.ids(), *self._consumer_groups.ids()})

    def check(self, group_id: str) -> None:
        """Called before a group may come into being. Raises a Refusal when there is no room for another one."""
        if self._is_known(group_id) or not self._at_limit():
            return
        self.forget_expired()
        if not self._at_limit():
            return
        self.refused_requests += 1
        self._report()
        raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {self._groups_max} groups (groups_max)")

    def _is_known(self, group_id: str) -> bool:
        populated = self._groups.get(group_id) is not None or self._consumer_groups.has_members(group_id)
        return populated or group_id in self._offsets.committed

    def _at_limit(self) -> bool:
        """Counting takes a while; the sum, in which groups stand twice, mostly tells."""
        at_most = len(self._offsets.committed) + len(self._groups.ids()) + len(self._consumer_groups.ids())
        full = at_most >= self._groups_max and self.count() >= self._groups_max
        self._is_full = self._is_full and full
        return full

    def _report(self) -> None:
        """Once, until there is room again."""
        if not self._is_full:
            _log.error(
                "no room for another group: new groups are refused",
                groups_max=self._groups_max,
                hint="delete groups that are no longer needed, or raise groups_max",
            )
        self._is_full = True

    def forget_expired(self) -> None:
        """Groups without members for long are gone afterwards, durably with the next sync. Raises a Refusal."""
        self._group_service.forget_vacant()
        now_ms = self._clock()
        if now_ms < self._next_expiry_ms:
            return
        expiries = {group_id: self._expires_at_ms(group_id) for group_id in self._offsets.committed.groups()}
        expired = [group_id for group_id, at_ms in expiries.items() if at_ms is not None and at_ms <= now_ms]
        for group_id in expired[:FORGOTTEN_GROUPS_MAX]:
            keys = [OffsetKey(group_id, *partition) for partition in self._offsets.committed.of_group(group_id)]
            self._offsets.forget_with_next_sync(keys)
            self._groups.drop_if_empty(group_id)
        # Whatever commits or becomes empty from here on expires later than that.
        later = [at_ms for at_ms in expiries.values() if at_ms is not None and at_ms > now_ms]
        is_done = len(expired) <= FORGOTTEN_GROUPS_MAX
        self._next_expiry_ms = min([*later, now_ms + self._expiry_ms]) if is_done else now_ms

    def _expires_at_ms(self, group_id: str) -> int | None:
        """None while it has members."""
        if self._groups.has_members(group_id) or self._consumer_groups.has_members(group_id):
            return None
        since_ms = max(self._offsets.committed.last_commit_ms(group_id), self._group_service.empty_since_ms(group_id))
        return since_ms + self._expiry_ms

"""All groups of the newer protocol."""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.consumer_group import JOINS, ConsumerGroup, ConsumerLimits, Report, Told, Topics
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.patterns import matching


class ConsumerGroups:
    """Groups that have members. Offsets of a group are kept elsewhere and outlive it."""

    def __init__(self, limits: Callable[[str], ConsumerLimits], counts: Topics, new_id: Callable[[], str]) -> None:
        """`limits` are those of a group: each may have settings of its own."""
        self._limits = limits
        self._counts = counts
        self._new_id = new_id
        self._groups: dict[str, ConsumerGroup] = {}
        # Members whose records have to be written, by group; also of groups that are gone.
        self.unsaved: dict[str, set[str]] = {}

    @property
    def idle(self) -> bool:
        """Nothing here depends on the time."""
        return not self._groups and not self.unsaved

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._limits(group_id).heartbeat_interval_ms

    def get(self, group_id: str) -> ConsumerGroup | None:
        return self._groups.get(group_id)

    def has_members(self, group_id: str) -> bool:
        return group_id in self._groups

    def all(self) -> tuple[ConsumerGroup, ...]:
        return tuple(self._groups.values())

    def ids(self) -> KeysView[str]:
        return self._groups.keys()

    def make(self, group_id: str) -> ConsumerGroup:
        """A group without members, which is nobody's yet."""
        return ConsumerGroup(group_id, self._limits(group_id), self._counts, matching_topics)

    def restore(self, groups: Mapping[str, ConsumerGroup]) -> None:
        """Called before any request, with the groups that were kept."""
        self._groups.update(groups)

    def heartbeat(self, group_id: str, report: Report, identity: ClientIdentity, now_ms: int) -> Told:
        group = self._groups.get(group_id)
        if group is None:
            if report.epoch != JOINS:
                raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
            group = self.make(group_id)
        group.limits = self._limits(group_id)
        try:
            return group.heartbeat(report, identity, now_ms)
        finally:
            self._keep(group)

    def new_member_id(self) -> str:
        return self._new_id()

    def tick(self, now_ms: int) -> list[str]:
        """Groups that have to be saved."""
        for group in self.all():
            group.tick(now_ms)
            self._keep(group)
        return list(self.unsaved)

    def _keep(self, group: ConsumerGroup) -> None:
        if group.unsaved:
            self.unsaved.setdefault(group.group_id, set()).update(group.unsaved)
            group.unsaved.clear()
        if group.members:
            self._groups[group.group_id] = group
        else:
            self._groups.pop(group.group_id, None)


def matching_topics(regex: str, counts: Mapping[str, int]) -> frozenset[str]:
    """Topics whose whole name matches; internal ones never do. Raises a Refusal for an expression that is none."""
    return matching(regex, (name for name in counts if not name.startswith("__")))

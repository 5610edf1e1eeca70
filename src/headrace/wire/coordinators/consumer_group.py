"""One group whose assignment the broker makes (KIP-848): members report, and are told, by heartbeats alone.

A change of members, subscriptions or topics begins a new group epoch with a new target. Each member moves to it on its
own: first it gives up what it shall no longer have, then it gets what nobody else holds any more. So no partition ever
has two owners, and members that are not concerned go on undisturbed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.assignors import ASSIGNORS, DEFAULT_ASSIGNOR
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.coordinators.transactions import TopicPartition

JOINS: Final = 0
LEAVES: Final = -1
# A static member goes, and will be back: its partitions wait for it until its session ends.
LEAVES_FOR_NOW: Final = -2

Topics = Callable[[], Mapping[str, int]]
"""Partition counts of all topics by name."""
Expand = Callable[[str, Mapping[str, int]], frozenset[str]]
"""The topics that a regular expression means."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a heartbeat says. None: as before."""

    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int | None = None
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[TopicPartition] | None = None


@dataclass(slots=True)
class ConsumerMember:
    """`assigned` is what it was told to have; `revoking` what it was told to give up and may still hold."""

    member_id: str
    identity: ClientIdentity
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    expires_at_ms: int
    epoch: int = 0
    previous_epoch: int = 0
    topics: frozenset[str] = frozenset()
    regex: str = ""
    matched: frozenset[str] = frozenset()
    assignor: str = ""
    assigned: frozenset[TopicPartition] = frozenset()
    revoking: frozenset[TopicPartition] = frozenset()
    revoke_by_ms: int = 0
    away: bool = False

    @property
    def wanted(self) -> frozenset[str]:
        return self.topics | self.matched


@dataclass(frozen=True, slots=True)
class ConsumerLimits:
    members_max: int
    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_timeout_ms_max: int = 3_600_000


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to a heartbeat. `assignment` None: as the member already has it."""

    member_id: str
    epoch: int
    assignment: frozenset[TopicPartition] | None = None


@dataclass(slots=True)
class ConsumerGroup:
    group_id: str
    limits: ConsumerLimits
    counts: Topics
    expand: Expand
    epoch: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    target: dict[str, frozenset[TopicPartition]] = field(default_factory=dict)
    # Members whose records may have changed, or who are gone, since this was last cleared.
    unsaved: set[str] = field(default_factory=set)
    _seen: dict[str, int] = field(default_factory=dict)

    # -- requests -----------------------------------------------------------------------------------------------

    def heartbeat(self, report: Report, identity: ClientIdentity, now_ms: int) -> Told:
        """Raises a Refusal; a fenced or unknown member must give up everything and join again."""
        if report.epoch in (LEAVES, LEAVES_FOR_NOW):
            return self._leave(report, now_ms)
        self._check_assignor(report.assignor)
        matched = self._matched(report.regex)
        if report.epoch == JOINS:
            member, rejoined = self._joined(report, identity, now_ms), True
        else:
            member, rejoined = self._current(report), False
        before, saved = member.assigned, _kept_of(member)
        changed = self._update(member, report, matched)
        member.expires_at_ms = now_ms + self.limits.session_timeout_ms
        if changed or self._topics_changed():
            self._retarget()
        self._reconcile(member, report.owned, now_ms)
        if rejoined or _kept_of(member) != saved:
            self.unsaved.add(member.member_id)
        full = rejoined or member.assigned != before or (report.owned is not None and report.owned != member.assigned)
        return Told(member.member_id, member.epoch, member.assigned if full else None)

    def check_commit(self, member_id: str, epoch: int) -> None:
        """Called before offsets are committed or fetched. Raises a Refusal unless the member is up to date."""
        if not member_id and epoch < 0 and not self.members:
            return
        member = self.members.get(member_id)
        if member is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        if epoch != member.epoch:
            raise Refusal(ErrorCode.STALE_MEMBER_EPOCH, f"the member's epoch is {member.epoch}")

    def tick(self, now_ms: int) -> None:
        """Called often: those who went silent, or do not give up what they shall, are removed."""
        gone = [
            member
            for member in self.members.values()
            if member.expires_at_ms <= now_ms or (member.revoking and member.revoke_by_ms <= now_ms)
        ]
        for member in gone:
            self._remove(member)
        if gone:
            self._retarget()

    def restored(self, now_ms: int) -> None:
        """Called once, when members and target are as they were kept: everybody's time begins anew."""
        counts = self.counts()
        for member in self.members.values():
            member.away = member.epoch == LEAVES_FOR_NOW
            member.expires_at_ms = now_ms + self.limits.session_timeout_ms
            member.revoke_by_ms = now_ms + member.rebalance_timeout_ms
            member.matched = self.expand(member.regex, counts) if member.regex else frozenset()
        # A target covers all partitions of what it was made for: topics that changed since are found by that.
        self._seen = dict(Counter(topic for share in self.target.values() for topic, _ in share))

    @property
    def state(self) -> str:
        """In the words that tools show."""
        if not self.members:
            return "Empty"
        settled = all(m.epoch == self.epoch and m.assigned == self.target[m.member_id] for m in self.members.values())
        return "Stable" if settled else "Reconciling"

    @property
    def assignor(self) -> str:
        """What most members ask for."""
        votes = [member.assignor for member in self.members.values() if member.assignor]
        return max(sorted(set(votes)), key=votes.count) if votes else DEFAULT_ASSIGNOR

    # -- membership ---------------------------------------------------------------------------------------------

    def _joined(self, report: Report, identity: ClientIdentity, now_ms: int) -> ConsumerMember:
        if report.owned is None or (report.topics is None and not report.regex) or report.rebalance_timeout_ms is None:
            raise Refusal(ErrorCode.INVALID_REQUEST, "joining needs topics, a rebalance timeout and partitions owned")
        if report.owned:
            raise Refusal(ErrorCode.INVALID_REQUEST, "whoever joins owns no partitions")
        known = self.members.get(report.member_id)
        if known is None:
            known = self._returned(report)
        if known is None:
            if len(self.members) >= self.limits.members_max:
                raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, f"at most {self.limits.members_max} members")
            known = ConsumerMember(report.member_id, identity, report.instance_id, report.rack_id, 0, now_ms)
            self.members[report.member_id] = known
            self.target[report.member_id] = frozenset()
        known.identity, known.away = identity, False
        # It begins with nothing, whatever it had before.
        known.assigned = known.revoking = frozenset()
        known.epoch = known.previous_epoch = JOINS
        return known

    def _returned(self, report: Report) -> ConsumerMember | None:
        """A static member that left for now takes its old place under its new id."""
        if report.instance_id is None:
            return None
        holder = next((m for m in self.members.values() if m.instance_id == report.instance_id), None)
        if holder is None:
            return None
        if not holder.away:
            raise Refusal(ErrorCode.UNRELEASED_INSTANCE_ID, f"{report.instance_id!r} is in use by {holder.member_id}")
        self._remove(holder)
        self.target[report.member_id] = self.target.pop(holder.member_id)
        holder.member_id = report.member_id
        self.members[report.member_id] = holder
        return holder

    def _current(self, report: Report) -> ConsumerMember:
        member = self.members.get(report.member_id)
        if member is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        if report.instance_id is not None and member.instance_id not in (None, report.instance_id):
            raise Refusal(ErrorCode.FENCED_INSTANCE_ID)
        # An answer may have been lost: the epoch before is taken while the member holds nothing it should not.
        lost = report.epoch == member.previous_epoch and (report.owned or frozenset()) <= member.assigned
        if report.epoch != member.epoch and not lost:
            raise Refusal(ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}")
        return member

    def _leave(self, report: Report, now_ms: int) -> Told:
        member = self.members.get(report.member_id)
        if member is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        if report.epoch == LEAVES_FOR_NOW and member.instance_id is not None:
            member.away = True
            # Whoever left does not commit any more.
            member.epoch = member.previous_epoch = LEAVES_FOR_NOW
            self.unsaved.add(member.member_id)
            member.expires_at_ms = now_ms + self.limits.session_timeout_ms
        else:
            self._remove(member)
            self._retarget()
        return Told(report.member_id, report.epoch)

    def _remove(self, member: ConsumerMember) -> None:
        del self.members[member.member_id]
        self.unsaved.add(member.member_id)

    def _check_assignor(self, name: str | None) -> None:
        if name is not None and name not in ASSIGNORS:
            known = ", ".join(ASSIGNORS)
            raise Refusal(ErrorCode.UNSUPPORTED_ASSIGNOR, f"assignor {name!r}; known are {known}")

    def _matched(self, regex: str | None) -> frozenset[str]:
        return self.expand(regex, self.counts()) if regex else frozenset()

    def _update(self, member: ConsumerMember, report: Report, matched: frozenset[str]) -> bool:
        """Whether the group needs a new target. `matched` are the topics of the report's expression."""
        before = (member.topics, member.regex, member.assignor)
        if report.rebalance_timeout_ms is not None:
            member.rebalance_timeout_ms = min(report.rebalance_timeout_ms, self.limits.rebalance_timeout_ms_max)
        if report.assignor is not None:
            member.assignor = report.assignor
        if report.topics is not None:
            member.topics = report.topics
        if report.regex is not None:
            member.regex, member.matched = report.regex, matched
        return member.epoch == JOINS or before != (member.topics, member.regex, member.assignor)

    # -- assignment ---------------------------------------------------------------------------------------------

    def _topics_changed(self) -> bool:
        """Whether topics that are read came, went or grew since the last target."""
        counts = self.counts()
        for member in self.members.values():
            if member.regex:
                member.matched = self.expand(member.regex, counts)
        return self._relevant(counts) != self._seen

    def _relevant(self, counts: Mapping[str, int]) -> dict[str, int]:
        wanted = {topic for member in self.members.values() for topic in member.wanted}
        return {topic: counts[topic] for topic in wanted if topic in counts}

    def _retarget(self) -> None:
        self.epoch += 1
        self._seen = self._relevant(self.counts())
        subscriptions = {member.member_id: member.wanted for member in self.members.values()}
        owned = {name: self.target.get(name, frozenset()) for name in subscriptions}
        self.target = ASSIGNORS[self.assignor](subscriptions, self._seen, owned)

    def _reconcile(self, member: ConsumerMember, owned: frozenset[TopicPartition] | None, now_ms: int) -> None:
        """Bring a member one step nearer to the target."""
        target = self.target[member.member_id]
        if member.revoking and owned is not None and not member.revoking & owned:
            member.revoking = frozenset()
        surplus = member.assigned - target
        if surplus:
            if not member.revoking:
                member.revoke_by_ms = now_ms + member.rebalance_timeout_ms
            member.revoking |= surplus
            member.assigned -= surplus
        if member.revoking:
            return
        if member.epoch != self.epoch:
            member.previous_epoch, member.epoch = member.epoch, self.epoch
        member.assigned |= target - self._held_by_others(member)

    def _held_by_others(self, member: ConsumerMember) -> frozenset[TopicPartition]:
        others = (other for other in self.members.values() if other is not member)
        return frozenset().union(*(other.assigned | other.revoking for other in others))


def _kept_of(member: ConsumerMember) -> tuple[object, ...]:
    """What of a member is written down; times are not."""
    return (
        member.epoch,
        member.previous_epoch,
        member.assigned,
        member.revoking,
        member.topics,
        member.regex,
        member.assignor,
        member.rebalance_timeout_ms,
    )

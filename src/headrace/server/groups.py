"""Consumer groups: members, committed offsets, lag; and moving a group to another place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from headrace.errors import Conflict, NotFound, did_you_mean
from headrace.server.models.groups import (
    GroupEntry,
    GroupList,
    GroupOffset,
    GroupView,
    MemberPartition,
    MemberView,
    ResetOffset,
    ResetView,
)
from headrace.server.positions import TopicPosition, parse_position
from headrace.server.topics import EARLIEST, LATEST, REQUEST_TIMEOUT_S, Topics, answer

NO_OFFSET: Final = 0


class Groups:
    """May be used by many threads."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._admin = topics.admin

    def overview(self) -> GroupList:
        return GroupList(groups=[self._entry(name) for name in self._names()])

    def describe(self, group: str) -> GroupView:
        """Raises NotFound for a group that never joined and never committed."""
        names = self._names()
        if group not in names:
            raise NotFound(f"no consumer group {group!r}", hint=did_you_mean(group, names))
        described = self._described(group)
        return GroupView(
            name=group,
            state=_state(described),
            members=[_member(member) for member in described.members],
            offsets=self._offsets(group, described),
        )

    def reset(self, group: str, topic: str, to: str, *, dry_run: bool) -> ResetView:
        """Where the group would go on, and with `dry_run` False does. Raises Conflict while it has members."""
        position = parse_position(to)
        keys = [(topic, partition) for partition in self._topics.partitions(topic)]
        old = self._committed(group)
        new = self._places(keys, position)
        if not dry_run:
            self._require_empty(group)
            wanted = [TopicPartition(name, partition, new[name, partition]) for name, partition in keys]
            altered = self._admin.alter_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group, wanted)], request_timeout=REQUEST_TIMEOUT_S
            )
            for place in answer(altered[group], f"offsets of group {group!r}").topic_partitions:
                if place.error is not None:
                    raise Conflict(f"offset of {place.topic}-{place.partition} in group {group!r}: {place.error.str()}")
        offsets = [ResetOffset(partition=key[1], old=old.get(key), new=new[key]) for key in keys]
        return ResetView(group=group, topic=topic, dry_run=dry_run, offsets=offsets)

    def _names(self) -> list[str]:
        listed = answer(self._admin.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S), "the consumer groups")
        return sorted(found.group_id for found in listed.valid)

    def _entry(self, group: str) -> GroupEntry:
        described = self._described(group)
        offsets = self._offsets(group, described)
        return GroupEntry(
            name=group,
            state=_state(described),
            members=len(described.members),
            topics=sorted({offset.topic for offset in offsets}),
            lag=sum(offset.lag or 0 for offset in offsets),
        )

    def _described(self, group: str) -> Any:
        futures = self._admin.describe_consumer_groups([group], request_timeout=REQUEST_TIMEOUT_S)
        return answer(futures[group], f"group {group!r}")

    def _offsets(self, group: str, described: Any) -> list[GroupOffset]:
        """Of every partition that the group committed to or is assigned now."""
        committed = self._committed(group)
        assigned = {(p.topic, p.partition) for m in described.members for p in _assigned(m)}
        known = self._topics.names()
        keys = sorted((topic, p) for topic, p in {*committed, *assigned} if p in known.get(topic, ()))
        bounds = self._topics.bounds(keys)
        return [_offset(key, committed.get(key), bounds[key]) for key in keys]

    def _committed(self, group: str) -> dict[tuple[str, int], int]:
        futures = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=REQUEST_TIMEOUT_S
        )
        places = answer(futures[group], f"offsets of group {group!r}").topic_partitions or []
        return {(place.topic, place.partition): place.offset for place in places if place.offset >= NO_OFFSET}

    def _places(self, keys: Iterable[tuple[str, int]], to: TopicPosition) -> dict[tuple[str, int], int]:
        listed = list(keys)
        if to.kind == "earliest":
            return self._topics.offsets(listed, EARLIEST)
        ends = self._topics.offsets(listed, LATEST)
        if to.kind == "latest":
            return ends
        if to.kind == "offset":
            starts = self._topics.offsets(listed, EARLIEST)
            return {key: min(max(to.value, starts[key]), ends[key]) for key in listed}
        spec = OffsetSpec.for_timestamp(to.value)
        found = self._topics.offsets(listed, spec)
        return {key: found[key] if found[key] >= 0 else ends[key] for key in listed}

    def _require_empty(self, group: str) -> None:
        described = self._described(group)
        if described.members:
            count = len(described.members)
            hint = "stop its consumers first: they would go on from where they are"
            raise Conflict(f"group {group!r} has {count} active member{'s' * (count > 1)}", hint=hint)


def _state(described: Any) -> str:
    return str(described.state.name).lower()


def _assigned(member: Any) -> list[TopicPartition]:
    return [] if member.assignment is None else list(member.assignment.topic_partitions or [])


def _member(member: Any) -> MemberView:
    return MemberView(
        id=member.member_id,
        client_id=member.client_id or "",
        host=member.host or "",
        partitions=[MemberPartition(topic=place.topic, partition=place.partition) for place in _assigned(member)],
    )


def _offset(key: tuple[str, int], committed: int | None, bounds: tuple[int, int]) -> GroupOffset:
    start, end = bounds
    return GroupOffset(
        topic=key[0],
        partition=key[1],
        committed=committed,
        start_offset=start,
        end_offset=end,
        lag=None if committed is None else max(0, end - committed),
    )

"""Consumer groups, their members, offsets and lag."""

from __future__ import annotations

from headrace.server.models.base import Model


class GroupEntry(Model):
    """`lag` is over all partitions with a committed offset."""

    name: str
    state: str
    members: int
    topics: list[str]
    lag: int


class GroupList(Model):
    groups: list[GroupEntry]


class MemberPartition(Model):
    topic: str
    partition: int


class MemberView(Model):
    id: str
    client_id: str
    host: str
    partitions: list[MemberPartition]


class GroupOffset(Model):
    """`committed` is null where the group committed nothing; then it has no lag."""

    topic: str
    partition: int
    committed: int | None
    start_offset: int
    end_offset: int
    lag: int | None


class GroupView(Model):
    name: str
    state: str
    members: list[MemberView]
    offsets: list[GroupOffset]


class ResetOffset(Model):
    partition: int
    old: int | None
    new: int


class ResetView(Model):
    """With `dry_run` nothing was changed."""

    group: str
    topic: str
    dry_run: bool
    offsets: list[ResetOffset]

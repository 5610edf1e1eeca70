"""Who gets which partitions of a group. Pure functions: the same question has the same answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from headrace.wire.coordinators.transactions import TopicPartition

Subscriptions = Mapping[str, frozenset[str]]
"""Topics by member."""
Owned = Mapping[str, frozenset[TopicPartition]]
"""Partitions by member."""
Assignor = Callable[[Subscriptions, Mapping[str, int], Owned], dict[str, frozenset[TopicPartition]]]


def uniform(
    subscriptions: Subscriptions, partition_counts: Mapping[str, int], owned: Owned
) -> dict[str, frozenset[TopicPartition]]:
    """As even as subscriptions allow, and each member keeps what it has as far as that goes."""
    wanted = {topic for topics in subscriptions.values() for topic in topics}
    everything = [(t, i) for t in sorted(wanted) for i in range(partition_counts.get(t, 0))]
    shares = _kept(subscriptions, everything, owned)
    taken = {partition for share in shares.values() for partition in share}
    for partition in everything:
        if partition not in taken:
            candidates = [member for member in sorted(subscriptions) if partition[0] in subscriptions[member]]
            shares[min(candidates, key=lambda member: len(shares[member]))].add(partition)
    return {member: frozenset(share) for member, share in shares.items()}


def _kept(
    subscriptions: Subscriptions, everything: list[TopicPartition], owned: Owned
) -> dict[str, set[TopicPartition]]:
    """What members keep of what they have: an even share, and for as many as there is a rest one more."""
    existing = set(everything)
    least, rest = divmod(len(everything), max(1, len(subscriptions)))
    shares: dict[str, set[TopicPartition]] = {}
    # Those who have most keep the one more, so that least moves.
    for member in sorted(subscriptions, key=lambda name: (-len(owned.get(name, ())), name)):
        usable = sorted(p for p in owned.get(member, ()) if p in existing and p[0] in subscriptions[member])
        most = least + 1 if rest > 0 else least
        shares[member] = set(usable[:most])
        rest -= len(shares[member]) > least
    return shares


def ranges(
    subscriptions: Subscriptions, partition_counts: Mapping[str, int], owned: Owned
) -> dict[str, frozenset[TopicPartition]]:
    """Of each topic a contiguous range for each member, so that equal keys of several topics meet at one member."""
    shares: dict[str, set[TopicPartition]] = {member: set() for member in subscriptions}
    for topic, count in sorted(partition_counts.items()):
        members = sorted(member for member, topics in subscriptions.items() if topic in topics)
        if not members:
            continue
        least, rest = divmod(count, len(members))
        start = 0
        for position, member in enumerate(members):
            size = least + (position < rest)
            shares[member] |= {(topic, index) for index in range(start, start + size)}
            start += size
    return {member: frozenset(share) for member, share in shares.items()}


ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": uniform, "range": ranges}
DEFAULT_ASSIGNOR: Final = "uniform"

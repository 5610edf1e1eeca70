"""Flat entries to the protocol's nested form: a list of topics, each with its partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar


class OfTopic(Protocol):
    @property
    def topic(self) -> str: ...


Entry = TypeVar("Entry", bound=OfTopic)


def group_by_topic(entries: Iterable[Entry]) -> Mapping[str, list[Entry]]:
    """Entries by topic, in the order in which topics first occur."""
    topics: dict[str, list[Entry]] = {}
    for entry in entries:
        topics.setdefault(entry.topic, []).append(entry)
    return topics

"""Flat entries to the protocol's nested form: a list of topics, each with its partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from headrace.wire.packing import Reader, Writer

_NO_ID = UUID(int=0)


class TopicKey(NamedTuple):
    """How a request names a topic: by name, or in newer versions by id; then the name is empty until looked up."""

    name: str
    topic_id: UUID | None = None


class OfTopic(Protocol):
    @property
    def topic(self) -> str: ...

    @property
    def topic_id(self) -> UUID | None: ...


Entry = TypeVar("Entry", bound=OfTopic)


def group_by_topic(entries: Iterable[Entry]) -> Mapping[TopicKey, list[Entry]]:
    """Entries by topic, in the order in which topics first occur."""
    topics: dict[TopicKey, list[Entry]] = {}
    for entry in entries:
        topics.setdefault(TopicKey(entry.topic, entry.topic_id), []).append(entry)
    return topics


def read_topic(reader: Reader, flexible: bool, by_id: bool) -> TopicKey:
    return TopicKey("", reader.uuid()) if by_id else TopicKey(reader.string(flexible))


def write_topic(writer: Writer, topic: TopicKey, flexible: bool, by_id: bool) -> None:
    if by_id:
        writer.raw((topic.topic_id or _NO_ID).bytes)
    else:
        writer.string(topic.name, flexible)

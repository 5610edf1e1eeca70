"""Which topics a member of a classic group wants: the first fields of the consumer protocol's metadata."""

from __future__ import annotations

from headrace.wire.coordinators.member import Member
from headrace.wire.packing import Malformed, Reader


def subscribed_topics(member: Member) -> frozenset[str]:
    """Of all protocols the member offers. What is no consumer's metadata names no topics."""
    return frozenset(topic for protocol in member.protocols for topic in _topics(protocol.metadata))


def _topics(metadata: bytes) -> list[str]:
    reader = Reader(metadata)
    try:
        reader.int16()  # version
        return [reader.string() for _ in range(reader.array_length())]
    except Malformed:
        return []

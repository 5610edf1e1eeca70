"""Where reading a topic begins: from words to offsets."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import Offsets, TopicLocation


def resolve_start(location: TopicLocation, start: str) -> Offsets:
    """Offsets for `earliest`, `latest`, `offset:N` or `timestamp:ISO8601`, within what the log still has."""
    kind, _, value = start.partition(":")
    with closing(open_topic(location)) as topic:
        bounds = topic.bounds()
        if kind == "timestamp":
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            found = topic.offsets_at(int(moment.timestamp() * 1000))
            return {str(partition): found[partition] for partition in bounds}
    positions = {
        "earliest": lambda first, end: first,
        "latest": lambda first, end: end,
        "offset": lambda first, end: min(max(int(value), first), end),
    }
    return {str(partition): positions[kind](first, end) for partition, (first, end) in bounds.items()}

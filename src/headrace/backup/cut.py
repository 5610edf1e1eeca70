"""The moment of a backup: for every partition one offset, all true at the same time.

A running broker is asked for all of them in one request, which it answers in one turn: whatever a transaction wrote
before its end is then below the offsets, and so is the note that it was to end. Without a broker the files tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.errors import CorruptData
from headrace.log.store import TOPICS_DIRECTORY
from headrace.log.watermark import read_watermark
from headrace.wire.client import Client

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """Topics as their files describe them, and where each partition is cut."""

    topics: tuple[dict[str, Any], ...]
    offsets: Mapping[TopicPartition, int]


def take_cut(log_directory: Path, bootstrap: str | None) -> Cut:
    """`bootstrap` is None when no broker runs. Raises HeadraceError."""
    topics = tuple(topic for topic in _topics(log_directory) if not topic["deleted"])
    partitions = [(str(topic["name"]), index) for topic in topics for index in range(topic["partition_count"])]
    if bootstrap is None:
        return Cut(
            topics, {key: read_watermark(partition_directory(log_directory, *key)).high_watermark for key in partitions}
        )
    with Client(bootstrap, client_id="headrace-backup") as client:
        return Cut(topics, client.high_watermarks(partitions))


def partition_directory(log_directory: Path, topic: str, index: int) -> Path:
    return log_directory / f"{topic}-{index}"


def _topics(log_directory: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted((log_directory / TOPICS_DIRECTORY).glob("*.json")):
        try:
            found.append(json.loads(path.read_bytes()))
        except ValueError as error:
            raise CorruptData(f"{path.name} is no topic: {error}") from error
    return found

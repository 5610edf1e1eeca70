"""Offsets that somebody still needs: retention does not pass them.

A job, a rebuild or a rollback says from which offset on it needs each partition, in a file of its own below `holds/` in
the log's directory. Any process on the machine may write one; the broker reads them before it deletes anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from headrace.errors import CorruptData, InvalidInput
from headrace.log.storage import OsStorage, Storage, read_whole, replace_atomically

HOLDS_DIRECTORY = "holds"
OWNER_CHARACTERS_MAX = 200
_SUFFIX = ".json"

TopicPartition = tuple[str, int]


def place_hold(
    log_directory: Path, owner: str, offsets: Mapping[TopicPartition, int], *, storage: Storage | None = None
) -> None:
    """From now on `owner` needs exactly these partitions from these offsets on; durable. Raises OSError."""
    storage = storage or OsStorage()
    directory = log_directory / HOLDS_DIRECTORY
    path = _path(directory, owner)
    storage.make_directory(directory)
    storage.fsync_directory(log_directory)
    needed = [[topic, partition, offset] for (topic, partition), offset in sorted(offsets.items())]
    replace_atomically(storage, path, json.dumps({"needed": needed}).encode())


def release_hold(log_directory: Path, owner: str, *, storage: Storage | None = None) -> None:
    """`owner` needs nothing any more. Nothing happens when it had no hold. Raises OSError."""
    storage = storage or OsStorage()
    directory = log_directory / HOLDS_DIRECTORY
    path = _path(directory, owner)
    if path.name in storage.list_directory(directory):
        storage.unlink(path)
        storage.fsync_directory(directory)


def _path(directory: Path, owner: str) -> Path:
    if not 0 < len(owner) <= OWNER_CHARACTERS_MAX:
        raise InvalidInput(
            f"{owner!r} cannot hold offsets", valid=[f"a name of 1 to {OWNER_CHARACTERS_MAX} characters"]
        )
    return directory / (quote(owner, safe="") + _SUFFIX)


@dataclass(frozen=True, slots=True)
class Holds:
    """All holds at one moment. With `damage` one of them could not be read: then nobody knows what it needs."""

    needed: Mapping[TopicPartition, Mapping[str, int]]
    damage: CorruptData | None = None

    def of(self, topic: str, partition: int) -> Mapping[str, int]:
        """Who needs a partition, and from which offset on."""
        return self.needed.get((topic, partition), {})

    def lowest(self, topic: str, partition: int) -> int | None:
        """The first offset that somebody needs; None when nobody does."""
        return 0 if self.damage is not None else min(self.of(topic, partition).values(), default=None)


def read_holds(storage: Storage, log_directory: Path) -> Holds:
    """What is needed now. Raises OSError."""
    directory = log_directory / HOLDS_DIRECTORY
    needed: dict[TopicPartition, dict[str, int]] = {}
    damage = None
    for name in storage.list_directory(directory):
        if not name.endswith(_SUFFIX):
            continue
        try:
            entries = _decode(read_whole(storage, directory / name))
        except (ValueError, KeyError, TypeError) as error:
            damage = CorruptData(
                f"{HOLDS_DIRECTORY}/{name} cannot be read: {error}", hint="delete it, or its owner's job"
            )
            continue
        for topic, partition, offset in entries:
            needed.setdefault((topic, partition), {})[unquote(name.removesuffix(_SUFFIX))] = offset
    return Holds(needed, damage)


def _decode(content: bytes | None) -> list[tuple[str, int, int]]:
    """Nothing for a file that was removed meanwhile."""
    if content is None:
        return []
    return [(str(topic), int(partition), int(offset)) for topic, partition, offset in json.loads(content)["needed"]]

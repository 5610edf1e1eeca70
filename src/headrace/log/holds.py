"""Offsets that somebody still needs: retention does not pass them.

A job, a rebuild or a rollback says from which offset on it needs each partition, in a file of its own below `holds/` in
the log's directory, and how far it has read. Any process on the machine may write one; the broker reads them before it
deletes anything.
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
    log_directory: Path,
    owner: str,
    offsets: Mapping[TopicPartition, int],
    *,
    reached: Mapping[TopicPartition, int] | None = None,
    storage: Storage | None = None,
) -> None:
    """From now on `owner` needs exactly these partitions from these offsets on; durable. Raises OSError.

    `reached` is how far it has read, where it may have to read something again.
    """
    storage = storage or OsStorage()
    directory = log_directory / HOLDS_DIRECTORY
    path = _path(directory, owner)
    storage.make_directory(directory)
    storage.fsync_directory(log_directory)
    replace_atomically(storage, path, _encode(offsets, offsets if reached is None else reached))


def advance_hold(
    log_directory: Path, owner: str, offsets: Mapping[TopicPartition, int], reached: Mapping[TopicPartition, int]
) -> None:
    """Move a hold forward, in one step for those who read it. Raises OSError.

    Nothing is synced: should the older one come back after a power loss, it only keeps more.
    """
    path = _path(log_directory / HOLDS_DIRECTORY, owner)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(_encode(offsets, reached))
    temporary.replace(path)


def release_hold(log_directory: Path, owner: str, *, storage: Storage | None = None) -> None:
    """`owner` needs nothing any more. Nothing happens when it had no hold. Raises OSError."""
    storage = storage or OsStorage()
    directory = log_directory / HOLDS_DIRECTORY
    path = _path(directory, owner)
    if path.name in storage.list_directory(directory):
        storage.unlink(path)
        storage.fsync_directory(directory)


def hold_owners(log_directory: Path) -> list[str]:
    """Who holds offsets now."""
    names = OsStorage().list_directory(log_directory / HOLDS_DIRECTORY)
    return [unquote(name.removesuffix(_SUFFIX)) for name in names if name.endswith(_SUFFIX)]


def _encode(needed: Mapping[TopicPartition, int], reached: Mapping[TopicPartition, int]) -> bytes:
    places = {"needed": needed, "reached": reached}
    return json.dumps(
        {
            name: [[topic, partition, offset] for (topic, partition), offset in sorted(offsets.items())]
            for name, offsets in places.items()
        }
    ).encode()


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
    read: Mapping[TopicPartition, Mapping[str, int]]
    damage: CorruptData | None = None

    def of(self, topic: str, partition: int) -> Mapping[str, int]:
        """Who needs a partition, and from which offset on."""
        return self.needed.get((topic, partition), {})

    def reached(self, topic: str, partition: int) -> Mapping[str, int]:
        """Who reads a partition, and how far that has come."""
        return self.read.get((topic, partition), {})

    def lowest(self, topic: str, partition: int) -> int | None:
        """The first offset that somebody needs; None when nobody does."""
        return 0 if self.damage is not None else min(self.of(topic, partition).values(), default=None)


def read_holds(storage: Storage, log_directory: Path) -> Holds:
    """What is needed now. Raises OSError."""
    directory = log_directory / HOLDS_DIRECTORY
    needed: dict[TopicPartition, dict[str, int]] = {}
    reached: dict[TopicPartition, dict[str, int]] = {}
    damage = None
    for name in storage.list_directory(directory):
        if not name.endswith(_SUFFIX):
            continue
        try:
            entries = _decode(read_whole(storage, directory / name))
            owner = unquote(name.removesuffix(_SUFFIX))
        except (ValueError, KeyError, TypeError) as error:
            damage = CorruptData(
                f"{HOLDS_DIRECTORY}/{name} cannot be read: {error}", hint="delete it, or its owner's job"
            )
            continue
        for places, found in zip((needed, reached), entries, strict=True):
            for topic, partition, offset in found:
                places.setdefault((topic, partition), {})[owner] = offset
    return Holds(needed, reached, damage)


_Entries = list[tuple[str, int, int]]


def _decode(content: bytes | None) -> tuple[_Entries, _Entries]:
    """What is needed, and how far was read. Nothing for a file that was removed meanwhile."""
    if content is None:
        return [], []
    fields = json.loads(content)
    needed, reached = (
        [(str(topic), int(partition), int(offset)) for topic, partition, offset in fields.get(name, fields["needed"])]
        for name in ("needed", "reached")
    )
    return needed, reached

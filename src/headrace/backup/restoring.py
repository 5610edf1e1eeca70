"""Bring a moment of a backup back into an empty directory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from headrace.backup.cut import partition_directory
from headrace.backup.freezing import LOG_DIRECTORY
from headrace.backup.manifest import Manifest, PartitionCopy, SegmentCopy, required
from headrace.errors import Conflict, CorruptData
from headrace.log import LogStore, OsStorage
from headrace.log.batch import checksum
from headrace.log.checkpoint import Checkpoint
from headrace.log.directory import mark_format
from headrace.log.objects import ObjectStore
from headrace.log.segment import LOG_SUFFIX, segment_path
from headrace.log.store import TOPICS_DIRECTORY
from headrace.log.topics import TopicMetadata
from headrace.wire.restored_groups import forget_members

# Of every restored file beside the log: passwords' hashes are among them.
PRIVATE: Final = 0o600


def restore_backup(objects: ObjectStore, data_directory: Path, *, time_ms: int | None = None) -> Manifest:
    """The directory is as it was at the newest moment that is not after `time_ms`. Raises HeadraceError.

    Conflict unless it was empty, NotFound when there is no such moment, CorruptData when an object is damaged.
    """
    manifest = required(objects, time_ms)
    if data_directory.exists() and any(data_directory.iterdir()):
        raise Conflict(f"{data_directory} is not empty", hint="restore into a new directory")
    log_directory = data_directory / LOG_DIRECTORY
    for partition in manifest.partitions:
        _restore_partition(objects, log_directory, partition)
    _restore_topics(log_directory, manifest.topics)
    for file in manifest.files:
        path = data_directory / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(PRIVATE)
        path.write_bytes(objects.get(file.key))
    # Opening the log checks what was written.
    with LogStore.open(log_directory) as store:
        forget_members(store, time.time_ns() // 1_000_000)
    return manifest


def _restore_topics(log_directory: Path, topics: Iterable[dict[str, object]]) -> None:
    directory = log_directory / TOPICS_DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    storage = OsStorage()
    mark_format(storage, log_directory)
    for topic in topics:
        path = directory / f"{topic['name']}.json"
        path.write_text(json.dumps(topic))
        TopicMetadata.load(storage, path).save(storage, directory)


def _restore_partition(objects: ObjectStore, log_directory: Path, partition: PartitionCopy) -> None:
    directory = partition_directory(log_directory, partition.topic, partition.index)
    directory.mkdir(parents=True)
    for segment in partition.segments:
        _restore_segment(objects, directory, segment)
    first = partition.segments[0].base_offset
    # Recovery reads everything from the first segment on, and learns again what producers did.
    Checkpoint(first, partition.log_start_offset, 0, ()).save(OsStorage(), directory)


def _restore_segment(objects: ObjectStore, directory: Path, segment: SegmentCopy) -> None:
    with segment_path(directory, segment.base_offset, LOG_SUFFIX).open("wb") as file:
        for piece in segment.pieces:
            content = objects.get(piece.key)
            if len(content) != piece.length or checksum(content) != piece.crc:
                raise CorruptData(f"{objects.name}/{piece.key} is damaged", hint="restore an earlier moment")
            file.write(content)
    if segment.aborted_hex:
        segment_path(directory, segment.base_offset, ".txnindex").write_bytes(bytes.fromhex(segment.aborted_hex))

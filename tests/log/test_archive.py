"""Segments in object storage: dropped here only when they are there, and read from there as before."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.errors import CorruptData, InvalidConfig
from headrace.log import (
    LogRefusal,
    LogStore,
    NotLocal,
    ObjectStore,
    OsStorage,
    Partition,
    PartitionReader,
    delete_remote,
    encode_batches,
    open_objects,
    parse_batches,
    with_producer,
)
from headrace.log.testing import Fault, FaultyStorage

CONFIG = {
    "segment.bytes": "2048",
    "retention.ms": "-1",
    "remote.storage.enable": "true",
    "local.retention.bytes": "1",
}


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return open_objects(str(tmp_path / "archive"))


@pytest.fixture
def partition(store: LogStore) -> Partition:
    """About fifteen segments, the first with an aborted transaction."""
    partition = store.create_topic("t", 1, CONFIG).partitions[0]
    plain = next(encode_batches(None, [b"aborted"], [5]))
    partition.append(with_producer(plain, 7, 0, 0, transactional=True))
    partition.append_control(7, 0, commit=False)
    for _ in range(50):
        partition.append(next(encode_batches(None, [b"x" * 500], [5])))
    store.sync()
    return partition


def archive(partition: Partition, objects: ObjectStore) -> None:
    archiving = partition.begin_archiving(objects)
    assert archiving is not None
    archiving.run()
    partition.finish_archiving(archiving)


def local(partition: Partition) -> list[str]:
    return [path.name for path in partition.directory.glob("*.log")]


def read_all(partition: Partition) -> list[int]:
    """Offsets of all batches, as a fetch reads them."""
    offset, found = partition.log_start_offset, []
    while offset < partition.high_watermark:
        try:
            content = partition.read(offset, 10_000, committed=True).content()
        except NotLocal as away:
            recall = partition.begin_recall(away.base_offset)
            assert recall is not None
            recall.run()
            partition.finish_recall(recall)
            continue
        for header in parse_batches(content):
            found.append(header.base_offset)
            offset = header.next_offset
    return found


def read_beside(partition: Partition) -> list[int]:
    """Offsets of the committed records, as a reader in another process finds them."""
    found = PartitionReader(partition.directory).read(0, partition.high_watermark)
    return [offset for records in found for offset in records.offsets.tolist()]


def test_archived_segments_leave_and_come_back(store: LogStore, partition: Partition, objects: ObjectStore) -> None:
    before, beside, size = read_all(partition), read_beside(partition), partition.size_bytes
    archive(partition, objects)
    assert len(local(partition)) == 1
    assert partition.begin_archiving(objects) is None
    assert partition.size_bytes == size
    assert read_beside(partition) == beside
    assert read_all(partition) == before
    assert len(local(partition)) > 10
    partition.drop_local()
    assert len(local(partition)) == 1


def test_a_restart_knows_what_is_away(
    partition: Partition, objects: ObjectStore, open_store: Callable[..., LogStore]
) -> None:
    before, beside = read_all(partition), read_beside(partition)
    archive(partition, objects)
    again = open_store().partition("t", 0)
    assert again.failure is None
    assert len(local(again)) == 1
    assert read_beside(again) == beside
    assert read_all(again) == before
    assert [entry.first_offset for entry in again.read(0, 100, committed=True).aborted] == [0]


def test_without_local_limits_nothing_is_dropped(store: LogStore, objects: ObjectStore) -> None:
    config = {key: value for key, value in CONFIG.items() if key != "local.retention.bytes"}
    partition = store.create_topic("t", 1, config).partitions[0]
    for _ in range(20):
        partition.append(next(encode_batches(None, [b"x" * 500], [5])))
    store.sync()
    count = len(local(partition))
    archive(partition, objects)
    assert len(local(partition)) == count
    assert len(list(partition.directory.glob("*.remote"))) == count - 1


def test_what_could_not_be_sent_stays(open_store: Callable[..., LogStore], objects: ObjectStore) -> None:
    storage = FaultyStorage(OsStorage())
    store = open_store(storage)
    partition = store.create_topic("t", 1, CONFIG).partitions[0]
    for _ in range(20):
        partition.append(next(encode_batches(None, [b"x" * 500], [5])))
    store.sync()
    names = sorted(local(partition))
    archiving = partition.begin_archiving(objects)
    assert archiving is not None
    storage.faults = [Fault("pread", names[2], errno.EIO)]
    with pytest.raises(OSError, match="Input/output"):
        archiving.run()
    storage.faults = []
    partition.finish_archiving(archiving)
    assert sorted(local(partition)) == names[2:]
    assert read_all(partition)[0] == 0


def test_a_damaged_object_is_reported_and_not_taken_over(
    partition: Partition, objects: ObjectStore, tmp_path: Path
) -> None:
    archive(partition, objects)
    for path in (tmp_path / "archive" / "t-0").iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    recall = partition.begin_recall(0)
    assert recall is not None
    with pytest.raises(CorruptData, match="damaged"):
        recall.run()
    with pytest.raises(CorruptData, match="damaged"):
        read_beside(partition)
    with pytest.raises(NotLocal):
        partition.read(0, 100, committed=True)


def test_retention_removes_what_is_away_too(store: LogStore, partition: Partition, objects: ObjectStore) -> None:
    archive(partition, objects)
    recall = partition.begin_recall(0)
    assert recall is not None
    recall.run()
    partition.delete_records(30)
    with pytest.raises(LogRefusal, match="removed"):
        partition.finish_recall(recall)
    assert read_all(partition)[0] <= 30 <= partition.log_start_offset
    store.sync()
    assert min(int(path.stem) for path in partition.directory.glob("*.remote")) <= 30


def test_compacted_topics_are_not_archived(store: LogStore) -> None:
    with pytest.raises(InvalidConfig, match="compacted"):
        store.create_topic("c", 1, {"remote.storage.enable": "true", "cleanup.policy": "compact"})


def test_objects_of_removed_segments_are_deleted(
    store: LogStore, partition: Partition, objects: ObjectStore, tmp_path: Path
) -> None:
    archive(partition, objects)
    sent = len(objects.list("t-0"))
    partition.delete_records(30)
    delete_remote(store.take_orphans())
    left = len(objects.list("t-0"))
    assert 0 < left < sent
    assert read_all(partition)
    assert store.take_orphans() == []
    store.delete_topic("t")
    delete_remote(store.take_orphans())
    assert objects.list("t-0") == []

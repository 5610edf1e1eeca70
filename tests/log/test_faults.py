"""Disks that are full or broken: one partition refuses, the others live, a restart mends it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from headrace.log import (
    ErrorCode,
    LogRefusal,
    LogStore,
    OsStorage,
    Partition,
    encode_batches,
    parse_batches,
    with_producer,
)
from headrace.log.testing import Fault, FaultyStorage


def batch(size: int = 100) -> bytes:
    return next(encode_batches(None, [b"x" * size], [5]))


@pytest.fixture
def storage() -> FaultyStorage:
    return FaultyStorage(OsStorage())


@pytest.fixture
def partitions(open_store: Callable[..., LogStore], storage: FaultyStorage) -> tuple[LogStore, Partition, Partition]:
    """A store with a topic of two partitions, each with one acked batch."""
    store = open_store(storage)
    first, second = store.create_topic("t", 2, {"segment.bytes": "1024"}).partitions
    first.append(batch())
    second.append(batch())
    store.sync()
    return store, first, second


def refused(partition: Partition, size: int = 100) -> bool:
    before = (partition.log_end_offset, partition.high_watermark)
    with pytest.raises(LogRefusal) as caught:
        partition.append(batch(size))
    assert caught.value.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (partition.log_end_offset, partition.high_watermark) == before
    return True


def offsets(partition: Partition) -> list[int]:
    return [h.base_offset for h in parse_batches(partition.read(0, 10_000, committed=False).content())]


@pytest.mark.parametrize("written_bytes", [0, 1, 16, 100])
def test_a_full_disk_leaves_no_half_batch_and_passes(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage, written_bytes: int
) -> None:
    store, first, second = partitions
    storage.faults = [Fault("pwritev", "t-0/00000000000000000000.log", errno.ENOSPC, written_bytes)]
    assert refused(first)
    assert first.failure is None
    assert first.size_bytes == (first.directory / "00000000000000000000.log").stat().st_size
    assert second.append(batch()).base_offset == 1
    storage.faults = []
    assert first.append(batch()).base_offset == 1
    store.sync()
    assert offsets(first) == offsets(second) == [0, 1]


@pytest.mark.parametrize(
    "faults",
    [
        [Fault("pwritev", "t-0/00000000000000000000.log", errno.EIO, 30)],
        [
            Fault("pwritev", "t-0/00000000000000000000.log", errno.ENOSPC, 30),
            Fault("truncate", "t-0/00000000000000000000.log", errno.EIO),
        ],
    ],
)
def test_a_failed_write_ends_writing_until_reopened(
    open_store: Callable[..., LogStore],
    partitions: tuple[LogStore, Partition, Partition],
    storage: FaultyStorage,
    faults: list[Fault],
) -> None:
    store, first, second = partitions
    storage.faults = faults
    assert refused(first)
    storage.faults = []
    assert refused(first)
    assert first.failure is not None
    assert offsets(first) == [0]
    second.append(batch())
    store.sync()
    assert second.high_watermark == 2
    reopened = open_store(storage).partition("t", 0)
    assert reopened.failure is None
    assert reopened.append(batch()).base_offset == 1


def test_a_failed_sync_ends_writing_until_reopened(
    open_store: Callable[..., LogStore], partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    store, first, second = partitions
    first.append(batch())
    second.append(batch())
    storage.faults = [Fault("fdatasync", "t-0/00000000000000000000.log", errno.EIO)]
    store.sync()
    assert (first.high_watermark, second.high_watermark) == (1, 2)
    storage.faults = []
    assert refused(first)
    assert not first.is_dirty
    reopened = open_store(storage).partition("t", 0)
    assert reopened.failure is None
    assert reopened.high_watermark == reopened.log_end_offset
    assert offsets(reopened) == list(range(reopened.high_watermark))
    assert reopened.append(batch()).base_offset == reopened.high_watermark


def test_a_sync_that_ends_after_a_failure_acks_nothing(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    _, first, _ = partitions
    first.append(batch())
    ticket = first.begin_sync()
    storage.faults = [Fault("pwritev", ".log", errno.EIO)]
    assert refused(first)
    storage.faults = []
    ticket.run()
    with pytest.raises(LogRefusal) as caught:
        first.finish_sync(ticket)
    assert caught.value.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert first.high_watermark == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("fdatasync", "t-0/00000000000000000000.log", errno.EIO),
        Fault("fdatasync", "t-0/00000000000000000000.index", errno.EIO),
        Fault("open", "t-0/00000000000000000001.log", errno.ENOSPC),
        Fault("open", "t-0/00000000000000000001.index", errno.ENOSPC),
        Fault("fsync_directory", "t-0", errno.EIO),
    ],
    ids=lambda fault: f"{fault.operation} {fault.name_ends}",
)
def test_a_segment_that_cannot_be_begun_ends_writing_until_reopened(
    open_store: Callable[..., LogStore],
    partitions: tuple[LogStore, Partition, Partition],
    storage: FaultyStorage,
    fault: Fault,
) -> None:
    _, first, _ = partitions
    storage.faults = [fault]
    assert refused(first, size=1000)
    storage.faults = []
    assert refused(first, size=1000)
    reopened = open_store(storage).partition("t", 0)
    assert reopened.failure is None
    assert reopened.append(batch(1000)).base_offset == 1


def test_an_index_that_cannot_be_written_costs_only_time(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    store, first, _ = partitions
    storage.faults = [Fault("pwritev", "index", errno.ENOSPC)]
    for _ in range(3):
        first.append(batch(900))
    store.sync()
    assert first.failure is None
    for offset in range(4):
        found = first.read(offset, 10, committed=False).content()
        assert next(parse_batches(found)).base_offset == offset


def test_an_abort_that_cannot_be_noted_is_not_acked(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    store, first, _ = partitions
    first.append(with_producer(batch(), 3, 0, 0, transactional=True))
    store.sync()
    storage.faults = [Fault("pwritev", ".txnindex", errno.ENOSPC)]
    with pytest.raises(LogRefusal):
        first.append_control(3, 0, commit=False)
    store.sync()
    assert first.last_stable_offset == 1
    assert first.failure is not None


def test_a_checkpoint_that_cannot_be_written_is_no_failure(
    open_store: Callable[..., LogStore], partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    store, first, _ = partitions
    storage.faults = [Fault("pwritev", "producers.tmp", errno.ENOSPC)]
    for _ in range(4):
        first.append(batch(900))
        store.sync()
    assert first.failure is None
    assert open_store(storage).partition("t", 0).high_watermark == 5


def test_a_read_error_refuses_the_one_request(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage
) -> None:
    _, first, _ = partitions
    storage.faults = [Fault("pread", ".log", errno.EIO)]
    with pytest.raises(LogRefusal) as caught:
        first.read(0, 1000, committed=False).content()
    assert caught.value.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    storage.faults = []
    assert offsets(first) == [0]


@pytest.mark.parametrize("operation", ["pwritev", "fdatasync", "open", "fsync_directory"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_writing_goes_on_when_the_disk_works_again(
    partitions: tuple[LogStore, Partition, Partition], storage: FaultyStorage, operation: str, number: int
) -> None:
    store, first, second = partitions
    sync_or_roll = 900 if operation in ("open", "fsync_directory") else 100
    storage.faults = [Fault(operation, end, number) for end in ("t-0", "t-0/00000000000000000000.log", "1.log")]
    with suppress(LogRefusal):
        first.append(batch(sync_or_roll))
    store.sync()
    acked = first.high_watermark
    second.append(batch())
    store.sync()
    assert second.high_watermark == 2
    if first.failure is not None:
        assert refused(first)
        store.heal()
        assert offsets(first)[:acked] == list(range(acked))
    storage.faults = []
    store.heal()
    assert first.failure is None
    base = first.append(batch()).base_offset
    store.sync()
    assert first.high_watermark == base + 1
    assert offsets(first)[:acked] == list(range(acked))


def test_damage_does_not_heal(
    open_store: Callable[..., LogStore], partitions: tuple[LogStore, Partition, Partition]
) -> None:
    _, first, _ = partitions
    path = first.directory / "00000000000000000000.log"
    open_store()
    path.write_bytes(path.read_bytes()[:-1])
    store = open_store()
    assert store.partition("t", 0).failure is not None
    assert store.heal() == ()


def test_a_topic_is_deleted_while_no_byte_is_free(
    tmp_path: Path, open_store: Callable[..., LogStore], clock: Callable[[], int]
) -> None:
    disk = FaultyStorage(OsStorage())
    store = open_store(disk)
    partition = store.create_topic("full", 2, {}).partitions[0]
    partition.append(next(encode_batches(None, [b"x"], [1])))
    store.sync()
    disk.faults.append(Fault("pwritev", "", errno.ENOSPC))
    store.delete_topic("full")
    disk.faults.clear()
    assert "full" not in store.topics
    assert [path.name for path in (tmp_path / "data").iterdir() if path.name.startswith("full")] == []
    assert "full" not in open_store().topics


@pytest.mark.parametrize("goes_on", ["restart", "created again"])
def test_a_deletion_that_was_interrupted_is_finished(
    tmp_path: Path, open_store: Callable[..., LogStore], goes_on: str
) -> None:
    disk = FaultyStorage(OsStorage())
    store = open_store(disk)
    for partition in store.create_topic("gone", 2, {}).partitions:
        partition.append(next(encode_batches(None, [b"x"], [1])))
    store.sync()
    disk.faults.append(Fault("unlink", ".log", errno.EIO))
    with pytest.raises(OSError, match="error"):
        store.delete_topic("gone")
    disk.faults.clear()
    assert "gone" not in store.topics
    if goes_on == "restart":
        store = open_store()
        assert list((tmp_path / "data").glob("gone-*")) == []
    store.create_topic("gone", 1, {})
    assert open_store().partition("gone", 0).log_end_offset == 0

"""Many partitions with few descriptors: files close when they are not used, and nothing that was written is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.log import LogRefusal, LogStore, OsStorage, PartitionReader, encode_batches
from headrace.log import store as store_module
from headrace.log.files import OPEN_FILES_MIN, FileCache, LazyFile
from headrace.log.testing import Fault, FaultyStorage

PARTITIONS = 60


@pytest.fixture(autouse=True)
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "open_files_max", lambda: OPEN_FILES_MIN)


def open_below(directory: Path) -> int:
    """Descriptors of this process that are open on files of a directory."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{name}").startswith(str(directory))
        except FileNotFoundError:
            continue
    return found


def batch(value: bytes) -> bytes:
    return next(encode_batches(None, [value], [1]))


def test_partitions_share_a_few_descriptors(tmp_path: Path, open_store: Callable[..., LogStore]) -> None:
    store = open_store()
    partitions = store.create_topic("many", PARTITIONS, {"segment.bytes": "2048"}).partitions
    for turn in range(4):
        for partition in partitions:
            partition.append(batch(b"%d/%d" % (partition.index, turn) + bytes(900)))
        store.sync()
        assert open_below(tmp_path) <= OPEN_FILES_MIN + 1
    for partition in open_store().topics["many"].partitions:
        assert partition.log_end_offset == 4
        read = [r for records in PartitionReader(partition.directory).read(0, 4) for r in records.values.to_pylist()]
        assert [value.rstrip(bytes(1)) for value in read if value] == [
            b"%d/%d" % (partition.index, turn) for turn in range(4)
        ]
        assert partition.read(0, 10_000, committed=True).length > 0
    assert open_below(tmp_path) <= OPEN_FILES_MIN + 1


def test_what_is_being_sent_stays_open(open_store: Callable[..., LogStore]) -> None:
    store = open_store()
    partitions = store.create_topic("many", PARTITIONS, {"segment.bytes": "1024", "retention.bytes": "0"}).partitions
    for partition in partitions:
        for _ in range(2):
            partition.append(batch(b"x" * 900))
    store.sync()
    held = partitions[0].read(0, 10_000, committed=True)
    before = held.content()
    for partition in partitions:
        partition.read(0, 10_000, committed=True).content()
    store.apply_retention()
    assert partitions[0].log_start_offset > 0
    assert held.content() == before


def test_a_sync_that_fails_when_a_file_is_closed_is_told_by_the_next(tmp_path: Path) -> None:
    disk, cache = FaultyStorage(OsStorage()), FileCache(OPEN_FILES_MIN)
    first = LazyFile(disk, tmp_path / "first.log", cache, create=True, is_durable=True)
    first.write([b"x"], 0)
    disk.faults.append(Fault("fdatasync", "first.log", errno.EIO))
    others = [LazyFile(disk, tmp_path / f"{n}", cache, create=True) for n in range(2 * OPEN_FILES_MIN)]
    disk.faults.clear()
    with pytest.raises(OSError, match="error"):
        first.sync()
    assert len(cache) <= OPEN_FILES_MIN < len(others)


def test_so_the_records_are_not_acked(open_store: Callable[..., LogStore]) -> None:
    disk = FaultyStorage(OsStorage())
    store = open_store(disk)
    partitions = store.create_topic("many", PARTITIONS, {}).partitions
    partitions[0].append(batch(b"x"))
    disk.faults.append(Fault("fdatasync", ".log", errno.EIO))
    for partition in partitions[1:]:
        partition.read(0, 10, committed=True)
        partition.append(batch(b"y"))
    disk.faults.clear()
    ticket = partitions[0].begin_sync()
    with pytest.raises(OSError, match="error") as failed:
        ticket.run()
    partitions[0].fail_sync(ticket, failed.value)
    assert partitions[0].high_watermark == 0
    with pytest.raises(LogRefusal):
        partitions[0].append(batch(b"z"))

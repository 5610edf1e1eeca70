"""Opening a log reads its last segment, however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.log import LogStore, OsStorage, Partition, encode_batches, with_producer
from headrace.log.checkpoint import CHECKPOINT_FILE
from headrace.log.topics import NEVER_MS

SEGMENTS = 30


class CountingStorage(OsStorage):
    """Counts the bytes that are read of each file."""

    def __init__(self) -> None:
        self.read_bytes: Counter[str] = Counter()
        self._names: dict[int, str] = {}

    def open(self, path: Path, *, create: bool = False) -> int:
        descriptor = super().open(path, create=create)
        self._names[descriptor] = path.name
        return descriptor

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        content = super().pread(descriptor, length, position)
        self.read_bytes[self._names[descriptor]] += len(content)
        return content

    def of_segments(self) -> set[str]:
        return {name for name, count in self.read_bytes.items() if count and name[:1].isdigit()}


@pytest.fixture
def filled(open_store: Callable[..., LogStore]) -> Partition:
    """Closed cleanly, with one aborted transaction in an early segment."""
    store = open_store()
    # The marker has the time of today, the records are of 1970: without this it would begin a segment.
    settings = {"segment.bytes": "2048", "segment.ms": str(NEVER_MS)}
    partition = store.create_topic("t", 1, settings).partitions[0]
    plain = next(encode_batches(None, [b"aborted"], [5]))
    partition.append(with_producer(plain, 7, 0, 0, transactional=True))
    partition.append_control(7, 0, commit=False)
    while len(list(partition.directory.glob("*.log"))) < SEGMENTS:
        partition.append(next(encode_batches(None, [b"x" * 500], [5])))
    store.sync()
    return partition


def opened(open_store: Callable[..., LogStore]) -> tuple[CountingStorage, Partition]:
    storage = CountingStorage()
    return storage, open_store(storage).partition("t", 0)


def test_sealed_segments_are_not_read(filled: Partition, open_store: Callable[..., LogStore]) -> None:
    end, active = filled.log_end_offset, sorted(filled.directory.glob("*.log"))[-1]
    storage, partition = opened(open_store)
    assert partition.log_end_offset == end
    assert {Path(name).stem for name in storage.of_segments()} == {active.stem, "0" * 20}
    assert {name for name in storage.of_segments() if name.startswith("0" * 20)} == {"0" * 20 + ".txnindex"}
    assert [entry.first_offset for entry in partition.read(0, 100, committed=True).aborted] == [0]
    assert len(partition.read(20, 1, committed=True).content()) > 500


def test_a_lost_checkpoint_costs_only_time(filled: Partition, open_store: Callable[..., LogStore]) -> None:
    end, directory = filled.log_end_offset, filled.directory
    open_store()
    (directory / CHECKPOINT_FILE).unlink()
    storage, partition = opened(open_store)
    assert partition.failure is None
    assert partition.log_end_offset == end
    assert len(storage.of_segments()) > SEGMENTS


def test_a_sealed_segment_of_another_size_is_looked_at(filled: Partition, open_store: Callable[..., LogStore]) -> None:
    directory = filled.directory
    open_store()
    first = sorted(directory.glob("*.log"))[0]
    first.write_bytes(first.read_bytes()[:-100])
    _, partition = opened(open_store)
    assert "ends at offset" in str(partition.failure)

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
    """Counts the bytes that are read of each file, and what makes a disk wait."""

    def __init__(self) -> None:
        self.read_bytes: Counter[str] = Counter()
        self.slow: Counter[str] = Counter()
        self._names: dict[int, str] = {}

    def fdatasync(self, descriptor: int) -> None:
        self.slow["fdatasync"] += 1
        super().fdatasync(descriptor)

    def fsync_directory(self, path: Path) -> None:
        self.slow["fsync_directory"] += 1
        super().fsync_directory(path)

    def truncate(self, descriptor: int, size: int) -> None:
        self.slow["truncate"] += 1
        super().truncate(descriptor, size)

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


def many(store: LogStore, partitions: int) -> None:
    """Batches in all partitions, acked."""
    for partition in store.create_topic("many", partitions, {}).partitions:
        for size in (9_000, 10):
            partition.append(next(encode_batches(None, [bytes(size)], [5], codec="none")))
    store.sync()


@pytest.mark.parametrize("killed", [False, True])
def test_the_number_of_partitions_does_not_matter_for_the_disk(tmp_path: Path, killed: bool) -> None:
    """Opening thousands must not wait thousands of times: what was acked is durable, and known to be."""
    counts = []
    for partitions in (1, 20):
        directory = tmp_path / str(partitions)
        store = LogStore.open(directory)
        many(store, partitions)
        if killed:
            store._lock.release()
        else:
            store.close()
        storage = CountingStorage()
        with LogStore.open(directory, storage=storage) as reopened:
            counts.append(storage.slow.copy())
            ends = {partition.log_end_offset for partition in reopened.topics["many"].partitions}
            assert ends == {2}
        assert storage.slow == counts[-1], "nor does closing what was not written"
    assert counts[0] == counts[1]


def test_an_index_that_is_behind_or_ahead_of_the_log_is_mended(tmp_path: Path) -> None:
    with LogStore.open(tmp_path) as store:
        many(store, 1)
        (index,) = store.topics["many"].partitions[0].directory.glob("*.index")
    sound = index.read_bytes()
    assert len(sound) == 16
    for content in (sound[:8], sound + sound[8:], b"\xff" * 16, b""):
        index.write_bytes(content)
        with LogStore.open(tmp_path) as store:
            assert store.partition("many", 0).log_end_offset == 2
            assert index.read_bytes() == sound

"""Retention removes whole segments, the oldest first, never the active one and never what is not yet decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.log import LogStore, Partition, PartitionReader, TopicConfig, encode_batches, with_producer
from headrace.log.retention import SealedSegment, expired_count

NOW_MS = 1_700_000_000_000
"""What the clock of the tests says."""


def fill(store: LogStore, partition: Partition, count: int, time_ms: int) -> None:
    for _ in range(count):
        partition.append(next(encode_batches([b"k"], [b"x" * 900], [time_ms])))
    store.sync()


def files(partition: Partition) -> set[int]:
    return {int(path.name.split(".")[0]) for path in partition.directory.glob("0*")}


def test_by_size(store: LogStore) -> None:
    partition = store.create_topic("t", 1, {"segment.bytes": "1024", "retention.bytes": "3500"}).partitions[0]
    fill(store, partition, 10, NOW_MS)
    store.apply_retention()
    assert partition.size_bytes >= 3500
    assert (partition.log_start_offset, files(partition)) == (6, {6, 7, 8, 9})
    assert partition.read(6, 100, committed=True).length > 0
    assert PartitionReader(partition.directory).watermark().log_start_offset == 6


def test_by_time_removes_all_that_is_old(
    store: LogStore, clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = store.create_topic("t", 1, {"segment.bytes": "1024", "retention.ms": "1000"}).partitions[0]
    fill(store, partition, 5, clock())
    monkeypatch.setattr(clock, "time_ms", clock() + 900)
    fill(store, partition, 2, clock())
    store.apply_retention()
    assert partition.log_start_offset == 0
    monkeypatch.setattr(clock, "time_ms", clock() + 200)
    store.apply_retention()
    assert partition.log_start_offset == 5
    monkeypatch.setattr(clock, "time_ms", clock() + 2000)
    store.apply_retention()
    assert (partition.log_start_offset, partition.log_end_offset, partition.size_bytes) == (7, 7, 0)
    fill(store, partition, 1, clock())
    assert partition.read(7, 100, committed=True).length > 0


def test_the_start_survives_a_restart(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    partition = store.create_topic("t", 1, {"segment.bytes": "1024", "retention.bytes": "0"}).partitions[0]
    fill(store, partition, 5, NOW_MS)
    store.apply_retention()
    assert partition.log_start_offset == 4
    assert open_store().partition("t", 0).log_start_offset == 4


def test_unacked_and_undecided_segments_stay(store: LogStore) -> None:
    partition = store.create_topic("t", 1, {"segment.bytes": "1024", "retention.bytes": "0"}).partitions[0]
    fill(store, partition, 2, 5)
    plain = next(encode_batches(None, [b"y" * 900], [5]))
    partition.append(with_producer(plain, 3, 0, 0, transactional=True))
    fill(store, partition, 3, 5)
    for _ in range(3):
        partition.append(plain)
    store.apply_retention()
    assert partition.log_start_offset == 2
    partition.append_control(3, 0, commit=True)
    store.apply_retention()
    assert partition.log_start_offset == 2
    store.sync()
    store.apply_retention()
    assert partition.log_start_offset == partition.log_end_offset - 1


def test_producers_of_removed_segments_are_known_after_a_crash(
    tmp_path: Path, clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LogStore.open(tmp_path / "data", clock=clock)
    partition = store.create_topic("t", 1, {"retention.ms": "1000"}).partitions[0]
    plain = next(encode_batches(None, [b"x"], [clock()]))
    partition.append(with_producer(plain, 3, 0, 0))
    store.sync()
    monkeypatch.setattr(clock, "time_ms", clock() + 2000)
    store.apply_retention()
    assert partition.log_start_offset == 1
    store._lock.release()
    with LogStore.open(tmp_path / "data", clock=clock) as reopened:
        assert reopened.partition("t", 0).append(with_producer(plain, 3, 0, 0)).base_offset == 0
        assert reopened.partition("t", 0).append(with_producer(plain, 3, 0, 1)).base_offset == 1


def test_nothing_above_the_checkpoint_goes_while_a_sync_runs(
    store: LogStore, clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = store.create_topic("t", 1, {"retention.ms": "1000"}).partitions[0]
    fill(store, partition, 3, clock())
    ticket = partition.begin_sync()
    monkeypatch.setattr(clock, "time_ms", clock() + 2000)
    store.apply_retention()
    assert (partition.log_start_offset, files(partition)) == (3, {0, 3})
    ticket.run()
    partition.finish_sync(ticket)
    store.apply_retention()
    assert (partition.log_start_offset, files(partition)) == (3, {3})


def test_a_compacted_topic_keeps_everything(store: LogStore) -> None:
    config = {"segment.bytes": "1024", "retention.bytes": "0", "cleanup.policy": "compact"}
    partition = store.create_topic("t", 1, config).partitions[0]
    fill(store, partition, 5, 5)
    store.apply_retention()
    assert partition.log_start_offset == 0


@given(
    sizes=st.lists(st.tuples(st.integers(1, 100), st.integers(0, 100)), max_size=8),
    retention_bytes=st.integers(-1, 300),
    retention_ms=st.integers(-1, 100),
    now_ms=st.integers(0, 150),
)
def test_what_goes_is_the_longest_unwanted_prefix(
    sizes: list[tuple[int, int]], retention_bytes: int, retention_ms: int, now_ms: int
) -> None:
    segments = [SealedSegment(at, at + 1, size, time_ms) for at, (size, time_ms) in enumerate(sizes)]
    config = TopicConfig(retention_ms=retention_ms, retention_bytes=retention_bytes)
    total = sum(size for size, _ in sizes)
    count = expired_count(segments, total, config, now_ms)
    for at in range(count):
        rest = sum(size for size, _ in sizes[at + 1 :])
        old = retention_ms >= 0 and sizes[at][1] < now_ms - retention_ms
        assert old or (retention_bytes >= 0 and rest >= retention_bytes)
    if count < len(sizes):
        rest = sum(size for size, _ in sizes[count + 1 :])
        assert retention_bytes < 0 or rest < retention_bytes
        assert retention_ms < 0 or sizes[count][1] >= now_ms - retention_ms


def test_a_segment_ends_with_its_time(open_store: Callable[[], LogStore]) -> None:
    partition = open_store().create_topic("timed", 1, {"segment.ms": "100", "retention.ms": "-1"}).partitions[0]
    for time_ms in (1_000, 1_100, 1_101, 1_050, 1_201, 1_202):
        partition.append(next(encode_batches(None, [b"x"], [time_ms])))
    again = open_store().partition("timed", 0)
    again.append(next(encode_batches(None, [b"x"], [1_302])))
    again.append(next(encode_batches(None, [b"x"], [1_303])))
    assert [segment.base_offset for segment in again._segments.sealed] == [0, 2, 5]
    assert again._segments.active.base_offset == 7

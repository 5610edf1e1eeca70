"""Checksums on read: nothing damaged leaves a partition, and nothing is checked twice without need."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.log import LogRefusal, LogStore, OsStorage, Partition, encode_batches, parse_batches
from headrace.log.refusal import ErrorCode
from headrace.log.verified import BATCHES_MAX, RANGES_MAX, WINDOW_BYTES

ALL_BYTES = 1 << 30


class CountingStorage(OsStorage):
    """The operating system's files, and how much of them was checked."""

    def __init__(self) -> None:
        self.checked_bytes = 0

    def preadinto(self, descriptor: int, buffer: memoryview, position: int) -> int:
        read = super().preadinto(descriptor, buffer, position)
        self.checked_bytes += read
        return read


def filled(directory: Path, sizes: list[int], storage: OsStorage | None = None) -> Partition:
    """A partition with one batch of each size."""
    store = LogStore.open(directory / "data", storage=storage)
    partition = store.create_topic("t", 1, {"max.message.bytes": "10000000"}).partitions[0]
    for number, size in enumerate(sizes):
        partition.append(next(encode_batches(None, [bytes([number % 256]) * size], [number], codec="none")))
    store.sync()
    return partition


def log_file(partition: Partition) -> Path:
    return partition.directory / f"{0:020d}.log"


def read_offsets(partition: Partition, offset: int = 0) -> list[int]:
    """Base offsets of all batches from an offset on. Raises LogRefusal at a damaged one."""
    offsets: list[int] = []
    while (found := partition.read(offset, ALL_BYTES, committed=False)).length:
        headers = list(parse_batches(found.content()))
        offsets += [header.base_offset for header in headers]
        offset = headers[-1].next_offset
    return offsets


def test_every_flipped_bit_is_refused_and_what_stands_before_it_is_not(tmp_path: Path) -> None:
    partition = filled(tmp_path, [20, 20, 20])
    log = log_file(partition)
    sound = log.read_bytes()
    size = len(sound) // 3
    # What was checked is forgotten for each flip, as by a restart.
    for bit in range(8 * size, 8 * 2 * size):
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        log.write_bytes(damaged)
        partition._segments.active.verified._ranges.clear()
        assert [h.base_offset for h in parse_batches(partition.read(0, ALL_BYTES, committed=False).content())] == [0]
        with pytest.raises(LogRefusal) as refused:
            read_offsets(partition, 1)
        assert refused.value.error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("size", [WINDOW_BYTES - 70, WINDOW_BYTES, 3 * WINDOW_BYTES + 5])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_batches_longer_than_the_window_are_checked_to_their_end(tmp_path: Path, size: int, place: int) -> None:
    partition = filled(tmp_path, [10, size, 10])
    assert read_offsets(partition) == [0, 1, 2]
    log = log_file(partition)
    content = bytearray(log.read_bytes())
    content[(200, len(content) // 2, len(content) - 150)[place]] ^= 4
    log.write_bytes(content)
    partition._segments.active.verified._ranges.clear()
    with pytest.raises(LogRefusal, match="offset 1 is damaged"):
        read_offsets(partition)


def test_a_range_is_checked_once_while_its_segment_is_open(tmp_path: Path) -> None:
    storage = CountingStorage()
    partition = filled(tmp_path, [100_000] * 20, storage)
    for _ in range(3):
        assert read_offsets(partition) == list(range(20))
        size = log_file(partition).stat().st_size
        assert size <= storage.checked_bytes < 2 * size


def test_many_small_batches_are_checked_in_several_reads(tmp_path: Path) -> None:
    partition = filled(tmp_path, [1] * (2 * BATCHES_MAX + 1))
    sizes = []
    offset = 0
    while (found := partition.read(offset, ALL_BYTES, committed=False)).length:
        sizes.append(len(list(parse_batches(found.content()))))
        offset += sizes[-1]
    assert sizes == [BATCHES_MAX, BATCHES_MAX, 1]
    assert partition.read(0, ALL_BYTES, committed=False).length == log_file(partition).stat().st_size


@pytest.fixture(scope="module")
def long_partition(tmp_path_factory: pytest.TempPathFactory) -> Partition:
    return filled(tmp_path_factory.mktemp("long"), [20] * 200)


@given(st.lists(st.tuples(st.integers(0, 199), st.integers(1, 400)), max_size=40))
def test_readers_anywhere_get_what_is_there(long_partition: Partition, wanted: list[tuple[int, int]]) -> None:
    """Whatever was checked before, and in whatever order, a read brings the batches that it asks for."""
    size = log_file(long_partition).stat().st_size // 200
    ranges = long_partition._segments.active.verified
    ranges._ranges.clear()
    for offset, count in wanted:
        found = long_partition.read(offset, count * size, committed=False)
        headers = list(parse_batches(found.content()))
        assert [h.base_offset for h in headers] == list(range(offset, min(200, offset + count)))
        assert all(first.end < second.start for first, second in pairwise(ranges._ranges))


def test_what_is_remembered_of_a_segment_is_limited(tmp_path: Path) -> None:
    partition = filled(tmp_path, [20] * (3 * RANGES_MAX))
    for offset in range(0, 3 * RANGES_MAX, 2):
        partition.read(offset, 1, committed=False)
    assert len(partition._segments.active.verified._ranges) == RANGES_MAX
    assert read_offsets(partition) == list(range(3 * RANGES_MAX))

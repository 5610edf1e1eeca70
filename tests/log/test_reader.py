"""The co-located reader: every record of a range, no more, and damage is always reported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import CorruptData, NotFound
from headrace.log import (
    CODECS,
    Codec,
    ErrorCode,
    LogRefusal,
    LogStore,
    Partition,
    PartitionReader,
    decode_fetched,
    encode_batches,
)
from headrace.log.batch import sealed
from headrace.log.watermark import Watermark


def fill(store: LogStore, partition: Partition, sizes: list[int], codecs: tuple[Codec, ...] = ("none",)) -> None:
    """Batches of three records each: value `offset:xxx`, key every other time."""
    for number, size in enumerate(sizes):
        first = partition.log_end_offset
        values = [b"%d:" % (first + i) + b"x" * size for i in range(3)]
        keys = [None if i % 2 else b"key" for i in range(3)]
        codec = codecs[number % len(codecs)]
        for content in encode_batches(keys, values, [first + i for i in range(3)], codec=codec):
            partition.append(content)
    store.sync()


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 10, 100, 3000]), min_size=1, max_size=25),
    codecs=st.lists(st.sampled_from(CODECS), min_size=1, max_size=3),
    start=st.integers(0, 80),
    length=st.integers(0, 80),
    chunk_bytes=st.sampled_from([1, 1000, 1 << 20]),
)
def test_every_record_of_the_range(
    fresh_directory: Callable[[], Path],
    sizes: list[int],
    codecs: list[Codec],
    start: int,
    length: int,
    chunk_bytes: int,
) -> None:
    with LogStore.open(fresh_directory() / "data") as store:
        partition = store.create_topic("t", 1, {"segment.bytes": "20000"}).partitions[0]
        fill(store, partition, sizes, tuple(codecs))
        end = min(start + length, partition.high_watermark)
        start = min(start, end)
        chunks = list(PartitionReader(partition.directory).read(start, end, chunk_bytes=chunk_bytes))
        wanted = list(range(start, end))
        assert [o for chunk in chunks for o in chunk.offsets.tolist()] == wanted
        assert [t for chunk in chunks for t in chunk.timestamps_ms.tolist()] == wanted
        assert [v for chunk in chunks for v in chunk.values.to_pylist()] == [
            b"%d:" % o + b"x" * sizes[o // 3] for o in wanted
        ]
        assert [k for chunk in chunks for k in chunk.keys.to_pylist()] == [
            b"key" if o % 3 != 1 else None for o in wanted
        ]
        assert all(len(chunk) for chunk in chunks)


def test_a_range_that_is_not_wholly_there_is_refused(store: LogStore, partition: Partition) -> None:
    fill(store, partition, [900] * 10)
    partition.append(next(encode_batches(None, [b"unacked"], [1])))
    partition.delete_records(12)
    reader = PartitionReader(partition.directory)
    assert sum(map(len, reader.read(12, 30))) == 18
    for start, end in ((11, 20), (12, 31)):
        with pytest.raises(LogRefusal, match="12 to 30 can be read") as refused:
            reader.read(start, end)
        assert refused.value.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_started_read_outlives_retention(store: LogStore, partition: Partition) -> None:
    fill(store, partition, [900] * 10)
    chunks = PartitionReader(partition.directory).read(0, 30, chunk_bytes=1)
    first = next(chunks)
    partition.delete_records(30)
    assert len(first) + sum(map(len, chunks)) == 30


def test_no_partition_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no partition in nothing-0"):
        PartitionReader(tmp_path / "nothing-0").watermark()


def test_a_watermark_that_never_gets_whole_is_damage(store: LogStore, partition: Partition) -> None:
    path = partition.directory / "watermark"
    content = bytearray(path.read_bytes())
    assert Watermark.decode(bytes(content)) is not None
    content[7] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptData, match="watermark file is damaged"):
        PartitionReader(partition.directory).watermark()


def test_every_flipped_bit_of_a_sealed_segment_is_reported(store: LogStore, partition: Partition) -> None:
    fill(store, partition, [20] * 3)
    partition.append(next(encode_batches(None, [b"x" * 4000], [1])))
    store.sync()
    log = sorted(partition.directory.glob("*.log"))[0]
    whole = log.read_bytes()
    good = [chunk.values.to_pylist() for chunk in PartitionReader(partition.directory).read(0, 9)]
    leader_epoch = range(12, 16)
    starts = [0, len(whole) // 3, 2 * len(whole) // 3]
    for bit in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        log.write_bytes(damaged)
        if any(bit // 8 - start in leader_epoch for start in starts):
            assert [c.values.to_pylist() for c in PartitionReader(partition.directory).read(0, 9)] == good
            continue
        with pytest.raises(CorruptData, match=r"events-0, segment 0{20}\.log, byte \d+: .*offset -?\d+"):
            list(PartitionReader(partition.directory).read(0, 9))


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_a_cut_or_missing_sealed_segment_is_reported(
    open_store: Callable[[], LogStore], store: LogStore, partition: Partition, damage: str
) -> None:
    fill(store, partition, [900] * 6)
    log = sorted(partition.directory.glob("*.log"))[1]
    if damage == "cut":
        log.write_bytes(log.read_bytes()[:-1])
    else:
        log.unlink()
    with pytest.raises(CorruptData, match="there is no whole batch"):
        list(PartitionReader(partition.directory).read(0, 18))
    reopened = open_store().partition("events", 0)
    assert isinstance(reopened.failure, CorruptData)
    with pytest.raises(LogRefusal) as refused:
        reopened.append(next(encode_batches(None, [b"x"], [1])))
    assert refused.value.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    last = reopened.high_watermark - 1
    assert reopened.read(0, 100, committed=False).length > 0
    assert reopened.read(last, 100, committed=False).length > 0


def test_damaged_records_with_a_valid_checksum_name_the_place(store: LogStore, partition: Partition) -> None:
    content = bytearray(next(encode_batches(None, [b"abc"], [1])))
    content[61] = 0x7E
    partition.append(sealed(content))
    store.sync()
    with pytest.raises(CorruptData, match=r"events-0: the batch at offset 0 .*malformed"):
        list(PartitionReader(partition.directory).read(0, 1))


@pytest.mark.parametrize("damage", [b"", b"\xff" * 64, bytes(64)], ids=["empty", "ones", "zeros"])
def test_a_useless_index_costs_only_time(store: LogStore, partition: Partition, damage: bytes) -> None:
    fill(store, partition, [5000] * 10)
    for path in partition.directory.glob("*.index"):
        path.write_bytes(damage)
    chunks = PartitionReader(partition.directory).read(17, 29)
    assert [offset for chunk in chunks for offset in chunk.offsets.tolist()] == list(range(17, 29))


def test_fetched_bytes_decode_like_the_files(store: LogStore, partition: Partition) -> None:
    fill(store, partition, [10, 20, 30], ("lz4", "none", "zstd"))
    content = partition.read(0, 10_000, committed=True).content()
    fetched = [value for records in decode_fetched(content, ()) for value in records.values.to_pylist()]
    assert fetched == [
        v for records in PartitionReader(partition.directory).read(0, 9) for v in records.values.to_pylist()
    ]


FOLLOW = """
import sys, time, pathlib
from headrace.log import PartitionReader
reader, wanted = PartitionReader(pathlib.Path(sys.argv[1])), int(sys.argv[2])
position, deadline = 0, time.monotonic() + 120
while position < wanted and time.monotonic() < deadline:
    mark = reader.watermark()
    assert mark.high_watermark >= position, "the watermark went back"
    for records in reader.read(position, mark.high_watermark):
        for offset, value in zip(records.offsets.tolist(), records.values.to_pylist()):
            assert offset == position and value.startswith(b"%d:" % offset), (offset, position, value[:20])
            position += 1
    assert position == mark.high_watermark
print(position)
"""


def test_a_reader_process_follows_a_writer_that_rolls(store: LogStore, partition: Partition) -> None:
    command = [sys.executable, "-c", FOLLOW, str(partition.directory), "3000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for number in range(100):
            fill(store, partition, [(number * 37) % 400] * 10, ("none", "lz4"))
        output, _ = process.communicate(timeout=150)
    assert process.returncode == 0
    assert output.strip() == "3000"
    assert len(list(partition.directory.glob("*.log"))) > 5

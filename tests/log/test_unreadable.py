"""Batches whose checksum holds and whose records cannot be read: bombs, and bytes that are no records."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.log import ErrorCode, LogRefusal, LogStore, Partition, PartitionReader, UnreadableBatch, encode_batches
from headrace.log import codec as codec_module
from headrace.log.batch import sealed
from headrace.log.testing import bomb

UNPACKED_BYTES_MAX = 1 << 20


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec_module, "DECOMPRESSED_BYTES_MAX", UNPACKED_BYTES_MAX)


def plain(value: bytes, key: bytes | None = None, time_ms: int = 1) -> bytes:
    return next(encode_batches([key], [value], [time_ms]))


def malformed(value: bytes) -> bytes:
    content = bytearray(plain(value))
    content[61] = 0x7E
    return sealed(content)


def read_past(reader: PartitionReader, end: int) -> tuple[list[bytes | None], list[UnreadableBatch]]:
    values: list[bytes | None] = []
    unreadable: list[UnreadableBatch] = []
    start = 0
    while start < end:
        try:
            for records in reader.read(start, end):
                values += records.values.to_pylist()
            start = end
        except UnreadableBatch as error:
            unreadable.append(error)
            start = error.header.next_offset
    return values, unreadable


@pytest.mark.parametrize(
    "bad", [bomb(2 * UNPACKED_BYTES_MAX, record_count=5, time_ms=5), malformed(b"x")], ids=["bomb", "malformed"]
)
def test_a_reader_gives_what_is_in_front_and_goes_on_behind(store: LogStore, partition: Partition, bad: bytes) -> None:
    for batch in (plain(b"a"), plain(b"b"), bad, plain(b"c"), bad, plain(b"d")):
        partition.append(batch)
    store.sync()
    values, unreadable = read_past(PartitionReader(partition.directory), partition.high_watermark)
    assert values == [b"a", b"b", b"c", b"d"]
    assert unreadable[0].header.base_offset == 2
    assert len(unreadable) == 2
    assert "events-0: the batch at offset 2" in str(unreadable[0])


def test_a_compacted_topic_refuses_a_bomb_and_the_client_does_not_try_again(store: LogStore) -> None:
    partition = store.create_topic("table", 1, {"cleanup.policy": "compact"}).partitions[0]
    with pytest.raises(LogRefusal, match="unpacks to more than") as refused:
        partition.append(bomb(2 * UNPACKED_BYTES_MAX, time_ms=5))
    assert refused.value.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_a_topic_that_stores_another_codec_refuses_it_too(store: LogStore) -> None:
    partition = store.create_topic("packed", 1, {"compression.type": "lz4"}).partitions[0]
    with pytest.raises(LogRefusal) as refused:
        partition.append(bomb(2 * UNPACKED_BYTES_MAX, time_ms=5))
    assert refused.value.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_compaction_leaves_the_batch_and_cleans_the_rest(store: LogStore) -> None:
    settings = {"segment.bytes": "1024", "min.cleanable.dirty.ratio": "0"}
    partition = store.create_topic("table", 1, settings).partitions[0]
    for batch in (plain(b"old", b"k"), bomb(2 * UNPACKED_BYTES_MAX, time_ms=5), malformed(b"x"), plain(b"new", b"k")):
        partition.append(batch)
    partition.append(plain(bytes(2000), b"last"))
    store.sync()
    store.alter_config("table", {**settings, "cleanup.policy": "compact"})
    compaction = partition.begin_compaction()
    assert compaction is not None
    compaction.run()
    partition.finish_compaction(compaction)
    assert [error.header.base_offset for error in compaction.unreadable] == [1, 2]
    values, unreadable = read_past(PartitionReader(partition.directory), partition.high_watermark)
    assert values == [b"new", bytes(2000)]
    assert len(unreadable) == 2
    assert partition.begin_compaction() is None


def test_an_offset_by_time_may_be_that_of_the_batch(store: LogStore, partition: Partition) -> None:
    partition.append(plain(b"a", time_ms=1))
    bad = partition.append(bomb(2 * UNPACKED_BYTES_MAX, time_ms=5))
    store.sync()
    found = partition.offset_for_time(2)
    assert found is not None
    assert found.offset == bad.base_offset


def test_a_directory_with_a_bomb_opens(open_store: Callable[..., LogStore]) -> None:
    open_store().create_topic("events", 1, {}).partitions[0].append(bomb(2 * UNPACKED_BYTES_MAX, time_ms=5))
    assert open_store().partition("events", 0).high_watermark == 1

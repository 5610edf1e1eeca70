"""Appending and reading one partition, against a list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.log import (
    CODECS,
    Codec,
    ErrorCode,
    LogRefusal,
    LogStore,
    Partition,
    decode_batch,
    encode_batches,
    parse_batches,
    with_producer,
)
from headrace.log.batch import read_header, sealed


def batch(*values: bytes, time_ms: int = 1000, codec: Codec = "none") -> bytes:
    return next(encode_batches(None, values, [time_ms + i for i in range(len(values))], codec=codec))


def headers_and_bytes(content: bytes) -> list[tuple[int, bytes]]:
    """Base offset and everything behind the fields that the broker sets."""
    found, position = [], 0
    for header in parse_batches(content):
        found.append((header.base_offset, content[position + 16 : position + header.size_bytes]))
        position += header.size_bytes
    return found


def test_nothing_is_readable_before_the_sync(store: LogStore, partition: Partition) -> None:
    appended = partition.append(batch(b"a", b"b"))
    assert (appended.base_offset, appended.last_offset, appended.append_time_ms) == (0, 1, -1)
    assert (partition.log_end_offset, partition.high_watermark) == (2, 0)
    assert partition.read(0, 1000, committed=False).length == 0
    assert store.dirty() == (partition,)
    store.sync()
    assert store.dirty() == ()
    assert partition.high_watermark == partition.last_stable_offset == 2
    assert partition.read(0, 1000, committed=False).length == partition.size_bytes


def test_a_sync_covers_what_was_appended_before_it_began(partition: Partition) -> None:
    partition.append(batch(b"a"))
    ticket = partition.begin_sync()
    partition.append(batch(b"b"))
    assert not partition.is_dirty
    with pytest.raises(RuntimeError, match="under way"):
        partition.begin_sync()
    ticket.run()
    partition.finish_sync(ticket)
    assert partition.high_watermark == 1
    assert partition.is_dirty


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(0, 700), min_size=1, max_size=4), min_size=1, max_size=30),
    codec=st.sampled_from(CODECS),
    max_bytes=st.integers(1, 6000),
)
def test_reading_gives_back_every_batch_from_any_offset(
    fresh_directory: Callable[[], Path], sizes: list[list[int]], codec: Codec, max_bytes: int
) -> None:
    with LogStore.open(fresh_directory() / "data") as store:
        partition = store.create_topic("t", 1, {"segment.bytes": "2048"}).partitions[0]
        model: list[tuple[int, int, bytes]] = []
        for number, record_sizes in enumerate(sizes):
            sent = batch(*(bytes([number]) * size for size in record_sizes), codec=codec)
            appended = partition.append(sent)
            model.append((appended.base_offset, appended.last_offset, sent[16:]))
        store.sync()
        for base, last, _ in model:
            for offset in (base, last):
                found = partition.read(offset, max_bytes, committed=True)
                assert found.length > 0
                got = headers_and_bytes(found.content())
                assert got == [(b, c) for b, _, c in model if b >= base][: len(got)]
                assert len(got) == 1 or found.length <= max_bytes
        assert partition.read(partition.log_end_offset, 100, committed=True).length == 0


def test_a_batch_longer_than_asked_comes_only_if_wanted(store: LogStore, partition: Partition) -> None:
    partition.append(batch(b"x" * 500))
    store.sync()
    assert partition.read(0, 10, committed=False).length == partition.size_bytes
    assert partition.read(0, 10, committed=False, at_least_one=False).length == 0


def test_a_slice_outlives_its_segment(store: LogStore, partition: Partition) -> None:
    for _ in range(20):
        partition.append(batch(b"x" * 900))
    store.sync()
    held = partition.read(0, 900, committed=False)
    partition.delete_records(partition.high_watermark)
    assert [header.base_offset for header in parse_batches(held.content())] == [0]


@pytest.mark.parametrize("offset", [-1, 4])
def test_offsets_outside_the_log_are_refused(store: LogStore, partition: Partition, offset: int) -> None:
    partition.append(batch(b"a", b"b", b"c"))
    store.sync()
    with pytest.raises(LogRefusal, match=r"events-0 has no offset -?\d, only 0 to 3") as refused:
        partition.read(offset, 100, committed=False)
    assert refused.value.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def _with_count(count: int) -> bytes:
    patched = bytearray(batch(b"a"))
    patched[57:61] = count.to_bytes(4, "big")
    return sealed(patched)


def _with_attributes(bits: int) -> bytes:
    patched = bytearray(batch(b"a"))
    patched[22] |= bits
    return sealed(patched)


BAD_BATCHES: dict[str, tuple[Callable[[], bytes], ErrorCode]] = {
    "nothing": (lambda: b"", ErrorCode.CORRUPT_MESSAGE),
    "cut": (lambda: batch(b"a")[:-1], ErrorCode.CORRUPT_MESSAGE),
    "flipped": (lambda: batch(b"a")[:-1] + b"\x01", ErrorCode.CORRUPT_MESSAGE),
    "count": (lambda: _with_count(7), ErrorCode.INVALID_RECORD),
    "control": (lambda: _with_attributes(0x20), ErrorCode.INVALID_RECORD),
    "codec": (lambda: _with_attributes(0x07), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
    "large": (lambda: batch(b"a" * 1_048_588), ErrorCode.MESSAGE_TOO_LARGE),
    "transactional": (lambda: _with_attributes(0x10), ErrorCode.INVALID_TXN_STATE),
    "epoch": (lambda: with_producer(batch(b"a"), 5, -1, 0), ErrorCode.INVALID_RECORD),
    "many": (lambda: b"".join(with_producer(batch(b"a"), 5, 0, i) for i in range(6)), ErrorCode.INVALID_RECORD),
}


@pytest.mark.parametrize("name", BAD_BATCHES)
def test_bad_bytes_are_refused_and_change_nothing(partition: Partition, name: str) -> None:
    build, code = BAD_BATCHES[name]
    good = batch(b"good")
    with pytest.raises(LogRefusal) as refused:
        partition.append(good + build() if name != "nothing" else b"")
    assert refused.value.error_code == code
    assert (partition.log_end_offset, partition.size_bytes) == (0, 0)
    assert partition.append(good).base_offset == 0


def test_the_brokers_own_writes_may_be_larger(store: LogStore) -> None:
    partition = store.create_topic("small", 1, {"max.message.bytes": "100"}).partitions[0]
    with pytest.raises(LogRefusal, match=r"max.message.bytes is 100"):
        partition.append(batch(b"a" * 200))
    assert partition.append(batch(b"a" * 200), origin="internal").base_offset == 0


def test_a_topic_may_stamp_and_compress(store: LogStore, clock: Callable[[], int]) -> None:
    config = {"message.timestamp.type": "LogAppendTime", "compression.type": "zstd"}
    partition = store.create_topic("stamped", 1, config).partitions[0]
    assert partition.append(batch(b"a" * 500, b"b" * 500, codec="lz4")).append_time_ms == clock()
    store.sync()
    content = partition.read(0, 10_000, committed=False).content()
    assert read_header(content).codec_number == CODECS.index("zstd")
    records = decode_batch(content)
    assert records.values.to_pylist() == [b"a" * 500, b"b" * 500]
    assert records.timestamps_ms.tolist() == [clock(), clock()]


@settings(max_examples=60, deadline=None)
@given(
    times=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=40),
    start=st.integers(0, 30),
)
def test_the_first_record_since_a_time_is_that_of_a_linear_search(
    fresh_directory: Callable[[], Path], times: list[list[int]], start: int
) -> None:
    with LogStore.open(fresh_directory() / "data") as store:
        partition = store.create_topic("t", 1, {"segment.bytes": "30000"}).partitions[0]
        model = [time_ms for batch_times in times for time_ms in batch_times]
        for batch_times in times:
            for content in encode_batches(None, [b"x" * 2500] * len(batch_times), batch_times):
                partition.append(content)
        store.sync()
        start = partition.delete_records(min(start, len(model)))
        for wanted_ms in range(-1, 52):
            expected = next(((o, t) for o, t in enumerate(model) if t >= wanted_ms and o >= start), None)
            found = partition.offset_for_time(wanted_ms)
            assert (None if found is None else (found.offset, found.timestamp_ms)) == expected


def test_deleted_records_stay_deleted(open_store: Callable[[], LogStore], partition: Partition) -> None:
    for _ in range(20):
        partition.append(batch(b"x" * 900, b"y"))
    open_store_sync = partition.begin_sync()
    open_store_sync.run()
    partition.finish_sync(open_store_sync)
    assert partition.delete_records(21) == 21
    assert partition.delete_records(5) == 21
    with pytest.raises(LogRefusal, match="up to 40"):
        partition.delete_records(41)
    reopened = open_store().partition("events", 0)
    assert (reopened.log_start_offset, reopened.log_end_offset) == (21, 40)
    with pytest.raises(LogRefusal, match="only 21 to 40"):
        reopened.read(20, 100, committed=False)
    assert read_header(reopened.read(21, 100, committed=False).content()).base_offset == 20

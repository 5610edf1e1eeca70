"""Headers, checksums and patches, judged by another implementation."""

from __future__ import annotations

import pytest
from aiokafka.record.default_records import DefaultRecordBatch

from headrace.log import ErrorCode, LogRefusal, encode_batches, parse_batches, with_producer
from headrace.log.batch import checksum, crc_matches, read_header, with_append_time


def one_batch(*values: bytes) -> bytes:
    return next(encode_batches(None, values, [1000 + i for i in range(len(values))]))


def test_checksum_is_crc_32c() -> None:
    assert checksum(b"123456789") == 0xE3069283


def test_with_producer_sets_the_fields_and_a_valid_checksum() -> None:
    theirs = DefaultRecordBatch(with_producer(one_batch(b"a", b"b"), 77, 3, 41, transactional=True))
    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (77, 3, 41)
    assert theirs.is_transactional
    assert [record.value for record in theirs] == [b"a", b"b"]


def test_with_producer_can_take_the_transaction_away() -> None:
    transactional = with_producer(one_batch(b"a"), 77, 3, 0, transactional=True)
    assert not read_header(with_producer(transactional, 77, 3, 0, transactional=False)).is_transactional


def test_append_time_replaces_the_producers_times() -> None:
    stamped = with_append_time(one_batch(b"a", b"b"), 99_000)
    theirs = DefaultRecordBatch(stamped)
    assert theirs.validate_crc()
    assert [record.timestamp for record in theirs] == [99_000, 99_000]
    assert read_header(stamped).append_time_ms == 99_000


def test_parse_batches_finds_every_batch() -> None:
    batches = [one_batch(b"a"), one_batch(b"b", b"c"), one_batch(b"d" * 500)]
    headers = list(parse_batches(b"".join(batches)))
    assert [header.record_count for header in headers] == [1, 2, 1]
    assert [header.size_bytes for header in headers] == [len(batch) for batch in batches]


@pytest.mark.parametrize("cut", [1, 30, 60, 61, 70])
def test_parse_batches_refuses_a_cut_batch(cut: int) -> None:
    whole = one_batch(b"a" * 100)
    with pytest.raises(LogRefusal) as refused:
        list(parse_batches(whole + whole[:cut]))
    assert refused.value.error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_formats_are_named(magic: int) -> None:
    batch = bytearray(one_batch(b"a"))
    batch[16] = magic
    with pytest.raises(LogRefusal, match=f"message format {magic}") as refused:
        list(parse_batches(batch))
    assert refused.value.error_code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_every_flipped_bit_behind_the_checksum_is_noticed() -> None:
    batch = one_batch(b"value")
    for bit in range(21 * 8, len(batch) * 8):
        flipped = bytearray(batch)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not crc_matches(read_header(flipped), flipped)

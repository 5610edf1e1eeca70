"""What a client's bytes must satisfy before they reach a segment, checked batch by batch."""

from __future__ import annotations

from typing import Literal, NamedTuple

from headrace.log.batch import (
    CODEC_MASK,
    HEADER_BYTES,
    NO_PRODUCER,
    BatchHeader,
    crc_matches,
    pack_batch,
    parse_batches,
    read_header,
    with_append_time,
)
from headrace.log.codec import CODECS, compress, decompress
from headrace.log.producers import REMEMBERED_BATCHES
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.storage import Buffer
from headrace.log.topics import TopicConfig
from headrace.log.unreadable import UnreadableBatch

Origin = Literal["client", "internal"]


class Incoming(NamedTuple):
    """A sound batch that waits for its offset."""

    header: BatchHeader
    content: memoryview


def split_incoming(records: Buffer, config: TopicConfig, origin: Origin, now_ms: int) -> list[Incoming]:
    """The batches in `records`, checked, and stamped and compressed as the topic demands. Raises LogRefusal."""
    view, position, batches = memoryview(records), 0, []
    for header in parse_batches(view):
        content = view[position : position + header.size_bytes]
        _check(header, content, config.max_message_bytes if origin == "client" else None)
        if config.is_compacted and origin == "client":
            _check_keys(content)
        batches.append(_adapted(Incoming(header, content), config, now_ms))
        position += header.size_bytes
    if not batches:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, "no record batch to append")
    if sum(batch.header.producer_id != NO_PRODUCER for batch in batches) > REMEMBERED_BATCHES:
        # More could not be recognised when the request is resent.
        raise LogRefusal(
            ErrorCode.INVALID_RECORD, f"more than {REMEMBERED_BATCHES} batches of an idempotent producer in one request"
        )
    return batches


def _check(header: BatchHeader, content: memoryview, size_bytes_max: int | None) -> None:
    if size_bytes_max is not None and header.size_bytes > size_bytes_max:
        raise LogRefusal(
            ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {header.size_bytes} bytes, max.message.bytes is {size_bytes_max}"
        )
    if not crc_matches(header, content):
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, "a batch does not match its CRC-32C")
    if header.record_count != header.last_offset_delta + 1:
        raise LogRefusal(
            ErrorCode.INVALID_RECORD, f"{header.record_count} records for {header.last_offset_delta + 1} offsets"
        )
    if header.is_control:
        raise LogRefusal(ErrorCode.INVALID_RECORD, "control batches are written by the broker only")
    if header.codec_number >= len(CODECS):
        raise LogRefusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression {header.codec_number} is unknown")
    _check_producer(header)


def _check_keys(content: memoryview) -> None:
    """Compaction could not tell records without a key apart."""
    # Arrow comes with it, which a broker without compacted topics need not load.
    from headrace.log.records import decode_batch  # noqa: PLC0415

    try:
        keys = decode_batch(content).keys
    except UnreadableBatch as error:
        raise LogRefusal(error.error_code, error.message) from error
    if keys.null_count:
        raise LogRefusal(ErrorCode.INVALID_RECORD, f"{keys.null_count} records without a key for a compacted topic")


def _check_producer(header: BatchHeader) -> None:
    if header.producer_id == NO_PRODUCER:
        if header.is_transactional:
            raise LogRefusal(ErrorCode.INVALID_TXN_STATE, "a transactional batch without a producer id")
    elif header.producer_id < 0 or header.producer_epoch < 0 or header.base_sequence < 0:
        raise LogRefusal(
            ErrorCode.INVALID_RECORD,
            f"producer {header.producer_id}, epoch {header.producer_epoch}, sequence {header.base_sequence}",
        )


def _adapted(batch: Incoming, config: TopicConfig, now_ms: int) -> Incoming:
    """The batch as the topic stores it; the very same bytes with default settings."""
    if config.compression_type != "producer":
        batch = _recompressed(batch, config.compression_type)
    if config.message_timestamp_type == "LogAppendTime":
        stamped = with_append_time(batch.content, now_ms)
        batch = Incoming(read_header(stamped), memoryview(stamped))
    return batch


def _recompressed(batch: Incoming, compression_type: str) -> Incoming:
    header, number = batch.header, 0 if compression_type == "uncompressed" else CODECS.index(compression_type)
    if header.codec_number == number:
        return batch
    payload = compress(number, decompress(header.codec_number, batch.content[HEADER_BYTES:]))
    packed = pack_batch(
        payload,
        attributes=header.attributes & ~CODEC_MASK | number,
        record_count=header.record_count,
        base_timestamp_ms=header.base_timestamp_ms,
        max_timestamp_ms=header.max_timestamp_ms,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )
    return Incoming(read_header(packed), memoryview(packed))

"""What a client's bytes must satisfy before they reach a segment, checked batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from headrace.log.batch import (
    CODEC_MASK,
    HEADER_BYTES,
    NO_PRODUCER,
    NO_TIME_MS,
    BatchHeader,
    crc_matches,
    header_within,
    pack_batch,
    read_header,
    with_append_time,
)
from headrace.log.codec import CODECS, compress, decompress
from headrace.log.producers import REMEMBERED_BATCHES
from headrace.log.refusal import ErrorCode, LogRefusal, RecordError
from headrace.log.storage import Buffer
from headrace.log.topics import NEVER_MS, TopicConfig
from headrace.log.unreadable import UnreadableBatch

if TYPE_CHECKING:
    from headrace.log.records import Records

Origin = Literal["client", "internal"]

RECORD_ERRORS_MAX = 1_000
"""Records that a refusal names one by one; the rest of the batch is refused with them."""


class Incoming(NamedTuple):
    """A sound batch that waits for its offset."""

    header: BatchHeader
    content: memoryview


def split_incoming(records: Buffer, config: TopicConfig, origin: Origin, now_ms: int) -> list[Incoming]:
    """The batches in `records`, checked, and stamped and compressed as the topic demands. Raises LogRefusal."""
    view, position, batches = memoryview(records), 0, []
    while position < len(view):
        header = header_within(view, position)
        end = position + header.size_bytes
        content = view[position:end]
        _check(header, content, config.max_message_bytes if origin == "client" else None)
        if origin == "client":
            _check_records(header, content, config, now_ms)
        batches.append(_adapted(Incoming(header, content), config, now_ms))
        position = end
    if not batches:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, "no record batch to append")
    if len(batches) > REMEMBERED_BATCHES < sum(batch.header.producer_id != NO_PRODUCER for batch in batches):
        # More could not be recognised when the request is resent.
        raise LogRefusal(
            ErrorCode.INVALID_RECORD, f"more than {REMEMBERED_BATCHES} batches of an idempotent producer in one request"
        )
    return batches


def _check(header: BatchHeader, content: memoryview, size_bytes_max: int | None) -> None:
    if size_bytes_max is not None and len(content) > size_bytes_max:
        raise LogRefusal(
            ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {len(content)} bytes, max.message.bytes is {size_bytes_max}"
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


def _check_records(header: BatchHeader, content: memoryview, config: TopicConfig, now_ms: int) -> None:
    """With default settings the header tells enough: records are looked into only to name those at fault."""
    if config.is_compacted:
        _check_keys(content)
    if config.message_timestamp_type == "CreateTime":
        _check_times(header, content, config, now_ms)


def _check_keys(content: memoryview) -> None:
    """Compaction could not tell records without a key apart."""
    keyless = [index for index, key in enumerate(_decoded(content).keys.is_null().to_pylist()) if key]
    if keyless:
        raise LogRefusal(
            ErrorCode.INVALID_RECORD,
            f"{len(keyless)} records without a key for a compacted topic",
            record_errors=[
                RecordError(i, "a compacted topic takes no record without a key") for i in keyless[:RECORD_ERRORS_MAX]
            ],
        )


def _check_times(header: BatchHeader, content: memoryview, config: TopicConfig, now_ms: int) -> None:
    """A time far in the future would hold retention, which goes by the newest record of a segment."""
    low_ms = now_ms - config.message_timestamp_before_max_ms
    high_ms = now_ms + config.message_timestamp_after_max_ms
    if config.message_timestamp_before_max_ms == NEVER_MS and header.max_timestamp_ms <= high_ms:
        return
    times_ms = _decoded(content).timestamps_ms.tolist()
    wrong = [i for i, at_ms in enumerate(times_ms) if at_ms != NO_TIME_MS and not low_ms <= at_ms <= high_ms]
    if wrong or header.max_timestamp_ms > high_ms:
        raise LogRefusal(
            ErrorCode.INVALID_TIMESTAMP,
            f"{len(wrong)} records have a timestamp out of range: message.timestamp.before.max.ms is "
            f"{config.message_timestamp_before_max_ms}, message.timestamp.after.max.ms "
            f"{config.message_timestamp_after_max_ms}, and the time {now_ms}",
            record_errors=[
                RecordError(i, f"the timestamp {times_ms[i]} is out of range") for i in wrong[:RECORD_ERRORS_MAX]
            ],
        )


def _decoded(content: memoryview) -> Records:
    # Arrow comes with it, which a broker that need not look into records does not load.
    from headrace.log.records import decode_batch  # noqa: PLC0415

    try:
        return decode_batch(content)
    except UnreadableBatch as error:
        raise LogRefusal(error.error_code, error.message) from error


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
        batch = _recompressed(batch, config.compression_type, config.compression_level)
    if config.message_timestamp_type == "LogAppendTime":
        stamped = with_append_time(batch.content, now_ms)
        batch = Incoming(read_header(stamped), memoryview(stamped))
    return batch


def _recompressed(batch: Incoming, compression_type: str, level: int | None) -> Incoming:
    header, number = batch.header, 0 if compression_type == "uncompressed" else CODECS.index(compression_type)
    if header.codec_number == number:
        return batch
    payload = compress(number, decompress(header.codec_number, batch.content[HEADER_BYTES:]), level)
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

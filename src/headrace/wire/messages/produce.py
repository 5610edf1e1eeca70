"""Produce, packed by hand: records pass as slices of the request, never decoded, never copied."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.grouping import TopicKey, group_by_topic, read_topic, write_topic
from headrace.wire.packing import Malformed, Reader, Writer

FLEXIBLE_SINCE: Final = 9
# Topics have ids instead of names from here on.
BY_ID_SINCE: Final = 13
# Older versions carry older record formats. They are advertised all the same: librdkafka before 2.11.1 stops
# compressing when the range does not begin at 0.
VERSION_MIN: Final = 3


_ACKS_AND_TIMEOUT: Final = Struct(">hi")
# Partition, error code, base offset, append time; since version 5 the start of the log.
_PRODUCED: Final = Struct(">ihqq")
_PRODUCED_SINCE_5: Final = Struct(">ihqqq")


class ProducePartition(NamedTuple):
    topic: str
    partition_index: int
    records: memoryview | bytes | None
    topic_id: UUID | None = None


class ProduceRequest(NamedTuple):
    transactional_id: str | None
    acks: int
    timeout_ms: int
    partitions: tuple[ProducePartition, ...]


class ProducedPartition(NamedTuple):
    topic: str
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    topic_id: UUID | None = None
    # Index of a record in its batch, and why it was refused.
    record_errors: tuple[tuple[int, str], ...] = ()


class ProduceResponse(NamedTuple):
    partitions: tuple[ProducedPartition, ...] = ()
    throttle_time_ms: int = 0


def decode_request(version: int, reader: Reader) -> ProduceRequest:
    """Raises Malformed, also for the versions that are advertised but no longer spoken."""
    if version < VERSION_MIN:
        raise Malformed(f"a Produce request of version {version}, whose record format is no longer supported")
    flexible = version >= FLEXIBLE_SINCE
    transactional_id = reader.nullable_string(flexible)
    acks, timeout_ms = reader.fields(_ACKS_AND_TIMEOUT)
    partitions: list[ProducePartition] = []
    for _ in range(reader.array_length(flexible)):
        topic = read_topic(reader, flexible, version >= BY_ID_SINCE)
        for _ in range(reader.array_length(flexible)):
            index, records = reader.int32(), reader.nullable_bytes(flexible)
            partitions.append(ProducePartition(topic.name, index, records, topic.topic_id))
            reader.skip_tagged_fields(flexible)
        reader.skip_tagged_fields(flexible)
    reader.skip_tagged_fields(flexible)
    return ProduceRequest(transactional_id, acks, timeout_ms, tuple(partitions))


def encode_response(version: int, response: ProduceResponse) -> list[bytes]:
    if version >= 5 and len(response.partitions) == 1 and not response.throttle_time_ms:
        topic, index, code, base_offset, time_ms, start_offset, message, topic_id, errors = response.partitions[0]
        if message is None and not errors:
            before, after = _around_one(version, topic, topic_id)
            return [before + _PRODUCED_SINCE_5.pack(index, code, base_offset, time_ms, start_offset) + after]
    return [_encode_any(version, response)]


# Those written to lately.
@lru_cache(maxsize=1_000)
def _around_one(version: int, topic: str, topic_id: UUID | None) -> tuple[bytes, bytes]:
    """What stands in front of the fields of the one partition that went well, and behind them."""
    flexible = version >= FLEXIBLE_SINCE
    before = Writer()
    before.array_length(1, flexible)
    write_topic(before, TopicKey(topic, topic_id), flexible, version >= BY_ID_SINCE)
    before.array_length(1, flexible)
    whole = _encode_any(version, ProduceResponse((ProducedPartition(topic, 0, topic_id=topic_id),)))
    return before.getvalue(), whole[len(before) + _PRODUCED_SINCE_5.size :]


def _encode_any(version: int, response: ProduceResponse) -> bytes:
    flexible = version >= FLEXIBLE_SINCE
    writer = Writer()
    topics = group_by_topic(response.partitions)
    writer.array_length(len(topics), flexible)
    for topic, partitions in topics.items():
        write_topic(writer, topic, flexible, version >= BY_ID_SINCE)
        writer.array_length(len(partitions), flexible)
        for partition in partitions:
            _write_produced(writer, version, partition)
        writer.no_tagged_fields(flexible)
    writer.int32(response.throttle_time_ms)
    writer.no_tagged_fields(flexible)
    return writer.getvalue()


def _write_produced(writer: Writer, version: int, partition: ProducedPartition) -> None:
    flexible = version >= FLEXIBLE_SINCE
    fields = (partition.partition_index, partition.error_code, partition.base_offset, partition.log_append_time_ms)
    if version >= 5:
        writer.fields(_PRODUCED_SINCE_5, *fields, partition.log_start_offset)
    else:
        writer.fields(_PRODUCED, *fields)
    if version >= 8:
        writer.array_length(len(partition.record_errors), flexible)
        for batch_index, message in partition.record_errors:
            writer.int32(batch_index)
            writer.string(message, flexible)
            writer.no_tagged_fields(flexible)
        writer.string(partition.error_message, flexible)
    writer.no_tagged_fields(flexible)


def encode_request(version: int, request: ProduceRequest) -> list[bytes | memoryview]:
    flexible = version >= FLEXIBLE_SINCE
    parts: list[bytes | memoryview] = []
    writer = Writer()
    writer.string(request.transactional_id, flexible)
    writer.int16(request.acks)
    writer.int32(request.timeout_ms)
    topics = group_by_topic(request.partitions)
    writer.array_length(len(topics), flexible)
    for topic, partitions in topics.items():
        write_topic(writer, topic, flexible, version >= BY_ID_SINCE)
        writer.array_length(len(partitions), flexible)
        for partition in partitions:
            writer.int32(partition.partition_index)
            records = b"" if partition.records is None else partition.records
            writer.bytes_length(len(records), flexible)
            parts += [writer.getvalue(), records]
            writer = Writer()
            writer.no_tagged_fields(flexible)
        writer.no_tagged_fields(flexible)
    writer.no_tagged_fields(flexible)
    return [*parts, writer.getvalue()]


def decode_response(version: int, reader: Reader) -> ProduceResponse:
    flexible = version >= FLEXIBLE_SINCE
    partitions: list[ProducedPartition] = []
    for _ in range(reader.array_length(flexible)):
        topic = read_topic(reader, flexible, version >= BY_ID_SINCE)
        partitions += [_read_produced(reader, version, topic) for _ in range(reader.array_length(flexible))]
        reader.skip_tagged_fields(flexible)
    return ProduceResponse(tuple(partitions), reader.int32())


def _read_produced(reader: Reader, version: int, topic: TopicKey) -> ProducedPartition:
    flexible = version >= FLEXIBLE_SINCE
    index, error_code = reader.int32(), reader.int16()
    base_offset, log_append_time_ms = reader.int64(), reader.int64()
    log_start_offset = reader.int64() if version >= 5 else -1
    error_message = None
    record_errors: list[tuple[int, str]] = []
    if version >= 8:
        for _ in range(reader.array_length(flexible)):
            record_errors.append((reader.int32(), reader.nullable_string(flexible) or ""))
            reader.skip_tagged_fields(flexible)
        error_message = reader.nullable_string(flexible)
    reader.skip_tagged_fields(flexible)
    return ProducedPartition(
        topic.name,
        index,
        ErrorCode(error_code),
        base_offset,
        log_append_time_ms,
        log_start_offset,
        error_message,
        topic.topic_id,
        tuple(record_errors),
    )

"""Fetch, packed by hand: records pass as they were read from the log."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from headrace.log import Span
from headrace.wire.codes import ErrorCode
from headrace.wire.frames import Piece
from headrace.wire.messages.grouping import TopicKey, group_by_topic, read_topic, write_topic
from headrace.wire.packing import Reader, Writer

FLEXIBLE_SINCE: Final = 12
# Topics have ids instead of names from here on.
BY_ID_SINCE: Final = 13
_WITHOUT_REPLICA_ID_SINCE: Final = 15
NO_SESSION: Final = 0
# The epoch of a request that wants no session at all.
FINAL_EPOCH: Final = -1


class FetchPartition(NamedTuple):
    topic: str
    partition_index: int
    offset: int
    bytes_max: int
    leader_epoch: int = -1
    topic_id: UUID | None = None


class FetchRequest(NamedTuple):
    wait_ms_max: int
    bytes_min: int
    bytes_max: int
    isolation_level: int
    partitions: tuple[FetchPartition, ...]
    session_id: int = NO_SESSION
    session_epoch: int = FINAL_EPOCH

    @property
    def committed(self) -> bool:
        return self.isolation_level == 1


class AbortedRange(NamedTuple):
    producer_id: int
    first_offset: int


class FetchedPartition(NamedTuple):
    """`aborted` is None when the request did not ask for committed records only. A `span` is sent as `records`."""

    topic: str
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted: tuple[AbortedRange, ...] | None = None
    records: bytes | memoryview = b""
    topic_id: UUID | None = None
    span: Span | None = None

    @property
    def to_send(self) -> Piece:
        return self.records if self.span is None else self.span


class FetchResponse(NamedTuple):
    partitions: tuple[FetchedPartition, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE
    throttle_time_ms: int = 0


def decode_request(version: int, reader: Reader) -> FetchRequest:
    """Raises Malformed."""
    flexible = version >= FLEXIBLE_SINCE
    if version < _WITHOUT_REPLICA_ID_SINCE:
        reader.int32()  # only brokers have one
    wait_ms_max, bytes_min, bytes_max = reader.int32(), reader.int32(), reader.int32()
    isolation_level = reader.int8()
    session_id, session_epoch = (reader.int32(), reader.int32()) if version >= 7 else (NO_SESSION, FINAL_EPOCH)
    partitions: list[FetchPartition] = []
    for _ in range(reader.array_length(flexible)):
        topic = read_topic(reader, flexible, version >= BY_ID_SINCE)
        partitions += [_read_wanted(reader, version, topic) for _ in range(reader.array_length(flexible))]
        reader.skip_tagged_fields(flexible)
    _skip_forgotten(reader, version)
    if version >= 11:
        reader.string(flexible)  # rack
    reader.skip_tagged_fields(flexible)
    return FetchRequest(
        wait_ms_max, bytes_min, bytes_max, isolation_level, tuple(partitions), session_id, session_epoch
    )


def _read_wanted(reader: Reader, version: int, topic: TopicKey) -> FetchPartition:
    index = reader.int32()
    leader_epoch = reader.int32() if version >= 9 else -1
    offset = reader.int64()
    if version >= 12:
        reader.int32()  # last fetched epoch: only followers diverge
    if version >= 5:
        reader.int64()  # log start offset of a follower
    bytes_max = reader.int32()
    reader.skip_tagged_fields(version >= FLEXIBLE_SINCE)
    return FetchPartition(topic.name, index, offset, bytes_max, leader_epoch, topic.topic_id)


def _skip_forgotten(reader: Reader, version: int) -> None:
    if version < 7:
        return
    flexible = version >= FLEXIBLE_SINCE
    for _ in range(reader.array_length(flexible)):
        read_topic(reader, flexible, version >= BY_ID_SINCE)
        for _ in range(reader.array_length(flexible)):
            reader.int32()
        reader.skip_tagged_fields(flexible)


def encode_response(version: int, response: FetchResponse) -> list[Piece]:
    flexible = version >= FLEXIBLE_SINCE
    parts: list[Piece] = []
    writer = Writer()
    writer.int32(response.throttle_time_ms)
    if version >= 7:
        writer.int16(response.error_code)
        writer.int32(NO_SESSION)
    topics = group_by_topic(response.partitions)
    writer.array_length(len(topics), flexible)
    for topic, partitions in topics.items():
        write_topic(writer, topic, flexible, version >= BY_ID_SINCE)
        writer.array_length(len(partitions), flexible)
        for partition in partitions:
            _write_fetched(writer, version, partition)
            parts += [writer.getvalue(), partition.to_send]
            writer = Writer()
            writer.no_tagged_fields(flexible)
        writer.no_tagged_fields(flexible)
    writer.no_tagged_fields(flexible)
    return [*parts, writer.getvalue()]


def _write_fetched(writer: Writer, version: int, partition: FetchedPartition) -> None:
    """All fields of a partition up to the length of its records."""
    flexible = version >= FLEXIBLE_SINCE
    writer.int32(partition.partition_index)
    writer.int16(partition.error_code)
    writer.int64(partition.high_watermark)
    writer.int64(partition.last_stable_offset)
    if version >= 5:
        writer.int64(partition.log_start_offset)
    writer.array_length(-1 if partition.aborted is None else len(partition.aborted), flexible)
    for aborted in partition.aborted or ():
        writer.int64(aborted.producer_id)
        writer.int64(aborted.first_offset)
        writer.no_tagged_fields(flexible)
    if version >= 11:
        writer.int32(-1)  # preferred read replica
    writer.bytes_length(len(partition.to_send), flexible)


def encode_request(version: int, request: FetchRequest) -> list[bytes]:
    flexible = version >= FLEXIBLE_SINCE
    writer = Writer()
    if version < _WITHOUT_REPLICA_ID_SINCE:
        writer.int32(-1)
    for number in (request.wait_ms_max, request.bytes_min, request.bytes_max):
        writer.int32(number)
    writer.int8(request.isolation_level)
    if version >= 7:
        writer.int32(request.session_id)
        writer.int32(request.session_epoch)
    topics = group_by_topic(request.partitions)
    writer.array_length(len(topics), flexible)
    for topic, partitions in topics.items():
        write_topic(writer, topic, flexible, version >= BY_ID_SINCE)
        writer.array_length(len(partitions), flexible)
        for partition in partitions:
            _write_wanted(writer, version, partition)
        writer.no_tagged_fields(flexible)
    if version >= 7:
        writer.array_length(0, flexible)
    if version >= 11:
        writer.string("", flexible)
    writer.no_tagged_fields(flexible)
    return [writer.getvalue()]


def _write_wanted(writer: Writer, version: int, partition: FetchPartition) -> None:
    writer.int32(partition.partition_index)
    if version >= 9:
        writer.int32(partition.leader_epoch)
    writer.int64(partition.offset)
    if version >= 12:
        writer.int32(-1)
    if version >= 5:
        writer.int64(-1)
    writer.int32(partition.bytes_max)
    writer.no_tagged_fields(version >= FLEXIBLE_SINCE)


def decode_response(version: int, reader: Reader) -> FetchResponse:
    flexible = version >= FLEXIBLE_SINCE
    throttle_time_ms = reader.int32()
    error_code = ErrorCode.NONE
    if version >= 7:
        error_code = ErrorCode(reader.int16())
        reader.int32()
    partitions: list[FetchedPartition] = []
    for _ in range(reader.array_length(flexible)):
        topic = read_topic(reader, flexible, version >= BY_ID_SINCE)
        partitions += [_read_fetched(reader, version, topic) for _ in range(reader.array_length(flexible))]
        reader.skip_tagged_fields(flexible)
    return FetchResponse(tuple(partitions), error_code, throttle_time_ms)


def _read_fetched(reader: Reader, version: int, topic: TopicKey) -> FetchedPartition:
    flexible = version >= FLEXIBLE_SINCE
    index, error_code = reader.int32(), ErrorCode(reader.int16())
    high_watermark, last_stable_offset = reader.int64(), reader.int64()
    log_start_offset = reader.int64() if version >= 5 else -1
    aborted = []
    for _ in range(reader.array_length(flexible)):
        aborted.append(AbortedRange(reader.int64(), reader.int64()))
        reader.skip_tagged_fields(flexible)
    if version >= 11:
        reader.int32()
    records = reader.nullable_bytes(flexible)
    reader.skip_tagged_fields(flexible)
    return FetchedPartition(
        topic.name,
        index,
        error_code,
        high_watermark,
        last_stable_offset,
        log_start_offset,
        tuple(aborted),
        b"" if records is None else records,
        topic.topic_id,
    )

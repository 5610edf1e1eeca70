"""ListOffsets, OffsetForLeaderEpoch: where records of the log are."""

from __future__ import annotations

from typing import Final

from headrace.log import NotLocal, Partition
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals
from headrace.wire.messages.offsets import (
    EpochEndOffset,
    EpochEndTopic,
    ListedPartition,
    ListedTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from headrace.wire.security.resources import Operation
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import Call, Services

_LATEST = -1
_EARLIEST = -2
_NEWEST_TIME = -3
_EARLIEST_LOCAL = -4
_LATEST_TIERED = -5
_LEADER_EPOCH = 0
_TIME_MAX_MS = 2**62
# For one answer; the record with a time is in the first segment that may have it, almost always.
RECALLED_SEGMENTS_MAX: Final = 8


async def list_offsets(services: Services, call: Call, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """What is asked of an archived segment is answered once that is back."""
    committed = request.isolation_level == 1
    topics = []
    for topic in request.topics:
        listed = [await _listed(services, call, topic.name, wanted, committed) for wanted in topic.partitions]
        topics.append(ListedTopic(topic.name, tuple(listed)))
    return ListOffsetsResponse(tuple(topics))


async def _listed(
    services: Services, call: Call, topic: str, wanted: ListOffsetsPartition, committed: bool
) -> ListedPartition:
    index = wanted.partition_index
    try:
        call.require(Operation.DESCRIBE, topic_resource(topic))
        with as_refusals():
            partition = services.store.partition(topic, index)
            timestamp_ms, offset = await _found(services, partition, wanted.timestamp, committed)
    except Refusal as refusal:
        return ListedPartition(index, refusal.code)
    return ListedPartition(index, ErrorCode.NONE, timestamp_ms, offset, _LEADER_EPOCH if offset >= 0 else -1)


async def _found(services: Services, partition: Partition, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    """As `_offset_at`. Raises NotLocal when a segment cannot be brought back, or too many would have to be."""
    for _ in range(RECALLED_SEGMENTS_MAX):
        try:
            return _offset_at(partition, timestamp_ms, committed)
        except NotLocal as away:
            if not await services.recalls.bring_back(partition, away.base_offset):
                raise
    return _offset_at(partition, timestamp_ms, committed)


def _offset_at(partition: Partition, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    """Timestamp and offset; both -1 when there is no such record."""
    end_offset = partition.last_stable_offset if committed else partition.high_watermark
    if timestamp_ms == _LATEST:
        return -1, end_offset
    if timestamp_ms == _EARLIEST:
        return -1, partition.log_start_offset
    if timestamp_ms == _EARLIEST_LOCAL:
        return -1, partition.local_start_offset
    if timestamp_ms == _LATEST_TIERED:
        return -1, partition.archived_end_offset - 1
    if timestamp_ms == _NEWEST_TIME:
        timestamp_ms = _newest_time_ms(partition)
    if timestamp_ms < 0:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"timestamp {timestamp_ms}")
    found = partition.offset_for_time(timestamp_ms)
    if found is None or found.offset >= end_offset:
        return -1, -1
    return found.timestamp_ms, found.offset


def _newest_time_ms(partition: Partition) -> int:
    """The largest timestamp of any record, by bisection: the log knows only what comes at or after a time."""
    low, high = 0, _TIME_MAX_MS
    while low < high:
        middle = (low + high + 1) // 2
        if partition.offset_for_time(middle) is None:
            high = middle - 1
        else:
            low = middle
    return low


def offset_for_leader_epoch(
    services: Services, call: Call, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """There is one epoch, 0, and it ends where the log does."""
    return OffsetForLeaderEpochResponse(
        tuple(
            EpochEndTopic(
                topic.topic,
                tuple(_epoch_end(services, call, topic.topic, p.partition, p.leader_epoch) for p in topic.partitions),
            )
            for topic in request.topics
        )
    )


def _epoch_end(services: Services, call: Call, topic: str, index: int, leader_epoch: int) -> EpochEndOffset:
    try:
        call.require(Operation.DESCRIBE, topic_resource(topic))
        with as_refusals():
            partition = services.store.partition(topic, index)
    except Refusal as refusal:
        return EpochEndOffset(refusal.code, index)
    if leader_epoch != _LEADER_EPOCH:
        return EpochEndOffset(ErrorCode.NONE, index)
    return EpochEndOffset(ErrorCode.NONE, index, _LEADER_EPOCH, partition.high_watermark)

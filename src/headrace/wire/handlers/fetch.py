"""Fetch: whole batches as they are in the log, now or as soon as there are enough."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from headrace.log import NotLocal, Partition, Slice
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals, topic_name
from headrace.wire.messages.fetch import (
    NO_SESSION,
    AbortedRange,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from headrace.wire.security.quota_book import CONSUME
from headrace.wire.security.resources import Operation, topic
from headrace.wire.services import Call, Services

# Fewer bytes travel faster in one write with what stands around them.
SENT_FROM_FILE_BYTES_MIN: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class _Found:
    """What one partition has for the request: a slice, or the reason why not."""

    wanted: FetchPartition
    partition: Partition | None
    batches: Slice | None
    refusal: ErrorCode = ErrorCode.NONE
    archived: tuple[Partition, int] | None = None
    """The segment that has to be brought back first."""


async def fetch(services: Services, call: Call, request: FetchRequest) -> FetchResponse:
    """Waits until the wanted bytes are there, the wanted time is over, or a partition cannot be read."""
    if request.session_id != NO_SESSION:
        # Sessions are never opened, so every client sends what it wants in full: right for one broker.
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    ends_at_ms = services.monotonic_ms() + min(request.wait_ms_max, services.config.fetch_wait_ms_max)
    found = await _look_everywhere(services, call, request)
    while not _enough(found, request.bytes_min):
        left_ms = ends_at_ms - services.monotonic_ms()
        if left_ms <= 0:
            break
        await services.waiters.wait([entry.partition for entry in found if entry.partition], left_ms / 1000)
        found = await _look_everywhere(services, call, request)
    throttle_time_ms = call.charge(services.throttle, CONSUME, _available(found))
    return FetchResponse(tuple(_read(entry, request.committed) for entry in found), throttle_time_ms=throttle_time_ms)


async def _look_everywhere(services: Services, call: Call, request: FetchRequest) -> list[_Found]:
    """As `_look`; what is archived is brought back first. What cannot be is refused for now."""
    found = _look(services, call, request)
    archived = [entry.archived for entry in found if entry.archived is not None]
    if archived:
        await asyncio.gather(*(services.recalls.bring_back(*segment) for segment in archived))
        found = _look(services, call, request)
    return found


def _enough(found: list[_Found], bytes_min: int) -> bool:
    return _available(found) >= bytes_min or any(entry.refusal for entry in found)


def _available(found: list[_Found]) -> int:
    return sum(entry.batches.length for entry in found if entry.batches)


def _look(services: Services, call: Call, request: FetchRequest) -> list[_Found]:
    """Find slices without reading them, within the wanted and the allowed bytes."""
    left = min(request.bytes_max, services.config.fetch_bytes_max)
    found = []
    empty = True
    for wanted in request.partitions:
        entry = _find(services, call, wanted, min(wanted.bytes_max, left), request.committed, at_least_one=empty)
        if entry.batches is not None and entry.batches.length:
            left = max(0, left - entry.batches.length)
            empty = False
        found.append(entry)
    return found


def _find(
    services: Services, call: Call, wanted: FetchPartition, bytes_max: int, committed: bool, *, at_least_one: bool
) -> _Found:
    try:
        with as_refusals():
            name = topic_name(services, wanted.topic, wanted.topic_id)
            call.require(Operation.READ, topic(name))
            partition = services.store.partition(name, wanted.partition_index)
            _check_epoch(wanted.leader_epoch)
            batches = partition.read(wanted.offset, max(0, bytes_max), committed=committed, at_least_one=at_least_one)
    except Refusal as refusal:
        archived = (partition, cause.base_offset) if isinstance(cause := refusal.__cause__, NotLocal) else None
        return _Found(wanted, None, None, refusal.code, archived)
    return _Found(wanted, partition, batches)


def _check_epoch(leader_epoch: int) -> None:
    """One broker leads for ever: its epoch is 0."""
    if leader_epoch > 0:
        raise Refusal(ErrorCode.UNKNOWN_LEADER_EPOCH)


def _read(found: _Found, committed: bool) -> FetchedPartition:
    wanted, batches = found.wanted, found.batches
    if batches is None:
        return FetchedPartition(wanted.topic, wanted.partition_index, found.refusal, topic_id=wanted.topic_id)
    aborted = tuple(AbortedRange(entry.producer_id, entry.first_offset) for entry in batches.aborted)
    try:
        span = batches.span if batches.length >= SENT_FROM_FILE_BYTES_MIN else None
        records = b"" if span is not None else batches.content()
    except OSError:
        code = ErrorCode.KAFKA_STORAGE_ERROR
        return FetchedPartition(wanted.topic, wanted.partition_index, code, topic_id=wanted.topic_id)
    return FetchedPartition(
        wanted.topic,
        wanted.partition_index,
        high_watermark=batches.high_watermark,
        last_stable_offset=batches.last_stable_offset,
        log_start_offset=batches.log_start_offset,
        aborted=aborted if committed else None,
        records=records,
        topic_id=wanted.topic_id,
        span=span,
    )

"""Produce: append, and answer when it is durable."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from headrace.log import BatchHeader, Partition
from headrace.signals import SIGNALS_TOPIC
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import LOG_ERRORS, as_refusal, as_refusals, topic_name
from headrace.wire.messages.produce import ProducedPartition, ProducePartition, ProduceRequest, ProduceResponse
from headrace.wire.security.quota_book import PRODUCE
from headrace.wire.security.resources import Operation, topic, transactional_id
from headrace.wire.sequencer import read_signals
from headrace.wire.services import INTERNAL_TOPICS, AfterSync, Call, Services

_NO_ACKS = 0
# Since when a version belongs to the newer transaction protocol.
_ADDS_PARTITIONS_SINCE = 12


class _Outcome(NamedTuple):
    """The answer for one partition, if its records become durable."""

    answer: ProducedPartition
    partition: Partition | None = None
    end_offset: int = -1


Answer = ProduceResponse | AfterSync[ProduceResponse] | None


def produce(
    services: Services, call: Call, request: ProduceRequest
) -> Answer | Coroutine[None, None, ProduceResponse | None]:
    """None: the client wants no answer. Acknowledged records are on disk, with acks=1 as with acks=all."""
    if request.acks not in (-1, 0, 1):
        return _refused(request, ErrorCode.INVALID_REQUIRED_ACKS)
    if request.transactional_id is not None:
        if not call.allows(Operation.WRITE, transactional_id(request.transactional_id)):
            return _refused(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        services.wake_ticker()
    places = [(_name(services, entry), entry.partition_index) for entry in request.partitions]
    gated = services.gate.gated(places)
    if gated or SIGNALS_TOPIC in [name for name, _ in places]:
        return _produce_in_turn(services, call, request, gated)
    return _answer(services, call, request, [_append(services, call, entry, {}) for entry in request.partitions])


async def _produce_in_turn(
    services: Services, call: Call, request: ProduceRequest, gated: list[Partition]
) -> ProduceResponse | None:
    """For topics with a limited backlog, in front of which it may have to wait, and for signals."""
    async with services.gate.passage(gated, request.timeout_ms) as closed:
        outcomes = [await _take(services, call, entry, closed) for entry in request.partitions]
    answer = _answer(services, call, request, outcomes)
    if isinstance(answer, AfterSync):
        await services.committer.durable()
        return answer.answer()
    return answer


def _answer(services: Services, call: Call, request: ProduceRequest, outcomes: Sequence[_Outcome]) -> Answer:
    """Once nothing is appended any more: now, or when the disk has it."""
    throttle_time_ms = 0
    if not services.throttle.is_off:
        size_bytes = sum([len(entry.records) for entry in request.partitions if entry.records is not None])
        throttle_time_ms = call.charge(services.throttle, PRODUCE, size_bytes)
    waits = [outcome for outcome in outcomes if outcome.partition is not None]
    if request.acks == _NO_ACKS:
        if waits:
            services.committer.when_durable(_nobody_waits)
        return None
    if waits:
        return AfterSync(partial(_response, outcomes, throttle_time_ms))
    return _response(outcomes, throttle_time_ms)


def _nobody_waits() -> None:
    """The records are synced all the same."""


def _response(outcomes: Sequence[_Outcome], throttle_time_ms: int) -> ProduceResponse:
    return ProduceResponse(tuple([_settled(outcome) for outcome in outcomes]), throttle_time_ms)


async def _take(
    services: Services, call: Call, entry: ProducePartition, closed: Mapping[Partition, Refusal]
) -> _Outcome:
    """Records of `__signals` are requests to the sequencer; all others are appended as they are."""
    if _name(services, entry) == SIGNALS_TOPIC:
        return await _signal(services, call, entry)
    return _append(services, call, entry, closed)


def _name(services: Services, entry: ProducePartition) -> str:
    """Empty when there is no such topic, which appending will say."""
    return entry.topic if entry.topic_id is None else services.store.name_of(entry.topic_id) or ""


def _refused(request: ProduceRequest, code: ErrorCode) -> ProduceResponse:
    return ProduceResponse(
        tuple(ProducedPartition(p.topic, p.partition_index, code, topic_id=p.topic_id) for p in request.partitions)
    )


def _append(services: Services, call: Call, entry: ProducePartition, closed: Mapping[Partition, Refusal]) -> _Outcome:
    try:
        name = topic_name(services, entry.topic, entry.topic_id)
        call.require(Operation.WRITE, topic(name))
        partition = services.store.partition(name, entry.partition_index)
        if name in INTERNAL_TOPICS:
            raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is the broker's own")
        if partition in closed:
            raise closed[partition]
        records = b"" if entry.records is None else entry.records
        appended = partition.append(records, check=partial(_check_transactional, services, call, partition))
    except Refusal as refusal:
        return _refusal(entry, refusal)
    except LOG_ERRORS as error:
        return _refusal(entry, as_refusal(error))
    answer = ProducedPartition(
        entry.topic,
        entry.partition_index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.append_time_ms,
        log_start_offset=partition.log_start_offset,
        topic_id=entry.topic_id,
    )
    return _Outcome(answer, partition, appended.last_offset + 1)


async def _signal(services: Services, call: Call, entry: ProducePartition) -> _Outcome:
    """Answered when the cuts are on disk: the client's batch itself is not kept."""
    try:
        with as_refusals():
            call.require(Operation.WRITE, topic(SIGNALS_TOPIC))
            services.store.partition(SIGNALS_TOPIC, entry.partition_index)
            requests = read_signals(b"" if entry.records is None else entry.records)
            for name in {name for request in requests for name in request.topics}:
                call.require(Operation.WRITE, topic(name))
            await services.sequencer.submit(requests)
    except Refusal as refusal:
        return _refusal(entry, refusal)
    return _Outcome(ProducedPartition(entry.topic, entry.partition_index, topic_id=entry.topic_id))


def _refusal(entry: ProducePartition, refusal: Refusal) -> _Outcome:
    return _Outcome(
        ProducedPartition(
            entry.topic,
            entry.partition_index,
            refusal.code,
            error_message=refusal.message,
            topic_id=entry.topic_id,
            record_errors=refusal.record_errors,
        )
    )


def _check_transactional(services: Services, call: Call, partition: Partition, header: BatchHeader) -> None:
    """Clients of the older protocol added the partition by a request of its own."""
    if not header.is_transactional:
        return
    key = (partition.topic, partition.index)
    if call.version >= _ADDS_PARTITIONS_SINCE:
        services.transactions.begin_write(header.producer_id, header.producer_epoch, key)
    else:
        services.transactions.transactions.check_write(header.producer_id, header.producer_epoch, key)


def _settled(outcome: _Outcome) -> ProducedPartition:
    if outcome.partition is None or outcome.partition.high_watermark >= outcome.end_offset:
        return outcome.answer
    message = "the disk refused the records"
    return outcome.answer._replace(error_code=ErrorCode.KAFKA_STORAGE_ERROR, base_offset=-1, error_message=message)

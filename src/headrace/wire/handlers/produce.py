"""Produce: append, and answer when it is durable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.log import Partition, parse_batches
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals
from headrace.wire.messages.produce import ProducedPartition, ProducePartition, ProduceRequest, ProduceResponse
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

_NO_ACKS = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The answer for one partition, if its records become durable."""

    answer: ProducedPartition
    partition: Partition | None = None
    end_offset: int = -1


async def produce(services: Services, call: Call, request: ProduceRequest) -> ProduceResponse | None:
    """None: the client wants no answer. Acknowledged records are on disk, with acks=1 as with acks=all."""
    if request.acks not in (-1, 0, 1):
        refused = (ProducedPartition(p.topic, p.index, ErrorCode.INVALID_REQUIRED_ACKS) for p in request.partitions)
        return ProduceResponse(tuple(refused))
    outcomes = [_append(services, entry) for entry in request.partitions]
    if any(outcome.partition is not None for outcome in outcomes):
        durable = services.committer.durable()
        if request.acks == _NO_ACKS:
            return None
        await durable
    return None if request.acks == _NO_ACKS else ProduceResponse(tuple(_settled(outcome) for outcome in outcomes))


def _append(services: Services, entry: ProducePartition) -> _Outcome:
    try:
        with as_refusals():
            partition = services.store.partition(entry.topic, entry.index)
            if entry.topic in INTERNAL_TOPICS:
                raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{entry.topic} is the broker's own")
            records = b"" if entry.records is None else entry.records
            _check_transactional(services, entry, records)
            appended = partition.append(records)
    except Refusal as refusal:
        return _Outcome(ProducedPartition(entry.topic, entry.index, refusal.code, error_message=refusal.message))
    answer = ProducedPartition(
        entry.topic,
        entry.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.append_time_ms,
        log_start_offset=partition.log_start_offset,
    )
    return _Outcome(answer, partition, appended.last_offset + 1)


def _check_transactional(services: Services, entry: ProducePartition, records: bytes | memoryview) -> None:
    for header in parse_batches(records):
        if header.is_transactional:
            key = (entry.topic, entry.index)
            services.transactions.transactions.check_write(header.producer_id, header.producer_epoch, key)


def _settled(outcome: _Outcome) -> ProducedPartition:
    if outcome.partition is None or outcome.partition.high_watermark >= outcome.end_offset:
        return outcome.answer
    message = "the disk refused the records"
    return replace(outcome.answer, error_code=ErrorCode.KAFKA_STORAGE_ERROR, base_offset=-1, error_message=message)

"""InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn."""

from __future__ import annotations

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.groups import check_group_id
from headrace.wire.handlers.group_offsets import check_commit, commit_answers, offsets_to_commit
from headrace.wire.messages.transactions import (
    AddedPartition,
    AddedTopic,
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from headrace.wire.security.resources import CLUSTER, Operation, ResourceKind, group, transactional_id
from headrace.wire.security.resources import topic as topic_resource
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

# Since when a version knows the code that says "fenced"; older clients understand "invalid epoch".
_INIT_KNOWS_FENCED_SINCE = 4
_OTHERS_KNOW_FENCED_SINCE = 2
# Since when a version belongs to the newer transaction protocol.
_NEWER_OFFSETS_SINCE = 5
_NEWER_END_SINCE = 5


async def init_producer_id(services: Services, call: Call, request: InitProducerIdRequest) -> InitProducerIdResponse:
    try:
        if request.transactional_id is None:
            if not call.access.allows_any(Operation.WRITE, ResourceKind.TOPIC):
                call.require(Operation.IDEMPOTENT_WRITE, CLUSTER)
            return InitProducerIdResponse(ErrorCode.NONE, await services.transactions.new_producer_id(), 0)
        if not request.transactional_id:
            raise Refusal(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        call.require(Operation.WRITE, transactional_id(request.transactional_id))
        held = None if request.producer_id < 0 else (request.producer_id, request.producer_epoch)
        transaction = await services.transactions.init_producer(
            request.transactional_id, request.transaction_timeout_ms, held
        )
    except Refusal as refusal:
        return InitProducerIdResponse(_understood(refusal.code, call.version >= _INIT_KNOWS_FENCED_SINCE))
    return InitProducerIdResponse(ErrorCode.NONE, transaction.producer_id, transaction.producer_epoch)


async def add_partitions_to_txn(
    services: Services, call: Call, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    """All partitions are added, or none."""
    wanted = [(topic.name, index) for topic in request.topics for index in topic.partitions]
    problems = {key: code for key in wanted if (code := _problem(services, call, *key)) is not ErrorCode.NONE}
    otherwise = ErrorCode.OPERATION_NOT_ATTEMPTED if problems else ErrorCode.NONE
    if not problems:
        try:
            call.require(Operation.WRITE, transactional_id(request.transactional_id))
            await services.transactions.add_partitions(
                request.transactional_id, request.producer_id, request.producer_epoch, wanted
            )
            services.wake_ticker()
        except Refusal as refusal:
            otherwise = _understood(refusal.code, call.version >= _OTHERS_KNOW_FENCED_SINCE)
    return AddPartitionsToTxnResponse(
        tuple(
            AddedTopic(
                topic.name,
                tuple(
                    AddedPartition(index, problems.get((topic.name, index), otherwise)) for index in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _problem(services: Services, call: Call, name: str, index: int) -> ErrorCode:
    if not call.allows(Operation.WRITE, topic_resource(name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topic = services.store.topics.get(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_TOPIC_EXCEPTION if name in INTERNAL_TOPICS else ErrorCode.NONE


async def add_offsets_to_txn(
    services: Services, call: Call, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse:
    try:
        call.require(Operation.WRITE, transactional_id(request.transactional_id))
        call.require(Operation.READ, group(request.group_id))
        check_group_id(request.group_id)
        await services.transactions.add_group(
            request.transactional_id, request.producer_id, request.producer_epoch, request.group_id
        )
        services.wake_ticker()
    except Refusal as refusal:
        return AddOffsetsToTxnResponse(_understood(refusal.code, call.version >= _OTHERS_KNOW_FENCED_SINCE))
    return AddOffsetsToTxnResponse(ErrorCode.NONE)


async def txn_offset_commit(services: Services, call: Call, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """The offsets take effect if the transaction is committed."""
    try:
        call.require(Operation.WRITE, transactional_id(request.transactional_id))
        call.require(Operation.READ, group(request.group_id))
        check_group_id(request.group_id)
        # A producer that names no member is trusted: its transaction fences it.
        if request.generation_id >= 0 or request.member_id:
            check_commit(
                services, request.group_id, request.member_id, request.group_instance_id, request.generation_id
            )
        entries, refused = offsets_to_commit(services, call, request.group_id, request.topics)
        await services.transactions.add_offsets(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            entries,
            adding_group=request.group_id if call.version >= _NEWER_OFFSETS_SINCE else None,
        )
        services.wake_ticker()
    except Refusal as refusal:
        return TxnOffsetCommitResponse(commit_answers(request.topics, {}, _understood(refusal.code, False)))
    return TxnOffsetCommitResponse(commit_answers(request.topics, refused))


async def end_txn(services: Services, call: Call, request: EndTxnRequest) -> EndTxnResponse:
    bump = call.version >= _NEWER_END_SINCE
    try:
        call.require(Operation.WRITE, transactional_id(request.transactional_id))
        ended = await services.transactions.end(
            request.transactional_id, request.producer_id, request.producer_epoch, commit=request.committed, bump=bump
        )
    except Refusal as refusal:
        return EndTxnResponse(_understood(refusal.code, call.version >= _OTHERS_KNOW_FENCED_SINCE))
    return EndTxnResponse(ErrorCode.NONE, ended.producer_id, ended.producer_epoch)


def _understood(code: ErrorCode, knows_fenced: bool) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED and not knows_fenced:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code

"""ListTransactions, DescribeTransactions: what an administrator asks when a transaction hangs."""

from __future__ import annotations

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.transactions import Transaction, TransactionState
from headrace.wire.messages.transactions import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
    TouchedTopic,
)
from headrace.wire.patterns import matching
from headrace.wire.security.resources import Operation, topic, transactional_id
from headrace.wire.services import Call, Services


def list_transactions(services: Services, call: Call, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """Those that the client may see and that fit all filters; an empty filter fits everything."""
    names = frozenset(entry.transactional_id for entry in services.transactions.transactions)
    try:
        named = matching(request.transactional_id_pattern, names) if request.transactional_id_pattern else names
    except Refusal as refusal:
        return ListTransactionsResponse(refusal.code, (), ())
    known = {state.value for state in TransactionState}
    listed = tuple(
        ListedTransaction(entry.transactional_id, entry.producer_id, entry.state.value)
        for entry in services.transactions.transactions
        if entry.transactional_id in named
        and _fits(services, entry, request)
        and call.allows(Operation.DESCRIBE, transactional_id(entry.transactional_id))
    )
    unknown = tuple(name for name in request.state_filters if name not in known)
    return ListTransactionsResponse(ErrorCode.NONE, unknown, listed)


def _fits(services: Services, entry: Transaction, request: ListTransactionsRequest) -> bool:
    if request.state_filters and entry.state.value not in request.state_filters:
        return False
    if request.producer_id_filters and entry.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return entry.started_at_ms >= 0 and services.clock() - entry.started_at_ms > request.duration_filter


def describe_transactions(
    services: Services, call: Call, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(tuple(_described(services, call, name) for name in request.transactional_ids))


def _described(services: Services, call: Call, name: str) -> DescribedTransaction:
    try:
        call.require(Operation.DESCRIBE, transactional_id(name))
    except Refusal as refusal:
        return DescribedTransaction(refusal.code, name)
    entry = services.transactions.transactions.get(name)
    if entry is None:
        return DescribedTransaction(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, name)
    return DescribedTransaction(
        ErrorCode.NONE,
        name,
        entry.state.value,
        entry.timeout_ms,
        entry.started_at_ms,
        entry.producer_id,
        entry.producer_epoch,
        _touched(call, entry),
    )


def _touched(call: Call, entry: Transaction) -> tuple[TouchedTopic, ...]:
    topics: dict[str, list[int]] = {}
    for name, index in sorted(entry.partitions):
        if call.allows(Operation.DESCRIBE, topic(name)):
            topics.setdefault(name, []).append(index)
    return tuple(TouchedTopic(name, tuple(indexes)) for name, indexes in topics.items())

"""Producer ids and transactions."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from headrace.wire.codes import ErrorCode
from headrace.wire.messages.offsets import CommittedTopic, CommitTopic
from headrace.wire.schema import WireName


class InitProducerIdRequest(NamedTuple):
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int = -1
    producer_epoch: int = -1


class InitProducerIdResponse(NamedTuple):
    error_code: ErrorCode
    producer_id: int = -1
    producer_epoch: int = -1


class TransactionTopic(NamedTuple):
    name: str
    partitions: tuple[int, ...]


class AddPartitionsToTxnRequest(NamedTuple):
    transactional_id: Annotated[str, WireName("v3_and_below_transactional_id")]
    producer_id: Annotated[int, WireName("v3_and_below_producer_id")]
    producer_epoch: Annotated[int, WireName("v3_and_below_producer_epoch")]
    topics: Annotated[tuple[TransactionTopic, ...], WireName("v3_and_below_topics")]


class AddedPartition(NamedTuple):
    partition_index: int
    partition_error_code: ErrorCode


class AddedTopic(NamedTuple):
    name: str
    results_by_partition: tuple[AddedPartition, ...]


class AddPartitionsToTxnResponse(NamedTuple):
    topics: Annotated[tuple[AddedTopic, ...], WireName("results_by_topic_v3_and_below")]


class AddOffsetsToTxnRequest(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str


class AddOffsetsToTxnResponse(NamedTuple):
    error_code: ErrorCode


class TxnOffsetCommitRequest(NamedTuple):
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    topics: tuple[CommitTopic, ...]
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class TxnOffsetCommitResponse(NamedTuple):
    topics: tuple[CommittedTopic, ...]


class EndTxnRequest(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool


class EndTxnResponse(NamedTuple):
    """Since version 5 every transaction has an epoch of its own: the next one's is told here."""

    error_code: ErrorCode
    producer_id: int = -1
    producer_epoch: int = -1


class ListTransactionsRequest(NamedTuple):
    state_filters: tuple[str, ...] = ()
    producer_id_filters: tuple[int, ...] = ()
    duration_filter: int = -1
    transactional_id_pattern: str | None = None


class ListedTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    transaction_state: str


class ListTransactionsResponse(NamedTuple):
    error_code: ErrorCode
    unknown_state_filters: tuple[str, ...]
    transaction_states: tuple[ListedTransaction, ...]


class DescribeTransactionsRequest(NamedTuple):
    transactional_ids: tuple[str, ...]


class TouchedTopic(NamedTuple):
    topic: str
    partitions: tuple[int, ...]


class DescribedTransaction(NamedTuple):
    error_code: ErrorCode
    transactional_id: str
    transaction_state: str = ""
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    topics: tuple[TouchedTopic, ...] = ()


class DescribeTransactionsResponse(NamedTuple):
    transaction_states: tuple[DescribedTransaction, ...]

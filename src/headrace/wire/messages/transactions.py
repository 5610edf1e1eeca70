"""Producer ids and transactions."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.wire.codec import wire_name
from headrace.wire.codes import ErrorCode
from headrace.wire.messages.offsets import CommittedTopic, CommitTopic


@dataclass(frozen=True, slots=True)
class InitProducerIdRequest:
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int = -1
    producer_epoch: int = -1


@dataclass(frozen=True, slots=True)
class InitProducerIdResponse:
    error_code: ErrorCode
    producer_id: int = -1
    producer_epoch: int = -1


@dataclass(frozen=True, slots=True)
class TransactionTopic:
    name: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AddPartitionsToTxnRequest:
    transactional_id: str = wire_name("v3_and_below_transactional_id")
    producer_id: int = wire_name("v3_and_below_producer_id")
    producer_epoch: int = wire_name("v3_and_below_producer_epoch")
    topics: tuple[TransactionTopic, ...] = wire_name("v3_and_below_topics")


@dataclass(frozen=True, slots=True)
class AddedPartition:
    partition_index: int
    partition_error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class AddedTopic:
    name: str
    results_by_partition: tuple[AddedPartition, ...]


@dataclass(frozen=True, slots=True)
class AddPartitionsToTxnResponse:
    topics: tuple[AddedTopic, ...] = wire_name("results_by_topic_v3_and_below")


@dataclass(frozen=True, slots=True)
class AddOffsetsToTxnRequest:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str


@dataclass(frozen=True, slots=True)
class AddOffsetsToTxnResponse:
    error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class TxnOffsetCommitRequest:
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    topics: tuple[CommitTopic, ...]
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class TxnOffsetCommitResponse:
    topics: tuple[CommittedTopic, ...]


@dataclass(frozen=True, slots=True)
class EndTxnRequest:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool


@dataclass(frozen=True, slots=True)
class EndTxnResponse:
    """Since version 5 every transaction has an epoch of its own: the next one's is told here."""

    error_code: ErrorCode
    producer_id: int = -1
    producer_epoch: int = -1


@dataclass(frozen=True, slots=True)
class ListTransactionsRequest:
    state_filters: tuple[str, ...] = ()
    producer_id_filters: tuple[int, ...] = ()
    duration_filter: int = -1


@dataclass(frozen=True, slots=True)
class ListedTransaction:
    transactional_id: str
    producer_id: int
    transaction_state: str


@dataclass(frozen=True, slots=True)
class ListTransactionsResponse:
    error_code: ErrorCode
    unknown_state_filters: tuple[str, ...]
    transaction_states: tuple[ListedTransaction, ...]


@dataclass(frozen=True, slots=True)
class DescribeTransactionsRequest:
    transactional_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TouchedTopic:
    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DescribedTransaction:
    error_code: ErrorCode
    transactional_id: str
    transaction_state: str = ""
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    topics: tuple[TouchedTopic, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeTransactionsResponse:
    transaction_states: tuple[DescribedTransaction, ...]

"""Transactions as values: each change makes a new one, which is written down before it takes effect.

    Empty ──add──▶ Ongoing ──end──▶ PrepareCommit ──markers written──▶ CompleteCommit ──add──▶ Ongoing …
                      └──end, fenced, timed out──▶ PrepareAbort ──────▶ CompleteAbort  ──add──▶ Ongoing …

Once a Prepare state is durable the outcome is decided: after a crash its markers are written again.

Clients of the newer transaction protocol (version 2) end a transaction with a higher epoch than they wrote under: what
comes late from an ended transaction is then refused by every partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.offsets import CommittedOffset, OffsetKey

TopicPartition = tuple[str, int]

# One below the largest, so that fencing by a further bump is always possible.
EPOCH_MAX: Final = 32_766


class TransactionState(Enum):
    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


_PREPARED: Final = {
    TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
}


@dataclass(frozen=True, slots=True)
class Transaction:
    """What is known of one transactional id. `offsets` are committed to `groups` if the transaction is."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    updated_at_ms: int
    state: TransactionState = TransactionState.EMPTY
    started_at_ms: int = -1
    partitions: frozenset[TopicPartition] = frozenset()
    groups: frozenset[str] = frozenset()
    offsets: Mapping[OffsetKey, CommittedOffset] = field(default_factory=dict)
    # The last transaction was ended under a higher epoch than it was written under.
    bumped: bool = False

    @property
    def ongoing(self) -> bool:
        return self.state is TransactionState.ONGOING

    @property
    def prepared(self) -> bool:
        """The outcome is decided, but not all markers may be written."""
        return self.state in _PREPARED

    @property
    def commits(self) -> bool:
        return self.state is TransactionState.PREPARE_COMMIT

    def expired(self, now_ms: int) -> bool:
        return self.ongoing and self.started_at_ms + self.timeout_ms <= now_ms

    def check(self, producer_id: int, producer_epoch: int) -> None:
        """Raises a Refusal unless the producer is the current holder of the transactional id."""
        if producer_id != self.producer_id:
            raise Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer_epoch != self.producer_epoch:
            raise Refusal(ErrorCode.PRODUCER_FENCED, f"the current epoch is {self.producer_epoch}")

    def reinitialised(self, fresh_producer_id: int | None, timeout_ms: int, now_ms: int) -> Transaction:
        """For a new holder: the next epoch, or a fresh producer id where epochs ran out. None may be ongoing."""
        if fresh_producer_id is not None:
            return Transaction(self.transactional_id, fresh_producer_id, 0, timeout_ms, now_ms)
        return Transaction(self.transactional_id, self.producer_id, self.producer_epoch + 1, timeout_ms, now_ms)

    @property
    def epochs_exhausted(self) -> bool:
        return self.producer_epoch >= EPOCH_MAX

    def with_partitions(self, added: Iterable[TopicPartition], now_ms: int) -> Transaction:
        started = self._started(now_ms)
        return replace(started, partitions=started.partitions | frozenset(added))

    def with_group(self, group_id: str, now_ms: int) -> Transaction:
        started = self._started(now_ms)
        return replace(started, groups=started.groups | {group_id})

    def with_offsets(self, added: Mapping[OffsetKey, CommittedOffset], now_ms: int) -> Transaction:
        """Raises a Refusal unless the group was added before."""
        if not self.ongoing or not {key.group_id for key in added} <= self.groups:
            raise Refusal(ErrorCode.INVALID_TXN_STATE, "the group is not part of an ongoing transaction")
        return replace(self, offsets={**self.offsets, **added}, updated_at_ms=now_ms)

    def _started(self, now_ms: int) -> Transaction:
        """This one if it is ongoing, else a new one of the same holder."""
        if self.prepared:
            raise Refusal(ErrorCode.CONCURRENT_TRANSACTIONS, "the transaction before is not finished")
        if self.ongoing:
            return replace(self, updated_at_ms=now_ms)
        return replace(self._cleared(TransactionState.ONGOING, now_ms), started_at_ms=now_ms)

    def ending(self, commit: bool, now_ms: int, *, bump: bool = False) -> Transaction | None:
        """The decided transaction, or None when it was ended in the same way before. Raises a Refusal otherwise.

        `bump`: it ends under the next epoch, and an abort may end a transaction that wrote nothing.
        """
        wanted = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
        if self.ongoing or (bump and not commit and not self.prepared):
            epoch = self.producer_epoch + 1 if bump else self.producer_epoch
            return replace(self, state=wanted, producer_epoch=epoch, bumped=bump, updated_at_ms=now_ms)
        if self.state is _PREPARED[wanted] and not bump:
            return None
        if self.state is wanted:
            return self
        raise Refusal(ErrorCode.INVALID_TXN_STATE, f"the transaction is {self.state.value}")

    def was_held_by(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether the transaction that ended last was written under this epoch."""
        return self.bumped and (producer_id, producer_epoch) == (self.producer_id, self.producer_epoch - 1)

    def repeated_ending(self, commit: bool) -> Transaction | None:
        """As `ending`, for a request that may be the repetition of one whose answer was lost."""
        wanted = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
        if self.state not in (wanted, _PREPARED[wanted]):
            raise Refusal(ErrorCode.INVALID_TXN_STATE, f"the transaction is {self.state.value}")
        return self if self.prepared else None

    def with_producer(self, producer_id: int) -> Transaction:
        """Under a fresh producer id: epochs of the one before ran out."""
        return replace(self, producer_id=producer_id, producer_epoch=0)

    def fenced(self, now_ms: int) -> Transaction:
        """Decided to abort, under a new epoch: the holder so far may do nothing more."""
        epoch = self.producer_epoch + 1
        state = TransactionState.PREPARE_ABORT
        return replace(self, state=state, producer_epoch=epoch, bumped=False, updated_at_ms=now_ms)

    def completed(self, now_ms: int) -> Transaction:
        """Called when all markers are durable."""
        return self._cleared(_PREPARED[self.state], now_ms)

    def _cleared(self, state: TransactionState, now_ms: int) -> Transaction:
        return replace(
            self,
            state=state,
            partitions=frozenset(),
            groups=frozenset(),
            offsets={},
            started_at_ms=-1,
            updated_at_ms=now_ms,
        )


class Transactions:
    """All transactional ids, each with its newest durable state."""

    def __init__(self, ids_max: int) -> None:
        self._ids_max = ids_max
        self._by_id: dict[str, Transaction] = {}
        self._by_producer: dict[int, str] = {}

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._by_id.values())

    def get(self, transactional_id: str) -> Transaction | None:
        return self._by_id.get(transactional_id)

    def held_by(self, transactional_id: str, producer_id: int, producer_epoch: int) -> Transaction:
        """Raises a Refusal unless the producer holds the id."""
        transaction = self._by_id.get(transactional_id)
        if transaction is None:
            raise Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        transaction.check(producer_id, producer_epoch)
        return transaction

    def check_room(self) -> None:
        """Raises a Refusal when no further transactional id may be added."""
        if len(self._by_id) >= self._ids_max:
            raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {self._ids_max} transactional ids")

    def put(self, transaction: Transaction) -> None:
        previous = self._by_id.get(transaction.transactional_id)
        if previous is not None:
            self._by_producer.pop(previous.producer_id, None)
        self._by_id[transaction.transactional_id] = transaction
        self._by_producer[transaction.producer_id] = transaction.transactional_id

    def remove(self, transactional_id: str) -> None:
        transaction = self._by_id.pop(transactional_id, None)
        if transaction is not None:
            self._by_producer.pop(transaction.producer_id, None)

    def of_producer(self, producer_id: int) -> Transaction | None:
        return self._by_id.get(self._by_producer.get(producer_id, ""))

    def check_write(self, producer_id: int, producer_epoch: int, partition: TopicPartition) -> None:
        """Called before a transactional batch is appended. Raises a Refusal unless its partition was added."""
        transaction = self.of_producer(producer_id)
        if transaction is None:
            raise Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer_epoch != transaction.producer_epoch:
            raise Refusal(ErrorCode.INVALID_PRODUCER_EPOCH, f"the current epoch is {transaction.producer_epoch}")
        if not transaction.ongoing or partition not in transaction.partitions:
            raise Refusal(ErrorCode.INVALID_TXN_STATE, "the partition is not part of an ongoing transaction")

    @property
    def any_ongoing(self) -> bool:
        return any(transaction.ongoing for transaction in self._by_id.values())

    def expired(self, now_ms: int) -> list[Transaction]:
        """Ongoing ones whose time is up."""
        return [transaction for transaction in self._by_id.values() if transaction.expired(now_ms)]

    def prepared(self) -> list[Transaction]:
        """Decided ones that are not complete."""
        return [transaction for transaction in self._by_id.values() if transaction.prepared]

    def forgettable(self, now_ms: int, expiry_ms: int) -> list[Transaction]:
        """Those without a transaction for so long that their id is given up."""
        return [
            transaction
            for transaction in self._by_id.values()
            if not transaction.ongoing and not transaction.prepared and transaction.updated_at_ms + expiry_ms <= now_ms
        ]

    def has_pending_offset(self, key: OffsetKey) -> bool:
        return any(key in transaction.offsets for transaction in self._by_id.values())

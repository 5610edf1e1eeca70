"""Transactions, kept durable in `__transaction_state`, and their markers in the partitions they wrote to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from weakref import WeakValueDictionary

from headrace.errors import NotFound
from headrace.log import LogRefusal, LogStore, Partition
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators import transaction_records as records
from headrace.wire.coordinators.offsets import CommittedOffset, OffsetKey
from headrace.wire.coordinators.transactions import EPOCH_MAX, TopicPartition, Transaction, Transactions
from headrace.wire.event_log import EventLog
from headrace.wire.offset_service import OffsetService
from headrace.wire.producer_ids import ProducerIds
from headrace.wire.state_records import StateRecord
from headrace.wire.state_topic import StateTopic

TRANSACTIONS_TOPIC: Final = "__transaction_state"

_log = EventLog()


class TransactionService:
    """Every step is durable before it is answered. Requests for one transactional id are served one after the other."""

    def __init__(
        self,
        store: LogStore,
        topic: StateTopic,
        *,
        offsets: OffsetService,
        committer: Committer,
        config: BrokerConfig,
        clock: Callable[[], int],
    ) -> None:
        """Knows what was written before; `recover` must be called next."""
        self._store = store
        self._topic = topic
        self._offsets = offsets
        self._committer = committer
        self._config = config
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.transactions = Transactions(config.transactional_ids_max)
        next_producer_id = 0
        for key, value in topic.values.items():
            if key == records.PRODUCER_IDS_KEY:
                next_producer_id = records.unpack_next_producer_id(value)
            elif (transactional_id := records.transactional_id_of(key)) is not None:
                self.transactions.put(records.unpack(transactional_id, value))
        self._producer_ids = ProducerIds(topic, committer, next_producer_id)

    async def recover(self) -> None:
        """Called once, before the first request: decided transactions are finished, orphaned writes aborted."""
        for transaction in self.transactions.prepared():
            await self._complete(transaction)
        for topic in self._store.topics.values():
            for partition in topic.partitions:
                self._abort_orphans(partition)

    def _abort_orphans(self, partition: Partition) -> None:
        """Writes of a transaction that nobody knows would hold back readers of committed records for ever."""
        known = {t.producer_id for t in self.transactions if (partition.topic, partition.index) in t.partitions}
        for producer_id in partition.open_transactions().keys() - known:
            _log.warning("orphaned transaction aborted", partition=partition.name, producer_id=producer_id)
            holder = self.transactions.of_producer(producer_id)
            # Under the next epoch: the batch, sent again, must not be taken for one that is already there.
            epoch = EPOCH_MAX if holder is None else holder.producer_epoch + 1
            try:
                partition.append_control(producer_id, epoch, False)
            except LogRefusal as refusal:
                _log.error("marker refused", partition=partition.name, reason=refusal.message)

    # -- requests -----------------------------------------------------------------------------------------------

    async def new_producer_id(self) -> int:
        return await self._producer_ids.take()

    async def init_producer(
        self, transactional_id: str, timeout_ms: int, expected: tuple[int, int] | None
    ) -> Transaction:
        """Fences earlier holders and aborts what they left open. `expected` is what the client believes to hold."""
        if not 0 < timeout_ms <= self._config.transaction_timeout_ms_max:
            raise Refusal(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        async with self._lock(transactional_id):
            current = self.transactions.get(transactional_id)
            if current is None:
                self.transactions.check_room()
                producer_id = await self._producer_ids.take()
                return await self._write(Transaction(transactional_id, producer_id, 0, timeout_ms, self._clock()))
            if expected is not None and expected != (current.producer_id, current.producer_epoch):
                raise Refusal(ErrorCode.PRODUCER_FENCED)
            await self._abort_unfinished(current)
            return await self._reinitialise(self.transactions.get(transactional_id) or current, timeout_ms)

    async def _abort_unfinished(self, current: Transaction) -> None:
        if current.ongoing:
            current = await self._write(current.fenced(self._clock()))
        if current.prepared:
            await self._complete(current)

    async def _reinitialise(self, current: Transaction, timeout_ms: int) -> Transaction:
        fresh = await self._producer_ids.take() if current.epochs_exhausted else None
        return await self._write(current.reinitialised(fresh, timeout_ms, self._clock()))

    async def add_partitions(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Iterable[TopicPartition]
    ) -> None:
        async with self._lock(transactional_id):
            current = self.transactions.held_by(transactional_id, producer_id, producer_epoch)
            await self._write_if_changed(current, current.with_partitions(partitions, self._clock()))

    def begin_write(self, producer_id: int, producer_epoch: int, partition: TopicPartition) -> None:
        """Called before a batch of the newer protocol is appended: its partition is part of the transaction afterwards.

        Durable with the next sync, which the batch itself waits for. Should only the batch last, recovery aborts it as
        an orphan; nobody was told otherwise. Raises a Refusal.
        """
        current = self.transactions.of_producer(producer_id)
        if current is None:
            raise Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer_epoch != current.producer_epoch:
            raise Refusal(ErrorCode.INVALID_PRODUCER_EPOCH, f"the current epoch is {current.producer_epoch}")
        if current.ongoing and partition in current.partitions:
            return
        if self._lock(current.transactional_id).locked():
            raise Refusal(ErrorCode.CONCURRENT_TRANSACTIONS, "another request of this transaction is under way")
        changed = current.with_partitions([partition], self._clock())
        self._topic.append([_record(changed)])
        self.transactions.put(changed)

    async def add_group(self, transactional_id: str, producer_id: int, producer_epoch: int, group_id: str) -> None:
        async with self._lock(transactional_id):
            current = self.transactions.held_by(transactional_id, producer_id, producer_epoch)
            await self._write_if_changed(current, current.with_group(group_id, self._clock()))

    async def add_offsets(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        offsets: Mapping[OffsetKey, CommittedOffset],
        *,
        adding_group: str | None = None,
    ) -> None:
        """`adding_group`: the newer protocol adds the group to the transaction with its first offsets."""
        async with self._lock(transactional_id):
            current = self.transactions.held_by(transactional_id, producer_id, producer_epoch)
            if adding_group is not None:
                current = current.with_group(adding_group, self._clock())
            await self._write(current.with_offsets(offsets, self._clock()))

    async def end(
        self, transactional_id: str, producer_id: int, producer_epoch: int, *, commit: bool, bump: bool = False
    ) -> Transaction:
        """What the transactional id is afterwards; with `bump` under the epoch of its next transaction."""
        async with self._lock(transactional_id):
            current = self.transactions.get(transactional_id)
            if current is not None and bump and current.was_held_by(producer_id, producer_epoch):
                decided = current.repeated_ending(commit)
            else:
                current = self.transactions.held_by(transactional_id, producer_id, producer_epoch)
                decided = current.ending(commit, self._clock(), bump=bump)
            if decided is None:
                return current
            if decided is not current:
                await self._write(decided)
            return await self._complete(decided)

    # -- time ---------------------------------------------------------------------------------------------------

    async def abort_expired(self) -> None:
        """Called often: transactions whose time is up are aborted, and their producers fenced."""
        for transaction in self.transactions.expired(self._clock()):
            async with self._lock(transaction.transactional_id):
                current = self.transactions.get(transaction.transactional_id)
                if current is not None and current.expired(self._clock()):
                    _log.info("transaction timed out", transactional_id=current.transactional_id)
                    await self._abort_unfinished(current)

    async def complete_prepared(self) -> None:
        """Called now and then: what a failing disk interrupted is brought to its end, though no client asks for it."""
        for transaction in self.transactions.prepared():
            async with self._lock(transaction.transactional_id):
                current = self.transactions.get(transaction.transactional_id)
                if current is not None and current.prepared:
                    await self._complete(current)

    async def keep_small(self) -> None:
        """Called now and then: long unused ids are forgotten, and a restart has little to read."""
        idle = self.transactions.forgettable(self._clock(), self._config.transactional_id_expiry_ms)
        if idle:
            gone: list[StateRecord] = [(records.key_of(entry.transactional_id), None) for entry in idle]
            await self._topic.write(gone, self._committer)
            for entry in idle:
                self.transactions.remove(entry.transactional_id)
        await self._topic.keep_small(self._committer)

    # -- steps --------------------------------------------------------------------------------------------------

    def _lock(self, transactional_id: str) -> asyncio.Lock:
        return self._locks.setdefault(transactional_id, asyncio.Lock())

    async def _write_if_changed(self, current: Transaction, changed: Transaction) -> None:
        same = (changed.state, changed.partitions, changed.groups) == (
            current.state,
            current.partitions,
            current.groups,
        )
        if not same:
            await self._write(changed)

    async def _write(self, transaction: Transaction) -> Transaction:
        await self._topic.write([_record(transaction)], self._committer)
        self.transactions.put(transaction)
        return transaction

    async def _complete(self, transaction: Transaction) -> Transaction:
        """Write the markers of a decided transaction, make them durable, and only then say that it is complete.

        Raises a Refusal when the disk failed: the transaction stays decided, and is completed by the next attempt.
        """
        unmarked = [p for p in self._partitions(transaction) if not self._marked_before(p, transaction)]
        ends = [self._mark(partition, transaction) for partition in unmarked]
        if transaction.commits:
            self._offsets.commit_with_next_sync(transaction.offsets)
        await self._committer.durable()
        if any(partition.high_watermark < end for partition, end in ends):
            raise Refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the disk refused a transaction marker")
        completed = transaction.completed(self._clock())
        if completed.bumped and completed.epochs_exhausted:
            completed = completed.with_producer(await self._producer_ids.take())
        # Not waited for: without this record the markers are merely written again, where they are missing.
        self._topic.append([_record(completed)])
        self.transactions.put(completed)
        return completed

    def _marked_before(self, partition: Partition, transaction: Transaction) -> bool:
        """Whether what is open there is of the next transaction, so that the marker must not end it.

        Seen after a power loss that took the record of the completion but not what was written after it.
        """
        return transaction.bumped and partition.open_epoch(transaction.producer_id) == transaction.producer_epoch

    def _mark(self, partition: Partition, transaction: Transaction) -> tuple[Partition, int]:
        try:
            marker = partition.append_control(transaction.producer_id, transaction.producer_epoch, transaction.commits)
        except LogRefusal as refusal:
            raise Refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, refusal.message) from refusal
        return partition, marker.last_offset + 1

    def _partitions(self, transaction: Transaction) -> list[Partition]:
        found = []
        for topic, index in sorted(transaction.partitions):
            try:
                found.append(self._store.partition(topic, index))
            except NotFound:
                continue  # deleted since: nothing is left to mark
        return found


def _record(transaction: Transaction) -> StateRecord:
    return records.key_of(transaction.transactional_id), records.pack(transaction)

"""What a broker makes of transactions after a power loss that took the newest records of their state."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headrace.log import LogRefusal, LogStore, Partition, decode_fetched, encode_batches, with_producer
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators import transaction_records as records
from headrace.wire.offset_service import OffsetService
from headrace.wire.state_topic import StateTopic
from headrace.wire.transaction_service import TRANSACTIONS_TOPIC, TransactionService

NOW_MS = 1_700_000_000_000
TIMEOUT_MS = 60_000


@contextmanager
def opened(directory: Path) -> Iterator[LogStore]:
    store = LogStore.open(directory, clock=lambda: NOW_MS)
    try:
        yield store
    finally:
        store.close()


def state_topic(store: LogStore, name: str = TRANSACTIONS_TOPIC) -> StateTopic:
    return StateTopic(store, name, 1 << 20, lambda: NOW_MS)


def service(store: LogStore, committer: Committer) -> TransactionService:
    offsets = OffsetService(state_topic(store, "__offsets"), committer)
    config = BrokerConfig(data_dir=Path("unused"))
    return TransactionService(
        store, state_topic(store), offsets=offsets, committer=committer, config=config, clock=lambda: NOW_MS
    )


def batch(value: bytes, producer_id: int, epoch: int) -> bytes:
    plain = next(encode_batches(None, [value], [NOW_MS]))
    return bytes(with_producer(plain, producer_id, epoch, 0, transactional=True))


def committed(partition: Partition) -> list[bytes | None]:
    read = partition.read(0, 1 << 20, committed=True)
    fetched = decode_fetched(read.content(), read.aborted)
    return [value for found in fetched for value in found.values.to_pylist()]


async def two_transactions(store: LogStore) -> tuple[int, int]:
    """The first one committed, the second one begun; the record of the first one's decision is the newest left."""
    committer = Committer(store, "fsync", lambda _: None)
    own = service(store, committer)
    await own.recover()
    partition = store.create_topic("t", 1, {}).partitions[0]
    first = await own.init_producer("id", TIMEOUT_MS, None)
    own.begin_write(first.producer_id, first.producer_epoch, ("t", 0))
    partition.append(batch(b"first", first.producer_id, first.producer_epoch))
    ongoing = own.transactions.held_by("id", first.producer_id, first.producer_epoch)
    second = await own.end("id", first.producer_id, first.producer_epoch, commit=True, bump=True)
    own.begin_write(second.producer_id, second.producer_epoch, ("t", 0))
    partition.append(batch(b"second", second.producer_id, second.producer_epoch))
    decided = ongoing.ending(True, NOW_MS, bump=True)
    assert decided is not None
    state_topic(store).append([(records.key_of("id"), records.pack(decided))])
    store.sync()
    await committer.close()
    return second.producer_id, second.producer_epoch


async def recovered(store: LogStore) -> None:
    committer = Committer(store, "fsync", lambda _: None)
    await service(store, committer).recover()
    await committer.durable()
    await committer.close()


def test_the_next_transaction_is_not_committed_by_the_marker_of_the_one_before(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        asyncio.run(two_transactions(store))
    with opened(tmp_path) as store:
        asyncio.run(recovered(store))
        partition = store.partition("t", 0)
        assert committed(partition) == [b"first"]
        assert not partition.open_transactions()


def test_a_batch_that_was_aborted_as_orphan_is_not_acknowledged_when_it_comes_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        producer_id, epoch = asyncio.run(two_transactions(store))
    with opened(tmp_path) as store:
        asyncio.run(recovered(store))
        with pytest.raises(LogRefusal, match="epoch 2 has begun"):
            store.partition("t", 0).append(batch(b"second", producer_id, epoch))

"""Many short lives of a broker, killed or without power in between, judged by the checks of Jepsen's Kafka workload.

A seed decides everything: which client does what and when, when the broker dies, what the disk keeps. There are no
sockets and no threads, so `HEADRACE_SEED=n` plays the same life again.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.campaign import often

from headrace.log import SyncTicket, decode_fetched, encode_batches, parse_batches, with_producer
from headrace.log.storage import Storage
from headrace.log.testing import Fault, FaultyStorage, PowerLossStorage
from headrace.wire import protocol
from headrace.wire.broker import Broker
from headrace.wire.codes import ErrorCode
from headrace.wire.commit import Committer, SyncThread, run_tickets
from headrace.wire.config import BrokerConfig
from headrace.wire.handlers.table import ROUTES
from headrace.wire.history import History, Outcome, Poll, Send, anomalies, summary
from headrace.wire.messages import fetch, offsets, produce, transactions
from headrace.wire.packing import Reader
from headrace.wire.security.registry import SecurityRegistry, SecurityState
from headrace.wire.security.session import AccessPolicy, Session
from headrace.wire.services import AfterSync, Call, Endpoint, Services
from headrace.wire.waiters import FetchWaiters

TOPIC = "t"
PARTITIONS = 2
TURNS_MAX = 4_000
NOW_MS = 1_700_000_000_000
RETRIED = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
}


class Inline(SyncThread):
    """Syncs at once what is given to it, so that a life has one order."""

    async def sync(self, tickets: Sequence[SyncTicket]) -> dict[int, OSError]:
        await asyncio.sleep(0)  # others go on meanwhile
        return run_tickets(tickets)


class Unheard(Broker):
    """A broker without a port, whose clients call its handlers, and without a thread: whoever uses it has one order."""

    async def _listen(self, security: SecurityRegistry) -> None:
        return

    def _make_committer(self, waiters: FetchWaiters) -> Committer:
        return Committer(self._store, self.config.durability, waiters.wake, Inline())


class OneLife(FaultyStorage):
    """The disk as one life of a broker has it: once that is over, nothing of it changes the disk."""

    def __init__(self, behind: Storage) -> None:
        super().__init__(behind)
        self.is_over = False
        self.late: list[str] = []
        """What was tried all the same."""

    def _fault(self, operation: str, path: Path) -> Fault | None:
        if not self.is_over:
            return super()._fault(operation, path)
        self.late.append(f"{operation} {path.name}")
        return Fault(operation, path.name, errno.EIO)


class Died(Exception):
    """The broker died before it answered."""


class Fenced(Exception):
    """The broker refused a batch that was sent again: its transaction cannot be committed."""


async def after_sync(services: Services, outcome: AfterSync[Any]) -> Any:
    await services.committer.durable()
    return outcome.answer()


class World:
    """One broker at a time, and the disk that outlives it."""

    def __init__(self, root: Path, choice: Random, **settings: Any) -> None:
        self._root = root
        self._settings = settings
        self.choice = choice
        self._lives = 0
        self._directory = root / "0"
        self._directory.mkdir(parents=True)
        self._disk = PowerLossStorage(self._directory)
        self._past: list[OneLife] = []
        self._session = Session(AccessPolicy(SecurityState), "User:ANONYMOUS", "")
        self._broker: Broker | None = None
        self._under_way: set[asyncio.Future[Any]] = set()
        self._death: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        config = BrokerConfig(data_dir=self._directory / "data", port=0, **self._settings)
        self._past.append(OneLife(self._disk))
        broker = Unheard(config, storage=self._past[-1], clock=lambda: NOW_MS)
        await broker.start()
        if TOPIC not in broker._store.topics:
            broker._store.create_topic(TOPIC, PARTITIONS, {})
        self._broker = broker

    def die(self, *, power: bool) -> None:
        """Without warning. Without power, what was not synced may be gone or torn."""
        broker, self._broker = self._broker, None
        assert broker is not None
        # At once: nothing of a dead broker may write while the next one recovers.
        for task in self._under_way:
            task.cancel()
        abandon(broker)
        self._past[-1].is_over = True
        if power:
            self._lives += 1
            target = self._root / str(self._lives)
            self._disk.lose_power(target, self.choice)
            shutil.rmtree(self._directory)
            self._directory, self._disk = target, PowerLossStorage(target)
        death, self._death = self._death, asyncio.get_running_loop().create_future()
        death.set_result(None)

    async def end(self) -> None:
        """The last death. Nothing of any life came back to the disk after its own."""
        self.die(power=False)
        for _ in range(20):
            await asyncio.sleep(0)
        assert [life.late for life in self._past if life.late] == []

    async def ask(self, api: Any, request: Any, version: int | None = None) -> Any:
        """Raises Died; whether the request took effect is then unknown."""
        await self.pause()
        broker, death = self._broker, self._death
        if broker is None:
            raise Died
        spoken = api.version_max if version is None else version
        call = Call(spoken, "client", "host", self._session, Endpoint("127.0.0.1", 1))
        outcome = ROUTES[api.key].handle(broker._services, call, request)
        if isinstance(outcome, AfterSync):
            outcome = after_sync(broker._services, outcome)
        if isinstance(outcome, Awaitable):
            task = asyncio.ensure_future(outcome)
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
            await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
            if death.done():
                raise Died
            outcome = task.result()
        raw = b"".join(bytes(part) for part in api.codec.encode_response(spoken, outcome))
        return api.codec.decode_response(spoken, Reader(raw))

    async def pause(self) -> None:
        """Let others go first, or not."""
        for _ in range(self.choice.choice((0, 0, 1, 1, 2, 5))):
            await asyncio.sleep(0)

    async def patiently(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """A step that may be repeated, until the broker answers it."""
        for _ in range(TURNS_MAX):
            try:
                return await step()
            except Died:
                await asyncio.sleep(0)
        raise AssertionError("the broker never came back")


def abandon(broker: Broker) -> None:
    """What the operating system does when a process is killed."""
    for ticker in broker._tickers:
        ticker.close()
    if broker._housekeeping is not None:
        broker._housekeeping.cancel()
    for task in broker._group_service._background:
        task.cancel()
    if broker._committer._running is not None:
        broker._committer._running.cancel()
    broker._store._lock.release()


def batch(value: str) -> bytes:
    return next(encode_batches(None, [value.encode()], [NOW_MS]))


async def plain(world: World, history: History, name: str, count: int) -> None:
    """An idempotent producer: what it did not hear of it sends again, with the same number."""
    given = await world.patiently(
        lambda: world.ask(protocol.INIT_PRODUCER_ID, transactions.InitProducerIdRequest(None, 60_000), 4)
    )
    sequences = [0] * PARTITIONS
    for number in range(count):
        partition, value = world.choice.randrange(PARTITIONS), f"{name}-{number}"
        content = bytes(with_producer(batch(value), given.producer_id, given.producer_epoch, sequences[partition]))
        entry = produce.ProducePartition(TOPIC, partition, content)
        request = produce.ProduceRequest(None, -1, 1000, (entry,))
        answer = await world.patiently(partial(world.ask, protocol.PRODUCE, request, 11))
        (written,) = answer.partitions
        assert written.error_code is ErrorCode.NONE, written
        history.sends.append(Send(name, partition, value, Outcome.OK, written.base_offset))
        sequences[partition] += 1


class Transactional:
    """Begins, writes and ends transactions.

    After a death it begins anew, which ends what it left open; or, as clients do, it sends again what was not answered
    and gives up only when the broker refuses that.
    """

    def __init__(self, world: World, history: History, name: str) -> None:
        self.world, self.history, self.name = world, history, name
        self.newer = world.choice.random() < 0.5
        self.stubborn = world.choice.random() < 0.5
        self.producer_id = self.epoch = -1
        self.sequences = [0] * PARTITIONS

    async def run(self, count: int) -> None:
        await self.world.patiently(self.begin_anew)
        for number in range(count):
            try:
                await self.transaction(f"{self.name}:{number}")
            except (Died, Fenced):
                await self.world.patiently(self.begin_anew)

    async def ask(self, api: Any, request: Any, version: int) -> Any:
        if self.stubborn:
            return await self.world.patiently(lambda: self.world.ask(api, request, version))
        return await self.world.ask(api, request, version)

    async def begin_anew(self) -> None:
        request = transactions.InitProducerIdRequest(self.name, 60_000)
        given = await self.until_settled(lambda: self.world.ask(protocol.INIT_PRODUCER_ID, request, 4))
        assert given.error_code is ErrorCode.NONE, given
        self.producer_id, self.epoch = given.producer_id, given.producer_epoch
        self.sequences = [0] * PARTITIONS

    async def until_settled(self, step: Callable[[], Awaitable[Any]]) -> Any:
        for _ in range(TURNS_MAX):
            answer = await step()
            code = answer.error_code
            if code not in RETRIED:
                return answer
        raise AssertionError("the transaction never settled")

    async def transaction(self, name: str) -> None:
        self.history.ends[name] = Outcome.FAILED  # unless it gets as far as its end
        for number in range(self.world.choice.randint(1, 3)):
            await self.send(name, f"{name}.{number}", self.world.choice.randrange(PARTITIONS))
        commit = self.world.choice.random() < 0.7
        request = transactions.EndTxnRequest(self.name, self.producer_id, self.epoch, commit)
        version = 5 if self.newer else 4
        if commit:
            self.history.ends[name] = Outcome.UNKNOWN
        ended = await self.until_settled(lambda: self.ask(protocol.END_TXN, request, version))
        assert ended.error_code is ErrorCode.NONE, ended
        self.history.ends[name] = Outcome.OK if commit else Outcome.FAILED
        if self.newer:
            self.producer_id, self.epoch = ended.producer_id, ended.producer_epoch
            self.sequences = [0] * PARTITIONS

    async def send(self, transaction: str, value: str, partition: int) -> None:
        if not self.newer:
            await self.add(partition)
        content = with_producer(
            batch(value), self.producer_id, self.epoch, self.sequences[partition], transactional=True
        )
        entry = produce.ProducePartition(TOPIC, partition, bytes(content))
        request = produce.ProduceRequest(self.name, -1, 1000, (entry,))
        try:
            answer = await self.ask(protocol.PRODUCE, request, 12 if self.newer else 11)
            (written,) = answer.partitions
            if written.error_code is ErrorCode.INVALID_PRODUCER_EPOCH:
                raise Fenced
        except (Died, Fenced):
            self.history.sends.append(Send(self.name, partition, value, Outcome.UNKNOWN, None, transaction))
            raise
        assert written.error_code is ErrorCode.NONE, written
        self.sequences[partition] += 1
        self.history.sends.append(Send(self.name, partition, value, Outcome.OK, written.base_offset, transaction))

    async def add(self, partition: int) -> None:
        topic = transactions.TransactionTopic(TOPIC, (partition,))
        request = transactions.AddPartitionsToTxnRequest(self.name, self.producer_id, self.epoch, (topic,))
        for _ in range(TURNS_MAX):
            answer = await self.ask(protocol.ADD_PARTITIONS_TO_TXN, request, 3)
            code = answer.topics[0].results_by_partition[0].partition_error_code
            if code not in RETRIED:
                assert code is ErrorCode.NONE, code
                return


class Consumer:
    """Reads committed records, commits now and then, and begins again where it committed."""

    def __init__(self, world: World, history: History, name: str, assignments: Iterator[int]) -> None:
        self.world, self.history, self.name, self.assignments = world, history, name, assignments
        self.assignment = next(assignments)
        self.positions: dict[int, int] = {}

    async def run(self, done: asyncio.Event) -> None:
        idle_rounds = 0
        while not (done.is_set() and idle_rounds > 1):
            progressed = False
            for partition in range(PARTITIONS):
                progressed |= bool(await self.world.patiently(partial(self.poll, partition)))
            idle_rounds = 0 if progressed or not done.is_set() else idle_rounds + 1
            if self.world.choice.random() < 0.2:
                await self.world.patiently(self.commit)
            if self.world.choice.random() < 0.1:
                self.assignment, self.positions = next(self.assignments), {}

    async def poll(self, partition: int) -> bool:
        if partition not in self.positions:
            self.positions[partition] = await self.committed(partition)
        wanted = fetch.FetchPartition(TOPIC, partition, self.positions[partition], self.world.choice.choice((1, 200)))
        request = fetch.FetchRequest(0, 0, 1 << 20, 1, (wanted,))
        (found,) = (await self.world.ask(protocol.FETCH, request, 12)).partitions
        assert found.error_code is ErrorCode.NONE, found
        records, end = read(found, self.positions[partition])
        if records:
            self.history.polls.append(Poll(self.name, self.assignment, partition, records))
        progressed, self.positions[partition] = end > self.positions[partition], end
        return progressed

    async def committed(self, partition: int) -> int:
        group = offsets.OffsetFetchGroup(self.name, (offsets.OffsetFetchTopic(TOPIC, (partition,)),))
        answer = await self.world.ask(protocol.OFFSET_FETCH, offsets.OffsetFetchRequest(groups=(group,)), 9)
        return int(max(0, answer.groups[0].topics[0].partitions[0].committed_offset))

    async def commit(self) -> None:
        entries = tuple(offsets.CommitPartition(p, at, "") for p, at in self.positions.items())
        request = offsets.OffsetCommitRequest(self.name, (offsets.CommitTopic(TOPIC, entries),))
        await self.world.ask(protocol.OFFSET_COMMIT, request, 9)


def read(found: fetch.FetchedPartition, position: int) -> tuple[tuple[tuple[int, str], ...], int]:
    """Committed records from a position on, and where the next fetch begins."""
    end = max([position, *(header.next_offset for header in parse_batches(found.records))])
    rows = [
        (int(offset), str(value, "utf-8"))
        for records in decode_fetched(found.records, found.aborted or ())
        for offset, value in zip(records.offsets, records.values.to_pylist(), strict=True)
        if int(offset) >= position and value is not None
    ]
    return tuple(rows), end


async def everything(world: World, history: History) -> None:
    for partition in range(PARTITIONS):
        rows: list[tuple[int, str]] = []
        position, before = 0, -1
        while position != before:
            before = position
            wanted = fetch.FetchPartition(TOPIC, partition, position, 1 << 20)
            request = fetch.FetchRequest(0, 0, 1 << 20, 1, (wanted,))
            (found,) = (await world.ask(protocol.FETCH, request, 12)).partitions
            more, position = read(found, position)
            rows += more
        history.final[partition] = tuple(rows)


async def live(root: Path, seed: int) -> History:
    choice = Random(seed)
    world, history = World(root, choice), History()
    await world.start()
    writers = [
        *(plain(world, history, f"p{n}", choice.randint(1, 8)) for n in range(choice.randint(1, 2))),
        *(Transactional(world, history, f"x{n}").run(choice.randint(1, 4)) for n in range(choice.randint(1, 2))),
    ]
    done = asyncio.Event()
    assignments = iter(range(1_000_000))
    readers = [Consumer(world, history, f"c{n}", assignments).run(done) for n in range(choice.randint(1, 2))]
    writing = asyncio.gather(*(asyncio.ensure_future(writer) for writer in writers))
    reading = asyncio.gather(*(asyncio.ensure_future(reader) for reader in readers))
    for _ in range(choice.randint(0, 3)):
        for _ in range(choice.randint(1, 120)):
            await asyncio.sleep(0)
        world.die(power=choice.random() < 0.6)
        await world.start()
    await writing
    done.set()
    await reading
    await everything(world, history)
    await world.end()
    return history


def scratch(tmp_path: Path) -> Path:
    """In memory where there is such a place: the disk's own syncs are not what is tested."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        return memory / f"headrace-simulation-{os.getpid()}"
    return tmp_path


def live_through(tmp_path: Path, seeds: Iterator[int] | range) -> None:
    root = scratch(tmp_path)
    try:
        for seed in seeds:
            history = asyncio.run(live(root / str(seed), seed))
            assert summary(anomalies(history)) == {}, f"HEADRACE_SEED={seed} plays it again"
            assert history.sends
            shutil.rmtree(root / str(seed))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def test_short_lives(tmp_path: Path) -> None:
    given = os.environ.get("HEADRACE_SEED")
    live_through(tmp_path, range(60) if given is None else range(int(given), int(given) + 1))


def test_the_same_seed_is_the_same_life(tmp_path: Path) -> None:
    first, again = (asyncio.run(live(scratch(tmp_path) / name, 5)) for name in ("a", "b"))
    shutil.rmtree(scratch(tmp_path), ignore_errors=True)
    assert first == again


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(10_000, 10_000 + often(800, 100_000), 400))
def test_thousands_of_lives(tmp_path: Path, first_seed: int) -> None:
    live_through(tmp_path, range(first_seed, first_seed + 400))

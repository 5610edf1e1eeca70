"""The broker: one log store, one port, one event loop."""

from __future__ import annotations

import asyncio
import base64
import resource
import time
from collections.abc import Callable
from typing import Final
from uuid import uuid4

from headrace.log import LogStore, Partition, Storage, now_ms
from headrace.log.files import open_files_max
from headrace.signals import SIGNALS_TOPIC
from headrace.wire.codes import Refusal
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.connection import Connection
from headrace.wire.coordinators.consumer_groups import ConsumerGroups
from headrace.wire.coordinators.group import GroupLimits
from headrace.wire.coordinators.groups import Groups, GroupsLimits
from headrace.wire.door import RESERVED, Door, DoorLimits
from headrace.wire.event_log import EventLog
from headrace.wire.gate import IngestGate
from headrace.wire.group_room import GroupRoom
from headrace.wire.group_service import GroupService
from headrace.wire.group_settings import GroupSettings
from headrace.wire.housekeeping import Housekeeping
from headrace.wire.listener import Listener
from headrace.wire.listening import Listening
from headrace.wire.offset_service import OFFSETS_TOPIC, OffsetService
from headrace.wire.recalls import Recalls
from headrace.wire.request_memory import RequestMemory
from headrace.wire.security.registry import SecurityRegistry
from headrace.wire.security.throttle import Throttle
from headrace.wire.sequencer import Sequencer
from headrace.wire.services import Endpoint, Services
from headrace.wire.state_topic import StateTopic
from headrace.wire.ticker import ListeningClock, Ticker
from headrace.wire.topic_turns import TopicTurns
from headrace.wire.transaction_service import TRANSACTIONS_TOPIC, TransactionService
from headrace.wire.waiters import FetchWaiters

_log = EventLog()

# How long a stop waits for requests that wait for the disk.
STOP_S_MAX: Final = 10.0
# Descriptors for everything but files of the log and connections: the listener, the loop, sealed segments being sent.
SPARE_DESCRIPTORS: Final = 64
CONNECTIONS_MIN: Final = 16
UNLIMITED: Final = 1 << 30


class Broker:
    """Serves from `start` until `stop`. Everything runs on the loop that called `start`, except the disk's syncs."""

    def __init__(
        self, config: BrokerConfig, *, storage: Storage | None = None, clock: Callable[[], int] = now_ms
    ) -> None:
        """`storage` and `clock` are for tests: a disk that fails, a time that jumps."""
        self.config = config
        self._storage = storage
        self._clock = clock
        self._connections: set[Connection] = set()
        self._door = Door(_door_limits(config))
        self._memory = RequestMemory(config.in_flight_bytes_total_max)
        self._listening: Listening | None = None
        self._housekeeping: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on; known once started."""
        return self._endpoints[0].port

    @property
    def local_port(self) -> int | None:
        """That of the listener for processes of this machine, where it was asked for."""
        return self._endpoints[1].port if len(self._endpoints) > 1 else None

    @property
    def _endpoints(self) -> list[Endpoint]:
        return [] if self._listening is None else self._listening.endpoints

    async def start(self) -> None:
        """Ready to serve when it returns. Raises Conflict (port or directory in use, newer format), CorruptData."""
        self._store = LogStore.open(self.config.data_dir, storage=self._storage, clock=self._clock)
        try:
            await self._serve()
        except BaseException:
            self._store.close()
            raise

    async def _serve(self) -> None:
        self._report_damage()
        waiters = FetchWaiters()
        self._recalls = Recalls()
        self._committer = self._make_committer(waiters)
        offsets_topic = self._state_topic(OFFSETS_TOPIC)
        transactions_topic = self._state_topic(TRANSACTIONS_TOPIC)
        self._offsets = OffsetService(offsets_topic, self._committer)
        self._transactions = TransactionService(
            self._store,
            transactions_topic,
            offsets=self._offsets,
            committer=self._committer,
            config=self.config,
            clock=self._clock,
        )
        await self._transactions.recover()
        sequencer = Sequencer(
            self._store, self._state_topic(SIGNALS_TOPIC), self._committer, self._clock, _monotonic_ms
        )
        await sequencer.recover()
        self._groups = self._make_groups()
        self._group_settings = GroupSettings(self.config)
        self._consumer_groups = self._make_consumer_groups()
        self._group_service = GroupService(
            offsets_topic,
            self._committer,
            groups=self._groups,
            consumer_groups=self._consumer_groups,
            offsets=self._offsets,
            store=self._store,
            clock=self._clock,
        )
        self._listening_ms = ListeningClock(_monotonic_ms)
        self._group_service.restore(self._listening_ms())
        self._tickers = (
            Ticker(
                self._tick_groups,
                lambda: self._groups.idle and self._consumer_groups.idle,
                self._listening_ms.resume,
            ),
            Ticker(self._tick_transactions, lambda: not self._transactions.transactions.any_ongoing),
        )
        security = SecurityRegistry(self.config.data_dir)
        self._services = Services(
            config=self.config,
            store=self._store,
            committer=self._committer,
            waiters=waiters,
            gate=IngestGate(self._store, self._offsets),
            topic_turns=TopicTurns(),
            recalls=self._recalls,
            groups=self._groups,
            consumer_groups=self._consumer_groups,
            group_service=self._group_service,
            group_room=self._make_group_room(),
            group_settings=self._group_settings,
            offsets=self._offsets,
            transactions=self._transactions,
            sequencer=sequencer,
            security=security,
            throttle=Throttle(lambda: security.state.quotas, _monotonic_ms),
            clock=self._clock,
            monotonic_ms=_monotonic_ms,
            listening_ms=self._listening_ms,
            # Made with the data directory and kept as long: the id of a topic that is always there.
            cluster_id=base64.urlsafe_b64encode(transactions_topic.topic_id.bytes).decode().rstrip("="),
            wake_ticker=self._wake_tickers,
        )
        await self._listen(security)
        self._wake_tickers()
        self._housekeeping = asyncio.get_running_loop().create_task(Housekeeping(self._services).run())

    async def _listen(self, security: SecurityRegistry) -> None:
        self._listening = Listening(self.config, security, self._door, self._connect)
        await self._listening.open()

    async def stop(self) -> None:
        """Requests under way end unanswered; everything appended is synced and the directory given up."""
        if self._listening is not None:
            self._listening.close()
        for ticker in self._tickers:
            ticker.close()
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        unfinished = [task for connection in self._connections for task in connection.unfinished]
        for connection in tuple(self._connections):
            connection.close()
        if unfinished:
            # They wait for the disk only. Nothing may write once the directory is given up.
            await asyncio.wait(unfinished, timeout=STOP_S_MAX)
        self._recalls.close()
        await self._committer.close()
        self._store.close()

    # -- parts --------------------------------------------------------------------------------------------------

    def _state_topic(self, name: str) -> StateTopic:
        return StateTopic(self._store, name, self.config.state_log_bytes_max, self._clock)

    def _make_committer(self, waiters: FetchWaiters) -> Committer:
        return Committer(self._store, self.config.durability, waiters.wake)

    def _make_groups(self) -> Groups:
        config = self.config
        limits = GroupsLimits(
            config.session_timeout_ms_min,
            config.session_timeout_ms_max,
            GroupLimits(config.group_members_max, config.rebalance_delay_ms),
        )
        return Groups(limits, lambda: str(uuid4()), self._last_generation)

    def _last_generation(self, group_id: str) -> int:
        """Of a group that is about to be made. The service is made later than the groups."""
        return self._group_service.last_generation(group_id)

    def _make_consumer_groups(self) -> ConsumerGroups:
        return ConsumerGroups(self._group_settings.limits, self._partition_counts, lambda: str(uuid4()))

    def _make_group_room(self) -> GroupRoom:
        return GroupRoom(
            self.config.groups_max,
            self.config.offset_expiry_ms,
            self._clock,
            groups=self._groups,
            consumer_groups=self._consumer_groups,
            offsets=self._offsets,
            group_service=self._group_service,
        )

    def _partition_counts(self) -> dict[str, int]:
        return {name: len(topic.partitions) for name, topic in self._store.topics.items()}

    def _report_damage(self) -> None:
        for topic in self._store.topics.values():
            for partition in topic.partitions:
                self._report_damaged(partition)

    def _report_damaged(self, partition: Partition) -> None:
        if partition.failure is not None:
            _log.error("partition is read-only", partition=partition.name, reason=str(partition.failure))

    # -- connections --------------------------------------------------------------------------------------------

    def _connect(self, listener: Listener) -> Connection:
        services, memory = self._services, self._memory
        return Connection(
            services, listener, memory, self._door, came=self._connections.add, gone=self._connections.discard
        )

    # -- time ---------------------------------------------------------------------------------------------------

    async def _tick_groups(self) -> None:
        now_ms = self._listening_ms.tick()
        self._group_service.save_soon([*self._groups.tick(now_ms), *self._consumer_groups.tick(now_ms)])

    async def _tick_transactions(self) -> None:
        """Apart from groups: it waits for the disk, and their sessions end in time all the same."""
        try:
            await self._transactions.abort_expired()
        except Refusal as refusal:
            _log.error("transaction cannot be aborted yet", reason=str(refusal))

    def _wake_tickers(self) -> None:
        for ticker in self._tickers:
            ticker.wake()


def connections_possible() -> int:
    """As many connections as the process has descriptors for, beside files of the log, the reserve and the rest."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = soft - open_files_max() - RESERVED - SPARE_DESCRIPTORS
    return UNLIMITED if soft == resource.RLIM_INFINITY else max(CONNECTIONS_MIN, left)


def _door_limits(config: BrokerConfig) -> DoorLimits:
    possible = connections_possible()
    if possible < config.connections_max:
        _log.warning(
            "fewer connections than connections_max: the process has too few descriptors",
            connections_max=config.connections_max,
            connections=possible,
            hint="raise the hard limit of open files (ulimit -Hn)",
        )
    return DoorLimits(
        min(config.connections_max, possible),
        config.connections_per_address_max,
        config.connections_idle_ms_max,
        config.first_request_ms_max,
        config.partial_request_ms_max,
    )


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000

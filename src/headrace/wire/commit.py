"""Group commit: one sync makes everything durable that was appended before it, and answers all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Literal, NamedTuple

from headrace.log import LogRefusal, LogStore, Partition, SyncTicket
from headrace.wire.event_log import EventLog

Advanced = Callable[[Partition], None]

_log = EventLog()


class Committer:
    """Runs rounds for as long as somebody waits for one; idle otherwise.

    While a round syncs in its thread, the loop goes on appending, and the next round covers all of that at once. So the
    number of syncs does not grow with the number of requests.
    """

    def __init__(
        self,
        store: LogStore,
        durability: Literal["fsync", "os"],
        advanced: Advanced,
        thread: SyncThread | None = None,
    ) -> None:
        """`advanced` is called on the loop for each partition whose high watermark may have moved.

        `thread` is for tests: syncs in an order of their own.
        """
        self._store = store
        self._durability = durability
        self._advanced = advanced
        self._thread = SyncThread() if thread is None else thread
        self._waiters: list[Callable[[], None]] = []
        # Those whose round is over, and who are not told yet.
        self._settled: list[Callable[[], None]] = []
        self._running: asyncio.Task[None] | None = None

    def durable(self) -> asyncio.Future[None]:
        """Resolved once a round that began after this call is over.

        A failed sync resolves it too: the caller looks at the partition's high watermark before it acknowledges.
        """
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.when_durable(partial(_resolve, waiter))
        return waiter

    def when_durable(self, settled: Callable[[], None]) -> None:
        """As `durable`, by a call: without a future and a turn of the loop for each of many requests."""
        self._waiters.append(settled)
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._rounds())

    async def close(self) -> None:
        """No request is served any more: end the round under way."""
        if self._running is not None:
            await self._running
        self._thread.close()

    async def _rounds(self) -> None:
        try:
            while self._waiters:
                waiters, self._waiters = self._waiters, []
                try:
                    await self._round()
                except Exception:
                    # Those who wait see that the high watermark has not moved, and say so.
                    _log.exception("sync round failed")
                self._tell()
                self._settled = waiters
                if not self._waiters:
                    self._tell()
        finally:
            self._running = None

    def _tell(self) -> None:
        """With a round to follow it is done while the disk works on that, and before it is over."""
        told, self._settled = self._settled, []
        for settled in told:
            try:
                settled()
            except Exception:
                # One who fails does not keep the others waiting.
                _log.exception("a request cannot be answered")

    async def _round(self) -> None:
        """All that are dirty now, some at a time: each holds its file open until it is settled."""
        for _ in range(0, len(self._store.dirty()), self._store.syncs_max):
            # In the order in which they became dirty, so those of now come before newer ones.
            await self._settle_all(self._store.dirty()[: self._store.syncs_max])

    async def _settle_all(self, partitions: Sequence[Partition]) -> None:
        tickets = [(partition, partition.begin_sync()) for partition in partitions]
        failures: dict[int, OSError] = {}
        if tickets and self._durability == "fsync":
            syncing = self._thread.sync([ticket for _, ticket in tickets])
            self._tell()
            failures = await syncing
        for number, (partition, ticket) in enumerate(tickets):
            self._settle(partition, ticket, failures.get(number))

    def _settle(self, partition: Partition, ticket: SyncTicket, failure: OSError | None) -> None:
        try:
            if failure is not None:
                raise partition.fail_sync(ticket, failure)
            partition.finish_sync(ticket)
        except LogRefusal as refusal:
            _log.error("sync failed", topic=partition.topic, partition=partition.index, reason=str(refusal))
        self._advanced(partition)


class _Order(NamedTuple):
    tickets: Sequence[SyncTicket]
    loop: asyncio.AbstractEventLoop
    settled: asyncio.Future[dict[int, OSError]]


class SyncThread:
    """Runs tickets one after the other. A pool would hand each over with a dozen locks, which every ack waits for."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="headrace-sync", daemon=True)

    def sync(self, tickets: Sequence[SyncTicket]) -> Awaitable[dict[int, OSError]]:
        """Begins at once; failures by the ticket's number. Started when it is first needed."""
        if not self._thread.is_alive():
            self._thread.start()
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[dict[int, OSError]] = loop.create_future()
        self._orders.put(_Order(tickets, loop, settled))
        return settled

    def close(self) -> None:
        """Nothing is under way."""
        if self._thread.is_alive():
            self._orders.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (order := self._orders.get()) is not None:
            try:
                order.loop.call_soon_threadsafe(_finish, order.settled, run_tickets(order.tickets), None)
            except Exception as error:
                order.loop.call_soon_threadsafe(_finish, order.settled, {}, error)


def _finish(settled: asyncio.Future[dict[int, OSError]], failures: dict[int, OSError], error: Exception | None) -> None:
    if settled.done():
        return
    if error is not None:
        settled.set_exception(error)
    else:
        settled.set_result(failures)


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():  # its connection may be gone
        waiter.set_result(None)


def run_tickets(tickets: Iterable[SyncTicket]) -> dict[int, OSError]:
    """Runs in the thread. Failures by the ticket's number; one partition's failure is not another's."""
    failures = {}
    for number, ticket in enumerate(tickets):
        try:
            ticket.run()
        except OSError as error:
            failures[number] = error
    return failures

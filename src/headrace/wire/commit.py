"""Group commit: one sync makes everything durable that was appended before it, and answers all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from headrace.log import LogRefusal, LogStore, Partition, SyncTicket
from headrace.wire.event_log import EventLog

Advanced = Callable[[Partition], None]

_log = EventLog()


class Committer:
    """Runs rounds for as long as somebody waits for one; idle otherwise.

    While a round syncs in its thread, the loop goes on appending, and the next round covers all of that at once. So the
    number of syncs does not grow with the number of requests.
    """

    def __init__(self, store: LogStore, durability: Literal["fsync", "os"], advanced: Advanced) -> None:
        """`advanced` is called on the loop for each partition whose high watermark may have moved."""
        self._store = store
        self._durability = durability
        self._advanced = advanced
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="headrace-sync")
        self._waiters: list[asyncio.Future[None]] = []
        self._running: asyncio.Task[None] | None = None

    def durable(self) -> asyncio.Future[None]:
        """Resolved once a round that began after this call is over.

        A failed sync resolves it too: the caller looks at the partition's high watermark before it acknowledges.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        if self._running is None:
            self._running = loop.create_task(self._rounds())
        return waiter

    async def close(self) -> None:
        """No request is served any more: end the round under way."""
        if self._running is not None:
            await self._running
        self._thread.shutdown()

    async def _rounds(self) -> None:
        try:
            while self._waiters:
                waiters, self._waiters = self._waiters, []
                try:
                    await self._round()
                except Exception:
                    # Those who wait see that the high watermark has not moved, and say so.
                    _log.exception("sync round failed")
                for waiter in waiters:
                    if not waiter.done():  # its connection may be gone
                        waiter.set_result(None)
        finally:
            self._running = None

    async def _round(self) -> None:
        """All that are dirty now, some at a time: each holds its file open until it is settled."""
        for _ in range(0, len(self._store.dirty()), self._store.syncs_max):
            # In the order in which they became dirty, so those of now come before newer ones.
            await self._settle_all(self._store.dirty()[: self._store.syncs_max])

    async def _settle_all(self, partitions: Sequence[Partition]) -> None:
        tickets = [(partition, partition.begin_sync()) for partition in partitions]
        failures: dict[int, OSError] = {}
        if tickets and self._durability == "fsync":
            loop = asyncio.get_running_loop()
            failures = await loop.run_in_executor(self._thread, _sync, [ticket for _, ticket in tickets])
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


def _sync(tickets: Iterable[SyncTicket]) -> dict[int, OSError]:
    """Runs in the thread. Failures by the ticket's number; one partition's failure is not another's."""
    failures = {}
    for number, ticket in enumerate(tickets):
        try:
            ticket.run()
        except OSError as error:
            failures[number] = error
    return failures

"""Fetch requests that wait for records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from headrace.log import Partition


class FetchWaiters:
    """Whom to wake when a partition gets readable records."""

    def __init__(self) -> None:
        self._by_partition: dict[Partition, set[asyncio.Future[None]]] = {}

    def wake(self, partition: Partition) -> None:
        """Called when the high watermark or the last stable offset moved, or the partition is gone."""
        for waiter in self._by_partition.get(partition, ()):
            if not waiter.done():
                waiter.set_result(None)

    def wake_all(self) -> None:
        for partition in self._by_partition:
            self.wake(partition)

    async def wait(self, partitions: Iterable[Partition], timeout_s: float) -> None:
        """Returns when one of the partitions was woken, or the time is over."""
        watched = tuple(partitions)
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        for partition in watched:
            self._by_partition.setdefault(partition, set()).add(waiter)
        timer = loop.call_later(timeout_s, _finish, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            for partition in watched:
                self._forget(partition, waiter)

    def _forget(self, partition: Partition, waiter: asyncio.Future[None]) -> None:
        waiting = self._by_partition.get(partition)
        if waiting is not None:
            waiting.discard(waiter)
            if not waiting:
                del self._by_partition[partition]


def _finish(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)

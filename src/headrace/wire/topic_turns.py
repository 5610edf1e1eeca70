"""Growing and deleting one topic: one request at a time, in the order in which they came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from headrace.wire.codes import ErrorCode, Refusal

# A request waits no longer for the growth before it, whatever its own timeout says.
WAIT_MS_MAX: Final = 60_000


class TopicTurns:
    """Thousands of new partitions take seconds, in which other requests are served. Those for the same topic wait."""

    def __init__(self) -> None:
        # A lock lives as long as a request holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, name: str, timeout_ms: int) -> AsyncIterator[None]:
        """Inside, no other request grows or deletes the topic. Raises a Refusal when the wait takes too long."""
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        wait_ms = min(timeout_ms, WAIT_MS_MAX) if timeout_ms > 0 else WAIT_MS_MAX
        try:
            async with asyncio.timeout(wait_ms / 1000):
                await lock.acquire()
        except TimeoutError:
            raise Refusal(ErrorCode.REQUEST_TIMED_OUT, f"topic {name!r} is still getting more partitions") from None
        try:
            yield
        finally:
            lock.release()

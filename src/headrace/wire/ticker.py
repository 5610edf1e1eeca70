"""Calls the coordinators while something of theirs depends on the time, and sleeps while nothing does.

What a broker did not hear while it stood still, nobody is blamed for: the time of a stall does not count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from headrace.wire.event_log import EventLog

PERIOD_S: Final = 0.05
# The loop is said to have stood still when it comes to a tick this much too late.
STALL_MS: Final = 500

_log = EventLog()


class ListeningClock:
    """Milliseconds for which the broker could hear its clients; they never jump.

    After a stall (a stopped process, a disk or a machine that hangs) every session has as much left as before.
    """

    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self._monotonic_ms = monotonic_ms
        self._ticked_at_ms = monotonic_ms()
        self._stalled_ms = 0

    def __call__(self) -> int:
        return self._monotonic_ms() - self._stalled_ms

    def tick(self) -> int:
        """Called at every tick, every `PERIOD_S`. The time that counts; what was slept too long does not."""
        now_ms = self._monotonic_ms()
        late_ms = now_ms - self._ticked_at_ms - round(PERIOD_S * 1000)
        if late_ms >= STALL_MS:
            self._stalled_ms += late_ms
        self._ticked_at_ms = now_ms
        return self()

    def resume(self) -> None:
        """Called when ticks begin again: nobody was waiting for them."""
        self._ticked_at_ms = self._monotonic_ms()


class Ticker:
    def __init__(
        self,
        tick: Callable[[], Awaitable[None]],
        idle: Callable[[], bool],
        resumed: Callable[[], None] = lambda: None,
    ) -> None:
        """`tick` is called every 50 ms until `idle` says that there is nothing to watch, `resumed` when it begins."""
        self._tick = tick
        self._idle = idle
        self._resumed = resumed
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Called when something began that depends on the time."""
        if self._task is None:
            self._resumed()
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while not self._idle():
                await asyncio.sleep(PERIOD_S)
                await self._guarded()
        finally:
            self._task = None

    async def _guarded(self) -> None:
        try:
            await self._tick()
        except Exception:
            # One group's or transaction's trouble must not stop the clock of all others.
            _log.exception("tick failed")

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

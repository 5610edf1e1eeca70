"""Calls the coordinators while something of theirs depends on the time, and sleeps while nothing does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from headrace.wire.event_log import EventLog

PERIOD_S: Final = 0.05

_log = EventLog()


class Ticker:
    def __init__(self, tick: Callable[[], Awaitable[None]], idle: Callable[[], bool]) -> None:
        """`tick` is called every 50 ms until `idle` says that there is nothing to watch."""
        self._tick = tick
        self._idle = idle
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Called when something began that depends on the time."""
        if self._task is None:
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

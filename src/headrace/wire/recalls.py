"""Archived segments on their way back, each once, however many wait for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from headrace.errors import HeadraceError
from headrace.log import Partition
from headrace.wire.event_log import EventLog

# Segments that are brought back, or sent away, at the same time.
TRANSFERS_MAX: Final = 2

_log = EventLog()


class Recalls:
    """Downloads in threads of their own; the loop takes them into use."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(TRANSFERS_MAX, thread_name_prefix="headrace-archive")
        self._under_way: dict[tuple[Partition, int], asyncio.Task[bool]] = {}

    async def bring_back(self, partition: Partition, base_offset: int) -> bool:
        """Whether the segment can be read now. A failure is logged."""
        key = (partition, base_offset)
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.get_running_loop().create_task(self._recall(*key))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _recall(self, partition: Partition, base_offset: int) -> bool:
        recall = partition.begin_recall(base_offset)
        if recall is None:
            return False
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, recall.run)
            partition.finish_recall(recall)
        except (OSError, HeadraceError) as error:
            _log.error("archived segment cannot be read", partition=partition.name, reason=str(error))
            return False
        return True

    def close(self) -> None:
        """No request is served any more."""
        self._threads.shutdown(cancel_futures=True)

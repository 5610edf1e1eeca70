"""The gate in front of topics with a limited backlog: producers wait there, or are turned away, before the append."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from weakref import WeakKeyDictionary

from headrace.log import LogStore, Partition
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.offset_service import OffsetService

POLL_S: Final = 0.02
WAIT_MS_MAX: Final = 30_000


class IngestGate:
    """Requests for one partition pass in the order in which they came."""

    def __init__(self, store: LogStore, offsets: OffsetService) -> None:
        self._store = store
        self._locks: WeakKeyDictionary[Partition, asyncio.Lock] = WeakKeyDictionary()
        store.pressure.readers = offsets.committed.of_partition

    def gated(self, partitions: Iterable[tuple[str, int]]) -> list[Partition]:
        """Those of the named partitions that have a policy: none, almost always."""
        found = []
        topics = self._store.topics
        for name, index in partitions:
            topic = topics.get(name)
            if topic is None or topic.config.headrace_backlog_policy == "unbounded":
                continue
            if 0 <= index < len(topic.partitions):
                found.append(topic.partitions[index])
        return found

    @asynccontextmanager
    async def passage(self, partitions: list[Partition], timeout_ms: int) -> AsyncIterator[Mapping[Partition, Refusal]]:
        """Inside, nobody else appends to these partitions. Yields those that stay closed, with what to answer."""
        ends_at_s = asyncio.get_running_loop().time() + min(timeout_ms, WAIT_MS_MAX) / 1000
        async with AsyncExitStack() as stack:
            # In one order for all, so that two requests never wait for each other.
            for partition in sorted(set(partitions), key=lambda p: (p.topic, p.index)):
                await stack.enter_async_context(self._locks.setdefault(partition, asyncio.Lock()))
            refusals = {partition: await self._pass(partition, ends_at_s) for partition in partitions}
            yield {partition: refusal for partition, refusal in refusals.items() if refusal is not None}

    async def _pass(self, partition: Partition, ends_at_s: float) -> Refusal | None:
        """None once there is room."""
        counts = self._store.pressure.counts(partition.topic)
        if not self._is_full(partition):
            return None
        if self._store.topics[partition.topic].config.headrace_backlog_policy == "drop_newest":
            counts.dropped_requests += 1
            return Refusal(
                ErrorCode.POLICY_VIOLATION, f"{partition.name}: the backlog is full, the records are dropped"
            )
        counts.blocked_requests += 1
        while self._is_full(partition):
            if asyncio.get_running_loop().time() >= ends_at_s:
                counts.timed_out_requests += 1
                return Refusal(ErrorCode.REQUEST_TIMED_OUT, f"{partition.name}: the backlog stayed full")
            await asyncio.sleep(POLL_S)
        return None

    def _is_full(self, partition: Partition) -> bool:
        """A topic that was deleted meanwhile is not: the append says so."""
        topic = self._store.topics.get(partition.topic)
        return topic is not None and self._store.pressure.is_full(partition, topic.config)

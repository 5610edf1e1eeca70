"""Producer ids: never given out twice, also not after a crash."""

from __future__ import annotations

import asyncio
from typing import Final

from headrace.wire.commit import Committer
from headrace.wire.coordinators.transaction_records import PRODUCER_IDS_KEY, pack_next_producer_id
from headrace.wire.state_topic import StateTopic

# Ids reserved by one durable record; a restart skips what is left of them.
BLOCK_SIZE: Final = 1_000


class ProducerIds:
    def __init__(self, topic: StateTopic, committer: Committer, next_producer_id: int) -> None:
        """`next_producer_id` is the lowest that was never reserved."""
        self._topic = topic
        self._committer = committer
        self._next = next_producer_id
        self._reserved_below = next_producer_id
        self._lock = asyncio.Lock()

    async def take(self) -> int:
        """Raises a Refusal when a new block cannot be reserved."""
        async with self._lock:
            if self._next == self._reserved_below:
                reserved_below = self._next + BLOCK_SIZE
                record = (PRODUCER_IDS_KEY, pack_next_producer_id(reserved_below))
                await self._topic.write([record], self._committer)
                self._reserved_below = reserved_below
            producer_id = self._next
            self._next += 1
            return producer_id

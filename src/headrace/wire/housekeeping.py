"""What a broker does now and then, whether or not anybody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from headrace.errors import HeadraceError
from headrace.log import delete_remote, open_objects
from headrace.process.disk import DiskSpace
from headrace.wire.event_log import EventLog
from headrace.wire.services import Services

_log = EventLog()


class Housekeeping:
    """Retention, rewriting of the broker's own topics, forgetting what expired."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._is_disk_low = False
        self._duties: tuple[Callable[[], Awaitable[None]], ...] = (
            self._check_disk,
            self._heal,
            self._apply_retention,
            self._archive,
            self._forget_expired_groups,
            services.transactions.complete_prepared,
            services.sequencer.recover,
            services.offsets.keep_small,
            services.transactions.keep_small,
            services.sequencer.keep_small,
        )

    async def run(self) -> None:
        """Until cancelled."""
        config = self._services.config
        async with asyncio.TaskGroup() as group:
            group.create_task(self._every(config.retention_interval_ms, self._duties))
            group.create_task(self._every(config.compaction_interval_ms, (self._compact,)))

    async def _every(self, interval_ms: int, duties: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """A duty that fails is logged and does not keep the others from being done."""
        while True:
            await asyncio.sleep(interval_ms / 1000)
            for duty in duties:
                try:
                    await duty()
                except Exception:
                    _log.exception("housekeeping failed")

    async def _check_disk(self) -> None:
        """Logged when it begins and when it ends."""
        space = DiskSpace.of(self._services.config.data_dir)
        if space.is_nearly_full and not self._is_disk_low:
            self._is_disk_low = True
            _log.error("disk nearly full", reason=str(space), free_bytes=space.free_bytes)
        elif space.has_enough and self._is_disk_low:
            self._is_disk_low = False
            _log.warning("disk has space again", free_bytes=space.free_bytes)

    async def _heal(self) -> None:
        for partition in self._services.store.heal():
            _log.warning("partition takes writes again", partition=partition.name)
            self._services.waiters.wake(partition)

    async def _apply_retention(self) -> None:
        self._services.store.apply_retention()

    async def _forget_expired_groups(self) -> None:
        self._services.group_room.forget_expired()

    async def _archive(self) -> None:
        """Send sealed segments to object storage, and drop here what local retention no longer wants."""
        place, loop = self._services.config.archive, asyncio.get_running_loop()
        if orphans := self._services.store.take_orphans():
            await loop.run_in_executor(None, delete_remote, orphans)
        topics = [topic for topic in self._services.store.topics.values() if topic.config.remote_storage_enable]
        if place is None or not topics:
            return
        objects = await loop.run_in_executor(None, open_objects, place)
        for partition in [partition for topic in topics for partition in topic.partitions]:
            archiving = partition.begin_archiving(objects)
            if archiving is None:
                partition.drop_local()
                continue
            try:
                await loop.run_in_executor(None, archiving.run)
            except (OSError, HeadraceError) as error:
                _log.error("segments cannot be archived", partition=partition.name, reason=str(error))
            partition.finish_archiving(archiving)

    async def _compact(self) -> None:
        """One partition after the other, read and written in a thread while the loop goes on serving."""
        loop = asyncio.get_running_loop()
        for partition in [p for topic in self._services.store.topics.values() for p in topic.partitions]:
            compaction = partition.begin_compaction()
            if compaction is None:
                continue
            failure: Exception | None = None
            try:
                await loop.run_in_executor(None, compaction.run)
            except asyncio.CancelledError:
                compaction.stop()
                raise
            except (OSError, HeadraceError) as error:
                _log.error("compaction failed", partition=partition.name, reason=str(error))
                failure = error
            for unreadable in compaction.unreadable:
                _log.warning("batch cannot be compacted, it stays", partition=partition.name, reason=unreadable.message)
            partition.finish_compaction(compaction, failure)

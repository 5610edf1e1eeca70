"""The way of a Produce request: no task and no future for each, and one hand-over to the thread that syncs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from pathlib import Path
from threading import get_ident

import pytest

from headrace.log import LogStore, SyncTicket, encode_batches
from headrace.wire.commit import Committer, SyncThread


def test_all_who_wait_are_told_after_one_sync_in_their_order(tmp_path: Path) -> None:
    async def work() -> tuple[list[int], int, int]:
        with LogStore.open(tmp_path) as store:
            partition = store.create_topic("t", 1, {}).partitions[0]
            advanced: list[int] = []
            committer = Committer(store, "fsync", lambda p: advanced.append(p.high_watermark))
            told: list[int] = []
            for number in range(20):
                partition.append(next(encode_batches(None, [b"x"], [0])))
                committer.when_durable(partial(told.append, number))
            await committer.durable()
            await committer.close()
            return told, len(advanced), partition.high_watermark

    told, rounds, high_watermark = asyncio.run(work())
    assert told == list(range(20))
    assert (rounds, high_watermark) == (1, 20)


def test_one_who_fails_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    async def work() -> list[str]:
        with LogStore.open(tmp_path) as store:
            committer = Committer(store, "fsync", lambda _: None)
            told: list[str] = []

            def fail() -> None:
                raise RuntimeError("a defect")

            committer.when_durable(fail)
            committer.when_durable(lambda: told.append("second"))
            await committer.durable()
            await committer.close()
            return told

    assert asyncio.run(work()) == ["second"]


def test_the_next_sync_has_begun_when_those_of_the_last_are_told(tmp_path: Path) -> None:
    """The disk works while answers leave."""
    events: list[str] = []

    class Heard(SyncThread):
        def sync(self, tickets: Sequence[SyncTicket]) -> Awaitable[dict[int, OSError]]:
            events.append("sync")
            return super().sync(tickets)

    async def work() -> None:
        with LogStore.open(tmp_path) as store:
            partition = store.create_topic("t", 1, {}).partitions[0]

            def told(name: str, end_offset: int) -> None:
                assert partition.high_watermark == end_offset
                events.append(name)

            committer = Committer(store, "fsync", lambda _: None, Heard())
            for number, name in enumerate(("first", "second")):
                partition.append(next(encode_batches(None, [b"x"], [0])))
                committer.when_durable(partial(told, name, number + 1))
                await asyncio.sleep(0)
            await committer.durable()
            await committer.close()

    asyncio.run(work())
    assert events == ["sync", "sync", "first", "second"]


class Broken(SyncTicket):
    def run(self) -> None:
        raise RuntimeError("no OSError")


def test_the_sync_thread_reports_failures_and_defects() -> None:
    async def work() -> None:
        thread = SyncThread()
        ran_in: list[int] = []

        class Noted(SyncTicket):
            def run(self) -> None:
                ran_in.append(get_ident())

        tickets: Sequence[SyncTicket] = [Noted(1, None), SyncTicket(1, None, lost=OSError("lost"))]
        assert [*await thread.sync(tickets)] == [1]
        assert ran_in != [get_ident()]
        with pytest.raises(RuntimeError, match="no OSError"):
            await thread.sync([Broken(1, None)])
        thread.close()

    asyncio.run(work())

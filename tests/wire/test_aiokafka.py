"""aiokafka, which speaks only the older, non-flexible versions of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from headrace.wire.testing import BrokerProcess

DEADLINE_S = 60.0


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, DEADLINE_S))


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_records_pass_with_every_codec(shared_broker: BrokerProcess, codec: str | None) -> None:
    topic = f"aio-{codec}"

    async def work() -> None:
        values = [f"{codec} {number}".encode() * 10 for number in range(200)]
        async with AIOKafkaProducer(bootstrap_servers=shared_broker.bootstrap, compression_type=codec) as producer:
            sent = [await producer.send(topic, value, key=b"k", headers=[("h", b"v")]) for value in values]
            assert [(await report).offset for report in sent] == list(range(200))
        reader = AIOKafkaConsumer(topic, bootstrap_servers=shared_broker.bootstrap, auto_offset_reset="earliest")
        async with reader:
            records = [await reader.getone() for _ in values]
        assert [record.value for record in records] == values
        assert records[0].key == b"k"
        assert records[0].headers == (("h", b"v"),)

    run(work())


def test_two_members_share_a_topic_and_commit(shared_broker: BrokerProcess) -> None:
    async def work() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=shared_broker.bootstrap)
        await admin.start()
        await admin.create_topics([NewTopic("aio-shared", 4, 1)])
        await admin.close()
        settings: dict[str, Any] = {
            "bootstrap_servers": shared_broker.bootstrap,
            "group_id": "aio-sharing",
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "heartbeat_interval_ms": 100,
        }
        async with (
            AIOKafkaConsumer("aio-shared", **settings) as first,
            AIOKafkaConsumer("aio-shared", **settings) as second,
        ):
            while sorted([len(first.assignment()), len(second.assignment())]) != [2, 2]:
                await asyncio.gather(first.getmany(timeout_ms=50), second.getmany(timeout_ms=50))
            mine = sorted(first.assignment())[0]
            await first.commit({mine: (3, "note")})
            assert await first.committed(mine) == 3

    run(work())


def test_transactions_commit_and_abort(shared_broker: BrokerProcess) -> None:
    async def work() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=shared_broker.bootstrap, transactional_id="aio-transactional")
        async with producer:
            async with producer.transaction():
                await producer.send_and_wait("aio-transactions", b"committed")
                offsets = {TopicPartition("aio-transactions", 0): 1}
                await producer.send_offsets_to_transaction(offsets, "aio-transactions")
            await producer.begin_transaction()
            await producer.send_and_wait("aio-transactions", b"aborted")
            await producer.abort_transaction()
            async with producer.transaction():
                await producer.send_and_wait("aio-transactions", b"committed too")
        reader = AIOKafkaConsumer(
            "aio-transactions",
            bootstrap_servers=shared_broker.bootstrap,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            group_id="aio-transactions",
            enable_auto_commit=False,
        )
        async with reader:
            assert (await reader.getone()).value == b"committed too", "the group starts at the offset it committed"
            await reader.seek_to_beginning()
            assert [(await reader.getone()).value for _ in range(2)] == [b"committed", b"committed too"]

    run(work())


def test_offsets_by_time_and_at_both_ends(shared_broker: BrokerProcess) -> None:
    async def work() -> None:
        async with AIOKafkaProducer(bootstrap_servers=shared_broker.bootstrap) as producer:
            for number in range(10):
                await producer.send_and_wait("aio-timed", b"x", timestamp_ms=1_000 + number * 10)
        partition = TopicPartition("aio-timed", 0)
        async with AIOKafkaConsumer(bootstrap_servers=shared_broker.bootstrap) as reader:
            found = await reader.offsets_for_times({partition: 1_045})
            assert (found[partition].offset, found[partition].timestamp) == (5, 1_050)
            assert await reader.beginning_offsets([partition]) == {partition: 0}
            assert await reader.end_offsets([partition]) == {partition: 10}

    run(work())

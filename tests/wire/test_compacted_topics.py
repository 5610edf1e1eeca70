"""Compacted topics as clients see them: what is left is the newest record of each key, at its old offset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import TopicPartition
from tests.kafka_clients import Consumer, Producer

from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

RECORDS = 600
DEADLINE_S = 20.0
TOPIC = "prices"
CONFIG = {"cleanup.policy": "compact", "segment.bytes": "2048", "min.cleanable.dirty.ratio": "0.01"}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A broker whose topic was compacted."""
    config = BrokerConfig(data_dir=tmp_path / "data", port=0, retention_interval_ms=20, compaction_interval_ms=20)
    with broker_in_thread(config) as address, Client(address) as client:
        client.create_topics({TOPIC: 1}, CONFIG)
        producer = Producer({"bootstrap.servers": address, "batch.num.messages": 5, "acks": "all"})
        for number in range(RECORDS):
            producer.produce(TOPIC, b"value-%d" % number, b"key-%d" % (number % 7))
        producer.flush()
        files = tmp_path / "data" / f"{TOPIC}-0"
        deadline_s = time.monotonic() + DEADLINE_S
        while len(list(files.glob("*.log"))) > 3:
            assert time.monotonic() < deadline_s, "the topic was not compacted"
        yield address


def newest() -> dict[bytes, bytes]:
    return {b"key-%d" % (number % 7): b"value-%d" % number for number in range(RECORDS)}


def test_librdkafka_reads_over_the_gaps(address: str) -> None:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "enable.partition.eof": True})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    state: dict[bytes, bytes] = {}
    seen, deadline_s = -1, time.monotonic() + DEADLINE_S
    while seen < RECORDS - 1:
        assert time.monotonic() < deadline_s
        message = consumer.poll(0.2)
        if message is None or message.error():
            continue
        offset, key, value = message.offset(), message.key(), message.value()
        assert offset is not None
        assert key is not None
        assert value == b"value-%d" % offset
        seen, state[key] = offset, value
    consumer.close()
    assert state == newest()


def test_aiokafka_reads_over_the_gaps(address: str) -> None:
    async def read() -> dict[bytes, bytes]:
        consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=address, auto_offset_reset="earliest")
        await consumer.start()
        state: dict[bytes, bytes] = {}
        try:
            async for message in consumer:
                state[message.key] = message.value
                if message.offset == RECORDS - 1:
                    return state
        finally:
            await consumer.stop()
        return state

    assert asyncio.run(asyncio.wait_for(read(), DEADLINE_S)) == newest()

"""A broker that archives to object storage: clients read what is there as if it were here."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.backup import create_backup, open_objects, restore_backup
from headrace.log import PartitionReader, encode_batches
from headrace.wire.client import EARLIEST, Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

RECORDS = 300
EARLIEST_LOCAL, LATEST_TIERED = -4, -5
DEADLINE_S = 30.0
CONFIG = {"segment.bytes": "4096", "retention.ms": "-1", "remote.storage.enable": "true", "local.retention.bytes": "1"}


@pytest.fixture(params=["folder", "s3"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    places: dict[str, Callable[[], str]] = {
        "folder": lambda: str(tmp_path / "archive"),
        "s3": lambda: f"{request.getfixturevalue('s3_url')}/archive-{tmp_path.name}",
    }
    return places[request.param]()


def test_clients_read_archived_segments(archive: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    config = BrokerConfig(data_dir=data / "log", port=0, archive=archive, retention_interval_ms=50)
    with broker_in_thread(config) as address, Client(address) as client:
        client.create_topics({"t": 1}, CONFIG)
        producer = Producer({"bootstrap.servers": address, "batch.num.messages": 10, "log_level": 0})
        for number in range(RECORDS):
            producer.produce("t", b"value-%d " % number * 10, timestamp=1_000 + number)
        producer.flush()
        files = data / "log" / "t-0"
        deadline_s = time.monotonic() + DEADLINE_S
        while len(list(files.glob("*.log"))) > 1:
            assert time.monotonic() < deadline_s, "segments were not archived"
        for number in (0, 100, 170, RECORDS - 1):
            assert client.list_offsets("t", {0: 1_000 + number})[0].offset == number
        assert client.list_offsets("t", {0: 1_000 + RECORDS})[0].offset == -1
        assert read(address) == [b"value-%d " % number * 10 for number in range(RECORDS)]
        create_backup(data, open_objects(str(tmp_path / "backup")), bootstrap=address)
    restore_backup(open_objects(str(tmp_path / "backup")), tmp_path / "new")
    restored = PartitionReader(tmp_path / "new" / "log" / "t-0").read(0, RECORDS)
    assert sum(len(records) for records in restored) == RECORDS


def test_what_is_here_and_what_is_there_can_be_asked_for(tmp_path: Path) -> None:
    archive = str(tmp_path / "archive")
    config = BrokerConfig(data_dir=tmp_path / "log", port=0, archive=archive, retention_interval_ms=50)
    with broker_in_thread(config) as address, Client(address) as client:
        client.create_topics({"t": 1}, CONFIG)
        assert client.list_offsets("t", {0: EARLIEST_LOCAL})[0].offset == 0
        assert client.list_offsets("t", {0: LATEST_TIERED})[0].offset == -1
        for number in range(20):
            client.produce({"t": {0: next(encode_batches(None, [b"x" * 1_000], [number]))}})
        deadline_s = time.monotonic() + DEADLINE_S
        while (local := client.list_offsets("t", {0: EARLIEST_LOCAL})[0].offset) < 15:
            assert time.monotonic() < deadline_s, "segments were not archived"
        assert client.list_offsets("t", {0: LATEST_TIERED})[0].offset == local - 1
        assert client.list_offsets("t", {0: EARLIEST})[0].offset == 0


def read(address: str) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "log_level": 0})
    consumer.assign([TopicPartition("t", 0, 0)])
    found: list[bytes | None] = []
    deadline_s = time.monotonic() + DEADLINE_S
    while len(found) < RECORDS:
        assert time.monotonic() < deadline_s
        message = consumer.poll(0.5)
        if message is not None and not message.error():
            found.append(message.value())
    consumer.close()
    return found

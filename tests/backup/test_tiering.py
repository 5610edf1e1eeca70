"""A broker that archives to object storage: clients read what is there as if it were here."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.backup import create_backup, open_objects, restore_backup
from headrace.log import PartitionReader
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

RECORDS = 300
DEADLINE_S = 30.0
CONFIG = {"segment.bytes": "4096", "remote.storage.enable": "true", "local.retention.bytes": "1"}


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
            producer.produce("t", b"value-%d " % number * 10)
        producer.flush()
        files = data / "log" / "t-0"
        deadline_s = time.monotonic() + DEADLINE_S
        while len(list(files.glob("*.log"))) > 1:
            assert time.monotonic() < deadline_s, "segments were not archived"
        assert read(address) == [b"value-%d " % number * 10 for number in range(RECORDS)]
        create_backup(data, open_objects(str(tmp_path / "backup")), bootstrap=address)
    restore_backup(open_objects(str(tmp_path / "backup")), tmp_path / "new")
    restored = PartitionReader(tmp_path / "new" / "log" / "t-0").read(0, RECORDS)
    assert sum(len(records) for records in restored) == RECORDS


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

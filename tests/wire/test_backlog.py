"""Topics with a limited backlog: producers wait, or are refused before the ack, and it is counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition
from confluent_kafka.admin._config import ConfigResource
from tests.kafka_clients import AdminClient, Producer

from headrace.errors import HeadraceError
from headrace.log import place_hold
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

LIMIT = 10
DEADLINE_S = 20.0
# Clients of this kind outlive the broker by a moment.
SILENT = {"log_level": 0}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with broker_in_thread(BrokerConfig(data_dir=tmp_path, port=0)) as address:
        yield address


def limited(address: str, policy: str) -> None:
    with Client(address) as client:
        client.create_topics({"t": 1}, {"headrace.backlog.policy": policy, "headrace.backlog.records": str(LIMIT)})


def send(address: str, count: int, **settings: int) -> list[KafkaError | None]:
    """What became of each record, sent one by one."""
    outcomes: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": address, "acks": "all", "linger.ms": 0, **SILENT, **settings})
    for _ in range(count):
        producer.produce("t", b"x", on_delivery=lambda error, message: outcomes.append(error))
        producer.flush()
    return outcomes


def figures(address: str) -> dict[str, str]:
    resource = ConfigResource(ConfigResource.Type.TOPIC, "t")
    admin = AdminClient({"bootstrap.servers": address, **SILENT})
    entries = admin.describe_configs([resource])[resource].result()
    return {name: entry.value for name, entry in entries.items() if name.startswith("headrace.backlog.")}


def test_the_newest_are_refused_before_the_ack_and_counted(address: str, tmp_path: Path) -> None:
    limited(address, "drop_newest")
    place_hold(tmp_path, "job", {("t", 0): 0})
    outcomes = send(address, LIMIT + 3)
    assert outcomes[:LIMIT] == [None] * LIMIT
    assert [error.code() for error in outcomes[LIMIT:] if error] == [KafkaError.POLICY_VIOLATION] * 3
    assert figures(address)["headrace.backlog.dropped.requests"] == "3"
    assert figures(address)["headrace.backlog.now.records"] == str(LIMIT)


def test_a_producer_waits_until_the_readers_come_near(address: str, tmp_path: Path) -> None:
    limited(address, "block")
    place_hold(tmp_path, "job", {("t", 0): 0})
    assert send(address, LIMIT) == [None] * LIMIT
    later: list[KafkaError | None] = []
    sending = threading.Thread(target=lambda: later.extend(send(address, 1)))
    sending.start()
    deadline_s = time.monotonic() + DEADLINE_S
    while figures(address)["headrace.backlog.blocked.requests"] == "0":
        assert time.monotonic() < deadline_s
    assert later == []
    place_hold(tmp_path, "job", {("t", 0): 5})
    sending.join(DEADLINE_S)
    assert later == [None]


def test_a_producer_that_waits_too_long_is_told(address: str, tmp_path: Path) -> None:
    limited(address, "block")
    place_hold(tmp_path, "job", {("t", 0): 0})
    send(address, LIMIT)
    settings = {"request.timeout.ms": 100, "message.timeout.ms": 1_000}
    (error,) = send(address, 1, **settings)
    assert error is not None
    assert error.code() == KafkaError._MSG_TIMED_OUT


def test_groups_are_readers_too(address: str) -> None:
    limited(address, "drop_newest")
    admin = AdminClient({"bootstrap.servers": address, **SILENT})

    def commit(offset: int) -> None:
        group = ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, offset)])
        admin.alter_consumer_group_offsets([group])["g"].result()

    assert send(address, LIMIT + 5) == [None] * (LIMIT + 5)  # nobody reads yet: nothing waits for anybody
    commit(2)
    assert send(address, 1)[0] is not None
    commit(LIMIT)
    assert send(address, 1) == [None]


def test_a_policy_that_is_none_is_refused(address: str) -> None:
    with Client(address) as client, pytest.raises(HeadraceError, match="drop_newest"):
        client.create_topics({"t": 1}, {"headrace.backlog.policy": "drop_oldest"})

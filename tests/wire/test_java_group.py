"""Groups of Kafka's Java consumer through restarts of the broker: nobody joins again, nothing is read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from tests.kafka_clients import Consumer, Producer
from tests.wire.java_stack import java_program, stack_classpath

from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess

UNTESTED = "groups of Kafka's Java consumer through a restart are"
DEADLINE_S = 60.0
PARTITIONS = 6
# Every part is written while the members read the part before.
PART = 4_000
PARTS = 3
MEMBERS = 3


def write(broker: BrokerProcess, part: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "log_level": 0})
    for number in range(part * PART, (part + 1) * PART):
        producer.produce("steady", str(number).encode(), partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(DEADLINE_S) == 0


def committed(broker: BrokerProcess, group: str) -> list[int]:
    reader = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    places = reader.committed([TopicPartition("steady", index) for index in range(PARTITIONS)], DEADLINE_S)
    reader.close()
    return [place.offset for place in places]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_do_not_notice_restarts(broker: BrokerProcess, tmp_path: Path, protocol: str) -> None:
    """One clean restart and one kill, each while the members read and commit."""
    classpath = stack_classpath(UNTESTED)
    with Client(broker.bootstrap) as client:
        client.create_topics({"steady": PARTITIONS})
    arguments = (broker.bootstrap, "steady", protocol, str(PART * PARTS))
    with java_program(classpath, tmp_path / "java", "Members.java", *arguments) as members:
        members.expect("settled")
        write(broker, 0)
        members.expect("read")
        assert broker.stop() == 0
        broker.start()
        write(broker, 1)
        for _ in range(PART // 1_000):
            members.expect("read")
        broker.restart()
        write(broker, 2)
        told = [members.expect("member ") for _ in range(MEMBERS)]
        values = members.expect("values ").split()
    assert told == [f"m{number} kept, committed true, events []" for number in range(MEMBERS)]
    assert len(values) == PART * PARTS, "nothing is read again"
    assert set(map(int, values)) == set(range(PART * PARTS))
    assert committed(broker, protocol) == [PART * PARTS // PARTITIONS] * PARTITIONS

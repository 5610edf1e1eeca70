"""Groups through a restart of the broker, with real clients: nobody joins again, nothing is read again."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from confluent_kafka import ConsumerGroupState, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from tests.kafka_clients import AdminClient, Consumer, Producer

from headrace.wire.testing import BrokerProcess

CLIENT = Path(__file__).parent / "clients" / "restarted.py"
DEADLINE_S = 60.0
PARTITIONS = 4
RECORDS = 500
BRISK = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 50, "log_level": 0}

Restart = Callable[[BrokerProcess], None]


def cleanly(broker: BrokerProcess) -> None:
    assert broker.stop() == 0
    broker.start()


RESTARTS = pytest.mark.parametrize("restart", [cleanly, BrokerProcess.restart], ids=["stopped", "killed"])


def write(broker: BrokerProcess, topic: str, first: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, **BRISK})
    for number in range(first, first + RECORDS):
        producer.produce(topic, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(DEADLINE_S) == 0


def create(broker: BrokerProcess, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, **BRISK})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(DEADLINE_S)
    write(broker, topic, 0)


class Member:
    """A consumer that notes every rebalance it is told of, and everything it reads."""

    def __init__(self, broker: BrokerProcess, topic: str, **settings: object) -> None:
        self.events: list[str] = []
        self.seen: list[int] = []
        self.consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": "restarting",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 20,
                **BRISK,
                **settings,
            }
        )
        self.consumer.subscribe(
            [topic],
            on_assign=lambda *_: self.events.append("assigned"),
            on_revoke=lambda *_: self.events.append("revoked"),
            on_lost=lambda *_: self.events.append("lost"),
        )

    def poll(self) -> None:
        message = self.consumer.poll(0.02)
        if message is not None and message.error() is None:
            self.seen.append(int(message.value() or b"-1"))


def poll_until(members: list[Member], condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends_at, [(len(m.seen), m.events) for m in members]
        for member in members:
            member.poll()


@pytest.fixture
def members() -> Iterator[list[Member]]:
    opened: list[Member] = []
    yield opened
    for member in opened:
        member.consumer.close()


@RESTARTS
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"partition.assignment.strategy": "cooperative-sticky"},
        {"group.protocol": "consumer"},
    ],
    ids=["classic", "cooperative", "consumer"],
)
def test_nobody_notices_a_restart(
    broker: BrokerProcess, members: list[Member], restart: Restart, settings: dict[str, object]
) -> None:
    create(broker, "onward")
    members += [Member(broker, "onward", **settings), Member(broker, "onward", **settings)]
    poll_until(members, lambda: sorted(len(m.consumer.assignment()) for m in members) == [2, 2])
    poll_until(members, lambda: len({n for m in members for n in m.seen}) == RECORDS)
    # What was read before both were there may have been read twice: what counts begins here.
    for member in members:
        member.seen.clear()
        member.events.clear()
    write(broker, "onward", RECORDS)
    poll_until(members, lambda: sum(len(m.seen) for m in members) == RECORDS)
    restart(broker)
    write(broker, "onward", 2 * RECORDS)
    poll_until(members, lambda: sum(len(m.seen) for m in members) >= 2 * RECORDS)
    for member in members:
        member.consumer.commit(asynchronous=False)
    poll_until(members, lambda: True)
    assert [m.events for m in members] == [[], []], "nobody was told to join again"
    assert sorted(n for m in members for n in m.seen) == list(range(RECORDS, 3 * RECORDS)), "nothing is read again"
    wanted = [TopicPartition("onward", index) for index in range(PARTITIONS)]
    committed = members[0].consumer.committed(wanted, DEADLINE_S)
    assert [entry.offset for entry in committed] == [3 * RECORDS // PARTITIONS] * PARTITIONS


@RESTARTS
def test_a_static_member_comes_back_after_a_restart(
    broker: BrokerProcess, members: list[Member], restart: Restart
) -> None:
    create(broker, "standing")
    members += [Member(broker, "standing", **{"group.instance.id": f"m{n}"}) for n in range(2)]
    poll_until(members, lambda: sorted(len(m.consumer.assignment()) for m in members) == [2, 2])
    held = members[0].consumer.assignment()
    members.pop(0).consumer.close()
    members[0].events.clear()
    restart(broker)
    members.append(Member(broker, "standing", **{"group.instance.id": "m0"}))
    poll_until(members, lambda: len(members[1].consumer.assignment()) == 2)
    assert {(p.topic, p.partition) for p in members[1].consumer.assignment()} == {(p.topic, p.partition) for p in held}
    assert members[0].events == []


def test_a_group_that_left_is_gone_after_a_kill(broker: BrokerProcess, members: list[Member]) -> None:
    create(broker, "left")
    first = Member(broker, "left")
    poll_until([first], lambda: len(first.seen) == RECORDS)
    first.consumer.commit(asynchronous=False)
    first.consumer.close()
    broker.restart()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, **BRISK})
    described = admin.describe_consumer_groups(["restarting"])["restarting"].result(DEADLINE_S)
    assert (described.state, described.members) == (ConsumerGroupState.EMPTY, [])
    # A new member need not wait for a session to end.
    members.append(Member(broker, "left"))
    write(broker, "left", RECORDS)
    poll_until(members, lambda: len(members[0].seen) == RECORDS)
    assert min(members[0].seen) == RECORDS


class Noting(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.events: list[str] = []

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self.events.append("revoked")

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self.events.append("assigned")


@RESTARTS
def test_aiokafka_does_not_notice_a_restart(broker: BrokerProcess, restart: Restart) -> None:
    create(broker, "aio")

    async def work() -> list[int]:
        noting = Noting()
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap,
            group_id="aio",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            retry_backoff_ms=20,
        )
        consumer.subscribe(["aio"], listener=noting)
        seen: list[int] = []
        async with consumer:
            while len(seen) < RECORDS:
                seen.append(int((await consumer.getone()).value))
            noting.events.clear()
            await asyncio.to_thread(restart, broker)
            await asyncio.to_thread(write, broker, "aio", RECORDS)
            while len(seen) < 2 * RECORDS:
                seen.append(int((await consumer.getone()).value))
            await consumer.commit()
            assert noting.events == []
        return seen

    assert sorted(asyncio.run(asyncio.wait_for(work(), DEADLINE_S))) == list(range(2 * RECORDS))


@RESTARTS
def test_kafka_python_does_not_notice_a_restart(broker: BrokerProcess, restart: Restart) -> None:
    create(broker, "python")
    command = [sys.executable, "-W", "ignore", str(CLIENT), broker.bootstrap, "python", str(RECORDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "read\n"
        restart(broker)
        write(broker, "python", RECORDS)
        told = json.loads(client.communicate("\n", DEADLINE_S)[0])
    assert told["events"] == []
    assert sorted(told["seen"]) == list(range(2 * RECORDS))

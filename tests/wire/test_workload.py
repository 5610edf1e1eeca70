"""Real clients at work while the broker is killed again and again, judged by the checks of Jepsen's Kafka workload.

`HEADRACE_SEED=n` chooses the same deeds again; when they meet the kills is up to the clock.
"""

from __future__ import annotations

import os
import threading
import time
from itertools import count
from random import Random
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaException, Message, TopicPartition
from tests.campaign import often
from tests.kafka_clients import Consumer, Producer

from headrace.wire.client import Client
from headrace.wire.history import History, Outcome, Poll, Send, anomalies, summary
from headrace.wire.testing import BrokerProcess

PARTITIONS = 3
TOPIC = "workload"
KILLS = often(5, 100)
WORK_S = 1.5
DEADLINE_S = 90.0
BRISK = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100, "retry.backoff.ms": 10, "log_level": 0}


class Worker(threading.Thread):
    """Something that works until told to stop. A failure of its own fails the test."""

    def __init__(self, name: str, bootstrap: str, history: History, choice: Random) -> None:
        super().__init__(name=name, daemon=True)
        self.settings: dict[str, Any] = {"bootstrap.servers": bootstrap, **BRISK}
        self.history, self.choice = history, choice
        # Of this thread alone; put into the history when it has ended.
        self.sends: list[Send] = []
        self.stopping = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self.work()
        except Exception as error:
            self.failure = error

    def work(self) -> None:
        raise NotImplementedError


class Plain(Worker):
    def work(self) -> None:
        producer = Producer({**self.settings, "enable.idempotence": True, "linger.ms": 1})
        for number in count():
            if self.stopping.is_set():
                break
            value, partition = f"{self.name}-{number}", self.choice.randrange(PARTITIONS)
            place = len(self.sends)
            self.sends.append(Send(self.name, partition, value, Outcome.UNKNOWN))
            producer.produce(TOPIC, value.encode(), partition=partition, on_delivery=self._delivered(place))
            producer.poll(self.choice.choice((0, 0, 0.002)))
            while len(producer) > 100:
                producer.poll(0.05)
        assert producer.flush(DEADLINE_S) == 0

    def _delivered(self, place: int) -> Any:
        def report(error: object, message: Message) -> None:
            sent = self.sends[place]
            outcome = Outcome.OK if error is None else Outcome.UNKNOWN
            offset = message.offset() if error is None else None
            self.sends[place] = Send(sent.client, sent.partition, sent.value, outcome, offset)

        return report


class Transactional(Worker):
    def work(self) -> None:
        producer = self.begin_anew()
        for number in count():
            if self.stopping.is_set():
                return
            transaction = f"{self.name}:{number}"
            self.history.ends[transaction] = Outcome.FAILED  # unless it gets as far as its end
            try:
                self.one(producer, transaction)
            except KafkaException:
                producer = self.begin_anew()

    def begin_anew(self) -> Producer:
        """Whatever was left open is aborted by this."""
        ends_at = time.monotonic() + DEADLINE_S
        while True:
            producer = Producer({**self.settings, "transactional.id": self.name, "linger.ms": 1})
            try:
                producer.init_transactions(10)
                return producer
            except KafkaException:
                assert time.monotonic() < ends_at, "no transaction can begin"

    def one(self, producer: Producer, transaction: str) -> None:
        producer.begin_transaction()
        for number in range(self.choice.randint(1, 4)):
            value, partition = f"{transaction}.{number}", self.choice.randrange(PARTITIONS)
            self.sends.append(Send(self.name, partition, value, Outcome.OK, None, transaction))
            producer.produce(TOPIC, value.encode(), partition=partition)
        if self.choice.random() < 0.3:
            producer.flush(10)
            producer.abort_transaction(10)
            return
        self.history.ends[transaction] = Outcome.UNKNOWN
        producer.commit_transaction(10)
        self.history.ends[transaction] = Outcome.OK


class Reader(Worker):
    """A member of a group that now and then leaves it and comes back."""

    protocol = "classic"

    def work(self) -> None:
        assignments = count()
        while not self.stopping.is_set():
            self.sit_in(assignments, self.choice.uniform(1.0, 5.0))

    def sit_in(self, assignments: Any, for_s: float) -> None:
        self.assignment = next(assignments)

        def assigned(consumer: object, partitions: list[TopicPartition]) -> None:
            self.assignment = next(assignments)

        settings: dict[str, Any] = {"group.id": f"readers-{self.protocol}", "group.protocol": self.protocol}
        if self.protocol == "classic":
            settings |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 200}
        reading = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "isolation.level": "read_committed"}
        consumer = Consumer({**self.settings, **settings, **reading})
        consumer.subscribe([TOPIC], on_assign=assigned)
        ends_at = time.monotonic() + for_s
        try:
            while time.monotonic() < ends_at and not self.stopping.is_set():
                self.take(consumer)
        finally:
            consumer.close()

    def take(self, consumer: Consumer) -> None:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            return
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None
        assert offset is not None
        assert value is not None
        self.history.polls.append(Poll(self.name, self.assignment, partition, ((offset, value.decode()),)))
        if self.choice.random() < 0.05:
            try:
                consumer.commit(message=message, asynchronous=False)
            except KafkaException:
                return  # the group moved on: the next assignment begins at what was committed


class NewerReader(Reader):
    protocol = "consumer"


def everything(bootstrap: str) -> dict[int, tuple[tuple[int, str], ...]]:
    with Client(bootstrap) as client:
        ends = {
            p: found.offset for p, found in client.list_offsets(TOPIC, dict.fromkeys(range(PARTITIONS), -1)).items()
        }
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "final",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    found: dict[int, list[tuple[int, str]]] = {partition: [] for partition in ends}
    consumer.assign([TopicPartition(TOPIC, partition, OFFSET_BEGINNING) for partition in ends])
    ended: set[int] = set()
    ends_at = time.monotonic() + DEADLINE_S
    while len(ended) < PARTITIONS:
        assert time.monotonic() < ends_at, f"{ended} of {ends}"
        message = consumer.poll(0.5)
        if message is None:
            continue
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None
        assert offset is not None
        if message.error() is not None:
            ended.add(partition)
        elif value is not None:
            found[partition].append((offset, value.decode()))
    consumer.close()
    return {partition: tuple(rows) for partition, rows in found.items()}


@pytest.mark.slow
@pytest.mark.timeout(often(300, 7_200))
@pytest.mark.parametrize("reader", [Reader, NewerReader], ids=["classic", "consumer"])
def test_nothing_is_lost_doubled_or_out_of_order(broker: BrokerProcess, reader: type[Reader]) -> None:
    seed = int(os.environ.get("HEADRACE_SEED", "1"))
    choice, history = Random(seed), History()
    with Client(broker.bootstrap) as client:
        client.create_topics({TOPIC: PARTITIONS})
    kinds: list[tuple[type[Worker], str]] = [(Plain, "p1"), (Plain, "p2"), (Transactional, "x1"), (Transactional, "x2")]
    writers = [kind(name, broker.bootstrap, history, Random(choice.random())) for kind, name in kinds]
    readers = [reader(f"r{n}", broker.bootstrap, history, Random(choice.random())) for n in range(3)]
    for thread in (*writers, *readers):
        thread.start()
    for _ in range(KILLS):
        time.sleep(choice.uniform(0.2, WORK_S))
        broker.restart()
    for thread in writers:
        thread.stopping.set()
    for thread in writers:
        thread.join(DEADLINE_S)
        history.sends += thread.sends
    history.final = everything(broker.bootstrap)
    wanted = {value for rows in history.final.values() for _, value in rows}
    ends_at = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends_at and not wanted <= {value for poll in history.polls for _, value in poll.records}:
        time.sleep(0.2)
    for thread in readers:
        thread.stopping.set()
    for thread in readers:
        thread.join(DEADLINE_S)
    assert [thread.failure for thread in (*writers, *readers) if thread.failure] == []
    assert summary(anomalies(history)) == {}, f"HEADRACE_SEED={seed}"
    assert len(wanted) > 100
    assert any(outcome is Outcome.OK for outcome in history.ends.values())

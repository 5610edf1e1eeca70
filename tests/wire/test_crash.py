"""kill -9 again and again while producers write: what was acknowledged is there, once, in order, at its offset."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError, Message, TopicPartition
from tests.campaign import often
from tests.kafka_clients import Consumer, Producer

from headrace.errors import HeadraceError
from headrace.log import encode_batches, with_producer
from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 120.0
PARTITIONS = 3
IN_FLIGHT_MAX = 200
BRISK = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 50, "retry.backoff.ms": 10, "log_level": 0}

Place = tuple[int, int]


@dataclass
class Writer(threading.Thread):
    """Writes numbered values until told to stop, and notes where each was acknowledged."""

    bootstrap: str
    name_: str
    acked: dict[Place, bytes] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    written: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(name=self.name_)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 1, **BRISK})
        while not self.stopping.is_set():
            if len(producer) >= IN_FLIGHT_MAX:
                producer.poll(0.05)
                continue
            value = f"{self.name_}:{self.written}".encode()
            producer.produce("crash", value, partition=self.written % PARTITIONS, on_delivery=self._delivered)
            self.written += 1
            producer.poll(0)
        if producer.flush(DEADLINE_S):
            self.failures.append("not everything was delivered")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(str(error))
            return
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None
        assert offset is not None
        assert value is not None
        self.acked[partition, offset] = value


def read_everything(bootstrap: str, topic: str, partitions: int, isolation: str) -> dict[Place, bytes]:
    with Client(bootstrap) as client:
        ends = client.list_offsets(topic, dict.fromkeys(range(partitions), -1))
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "checker",
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "fetch.wait.max.ms": 10,
        }
    )
    reader.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(partitions)])
    found: dict[Place, bytes] = {}
    ended: set[int] = set()
    while len(ended) < sum(1 for entry in ends.values() if entry.offset >= 0):
        message = reader.poll(DEADLINE_S)
        assert message is not None, "the log cannot be read to its end"
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        if message.error() is not None:
            ended.add(partition)
        else:
            found[partition, offset] = message.value() or b""
    reader.close()
    return found


def check(found: dict[Place, bytes], writers: list[Writer]) -> None:
    lost = {place: value for writer in writers for place, value in writer.acked.items() if found.get(place) != value}
    assert lost == {}, "acknowledged records are gone or changed"
    doubled = [value for value, count in Counter(found.values()).items() if count > 1]
    assert doubled == []
    assert len(found) == sum(writer.written for writer in writers)
    for writer in writers:
        for partition in range(PARTITIONS):
            own = [value for (index, _), value in sorted(found.items()) if index == partition]
            numbers = [int(value.split(b":")[1]) for value in own if value.startswith(writer.name_.encode() + b":")]
            assert numbers == sorted(numbers), "records of one producer changed their order"


def kill_while_writing(broker: BrokerProcess, kills: int, seed: int) -> None:
    choice = Random(seed)
    with Client(broker.bootstrap) as client:
        client.create_topics({"crash": PARTITIONS}, {"segment.bytes": "1000000"})
    writers = [Writer(broker.bootstrap, f"w{number}") for number in range(3)]
    for writer in writers:
        writer.start()
    for _ in range(kills):
        acked = sum(len(writer.acked) for writer in writers)
        wanted = acked + choice.randrange(1, 2_000)
        while sum(len(writer.acked) for writer in writers) < wanted:
            assert all(writer.is_alive() for writer in writers)
            threading.Event().wait(0.005)
        broker.restart()
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join(DEADLINE_S)
        assert writer.failures == []
    check(read_everything(broker.bootstrap, "crash", PARTITIONS, "read_uncommitted"), writers)


def test_acknowledged_records_survive_kills(broker: BrokerProcess) -> None:
    kill_while_writing(broker, kills=2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(often(300, 7_200))
@pytest.mark.parametrize("seed", range(2, 2 + often(1, 10)))
def test_acknowledged_records_survive_many_kills(broker: BrokerProcess, seed: int) -> None:
    kill_while_writing(broker, kills=often(16, 100), seed=seed)


def transactions_under_kills(broker: BrokerProcess, rounds: int, seed: int) -> None:
    """Each transaction writes one value to every partition; kills come at random moments of its life."""
    choice = Random(seed)
    with Client(broker.bootstrap) as client:
        client.create_topics({"atomic": PARTITIONS})
    committed: list[bytes] = []
    uncertain: list[bytes] = []
    for number in range(rounds):
        killer = threading.Timer(choice.random() * 0.03, broker.kill)
        value = f"t{number}".encode()
        commit = choice.random() < 0.8
        with Client(broker.bootstrap) as patient:
            patient.metadata()
        killer.start()
        try:
            with Client(broker.bootstrap, timeout_ms=500) as hasty:
                _one_transaction(hasty, value, commit, committed)
        except HeadraceError:
            uncertain += [value] if commit else []
        killer.join()
        broker.start()
    found = read_everything(broker.bootstrap, "atomic", PARTITIONS, "read_committed")
    copies = Counter(found.values())
    assert all(copies[value] == PARTITIONS for value in committed), "a committed transaction is not whole"
    assert set(copies.values()) <= {PARTITIONS}, "a transaction is seen in part or twice"
    assert set(copies) <= set(committed) | set(uncertain), "an aborted transaction is seen"


def _one_transaction(client: Client, value: bytes, commit: bool, committed: list[bytes]) -> None:
    """Notes what became of it, if the broker lived to say so."""
    producer = client.init_producer("atomic")
    client.add_partitions("atomic", producer, [("atomic", index) for index in range(PARTITIONS)])
    (plain,) = encode_batches([None], [value], [1_000], codec="none")
    records = with_producer(plain, producer.producer_id, producer.epoch, 0, True)
    client.produce({"atomic": dict.fromkeys(range(PARTITIONS), records)}, "atomic")
    if commit:
        client.end_transaction("atomic", producer, commit=True)
        committed.append(value)
    else:
        client.end_transaction("atomic", producer, commit=False)


def test_transactions_are_whole_or_absent_after_kills(broker: BrokerProcess) -> None:
    transactions_under_kills(broker, rounds=4, seed=4)


@pytest.mark.slow
@pytest.mark.timeout(often(300, 7_200))
def test_transactions_are_whole_or_absent_after_many_kills(broker: BrokerProcess) -> None:
    transactions_under_kills(broker, rounds=often(20, 1_000), seed=5)

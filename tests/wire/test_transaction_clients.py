"""Transactions with confluent-kafka: all or nothing, also when the broker is killed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaException, TopicPartition
from tests.kafka_clients import Consumer, Producer

from headrace.wire.testing import BrokerProcess

DEADLINE_S = 40.0
# Back soon after a kill, and no waiting for records that do not come.
BRISK = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 50, "log_level": 0}


def transactional(broker: BrokerProcess, transactional_id: str, **settings: Any) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "transactional.id": transactional_id,
            "linger.ms": 0,
            **BRISK,
            **settings,
        }
    )
    producer.init_transactions(DEADLINE_S)
    return producer


def read_all(broker: BrokerProcess, topic: str, isolation: str = "read_committed") -> list[bytes]:
    """Everything a reader of this kind can see now."""
    reader = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
            **BRISK,
        }
    )
    reader.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    values: list[bytes] = []
    ends_at = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends_at:
        message = reader.poll(1.0)
        if message is None:
            continue
        if message.error() is not None:
            break  # the end of what is visible
        values.append(message.value() or b"")
    reader.close()
    return values


def test_committed_records_are_seen_and_aborted_ones_are_not(shared_broker: BrokerProcess) -> None:
    producer = transactional(shared_broker, "visible")
    for number, commit in enumerate([True, False, True]):
        producer.begin_transaction()
        for index in range(3):
            producer.produce("visible", f"{number}-{index}".encode())
        if commit:
            producer.commit_transaction(DEADLINE_S)
        else:
            producer.flush(DEADLINE_S)
            producer.abort_transaction(DEADLINE_S)
    committed = [b"0-0", b"0-1", b"0-2", b"2-0", b"2-1", b"2-2"]
    assert read_all(shared_broker, "visible") == committed
    assert len(read_all(shared_broker, "visible", "read_uncommitted")) == 9


def test_an_open_transaction_hides_what_comes_after_it(shared_broker: BrokerProcess) -> None:
    producer = transactional(shared_broker, "hiding")
    plain = Producer({"bootstrap.servers": shared_broker.bootstrap})
    plain.produce("hidden", b"before")
    plain.flush(DEADLINE_S)
    producer.begin_transaction()
    producer.produce("hidden", b"inside")
    producer.flush(DEADLINE_S)
    plain.produce("hidden", b"after")
    plain.flush(DEADLINE_S)
    assert read_all(shared_broker, "hidden") == [b"before"]
    producer.commit_transaction(DEADLINE_S)
    assert read_all(shared_broker, "hidden") == [b"before", b"inside", b"after"]


def test_a_new_holder_fences_the_old_and_aborts_its_transaction(shared_broker: BrokerProcess) -> None:
    old = transactional(shared_broker, "contested")
    old.begin_transaction()
    old.produce("contested", b"old")
    old.flush(DEADLINE_S)
    new = transactional(shared_broker, "contested")
    with pytest.raises(KafkaException) as refused:
        old.commit_transaction(DEADLINE_S)
    assert refused.value.args[0].name() in ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
    new.begin_transaction()
    new.produce("contested", b"new")
    new.commit_transaction(DEADLINE_S)
    assert read_all(shared_broker, "contested") == [b"new"]


def test_a_transaction_that_takes_too_long_is_aborted(shared_broker: BrokerProcess) -> None:
    producer = transactional(shared_broker, "slow", **{"transaction.timeout.ms": 1000, "message.timeout.ms": 1000})
    producer.begin_transaction()
    producer.produce("slow", b"too late")
    producer.flush(DEADLINE_S)
    plain = Producer({"bootstrap.servers": shared_broker.bootstrap})
    plain.produce("slow", b"plain")
    plain.flush(DEADLINE_S)
    ends_at = time.monotonic() + DEADLINE_S
    while read_all(shared_broker, "slow") != [b"plain"]:
        assert time.monotonic() < ends_at
    with pytest.raises(KafkaException):
        producer.commit_transaction(DEADLINE_S)


def test_a_timeout_beyond_the_limit_is_refused(shared_broker: BrokerProcess) -> None:
    with pytest.raises(KafkaException, match="INVALID_TRANSACTION_TIMEOUT"):
        transactional(shared_broker, "patient", **{"transaction.timeout.ms": 900_001})


@pytest.mark.parametrize("commit", [True, False])
def test_offsets_are_committed_with_the_transaction_or_not_at_all(shared_broker: BrokerProcess, commit: bool) -> None:
    topic, group = f"offsets-{commit}", f"group-{commit}"
    producer = transactional(shared_broker, f"offsets-{commit}")
    reader = Consumer(
        {"bootstrap.servers": shared_broker.bootstrap, "group.id": group, "isolation.level": "read_committed"}
    )
    producer.begin_transaction()
    producer.produce(topic, b"out")
    position = [TopicPartition(topic, 0, 7, "meta")]
    producer.flush(DEADLINE_S)
    producer.send_offsets_to_transaction(position, reader.consumer_group_metadata(), DEADLINE_S)
    if commit:
        producer.commit_transaction(DEADLINE_S)
    else:
        producer.abort_transaction(DEADLINE_S)
    (found,) = reader.committed([TopicPartition(topic, 0)], DEADLINE_S)
    assert found.offset == (7 if commit else -1001)
    reader.close()


def test_a_kill_before_the_end_leaves_the_transaction_open_to_commit_or_abort(broker: BrokerProcess) -> None:
    producer = transactional(broker, "killed")
    producer.begin_transaction()
    producer.produce("killed", b"first")
    producer.flush(DEADLINE_S)
    broker.restart()
    assert read_all(broker, "killed") == []
    producer.produce("killed", b"second")
    producer.commit_transaction(DEADLINE_S)
    assert read_all(broker, "killed") == [b"first", b"second"]


def test_a_kill_before_the_end_and_a_new_holder_abort_it(broker: BrokerProcess) -> None:
    producer = transactional(broker, "given-up")
    producer.begin_transaction()
    producer.produce("given-up", b"lost on purpose")
    producer.flush(DEADLINE_S)
    broker.restart()
    heir = transactional(broker, "given-up")
    heir.begin_transaction()
    heir.produce("given-up", b"heir")
    heir.commit_transaction(DEADLINE_S)
    assert read_all(broker, "given-up") == [b"heir"]


@pytest.mark.parametrize("commit", [True, False])
def test_a_kill_right_after_the_end_was_answered_changes_nothing(broker: BrokerProcess, commit: bool) -> None:
    producer = transactional(broker, "ended")
    producer.begin_transaction()
    for number in range(5):
        producer.produce("ended", str(number).encode())
    producer.flush(DEADLINE_S)
    (producer.commit_transaction if commit else producer.abort_transaction)(DEADLINE_S)
    broker.restart()
    assert read_all(broker, "ended") == ([b"0", b"1", b"2", b"3", b"4"] if commit else [])
    producer.begin_transaction()
    producer.produce("ended", b"next")
    producer.commit_transaction(DEADLINE_S)
    assert read_all(broker, "ended")[-1:] == [b"next"]


def test_an_idempotent_producer_goes_on_after_a_kill_without_doubles(broker: BrokerProcess) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 0, **BRISK})
    for number in range(500):
        producer.produce("idempotent", str(number).encode())
        producer.poll(0)
        if number == 250:
            broker.restart()
    assert producer.flush(DEADLINE_S) == 0
    assert read_all(broker, "idempotent") == [str(number).encode() for number in range(500)]

"""confluent-kafka (librdkafka) against a real broker process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaException, Message, TopicPartition
from confluent_kafka.admin import ConfigResource, NewTopic, OffsetSpec  # type: ignore[attr-defined]
from tests.kafka_clients import AdminClient, Consumer, Producer

from headrace.wire.testing import BrokerProcess

DEADLINE_S = 30.0


def produce(bootstrap: str, topic: str, values: list[bytes], **settings: Any) -> list[Message]:
    reports: list[Message] = []
    producer = Producer({"bootstrap.servers": bootstrap, **settings})

    def report(error: object, message: Message) -> None:
        assert error is None, error
        reports.append(message)

    for value in values:
        producer.produce(topic, value, on_delivery=report)
    assert producer.flush(DEADLINE_S) == 0
    return reports


@contextmanager
def consumer(bootstrap: str, group: str, **settings: Any) -> Iterator[Consumer]:
    opened = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 20,
            **settings,
        }
    )
    try:
        yield opened
    finally:
        opened.close()


def poll_values(reader: Consumer, count: int) -> list[bytes]:
    values: list[bytes] = []
    ends_at = time.monotonic() + DEADLINE_S
    while len(values) < count:
        assert time.monotonic() < ends_at, f"only {len(values)} of {count} records came"
        message = reader.poll(0.5)
        if message is not None:
            assert message.error() is None, message.error()
            value = message.value()
            assert value is not None
            values.append(value)
    return values


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_come_back_in_order_with_every_codec(shared_broker: BrokerProcess, codec: str) -> None:
    topic = f"codec-{codec}"
    values = [f"{codec}-{number}".encode() * 20 for number in range(500)]
    reports = produce(shared_broker.bootstrap, topic, values, **{"compression.type": codec, "linger.ms": 5})
    assert [report.offset() for report in reports] == list(range(500))
    with consumer(shared_broker.bootstrap, f"group-{codec}") as reader:
        reader.subscribe([topic])
        assert poll_values(reader, 500) == values


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acks_stores_the_records(shared_broker: BrokerProcess, acks: str) -> None:
    topic = f"acks-{acks}"
    produce(shared_broker.bootstrap, topic, [b"one", b"two"], acks=acks)
    with consumer(shared_broker.bootstrap, f"acks-{acks}") as reader:
        reader.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        assert poll_values(reader, 2) == [b"one", b"two"]


def test_topics_are_created_listed_described_and_deleted(shared_broker: BrokerProcess) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    wanted = NewTopic("made", 3, 1, config={"retention.ms": "60000"})
    admin.create_topics([wanted])["made"].result(DEADLINE_S)
    assert set(admin.list_topics(timeout=DEADLINE_S).topics["made"].partitions) == {0, 1, 2}
    resource = ConfigResource("topic", "made")
    described = admin.describe_configs([resource])[resource].result(DEADLINE_S)
    assert described["retention.ms"].value == "60000"
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        admin.create_topics([wanted])["made"].result(DEADLINE_S)
    admin.delete_topics(["made"])["made"].result(DEADLINE_S)
    assert "made" not in admin.list_topics(timeout=DEADLINE_S).topics


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (NewTopic("bad name", 1, 1), "TOPIC_EXCEPTION"),
        (NewTopic("three-replicas", 1, 3), "INVALID_REPLICATION_FACTOR"),
        (NewTopic("misconfigured", 1, 1, config={"retention.msec": "1"}), "INVALID_CONFIG"),
        (NewTopic("too-many", 100_000, 1), "POLICY_VIOLATION"),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_the_reason(
    shared_broker: BrokerProcess, topic: NewTopic, code: str
) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    with pytest.raises(KafkaException, match=code):
        admin.create_topics([topic])[topic.topic].result(DEADLINE_S)


def test_a_large_message_passes_and_a_too_large_one_is_refused(shared_broker: BrokerProcess) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    admin.create_topics([NewTopic("large", 1, 1, config={"max.message.bytes": "9000000"})])["large"].result(DEADLINE_S)
    large = bytes(range(256)) * 32_000
    settings = {"message.max.bytes": 20_000_000}
    produce(shared_broker.bootstrap, "large", [large], **settings)
    with consumer(shared_broker.bootstrap, "large", **{"fetch.message.max.bytes": 1000}) as reader:
        reader.assign([TopicPartition("large", 0, OFFSET_BEGINNING)])
        assert poll_values(reader, 1) == [large]
    errors: list[object] = []
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap, **settings})
    producer.produce("large", large * 2, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(DEADLINE_S) == 0
    assert [error.name() for error in errors] == ["MSG_SIZE_TOO_LARGE"]  # type: ignore[attr-defined]


def test_offsets_are_found_by_time(shared_broker: BrokerProcess) -> None:
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    for number in range(100):
        producer.produce("timed", str(number).encode(), timestamp=1_000_000 + number * 1_000)
    producer.flush(DEADLINE_S)
    with consumer(shared_broker.bootstrap, "timed") as reader:
        asked = [1_000_000 + 41_500, 1_000_000 + 42_000, 0, 99_000_000]
        found = [reader.offsets_for_times([TopicPartition("timed", 0, at)], DEADLINE_S)[0].offset for at in asked]
        # librdkafka gives the end (-1) when no record is as new as that.
        assert found == [42, 42, 0, -1]
        assert reader.get_watermark_offsets(TopicPartition("timed", 0), DEADLINE_S) == (0, 100)


def test_the_newest_record_by_time_is_found(shared_broker: BrokerProcess) -> None:
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    for at in (5_000, 9_000, 7_000):
        producer.produce("newest", b"x", timestamp=at)
        producer.flush(DEADLINE_S)
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    place = TopicPartition("newest", 0)
    wanted = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
    found = admin.list_offsets({place: wanted})[place].result(DEADLINE_S)
    assert (found.offset, found.timestamp) == (1, 9_000)


def test_the_oldest_records_can_be_deleted(shared_broker: BrokerProcess) -> None:
    produce(shared_broker.bootstrap, "shortened", [b"a", b"b", b"c"])
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    place = TopicPartition("shortened", 0, 2)
    assert admin.delete_records([place])[place].result(DEADLINE_S).low_watermark == 2
    with consumer(shared_broker.bootstrap, "shortened") as reader:
        assert reader.get_watermark_offsets(place, DEADLINE_S) == (2, 3)
        reader.assign([TopicPartition("shortened", 0, OFFSET_BEGINNING)])
        assert poll_values(reader, 1) == [b"c"]


def test_the_broker_describes_its_settings(shared_broker: BrokerProcess) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    resource = ConfigResource("broker", "1")
    described = admin.describe_configs([resource])[resource].result(DEADLINE_S)
    assert described["num.partitions"].value == "1"


def test_a_committed_offset_and_its_metadata_come_back(shared_broker: BrokerProcess) -> None:
    produce(shared_broker.bootstrap, "committed", [b"a", b"b", b"c"])
    with consumer(shared_broker.bootstrap, "commits") as reader:
        position = TopicPartition("committed", 0, 2, "half way")
        reader.commit(offsets=[position], asynchronous=False)
        (found,) = reader.committed([TopicPartition("committed", 0)], DEADLINE_S)
        assert (found.offset, found.metadata) == (2, "half way")


def test_an_unknown_topic_or_offset_is_an_error_not_a_hang(shared_broker: BrokerProcess) -> None:
    produce(shared_broker.bootstrap, "short", [b"only"])
    with consumer(shared_broker.bootstrap, "short", **{"auto.offset.reset": "error"}) as reader:
        reader.assign([TopicPartition("short", 0, 500)])
        message = reader.poll(DEADLINE_S)
        assert message is not None
        error = message.error()
        assert error is not None
        assert error.name() == "_AUTO_OFFSET_RESET"


def test_a_hundred_connections_are_served_at_once(shared_broker: BrokerProcess) -> None:
    producers = [Producer({"bootstrap.servers": shared_broker.bootstrap, "linger.ms": 0}) for _ in range(100)]
    for number, producer in enumerate(producers):
        producer.produce("crowd", str(number).encode())
    assert [producer.flush(DEADLINE_S) for producer in producers] == [0] * 100
    with consumer(shared_broker.bootstrap, "crowd") as reader:
        reader.assign([TopicPartition("crowd", 0, OFFSET_BEGINNING)])
        assert sorted(int(value) for value in poll_values(reader, 100)) == list(range(100))


def test_the_cluster_describes_itself(shared_broker: BrokerProcess) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    described = admin.describe_cluster().result(DEADLINE_S)
    assert len(described.nodes) == 1
    assert described.controller.port == shared_broker.port
    assert described.cluster_id

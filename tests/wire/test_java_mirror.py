"""MirrorMaker 2 between brokers: topics with their settings, records, and positions of groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    ResourceType,
)
from tests.campaign import IS_CAMPAIGN
from tests.kafka_clients import AdminClient, Consumer, Producer
from tests.wire.conftest import StartBroker
from tests.wire.java_stack import JavaProgram, java_program, stack_classpath

UNTESTED = "MirrorMaker 2 with our broker is"
CALL_TIMEOUT_S = 60.0
PARTITIONS = 2
RECORDS = 1_000
COPY = "there.orders"
OF_THE_TOPIC = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
SETTINGS = {"retention.ms": "7200000", "max.message.bytes": "2000000", "segment.bytes": "20000000"}
SIDES = [("kafka", "headrace"), ("headrace", "kafka"), *[("headrace", "headrace")] * IS_CAMPAIGN]
MIRROR = """clusters = there, here
there.bootstrap.servers = {there}
here.bootstrap.servers = {here}
there->here.enabled = true
there->here.topics = orders
there->here.groups = readers
here->there.enabled = false
here->there.emit.heartbeats.enabled = false
here.plugin.discovery = service_load
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
offset.lag.max = 0
here.offset.flush.interval.ms = 500
refresh.topics.interval.seconds = 1
refresh.groups.interval.seconds = 1
sync.topic.configs.interval.seconds = 1
emit.checkpoints.interval.seconds = 1
sync.group.offsets.enabled = true
sync.group.offsets.interval.seconds = 1
emit.heartbeats.interval.seconds = 1
"""


class Cluster:
    """What the test asks of one of the two sides."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def create(self, topic: str, settings: Mapping[str, str]) -> None:
        new = NewTopic(topic, PARTITIONS, 1, config=dict(settings))
        self._admin.create_topics([new])[topic].result(CALL_TIMEOUT_S)

    def topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=CALL_TIMEOUT_S).topics)

    def settings(self, topic: str) -> dict[str, str]:
        """Those of the topic itself."""
        asked = ConfigResource(ResourceType.TOPIC, topic)
        entries = self._admin.describe_configs([asked])[asked].result(CALL_TIMEOUT_S)
        return {name: str(entry.value) for name, entry in entries.items() if entry.source == OF_THE_TOPIC}

    def change(self, topic: str, changes: Mapping[str, str | None]) -> None:
        """None takes a setting back."""
        entries = [
            ConfigEntry(
                name,
                value,
                incremental_operation=AlterConfigOpType.SET if value is not None else AlterConfigOpType.DELETE,
            )
            for name, value in changes.items()
        ]
        asked = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        self._admin.incremental_alter_configs([asked])[asked].result(CALL_TIMEOUT_S)

    def write(self, topic: str, first: int, count: int) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 0})
        for number in range(first, first + count):
            producer.produce(topic, str(number).encode(), key=b"k", partition=number % PARTITIONS)
        assert producer.flush(CALL_TIMEOUT_S) == 0

    def commit(self, topic: str, group: str, offset: int) -> None:
        reader = self._reader(group)
        places = [TopicPartition(topic, index, offset) for index in range(PARTITIONS)]
        reader.commit(offsets=places, asynchronous=False)
        reader.close()

    def committed(self, topic: str, group: str) -> list[int]:
        reader = self._reader(group)
        places = reader.committed([TopicPartition(topic, index) for index in range(PARTITIONS)], CALL_TIMEOUT_S)
        reader.close()
        return [place.offset for place in places]

    def ends(self, topic: str) -> list[int]:
        reader = self._reader("checker")
        places = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        ends = [reader.get_watermark_offsets(place, CALL_TIMEOUT_S, cached=False)[1] for place in places]
        reader.close()
        return ends

    def values(self, topic: str, partition: int, count: int) -> list[int]:
        reader = self._reader("checker")
        reader.assign([TopicPartition(topic, partition, 0)])
        found = reader.consume(count, CALL_TIMEOUT_S)
        reader.close()
        return [int(message.value() or b"-1") for message in found]

    def _reader(self, group: str) -> Consumer:
        return Consumer({"bootstrap.servers": self.bootstrap, "group.id": group, "log_level": 0})


@pytest.fixture
def sides(request: pytest.FixtureRequest, start_broker: StartBroker) -> tuple[Cluster, Cluster]:
    """Where the records come from, and where they go."""
    there, here = (
        request.getfixturevalue("kafka") if kind == "kafka" else start_broker().bootstrap for kind in request.param
    )
    return Cluster(there), Cluster(here)


@pytest.mark.slow
@pytest.mark.parametrize("sides", SIDES, indirect=True, ids="-to-".join)
def test_mirror(sides: tuple[Cluster, Cluster], tmp_path: Path) -> None:
    classpath = stack_classpath(UNTESTED)
    there, here = sides
    there.create("orders", SETTINGS)
    there.write("orders", 0, RECORDS)
    properties = tmp_path / "mirror.properties"
    properties.write_text(MIRROR.format(there=there.bootstrap, here=here.bootstrap))
    main = "org.apache.kafka.connect.mirror.MirrorMaker"
    with java_program(classpath, tmp_path / "java", main, str(properties)) as mirror:
        mirror.wait_for(lambda: COPY in here.topics(), "the topic is there")
        records_come(mirror, there, here)
        settings_come(mirror, there, here)
        groups_come(mirror, there, here)
        assert {"heartbeats", "there.checkpoints.internal", "mm2-configs.there.internal"} <= here.topics()


def records_come(mirror: JavaProgram, there: Cluster, here: Cluster) -> None:
    mirror.wait_for(lambda: here.ends(COPY) == there.ends("orders"), "the records are there")
    for partition in range(PARTITIONS):
        assert here.values(COPY, partition, RECORDS // PARTITIONS) == list(range(partition, RECORDS, PARTITIONS))


def settings_come(mirror: JavaProgram, there: Cluster, here: Cluster) -> None:
    """With the topic, changed later, and taken back: MirrorMaker deletes what is the default at the source."""
    assert here.settings(COPY) == SETTINGS
    there.change("orders", {"retention.ms": None, "cleanup.policy": "compact", "segment.bytes": "30000000"})
    changed = {"max.message.bytes": "2000000", "segment.bytes": "30000000", "cleanup.policy": "compact"}
    mirror.wait_for(lambda: here.settings(COPY) == changed, "a changed and a deleted setting are there")


def groups_come(mirror: JavaProgram, there: Cluster, here: Cluster) -> None:
    """Positions at the end of the topic are translated exactly, others to one before them."""
    for end in (RECORDS, 2 * RECORDS):
        there.commit("orders", "readers", end // PARTITIONS)
        mirror.wait_for(partial(positions_came, there, here), f"the group is at {end // PARTITIONS}")
        there.write("orders", end, RECORDS)
        mirror.wait_for(lambda: here.ends(COPY) == there.ends("orders"), "more records are there")


def positions_came(there: Cluster, here: Cluster) -> bool:
    return here.committed(COPY, "readers") == there.committed("orders", "readers")

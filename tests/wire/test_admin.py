"""What administrators' tools ask for: partitions, settings, places on disk, producers, transactions, offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)
from tests.kafka_clients import AdminClient, Producer

from headrace.log import encode_batches
from headrace.wire import protocol
from headrace.wire.asking import asking
from headrace.wire.client import Client
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import configs, fetch, offsets, partitions, produce, transactions
from headrace.wire.messages.cluster import MetadataRequest, MetadataTopicRequest
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 30.0


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": shared_broker.bootstrap})


@pytest.fixture
def connection(shared_broker: BrokerProcess) -> Iterator[BrokerConnection]:
    opened = BrokerConnection(("127.0.0.1", shared_broker.port), "admin-test", Deadline(10_000))
    yield opened
    opened.close()


def ask(connection: BrokerConnection, api: Any, request: Any, version: int | None = None) -> Any:
    return connection.send(api, request, Deadline(10_000), version)


def create(admin: AdminClient, name: str, partition_count: int = 1, **config: str) -> None:
    settings = {setting.replace("_", "."): value for setting, value in config.items()}
    admin.create_topics([NewTopic(name, partition_count, 1, config=settings)])[name].result(DEADLINE_S)


def settings_of(admin: AdminClient, name: str) -> dict[str, Any]:
    resource = ConfigResource("topic", name)
    return dict(admin.describe_configs([resource])[resource].result(DEADLINE_S))


def change(admin: AdminClient, name: str, setting: str, value: str, operation: AlterConfigOpType) -> None:
    entry = ConfigEntry(setting, value, incremental_operation=operation)
    resource = ConfigResource("topic", name, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(DEADLINE_S)


def test_a_topic_gets_more_partitions_and_never_fewer(admin: AdminClient, shared_broker: BrokerProcess) -> None:
    create(admin, "grows")
    admin.create_partitions([NewPartitions("grows", 3)], validate_only=True)["grows"].result(DEADLINE_S)
    assert len(admin.list_topics("grows").topics["grows"].partitions) == 1
    admin.create_partitions([NewPartitions("grows", 3)])["grows"].result(DEADLINE_S)
    assert len(admin.list_topics("grows").topics["grows"].partitions) == 3
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    producer.produce("grows", b"x", partition=2)
    assert producer.flush(DEADLINE_S) == 0
    for topic, count, code in [
        ("grows", 2, "INVALID_PARTITIONS"),
        ("no-such", 2, "UNKNOWN_TOPIC"),
        ("grows", 30_000, "POLICY"),
    ]:
        with pytest.raises(KafkaException, match=code):
            admin.create_partitions([NewPartitions(topic, count)])[topic].result(DEADLINE_S)


def test_settings_change_one_by_one(admin: AdminClient) -> None:
    create(admin, "tuned", retention_ms="1000", segment_bytes="2048")
    change(admin, "tuned", "max.message.bytes", "5000", AlterConfigOpType.SET)
    change(admin, "tuned", "retention.ms", "", AlterConfigOpType.DELETE)
    found = settings_of(admin, "tuned")
    assert (found["max.message.bytes"].value, found["segment.bytes"].value) == ("5000", "2048")
    assert found["retention.ms"].value == "604800000"
    assert found["retention.ms"].is_default
    assert not found["segment.bytes"].is_default


def test_an_unknown_or_impossible_setting_is_refused_by_name(admin: AdminClient) -> None:
    create(admin, "strict")
    for setting, value in [("retention.msec", "1"), ("retention.ms", "soon"), ("cleanup.policy", "burn")]:
        with pytest.raises(KafkaException, match=setting):
            change(admin, "strict", setting, value, AlterConfigOpType.SET)
    with pytest.raises(KafkaException, match="no list"):
        change(admin, "strict", "retention.ms", "1", AlterConfigOpType.APPEND)
    assert all(entry.is_default for entry in settings_of(admin, "strict").values())


def test_replacing_all_settings_resets_those_not_given(admin: AdminClient, connection: BrokerConnection) -> None:
    create(admin, "replaced", retention_ms="1000")
    change_ = configs.AlteredResource(2, "replaced", (configs.AlteredConfig("segment.bytes", "4096"),))
    for version in range(3):
        answer = ask(connection, protocol.ALTER_CONFIGS, configs.AlterConfigsRequest((change_,)), version)
        assert [result.error_code for result in answer.responses] == [ErrorCode.NONE]
    found = settings_of(admin, "replaced")
    assert (found["retention.ms"].value, found["segment.bytes"].value) == ("604800000", "4096")


def test_settings_tell_their_text_and_their_synonyms(admin: AdminClient, connection: BrokerConnection) -> None:
    create(admin, "told", retention_ms="1000")
    request = configs.DescribeConfigsRequest((configs.ConfigResource(2, "told", ("retention.ms",)),), True, True)
    (entry,) = ask(connection, protocol.DESCRIBE_CONFIGS, request).results[0].configs
    assert "-1 for no limit" in entry.documentation
    assert [(s.name, s.value, s.source) for s in entry.synonyms] == [
        ("retention.ms", "1000", 1),
        ("log.retention.ms", "604800000", 5),
    ]


def test_every_setting_of_a_topic_has_a_text(connection: BrokerConnection, admin: AdminClient) -> None:
    create(admin, "documented")
    request = configs.DescribeConfigsRequest((configs.ConfigResource(2, "documented"),), False, True)
    (found,) = ask(connection, protocol.DESCRIBE_CONFIGS, request).results
    assert [entry.name for entry in found.configs if not entry.documentation] == []


def test_every_setting_can_be_set_to_its_default_and_deleted(admin: AdminClient, connection: BrokerConnection) -> None:
    """As MirrorMaker 2 does for all settings of a topic that it mirrors."""
    create(admin, "mirrored")
    (found,) = ask(
        connection,
        protocol.DESCRIBE_CONFIGS,
        configs.DescribeConfigsRequest((configs.ConfigResource(2, "mirrored"),)),
    ).results
    assert {entry.config_source for entry in found.configs} == {5}
    values = {entry.name: entry.value for entry in found.configs}
    for operation in (0, 1):
        if operation == 1:
            # Another Kafka, or a newer one, may have more: as Kafka does, the broker has nothing to delete then.
            values["vendor.own.setting"] = "7"
        entries = tuple(configs.AlteredConfig(name, value, operation) for name, value in values.items())
        request = configs.AlterConfigsRequest((configs.AlteredResource(2, "mirrored", entries),))
        (result,) = ask(connection, protocol.INCREMENTAL_ALTER_CONFIGS, request).responses
        assert result.error_code == ErrorCode.NONE, result.error_message


@pytest.mark.parametrize("version", [7, 8, 9, 12])
def test_records_that_are_refused_are_named(admin: AdminClient, connection: BrokerConnection, version: int) -> None:
    name = f"refusing-{version}"
    create(admin, name, cleanup_policy="compact")
    records = next(encode_batches([b"a", None, b"c"], [b"1", b"2", b"3"], [1, 1, 1]))
    request = produce.ProduceRequest(None, -1, 10_000, (produce.ProducePartition(name, 0, records),))
    (answer,) = ask(connection, protocol.PRODUCE, request, version).partitions
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in answer.record_errors] == ([1] if version >= 8 else [])
    if version >= 8:
        assert "without a key" in answer.record_errors[0][1]
        assert answer.error_message


def test_a_record_of_the_future_is_refused(shared_broker: BrokerProcess, admin: AdminClient) -> None:
    create(admin, "future")
    failures: list[Any] = []
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    producer.produce("future", b"x", timestamp=2**52, on_delivery=lambda error, _: failures.append(error))
    producer.flush(DEADLINE_S)
    assert [error.name() for error in failures] == ["INVALID_TIMESTAMP"]


def test_the_size_of_partitions_is_told(
    connection: BrokerConnection, admin: AdminClient, shared_broker: BrokerProcess
) -> None:
    create(admin, "sized", 2)
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    producer.produce("sized", b"x" * 1000, partition=1)
    assert producer.flush(DEADLINE_S) == 0
    for version in range(1, 5):
        wanted = partitions.DescribeLogDirsRequest((partitions.TopicPartitions("sized", (0, 1, 7)),))
        (found,) = ask(connection, protocol.DESCRIBE_LOG_DIRS, wanted, version).results
        sizes = {entry.partition_index: entry.partition_size for entry in found.topics[0].partitions}
        assert sizes[0] == 0
        assert sizes[1] > 1000
        assert set(sizes) == {0, 1}
    everything = ask(connection, protocol.DESCRIBE_LOG_DIRS, partitions.DescribeLogDirsRequest(None))
    assert "__consumer_offsets" in {topic.name for topic in everything.results[0].topics}


def test_the_only_broker_leads_and_moves_nothing(connection: BrokerConnection, admin: AdminClient) -> None:
    create(admin, "led")
    wanted = partitions.ElectLeadersRequest((partitions.TopicPartitions("led", (0, 5)),))
    (topic,) = ask(connection, protocol.ELECT_LEADERS, wanted).replica_election_results
    codes = [entry.error_code for entry in topic.partition_result]
    assert codes == [ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    moving = ask(connection, protocol.LIST_PARTITION_REASSIGNMENTS, partitions.ListPartitionReassignmentsRequest(None))
    assert (moving.error_code, moving.topics) == (ErrorCode.NONE, ())


def test_producers_and_transactions_are_shown(connection: BrokerConnection, shared_broker: BrokerProcess) -> None:
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap, "transactional.id": "shown"})
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    producer.produce("watched", b"x")
    assert producer.flush(DEADLINE_S) == 0
    wanted = partitions.DescribeProducersRequest((partitions.NamedPartitions("watched", (0,)),))
    (found,) = ask(connection, protocol.DESCRIBE_PRODUCERS, wanted).topics[0].partitions
    (active,) = found.active_producers
    assert (active.last_sequence, active.current_txn_start_offset) == (0, 0)
    request = transactions.ListTransactionsRequest(("Ongoing", "Odd"), (active.producer_id,))
    listed = ask(connection, protocol.LIST_TRANSACTIONS, request)
    assert listed.unknown_state_filters == ("Odd",)
    assert [entry.transactional_id for entry in listed.transaction_states] == ["shown"]
    for pattern, names in (("sho.n", ["shown"]), ("sho", []), ("", ["shown"])):
        named = transactions.ListTransactionsRequest(("Ongoing",), transactional_id_pattern=pattern)
        listed = ask(connection, protocol.LIST_TRANSACTIONS, named)
        assert [entry.transactional_id for entry in listed.transaction_states] == names, pattern
    bad = transactions.ListTransactionsRequest(transactional_id_pattern="(")
    assert ask(connection, protocol.LIST_TRANSACTIONS, bad).error_code is ErrorCode.INVALID_REGULAR_EXPRESSION
    old = transactions.ListTransactionsRequest(duration_filter=3_600_000)
    assert ask(connection, protocol.LIST_TRANSACTIONS, old).transaction_states == ()
    described, unknown = ask(
        connection, protocol.DESCRIBE_TRANSACTIONS, transactions.DescribeTransactionsRequest(("shown", "no-such"))
    ).transaction_states
    assert described.topics == (transactions.TouchedTopic("watched", (0,)),)
    assert described.transaction_state == "Ongoing"
    assert unknown.error_code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    producer.abort_transaction(DEADLINE_S)


def test_committed_offsets_are_deleted_by_partition(connection: BrokerConnection, admin: AdminClient) -> None:
    create(admin, "forgotten", 2)
    committed = tuple(offsets.CommitPartition(index, 5, "") for index in (0, 1))
    commit = offsets.OffsetCommitRequest("forgetful", (offsets.CommitTopic("forgotten", committed),))
    ask(connection, protocol.OFFSET_COMMIT, commit)
    gone = offsets.OffsetDeleteTopic("forgotten", (offsets.DeletedOffsetPartition(1),))
    deleted = ask(connection, protocol.OFFSET_DELETE, offsets.OffsetDeleteRequest("forgetful", (gone,)))
    assert deleted.topics[0].partitions == (offsets.CommittedPartition(1, ErrorCode.NONE),)
    wanted = offsets.OffsetFetchGroup("forgetful", None)
    (group,) = ask(connection, protocol.OFFSET_FETCH, offsets.OffsetFetchRequest(groups=(wanted,))).groups
    assert [(p.partition_index, p.committed_offset) for p in group.topics[0].partitions] == [(0, 5)]
    unknown = ask(connection, protocol.OFFSET_DELETE, offsets.OffsetDeleteRequest("no-such", (gone,)))
    assert unknown.error_code is ErrorCode.GROUP_ID_NOT_FOUND


def test_records_are_written_and_read_by_topic_id(connection: BrokerConnection, shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap) as client:
        client.create_topics({"by-id": 1})
    (topic,) = ask(connection, protocol.METADATA, MetadataRequest((MetadataTopicRequest("by-id"),))).topics
    batch = next(encode_batches(None, [b"x"], [1]))
    for topic_id, code in [(topic.topic_id, ErrorCode.NONE), (UUID(int=5), ErrorCode.UNKNOWN_TOPIC_ID)]:
        entry = produce.ProducePartition("", 0, batch, topic_id)
        request = produce.ProduceRequest(None, -1, 1000, (entry,))
        (written,) = ask(connection, protocol.PRODUCE, request, 13).partitions
        assert (written.error_code, written.topic_id) == (code, topic_id)
        for version in range(13, 18):
            wanted = fetch.FetchPartition("", 0, 0, 1000, topic_id=topic_id)
            found = ask(connection, protocol.FETCH, fetch.FetchRequest(100, 1, 1000, 0, (wanted,)), version)
            (read,) = found.partitions
            assert (read.error_code, read.topic_id) == (code, topic_id)
            assert len(read.records) == (len(batch) if code is ErrorCode.NONE else 0)


def test_committed_offsets_by_topic_id(shared_broker: BrokerProcess) -> None:
    """Version 10 of OffsetCommit and OffsetFetch, which Apache Kafka 4.1 does not offer to clients yet."""
    unknown = UUID(int=11)
    with asking(shared_broker.bootstrap) as ask:
        topic_id = ask.create("offsets-by-id")
        entries = (offsets.CommitPartition(0, 3, "note"),)
        committed = tuple(offsets.CommitTopic(partitions=entries, topic_id=one) for one in (topic_id, unknown))
        told = ask(protocol.OFFSET_COMMIT, offsets.OffsetCommitRequest("by-id", committed), 10)
        assert [(topic.topic_id, topic.partitions[0].error_code.name) for topic in told.topics] == [
            (topic_id, "NONE"),
            (unknown, "UNKNOWN_TOPIC_ID"),
        ]

        def fetched(topics: tuple[offsets.OffsetFetchTopic, ...] | None) -> list[tuple[UUID, int, str]]:
            request = offsets.OffsetFetchRequest(groups=(offsets.OffsetFetchGroup("by-id", topics),))
            (group,) = ask(protocol.OFFSET_FETCH, request, 10).groups
            return [(t.topic_id, p.committed_offset, p.error_code.name) for t in group.topics for p in t.partitions]

        wanted = tuple(offsets.OffsetFetchTopic(partition_indexes=(0,), topic_id=one) for one in (topic_id, unknown))
        assert fetched(wanted) == [(topic_id, 3, "NONE"), (unknown, -1, "UNKNOWN_TOPIC_ID")]
        assert fetched(None) == [(topic_id, 3, "NONE")]

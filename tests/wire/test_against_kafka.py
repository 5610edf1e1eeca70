"""The same questions to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from headrace.bench.log_brokers import Kafka
from headrace.errors import ExternalFailure
from headrace.log import encode_batches, with_producer
from headrace.wire import protocol
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import (
    cluster,
    configs,
    consumer_groups,
    fetch,
    groups,
    offsets,
    partitions,
    produce,
    security,
    topics,
    transactions,
)
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow

DEADLINE_MS = 30_000
RETRY_S = 0.05
# Kafka makes its own topics when they are first needed, and says so in the meantime.
NOT_YET = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        node = Kafka(tmp_path_factory.mktemp("kafka"))
    except ExternalFailure as error:
        if os.environ.get("HEADRACE_REQUIRE_ALL") == "1":
            pytest.fail(f"HEADRACE_REQUIRE_ALL=1 demands Apache Kafka: {error}")
        pytest.skip(f"Apache Kafka CANNOT BE HAD, answers are not compared: {error}")
    try:
        with asking(node.bootstrap) as ask:
            # Being asked for a coordinator makes Kafka create the topics that coordinators need.
            for kind in (0, 1):
                ask(protocol.FIND_COORDINATOR, cluster.FindCoordinatorRequest(key_type=kind, coordinator_keys=("a",)))
        yield node.bootstrap
    finally:
        node.close()


class Asker:
    """Asks one broker; the answers are plain values that can be compared."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self._address = (host, int(port))
        self._connection = BrokerConnection(self._address, "asker", Deadline(DEADLINE_MS))

    def __call__(self, api: Any, request: Any, version: int | None = None) -> Any:
        deadline = Deadline(DEADLINE_MS)
        while True:
            answer = self._connection.send(api, request, deadline, version)
            if not NOT_YET & set(codes(answer)) or deadline.left_s() < 1:
                return answer
            time.sleep(RETRY_S)

    def create(self, name: str, count: int = 1, **settings: str) -> UUID:
        entries = tuple(configs_entry(key.replace("_", "."), value) for key, value in settings.items())
        wanted = topics.CreatableTopic(name, count, 1, (), entries)
        (created,) = self(protocol.CREATE_TOPICS, topics.CreateTopicsRequest((wanted,))).topics
        assert created.error_code is ErrorCode.NONE, created
        self.settle(name, count)
        assert created.topic_id is not None
        return UUID(bytes=created.topic_id.bytes)

    def settle(self, name: str, count: int) -> None:
        """Until the leaders are known, which takes Kafka a moment."""
        deadline = Deadline(DEADLINE_MS)
        while deadline.left_s() > 0:
            request = cluster.MetadataRequest((cluster.MetadataTopicRequest(name),), False)
            (topic,) = self(protocol.METADATA, request).topics
            if len(topic.partitions) == count and all(p.leader_id >= 0 for p in topic.partitions):
                return
            time.sleep(RETRY_S)
        raise AssertionError(f"{name} has no leaders")

    def write(self, topic: str, batch: bytes, *, acks: int = -1, transactional_id: str | None = None) -> Any:
        entry = produce.ProducePartition(topic, 0, batch)
        (written,) = self(protocol.PRODUCE, produce.ProduceRequest(transactional_id, acks, 5000, (entry,))).partitions
        return written

    def read(self, topic: str, offset: int, *, committed: bool = False, index: int = 0) -> Any:
        wanted = fetch.FetchPartition(topic, index, offset, 1 << 20)
        request = fetch.FetchRequest(100, 1, 1 << 20, int(committed), (wanted,))
        (found,) = self(protocol.FETCH, request).partitions
        return found

    def close(self) -> None:
        self._connection.close()


def configs_entry(name: str, value: str) -> topics.ConfigEntry:
    return topics.ConfigEntry(name, value)


def codes(answer: Any) -> Iterator[ErrorCode]:
    """Every error code anywhere in an answer."""
    if isinstance(answer, ErrorCode):
        yield answer
    elif isinstance(answer, tuple):
        for entry in answer:
            yield from codes(entry)
    elif dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        for field in dataclasses.fields(answer):
            yield from codes(getattr(answer, field.name))


def names(answer: Any) -> list[str]:
    return [code.name for code in codes(answer)]


def batch(*values: bytes, at_ms: int = 1_000) -> bytes:
    return next(encode_batches(None, list(values), [at_ms + 1000 * n for n in range(len(values))]))


def numbered(producer_id: int, epoch: int, sequence: int, *values: bytes, transactional: bool = False) -> bytes:
    return bytes(with_producer(batch(*values), producer_id, epoch, sequence, transactional=transactional))


Question = Callable[[Asker], Any]
QUESTIONS: list[Question] = []


def question(ask: Question) -> Question:
    QUESTIONS.append(ask)
    return ask


@question
def creating_topics(ask: Asker) -> Any:
    def tried(name: str, count: int = 1, factor: int = 1, config: tuple[tuple[str, str], ...] = ()) -> list[str]:
        entries = tuple(configs_entry(*entry) for entry in config)
        request = topics.CreateTopicsRequest((topics.CreatableTopic(name, count, factor, (), entries),))
        return names(ask(protocol.CREATE_TOPICS, request))

    validated = topics.CreateTopicsRequest((topics.CreatableTopic("validated", 1, 1),), validate_only=True)
    twice = topics.CreateTopicsRequest((topics.CreatableTopic("twice", 1, 1), topics.CreatableTopic("twice", 1, 1)))
    return {
        "good": tried("created"),
        "again": tried("created"),
        "bad name": tried("no spaces"),
        "empty name": tried(""),
        "dots": tried(".."),
        "long name": tried("x" * 250),
        "no partitions": tried("none", 0),
        "three replicas": tried("three", 1, 3),
        "unknown setting": tried("odd", config=(("no.such", "1"),)),
        "bad value": tried("odd", config=(("retention.ms", "soon"),)),
        "default counts": tried("defaulted", -1, -1),
        "validated": names(ask(protocol.CREATE_TOPICS, validated)),
        "validated is not there": names(
            ask(protocol.METADATA, cluster.MetadataRequest((cluster.MetadataTopicRequest("validated"),), False))
        )[:1],
        "twice": sorted(set(names(ask(protocol.CREATE_TOPICS, twice)))),
    }


@question
def growing_topics(ask: Asker) -> Any:
    ask.create("growing", 2)

    def tried(name: str, count: int, brokers: tuple[int, ...] | None = None) -> list[str]:
        assignments = None if brokers is None else (partitions.PartitionAssignment(brokers),)
        grown = partitions.GrownTopic(name, count, assignments)
        return names(ask(protocol.CREATE_PARTITIONS, partitions.CreatePartitionsRequest((grown,))))

    return [
        tried("growing", 1),
        tried("growing", 2),
        tried("growing", 3),
        tried("growing", 4, (7,)),
        tried("growing", 4, (1,)),
        tried("no-such", 3),
    ]


@question
def deleting_topics(ask: Asker) -> Any:
    topic_id = ask.create("deleted")

    def tried(name: str | None, topic_id: UUID | None = None) -> list[str]:
        request = topics.DeleteTopicsRequest(topics=(topics.DeletableTopic(name, topic_id),))
        return names(ask(protocol.DELETE_TOPICS, request))

    return [tried("no-such"), tried(None, UUID(int=9)), tried(None, topic_id), tried("deleted")]


@question
def describing_settings(ask: Asker) -> Any:
    ask.create("described", retention_ms="1000", cleanup_policy="compact")
    resource = configs.ConfigResource(2, "described")
    (found,) = ask(protocol.DESCRIBE_CONFIGS, configs.DescribeConfigsRequest((resource,))).results
    shared = (
        "cleanup.policy",
        "compression.type",
        "delete.retention.ms",
        "max.message.bytes",
        "message.timestamp.type",
        "min.cleanable.dirty.ratio",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
    )
    # Kafka was started with a larger message.max.bytes.
    values = {e.name: (e.value, e.config_type) for e in found.configs if e.name in shared}
    sources = {e.name: e.config_source for e in found.configs if e.name in ("retention.ms", "cleanup.policy")}
    return values | {"max.message.bytes": None}, sources, names(found)


@question
def describing_settings_that_are_not(ask: Asker) -> Any:
    def tried(kind: int, name: str) -> list[str]:
        request = configs.DescribeConfigsRequest((configs.ConfigResource(kind, name),))
        return names(ask(protocol.DESCRIBE_CONFIGS, request))

    return [tried(2, "no-such"), tried(4, "77"), tried(4, "1"), tried(3, "odd")]


@question
def changing_settings(ask: Asker) -> Any:
    ask.create("changed", retention_ms="1000", segment_bytes="1048576")

    def tried(name: str, setting: str, value: str | None, operation: int = 0) -> list[str]:
        entry = configs.AlteredConfig(setting, value, operation)
        request = configs.AlterConfigsRequest((configs.AlteredResource(2, name, (entry,)),))
        return names(ask(protocol.INCREMENTAL_ALTER_CONFIGS, request))

    outcomes = [
        tried("changed", "max.message.bytes", "5000"),
        tried("changed", "retention.ms", None, 1),
        tried("changed", "cleanup.policy", "compact", 2),
        tried("changed", "cleanup.policy", "delete", 3),
        tried("changed", "retention.ms", "soon"),
        tried("changed", "no.such", "1"),
        tried("changed", "retention.ms", "1", 2),
        tried("no-such", "retention.ms", "1"),
    ]
    wanted = ("retention.ms", "segment.bytes", "max.message.bytes", "cleanup.policy")
    request = configs.DescribeConfigsRequest((configs.ConfigResource(2, "changed", wanted),))
    (found,) = ask(protocol.DESCRIBE_CONFIGS, request).results
    return outcomes, {e.name: e.value for e in found.configs}


@question
def writing(ask: Asker) -> Any:
    ask.create("written", max_message_bytes="2000")
    good = batch(b"a", b"b")
    bent = good[:-1] + bytes([good[-1] ^ 1])
    results = [
        ask.write("written", good),
        ask.write("written", good, acks=1),
        ask.write("written", bent),
        ask.write("written", batch(b"x" * 3000)),
        ask.write("no-such-topic", good),
        ask.write("written", good, acks=5),
    ]
    return [(r.error_code.name, r.base_offset) for r in results]


@question
def reading(ask: Asker) -> Any:
    ask.create("read", 2)
    ask.write("read", batch(b"a", b"b"))
    ask.write("read", batch(b"c"))
    found = [ask.read("read", 0), ask.read("read", 1), ask.read("read", 3), ask.read("read", 4), ask.read("read", -5)]
    # Which of the batches come in one answer is not compared, nor the offsets beside an error.
    return [
        (f.error_code.name, f.high_watermark, f.log_start_offset, bool(f.records))
        if f.error_code is ErrorCode.NONE
        else f.error_code.name
        for f in found
    ], [ask.read("no-such", 0).error_code.name, ask.read("read", 0, index=9).error_code.name]


@question
def offsets_by_time(ask: Asker) -> Any:
    ask.create("timed")
    ask.write("timed", batch(b"a", b"b", b"c", at_ms=10_000))
    ask.write("timed", batch(b"d", at_ms=5_000))

    def found(timestamp: int, index: int = 0, topic: str = "timed") -> tuple[str, int, int]:
        wanted = offsets.ListOffsetsTopic(topic, (offsets.ListOffsetsPartition(index, timestamp),))
        (answer,) = ask(protocol.LIST_OFFSETS, offsets.ListOffsetsRequest(-1, (wanted,))).topics[0].partitions
        return answer.error_code.name, answer.offset, answer.timestamp

    asked = (-1, -2, -3, 0, 10_000, 10_500, 12_000, 12_001)
    return [found(at) for at in asked], found(-1, 5), found(-1, 0, "no-such")


@question
def numbering_batches(ask: Asker) -> Any:
    ask.create("numbered")
    given = ask(protocol.INIT_PRODUCER_ID, transactions.InitProducerIdRequest(None, 60_000))
    producer, epoch = given.producer_id, given.producer_epoch
    results = [
        ask.write("numbered", numbered(producer, epoch, 0, b"a", b"b")),
        ask.write("numbered", numbered(producer, epoch, 2, b"c")),
        ask.write("numbered", numbered(producer, epoch, 2, b"c")),
        ask.write("numbered", numbered(producer, epoch, 0, b"a", b"b")),
        ask.write("numbered", numbered(producer, epoch, 9, b"gap")),
        ask.write("numbered", numbered(producer, epoch + 1, 0, b"next epoch")),
        ask.write("numbered", numbered(producer, epoch, 3, b"old epoch")),
        ask.write("numbered", numbered(producer, epoch + 2, 5, b"epoch in the middle")),
    ]
    return epoch, [(r.error_code.name, r.base_offset) for r in results]


def begin(ask: Asker, name: str, timeout_ms: int = 60_000) -> Any:
    return ask(protocol.INIT_PRODUCER_ID, transactions.InitProducerIdRequest(name, timeout_ms))


def add(ask: Asker, name: str, producer: Any, topic: str, epoch_more: int = 0) -> list[str]:
    entry = transactions.TransactionTopic(topic, (0,))
    request = transactions.AddPartitionsToTxnRequest(
        name, producer.producer_id, producer.producer_epoch + epoch_more, (entry,)
    )
    return names(ask(protocol.ADD_PARTITIONS_TO_TXN, request, 3))


def end(ask: Asker, name: str, producer: Any, *, commit: bool, version: int = 4, epoch_more: int = 0) -> Any:
    request = transactions.EndTxnRequest(name, producer.producer_id, producer.producer_epoch + epoch_more, commit)
    return ask(protocol.END_TXN, request, version)


@question
def transactions_of_the_older_kind(ask: Asker) -> Any:
    ask.create("older")
    producer = begin(ask, "older-id")
    who = (producer.producer_id, producer.producer_epoch)
    told: list[Any] = [
        names(begin(ask, "odd", 0)),
        names(begin(ask, "odd", 10_000_000)),
        names(begin(ask, "")),
        names(end(ask, "no-such", producer, commit=True)),
        names(end(ask, "older-id", producer, commit=True)),
        add(ask, "older-id", producer, "no-such"),
        add(ask, "older-id", producer, "older", epoch_more=3),
        add(ask, "older-id", producer, "older"),
    ]
    wrote = ask.write("older", numbered(*who, 0, b"a", transactional=True), transactional_id="older-id")
    told.append((wrote.error_code.name, wrote.base_offset))
    open_read = ask.read("older", 0, committed=True)
    told += [open_read.last_stable_offset, open_read.high_watermark, bool(open_read.records)]
    told.append(names(end(ask, "older-id", producer, commit=False)))
    told.append(names(end(ask, "older-id", producer, commit=False)))
    told.append(names(end(ask, "older-id", producer, commit=True)))
    closed = ask.read("older", 0, committed=True)
    told += [closed.last_stable_offset, closed.high_watermark, [a.first_offset for a in closed.aborted or ()]]
    return told


@question
def transactions_of_the_newer_kind(ask: Asker) -> Any:
    ask.create("newer")
    producer = begin(ask, "newer-id")
    entry = produce.ProducePartition("newer", 0, numbered(producer.producer_id, 0, 0, b"a", transactional=True))
    request = produce.ProduceRequest("newer-id", -1, 5000, (entry,))
    told: list[Any] = [names(ask(protocol.PRODUCE, request, 12))]
    for commit, more in ((True, 0), (True, 0), (False, 0), (True, 1), (False, 1)):
        ended = end(ask, "newer-id", producer, commit=commit, version=5, epoch_more=more)
        told.append((ended.error_code.name, ended.producer_epoch))
    late = ask(protocol.PRODUCE, request, 12)
    found = ask.read("newer", 0, committed=True)
    return told, names(late), found.last_stable_offset, [a.first_offset for a in found.aborted or ()]


@question
def offsets_in_transactions(ask: Asker) -> Any:
    ask.create("moved")
    producer = begin(ask, "mover")
    who = (producer.producer_id, producer.producer_epoch)
    commit = transactions.TxnOffsetCommitRequest(
        "mover", "moving", *who, (offsets.CommitTopic("moved", (offsets.CommitPartition(0, 7, "here"),)),)
    )
    added = ask(protocol.ADD_OFFSETS_TO_TXN, transactions.AddOffsetsToTxnRequest("mover", *who, "moving"))
    told = [names(added), names(ask(protocol.TXN_OFFSET_COMMIT, commit, 4))]

    def committed(*, stable: bool) -> Any:
        wanted = offsets.OffsetFetchGroup("moving", (offsets.OffsetFetchTopic("moved", (0,)),))
        request = offsets.OffsetFetchRequest(groups=(wanted,), require_stable=stable)
        (group,) = ask(protocol.OFFSET_FETCH, request, 9).groups
        (partition,) = group.topics[0].partitions
        return partition.error_code.name, partition.committed_offset, partition.metadata

    before = committed(stable=False), committed(stable=True)
    ended = names(end(ask, "mover", producer, commit=True))
    deadline = Deadline(DEADLINE_MS)
    while (after := committed(stable=True))[0] == "UNSTABLE_OFFSET_COMMIT" and deadline.left_s() > 0:
        time.sleep(RETRY_S)  # Kafka completes a transaction after it answered
    return told, before, ended, after


@question
def groups_of_the_classic_kind(ask: Asker) -> Any:
    ask.create("grouped")

    def join(member: str, version: int = 9, session_ms: int = 30_000, group: str = "classic") -> Any:
        protocols = (groups.JoinProtocol("range", b"\0\0\0\0\0\1\0\7grouped\xff\xff\xff\xff"),)
        request = groups.JoinGroupRequest(group, session_ms, member, "consumer", protocols, 30_000)
        return ask(protocol.JOIN_GROUP, request, version)

    first = join("")
    told = [names(first), names(join("unknown")), names(join("", session_ms=1)), names(join("", group=""))]
    joined = join(first.member_id)
    told.append([*names(joined), joined.generation_id, joined.protocol_name, joined.leader == joined.member_id])
    assigned = (groups.MemberAssignment(joined.member_id, b"mine"),)
    synced = ask(protocol.SYNC_GROUP, groups.SyncGroupRequest("classic", 1, joined.member_id, assigned))
    told.append(names(synced))
    agreed = {"protocol_type": "consumer", "protocol_name": "range"}
    request = groups.SyncGroupRequest("classic", 1, joined.member_id, assigned, **agreed)
    synced = ask(protocol.SYNC_GROUP, request)
    told.append([*names(synced), synced.assignment])
    for member, generation in ((joined.member_id, 1), (joined.member_id, 5), ("other", 1)):
        told.append(names(ask(protocol.HEARTBEAT, groups.HeartbeatRequest("classic", generation, member))))

    def commit(
        member: str, generation: int, group: str = "classic", metadata: str = "x", topic: str = "grouped"
    ) -> Any:
        entry = offsets.CommitTopic(topic, (offsets.CommitPartition(0, 5, metadata),))
        return names(ask(protocol.OFFSET_COMMIT, offsets.OffsetCommitRequest(group, (entry,), generation, member)))

    told += [
        commit(joined.member_id, 1),
        commit(joined.member_id, 9),
        commit("", -1),
        commit("", -1, "simple"),
        commit("", 4, "simple"),
        commit("", -1, "simple", "m" * 5000),
        commit("", -1, "simple", topic="no-such"),
    ]

    def described(name: str) -> Any:
        (found,) = ask(protocol.DESCRIBE_GROUPS, groups.DescribeGroupsRequest((name,)), 6).groups
        # Of a group that never had members Kafka knows no type; here every group without members is a consumers' one.
        kind = None if name == "simple" else found.protocol_type
        return names(found), found.group_state, kind, found.protocol_data, len(found.members)

    told += [described("classic"), described("simple"), described("no-such")]
    delete = groups.DeleteGroupsRequest(("classic", "simple", "no-such"))
    told.append(names(ask(protocol.DELETE_GROUPS, delete)))
    leave = groups.LeaveGroupRequest("classic", members=(groups.LeavingMember(joined.member_id),))
    told += [names(ask(protocol.LEAVE_GROUP, leave)), names(ask(protocol.LEAVE_GROUP, leave)), described("classic")]
    return told


@question
def groups_of_the_newer_kind(ask: Asker) -> Any:
    ask.create("spread", 2)

    def beat(member: str, epoch: int, **fields: Any) -> Any:
        return ask(
            protocol.CONSUMER_GROUP_HEARTBEAT, consumer_groups.HeartbeatRequest("modern", member, epoch, **fields), 1
        )

    whole = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ("spread",), "topic_partitions": ()}
    told = [
        names(beat("m1", 0, **{**whole, "server_assignor": "odd"})),
        names(beat("m1", 0, **{**whole, "subscribed_topic_names": None, "subscribed_topic_regex": "("})),
        names(beat("m1", 0, rebalance_timeout_ms=1000)),
    ]
    deadline = Deadline(DEADLINE_MS)
    joined = beat("m1", 0, **whole)
    while (joined.assignment is None or not joined.assignment.topic_partitions) and deadline.left_s() > 0:
        time.sleep(RETRY_S)
        joined = beat("m1", 0, **whole)  # Kafka learns of the new topic a moment later
    indexes = joined.assignment.topic_partitions[0].partitions
    told += [names(joined), sorted(indexes), names(beat("m1", joined.member_epoch + 5))]

    def described(name: str) -> Any:
        (found,) = ask(protocol.CONSUMER_GROUP_DESCRIBE, consumer_groups.DescribeRequest((name,))).groups
        return names(found), found.group_state, found.assignor_name, len(found.members)

    told += [described("modern"), described("no-such"), names(beat("m2", 3))]
    left = beat("m1", -1)
    return [*told, names(left), left.member_epoch, names(beat("m1", -1))]


@question
def deleting_records(ask: Asker) -> Any:
    ask.create("emptied")
    ask.write("emptied", batch(b"a", b"b", b"c"))

    def tried(offset: int, topic: str = "emptied") -> Any:
        wanted = topics.DeleteRecordsTopic(topic, (topics.DeleteRecordsPartition(0, offset),))
        (found,) = ask(protocol.DELETE_RECORDS, topics.DeleteRecordsRequest((wanted,))).topics[0].partitions
        return found.error_code.name, found.low_watermark

    return [tried(2), tried(1), tried(9), tried(-1), tried(-7), tried(0, "no-such")]


@question
def deleting_offsets(ask: Asker) -> Any:
    gone = offsets.OffsetDeleteTopic("no-such", (offsets.DeletedOffsetPartition(1),))
    return names(ask(protocol.OFFSET_DELETE, offsets.OffsetDeleteRequest("no-such", (gone,))))[:1]


@question
def without_authentication(ask: Asker) -> Any:
    anything = security.DescribeAclsRequest(1, None, None, None, 1, 1, 1)
    users = security.DescribeScramRequest((security.UserName("nobody"),))
    creation = security.AclCreation(2, "t", "User:a", "*", 3, 3)
    return [
        names(ask(protocol.DESCRIBE_ACLS, anything)),
        names(ask(protocol.CREATE_ACLS, security.CreateAclsRequest((creation,)))),
        names(ask(protocol.DESCRIBE_USER_SCRAM_CREDENTIALS, users)),
    ]


@question
def setting_quotas(ask: Asker) -> Any:
    def tried(kind: str, key: str, value: float, *, remove: bool = False) -> list[str]:
        entry = security.AlteredQuota(
            (security.QuotaEntity(kind, "q"),), (security.QuotaOperation(key, value, remove),)
        )
        return names(ask(protocol.ALTER_CLIENT_QUOTAS, security.AlterQuotasRequest((entry,))))

    return [
        tried("client-id", "producer_byte_rate", 1e6),
        tried("client-id", "no_such_rate", 1e6),
        tried("client-id", "producer_byte_rate", -1.0),
        tried("odd", "producer_byte_rate", 1e6),
        tried("client-id", "producer_byte_rate", 0.0, remove=True),
    ]


@question
def finding_coordinators(ask: Asker) -> Any:
    def tried(kind: int) -> list[str]:
        request = cluster.FindCoordinatorRequest(key_type=kind, coordinator_keys=("a", "b"))
        return [c.error_code.name for c in ask(protocol.FIND_COORDINATOR, request).coordinators]

    return tried(0), tried(1)


@question
def looking_at_producers_and_transactions(ask: Asker) -> Any:
    ask.create("watched")
    producer = begin(ask, "watched-id")
    add(ask, "watched-id", producer, "watched")
    ask.write(
        "watched",
        numbered(producer.producer_id, producer.producer_epoch, 0, b"a", transactional=True),
        transactional_id="watched-id",
    )
    wanted = partitions.DescribeProducersRequest((partitions.NamedPartitions("watched", (0, 9)),))
    found, unknown = ask(protocol.DESCRIBE_PRODUCERS, wanted).topics[0].partitions
    (active,) = found.active_producers
    listed = ask(protocol.LIST_TRANSACTIONS, transactions.ListTransactionsRequest(("Ongoing", "Odd")))
    described = ask(
        protocol.DESCRIBE_TRANSACTIONS, transactions.DescribeTransactionsRequest(("watched-id", "no-such"))
    ).transaction_states
    end(ask, "watched-id", producer, commit=True)
    return (
        (active.last_sequence, active.current_txn_start_offset, unknown.error_code.name),
        (listed.unknown_state_filters, "watched-id" in {t.transactional_id for t in listed.transaction_states}),
        [(d.error_code.name, d.transaction_state, d.transaction_timeout_ms) for d in described][:1],
        described[1].error_code.name,
    )


@question
def electing_leaders(ask: Asker) -> Any:
    ask.create("elected")
    wanted = partitions.ElectLeadersRequest((partitions.TopicPartitions("elected", (0, 5)),))
    (topic,) = ask(protocol.ELECT_LEADERS, wanted).replica_election_results
    return sorted((p.partition_id, p.error_code.name) for p in topic.partition_result)


@contextmanager
def asking(bootstrap: str) -> Iterator[Asker]:
    asker = Asker(bootstrap)
    try:
        yield asker
    finally:
        asker.close()


@pytest.mark.parametrize("ask", QUESTIONS, ids=lambda ask: ask.__name__)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Question) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)


def test_every_api_of_kafka_that_a_client_uses_is_there(shared_broker: BrokerProcess, kafka: str) -> None:
    """What is missing is listed with its reason in docs/kafka-differences.md."""

    def spoken(bootstrap: str) -> dict[int, tuple[int, int]]:
        with asking(bootstrap) as ask:
            found = ask(protocol.API_VERSIONS, cluster.ApiVersionsRequest("asker", "1"), 3)
        return {entry.api_key: (entry.min_version, entry.max_version) for entry in found.api_keys}

    ours, theirs = spoken(shared_broker.bootstrap), spoken(kafka)
    missing = {27, 34, *range(38, 42), 45, 55, 57, 64, 71, 72, *range(74, 88), *range(90, 93)}
    assert set(theirs) - set(ours) <= missing
    assert {key for key in ours if ours[key][0] > theirs[key][0]} == set()

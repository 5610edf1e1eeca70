"""Consumer groups with real clients: everybody gets a share, nobody gets two, and offsets outlive the broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from confluent_kafka import ConsumerGroupState, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from tests.kafka_clients import AdminClient, Consumer, Producer

from headrace.wire.testing import BrokerProcess

DEADLINE_S = 40.0
PARTITIONS = 6


def make_topic(broker: BrokerProcess, topic: str, records: int = 0) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(DEADLINE_S)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(records):
        producer.produce(topic, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(DEADLINE_S) == 0


def member(broker: BrokerProcess, group: str, topic: str, **settings: object) -> Consumer:
    opened = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 100,
            "fetch.wait.max.ms": 20,
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 50,
            "log_level": 0,
            **settings,
        }
    )
    opened.subscribe([topic])
    return opened


def poll_until(members: Sequence[Consumer], condition: Callable[[], bool], seen: list[bytes] | None = None) -> None:
    ends_at = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends_at, [len(m.assignment()) for m in members]
        for reader in members:
            message = reader.poll(0.02)
            if message is not None and message.error() is None and seen is not None:
                seen.append(message.value() or b"")


def shares(members: Sequence[Consumer]) -> list[int]:
    return sorted(len(reader.assignment()) for reader in members)


def disjoint(members: Sequence[Consumer]) -> bool:
    held = [(entry.topic, entry.partition) for reader in members for entry in reader.assignment()]
    return len(held) == len(set(held)) == PARTITIONS


def test_partitions_are_shared_out_again_when_members_come_and_go(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "shared")
    members = [member(shared_broker, "sharing", "shared") for _ in range(2)]
    poll_until(members, lambda: shares(members) == [3, 3])
    members.append(member(shared_broker, "sharing", "shared"))
    poll_until(members, lambda: shares(members) == [2, 2, 2])
    assert disjoint(members)
    members.pop().close()
    poll_until(members, lambda: shares(members) == [3, 3])
    assert disjoint(members)
    for reader in members:
        reader.close()


def test_a_cooperative_group_rebalances_too(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "cooperative")
    settings = {"partition.assignment.strategy": "cooperative-sticky"}
    members = [member(shared_broker, "cooperating", "cooperative", **settings) for _ in range(3)]
    poll_until(members, lambda: shares(members) == [2, 2, 2])
    assert disjoint(members)
    for reader in members:
        reader.close()


def test_each_record_goes_to_one_member(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "once", records=600)
    members = [member(shared_broker, "reading-once", "once") for _ in range(3)]
    seen: list[bytes] = []
    poll_until(members, lambda: shares(members) == [2, 2, 2], seen)
    poll_until(members, lambda: len(set(seen)) == 600, seen)
    for reader in members:
        reader.close()


def test_a_silent_member_is_replaced_when_its_session_ends(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "silent")
    # The first member stops polling: librdkafka then leaves on its own, or the broker's session timeout removes it.
    silent = member(
        shared_broker, "going-silent", "silent", **{"max.poll.interval.ms": 1500, "session.timeout.ms": 1500}
    )
    poll_until([silent], lambda: shares([silent]) == [6])
    other = member(shared_broker, "going-silent", "silent")
    poll_until([other], lambda: shares([other]) == [6])
    other.close()
    silent.close()


def test_a_static_member_that_comes_back_keeps_its_partitions(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "static")
    members = [member(shared_broker, "standing", "static", **{"group.instance.id": f"m{n}"}) for n in range(2)]
    poll_until(members, lambda: shares(members) == [3, 3])
    held = {(entry.topic, entry.partition) for entry in members[0].assignment()}
    members[0].close()
    back = member(shared_broker, "standing", "static", **{"group.instance.id": "m0"})
    poll_until([back, members[1]], lambda: shares([back]) == [3])
    assert {(entry.topic, entry.partition) for entry in back.assignment()} == held
    back.close()
    members[1].close()


def test_committed_offsets_survive_a_kill_of_the_broker(broker: BrokerProcess) -> None:
    make_topic(broker, "kept", records=60)
    reader = member(broker, "keeping", "kept")
    seen: list[bytes] = []
    poll_until([reader], lambda: len(seen) == 60, seen)
    reader.commit(asynchronous=False)
    broker.restart()
    wanted = [TopicPartition("kept", index) for index in range(PARTITIONS)]
    assert [entry.offset for entry in reader.committed(wanted, DEADLINE_S)] == [10] * PARTITIONS
    reader.close()
    again = member(broker, "keeping", "kept")
    repeated: list[bytes] = []
    poll_until([again], lambda: shares([again]) == [6], repeated)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce("kept", b"new", partition=0)
    producer.flush(DEADLINE_S)
    poll_until([again], lambda: bool(repeated), repeated)
    assert repeated == [b"new"]
    again.close()


def test_a_member_goes_on_after_the_broker_was_killed(broker: BrokerProcess) -> None:
    make_topic(broker, "onward", records=6)
    reader = member(broker, "going-on", "onward")
    seen: list[bytes] = []
    poll_until([reader], lambda: len(seen) == 6, seen)
    broker.restart()
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce("onward", b"after", partition=3)
    assert producer.flush(DEADLINE_S) == 0
    poll_until([reader], lambda: b"after" in seen, seen)
    reader.close()


def test_groups_are_listed_described_and_deleted(shared_broker: BrokerProcess) -> None:
    make_topic(shared_broker, "looked-at")
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    reader = member(shared_broker, "looking", "looked-at", **{"client.id": "me"})
    poll_until([reader], lambda: shares([reader]) == [6])
    described = admin.describe_consumer_groups(["looking"])["looking"].result(DEADLINE_S)
    assert described.state == ConsumerGroupState.STABLE
    assert [entry.client_id for entry in described.members] == ["me"]
    assert len(described.members[0].assignment.topic_partitions) == PARTITIONS
    reader.commit(offsets=[TopicPartition("looked-at", 0, 0)], asynchronous=False)
    reader.close()
    listed = admin.list_consumer_groups().result(DEADLINE_S)
    assert "looking" in {entry.group_id for entry in listed.valid}
    admin.delete_consumer_groups(["looking"])["looking"].result(DEADLINE_S)
    listed = admin.list_consumer_groups().result(DEADLINE_S)
    assert "looking" not in {entry.group_id for entry in listed.valid}

"""Groups whose assignment the broker makes: never two owners, always all partitions in the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_DNS, UUID, uuid5

import pytest
from confluent_kafka import ConsumerGroupType
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.kafka_clients import AdminClient, Consumer, Producer

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.assignors import ASSIGNORS
from headrace.wire.coordinators.consumer_group import (
    JOINS,
    LEAVES,
    LEAVES_FOR_NOW,
    ConsumerGroup,
    ConsumerLimits,
    ConsumerMember,
    Report,
)
from headrace.wire.coordinators.consumer_group_records import changed_records, restore_groups
from headrace.wire.coordinators.consumer_groups import matching_topics
from headrace.wire.coordinators.member import ClientIdentity
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 40.0
WHO = ClientIdentity("client", "host")
SESSION_MS = 1_000
REBALANCE_MS = 500
TOPICS = ("a", "b", "c")


def join(member_id: str, topics: frozenset[str], instance_id: str | None = None) -> Report:
    return Report(member_id, JOINS, instance_id, None, REBALANCE_MS, topics, None, None, frozenset())


def topic_id(name: str) -> UUID:
    return uuid5(NAMESPACE_DNS, name)


def topic_name(found: UUID) -> str:
    return next(name for name in TOPICS if topic_id(name) == found)


def in_order(group: ConsumerGroup) -> list[ConsumerMember]:
    return [group.members[name] for name in sorted(group.members)]


class Groups(RuleBasedStateMachine):
    """Members come, go, fall silent and change their minds; topics grow. Each holds what it was last told."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0
        self.counts = dict.fromkeys(TOPICS, 2)
        self.group = self.make("g")
        self.held: dict[str, frozenset[tuple[str, int]]] = {}
        self.epochs: dict[str, int] = {}
        self.number = 0
        self.log: dict[bytes, bytes] = {}

    def save(self) -> None:
        """What a broker writes before it answers."""
        gone, self.group.unsaved = self.group.unsaved, set()
        group = self.group if self.group.members else None
        for key, value in changed_records("g", group, gone, self.log, topic_id):
            if value is None:
                del self.log[key]
            else:
                self.log[key] = value

    @rule()
    def restart(self) -> None:
        """Nothing of the broker is left but its log."""
        restored = restore_groups(self.log, self.make, topic_name, self.now_ms)
        self.group = restored.get("g", self.make("g"))

    @precondition(lambda self: self.held)
    @rule()
    def restart_unnoticed(self) -> None:
        """The group is as it was, but for times."""
        before = self.group
        self.restart()
        assert (self.group.epoch, self.group.target) == (before.epoch, {m: before.target[m] for m in before.members})
        assert [replace(m, expires_at_ms=0, revoke_by_ms=0) for m in in_order(self.group)] == [
            replace(m, expires_at_ms=0, revoke_by_ms=0) for m in in_order(before)
        ]

    def make(self, group_id: str) -> ConsumerGroup:
        return ConsumerGroup(group_id, ConsumerLimits(5, SESSION_MS, 100), lambda: self.counts, matching_topics)

    def beat(self, name: str, **changes: Any) -> None:
        report = Report(name, self.epochs[name], owned=self.held[name], **changes)
        try:
            told = self.group.heartbeat(report, WHO, self.now_ms)
        except Refusal as refusal:
            if refusal.code not in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
                raise
            del self.held[name], self.epochs[name]
            if refusal.code is ErrorCode.FENCED_MEMBER_EPOCH:
                self.enter(name, self.group.members[name].topics)
            return
        self.epochs[name] = told.epoch
        if told.assignment is not None:
            self.held[name] = told.assignment

    @precondition(lambda self: len(self.group.members) < 5)
    @rule(topics=st.frozensets(st.sampled_from(TOPICS), min_size=1))
    def join(self, topics: frozenset[str]) -> None:
        self.number += 1
        self.enter(f"m{self.number}", topics)

    def enter(self, name: str, topics: frozenset[str]) -> None:
        """Whoever is new, or was fenced and has given up everything."""
        told = self.group.heartbeat(join(name, topics), WHO, self.now_ms)
        self.held[name], self.epochs[name] = told.assignment or frozenset(), told.epoch

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        self.beat(data.draw(st.sampled_from(sorted(self.held))))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), topics=st.frozensets(st.sampled_from(TOPICS), min_size=1))
    def subscribe_anew(self, data: st.DataObject, topics: frozenset[str]) -> None:
        self.beat(data.draw(st.sampled_from(sorted(self.held))), topics=topics)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.held)))
        if name in self.group.members:
            self.group.heartbeat(Report(name, LEAVES), WHO, self.now_ms)
        del self.held[name], self.epochs[name]

    @rule(topic=st.sampled_from(TOPICS))
    def grow(self, topic: str) -> None:
        self.counts[topic] += 1

    @rule(passed_ms=st.integers(1, 700))
    def wait(self, passed_ms: int) -> None:
        """Whoever hears nothing for a session gives up what it has, as clients do."""
        self.now_ms += passed_ms
        self.group.tick(self.now_ms)
        for name in [name for name in self.held if name not in self.group.members]:
            del self.held[name], self.epochs[name]

    @precondition(lambda self: self.held)
    @rule(data=st.data(), written=st.booleans())
    def crash_before_the_answer(self, data: st.DataObject, written: bool) -> None:
        """The member asks again later, as if it had not asked."""
        name = data.draw(st.sampled_from(sorted(self.held)))
        # Refused where answers were lost before: the member hears of it when it asks again.
        with suppress(Refusal):
            self.group.heartbeat(Report(name, self.epochs[name], owned=self.held[name]), WHO, self.now_ms)
        if written:
            self.save()
        self.restart()

    @invariant()
    def everything_is_saved(self) -> None:
        self.save()

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        held = [partition for share in self.held.values() for partition in share]
        assert len(held) == len(set(held))

    def teardown(self) -> None:
        """With everybody alive for a while, every partition that somebody wants has an owner."""
        for _ in range(8):
            for name in sorted(self.held):
                self.beat(name)
        wanted = {topic for member in self.group.members.values() for topic in member.wanted}
        expected = {(topic, index) for topic in wanted for index in range(self.counts[topic])}
        assert {partition for share in self.held.values() for partition in share} == expected
        assert self.group.state == ("Stable" if self.held else "Empty")


Groups.TestCase.settings = settings(
    max_examples=150, stateful_step_count=30, suppress_health_check=list(HealthCheck), deadline=None
)
test_groups = Groups.TestCase


@pytest.mark.parametrize("assignor", sorted(ASSIGNORS))
def test_equal_members_get_equal_shares(assignor: str) -> None:
    subscriptions = {name: frozenset({"a"}) for name in ("x", "y", "z")}
    shares = ASSIGNORS[assignor](subscriptions, {"a": 8}, {})
    assert sorted(len(share) for share in shares.values()) == [2, 3, 3]


def test_little_moves_when_a_member_comes() -> None:
    before = ASSIGNORS["uniform"]({"x": frozenset("a"), "y": frozenset("a")}, {"a": 9}, {})
    after = ASSIGNORS["uniform"]({name: frozenset("a") for name in "xyz"}, {"a": 9}, before)
    assert [len(after[name]) for name in "xyz"] == [3, 3, 3]
    assert after["x"] <= before["x"]
    assert after["y"] <= before["y"]


def test_a_static_member_finds_its_partitions_again() -> None:
    group = ConsumerGroup("g", ConsumerLimits(5, SESSION_MS, 100), lambda: {"a": 4}, matching_topics)
    first = group.heartbeat(join("x", frozenset("a"), "rack-1"), WHO, 0)
    with pytest.raises(Refusal, match="UNRELEASED_INSTANCE_ID"):
        group.heartbeat(join("y", frozenset("a"), "rack-1"), WHO, 0)
    group.heartbeat(Report("x", LEAVES_FOR_NOW, "rack-1"), WHO, 0)
    other = group.heartbeat(join("z", frozenset("a")), WHO, 1)
    again = group.heartbeat(join("y", frozenset("a"), "rack-1"), WHO, 2)
    assert again.assignment is not None
    assert first.assignment is not None
    assert other.assignment is not None
    assert again.assignment < first.assignment
    assert not again.assignment & other.assignment


def test_who_holds_on_too_long_is_removed() -> None:
    group = ConsumerGroup("g", ConsumerLimits(5, 10_000, 100), lambda: {"a": 2}, matching_topics)
    first = group.heartbeat(join("x", frozenset("a")), WHO, 0)
    group.heartbeat(join("y", frozenset("a")), WHO, 0)
    group.heartbeat(Report("x", first.epoch, owned=first.assignment), WHO, 1)
    group.tick(REBALANCE_MS)
    assert set(group.members) == {"x", "y"}
    group.tick(REBALANCE_MS + 1)
    assert set(group.members) == {"y"}
    with pytest.raises(Refusal, match="UNKNOWN_MEMBER_ID"):
        group.heartbeat(Report("x", first.epoch), WHO, REBALANCE_MS + 2)


def test_expressions_mean_whole_names_and_bad_ones_are_refused() -> None:
    counts = {"orders": 1, "orders-old": 1, "__hidden": 1}
    assert matching_topics("orders", counts) == {"orders"}
    assert matching_topics("ord.*", counts) == {"orders", "orders-old"}
    assert matching_topics(".*", counts) == {"orders", "orders-old"}
    with pytest.raises(Refusal, match="INVALID_REGULAR_EXPRESSION"):
        matching_topics("(", counts)


@pytest.fixture
def consumers(shared_broker: BrokerProcess) -> Iterator[Any]:
    opened: list[Consumer] = []

    def make(group: str, **more: Any) -> Consumer:
        configuration = {
            "bootstrap.servers": shared_broker.bootstrap,
            "group.id": group,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            **more,
        }
        opened.append(Consumer(configuration))
        return opened[-1]

    yield make
    for consumer in opened:
        consumer.close()


def until(condition: Any, consumers: list[Consumer], seen: list[bytes]) -> None:
    ends_at = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends_at, [consumer.assignment() for consumer in consumers]
        for consumer in consumers:
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                seen.append(message.value() or b"")


def test_real_consumers_share_a_topic_and_take_over(shared_broker: BrokerProcess, consumers: Any) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    admin.create_topics([NewTopic("shared", 4, 1)])["shared"].result(DEADLINE_S)
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    for number in range(40):
        producer.produce("shared", str(number).encode(), partition=number % 4)
    assert producer.flush(DEADLINE_S) == 0
    seen: list[bytes] = []
    first, second = consumers("sharing"), consumers("sharing")
    first.subscribe(["shared"])
    until(lambda: len(seen) == 40, [first], seen)
    second.subscribe(["shared"])
    until(lambda: len(first.assignment()) == len(second.assignment()) == 2, [first, second], seen)
    described = admin.describe_consumer_groups(["sharing"])["sharing"].result(DEADLINE_S)
    assert (described.type, len(described.members)) == (ConsumerGroupType.CONSUMER, 2)
    first.commit(asynchronous=False)
    first.unsubscribe()
    until(lambda: len(second.assignment()) == 4, [first, second], seen)
    for number in range(8):
        producer.produce("shared", b"late", partition=number % 4)
    assert producer.flush(DEADLINE_S) == 0
    until(lambda: seen.count(b"late") == 8, [second], seen)


def test_a_pattern_finds_topics_that_come_later(shared_broker: BrokerProcess, consumers: Any) -> None:
    admin = AdminClient({"bootstrap.servers": shared_broker.bootstrap})
    reader = consumers("by-pattern")
    reader.subscribe(["^later-.*"])
    seen: list[bytes] = []
    until(lambda: True, [reader], seen)
    admin.create_topics([NewTopic("later-1", 1, 1)])["later-1"].result(DEADLINE_S)
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap})
    producer.produce("later-1", b"found")
    assert producer.flush(DEADLINE_S) == 0
    until(lambda: seen == [b"found"], [reader], seen)

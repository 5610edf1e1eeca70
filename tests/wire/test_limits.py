"""Every limit of a broker on how much there may be of something: refused by name, and nobody else is hurt."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

import pytest

from headrace.log import encode_batches
from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, names
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.messages import consumer_groups, groups, offsets, topics, transactions
from headrace.wire.testing import broker_in_thread

FRAME_BYTES_MAX = 20_000
CONTROL_BYTES_MAX = 5_000
DEADLINE_S = 30.0
TOPICS_MAX = 8
PARTITIONS_MAX = 20


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    config = BrokerConfig(
        data_dir=tmp_path_factory.mktemp("limited"),
        port=0,
        topics_max=TOPICS_MAX,
        partitions_max=PARTITIONS_MAX,
        groups_max=6,
        group_members_max=1,
        transactional_ids_max=2,
        request_bytes_max=FRAME_BYTES_MAX,
        control_request_bytes_max=CONTROL_BYTES_MAX,
    )
    with broker_in_thread(config) as address, Client(address) as client:
        client.create_topics({"first": 1, "second": 2})
        yield address


@pytest.fixture
def ask(address: str) -> Iterator[Asker]:
    with asking(address) as ask:
        yield ask


def created(ask: Asker, name: str, count: int) -> list[str]:
    request = topics.CreateTopicsRequest((topics.CreatableTopic(name, count, 1),))
    return names(ask(protocol.CREATE_TOPICS, request))


def test_topics_and_partitions(address: str, ask: Asker) -> None:
    """The broker's own topics count too."""
    assert created(ask, "wide", PARTITIONS_MAX) == ["POLICY_VIOLATION"]
    outcomes = [created(ask, f"topic-{number}", 1) for number in range(TOPICS_MAX)]
    with Client(address) as client:
        assert len(client.metadata().topics) == TOPICS_MAX
    assert outcomes == sorted(outcomes), "once refused, always refused"
    assert outcomes[-1] == ["POLICY_VIOLATION"]


def commit(ask: Asker, group: str) -> list[str]:
    entry = offsets.CommitTopic("first", (offsets.CommitPartition(0, 0, ""),))
    return names(ask(protocol.OFFSET_COMMIT, offsets.OffsetCommitRequest(group, (entry,))))


def join(ask: Asker, group: str) -> str:
    protocols = (groups.JoinProtocol("range", b""),)
    request = groups.JoinGroupRequest(group, 10_000, "", "consumer", protocols, 10_000)
    return str(ask(protocol.JOIN_GROUP, request).error_code.name)


def beat(ask: Asker, group: str, member: str) -> str:
    request = consumer_groups.HeartbeatRequest(
        group, member, 0, rebalance_timeout_ms=1_000, subscribed_topic_names=("first",), topic_partitions=()
    )
    return str(ask(protocol.CONSUMER_GROUP_HEARTBEAT, request).error_code.name)


def test_groups_and_their_members(ask: Asker) -> None:
    """Groups of all kinds count together. A member is promised its place before it takes it."""
    assert [commit(ask, f"committed-{number}") for number in range(2)] == [["NONE"], ["NONE"]]
    assert join(ask, "classic-0") == "MEMBER_ID_REQUIRED"
    assert join(ask, "classic-0") == "GROUP_MAX_SIZE_REACHED"
    assert join(ask, "classic-1") == "MEMBER_ID_REQUIRED"
    assert beat(ask, "newer-0", "a") == "NONE"
    assert beat(ask, "newer-0", "b") == "GROUP_MAX_SIZE_REACHED"
    assert beat(ask, "newer-1", "a") == "NONE"
    assert commit(ask, "committed-2") == ["POLICY_VIOLATION"]
    assert join(ask, "classic-2") == "POLICY_VIOLATION"
    assert beat(ask, "newer-2", "a") == "POLICY_VIOLATION"
    assert commit(ask, "committed-1") == ["NONE"], "those that are known go on"


def test_transactional_ids(ask: Asker) -> None:
    def begin(name: str) -> str:
        request = transactions.InitProducerIdRequest(name, 10_000)
        return str(ask(protocol.INIT_PRODUCER_ID, request).error_code.name)

    assert [begin(f"id-{number}") for number in range(3)] == ["NONE", "NONE", "POLICY_VIOLATION"]
    assert begin("id-1") == "NONE"


@pytest.mark.parametrize(
    ("api_key", "size_bytes"),
    [(protocol.PRODUCE.key, FRAME_BYTES_MAX + 1), (protocol.METADATA.key, CONTROL_BYTES_MAX + 1)],
    ids=["any", "all but produce"],
)
def test_the_size_of_a_request(address: str, api_key: int, size_bytes: int) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
        connection.sendall(struct.pack(">ihhih", size_bytes, api_key, 7, 1, -1))
        with suppress(ConnectionError):
            connection.sendall(bytes(size_bytes - 10))
            assert not connection.recv(1), "closed without an answer"
    with Client(address) as client:
        assert client.metadata(["first"]).topics
        client.produce({"first": {0: next(encode_batches(None, [bytes(CONTROL_BYTES_MAX)], [5], codec="none"))}})

"""Which broker serves a request: leaders, coordinators, the controller; and which failures are tried again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from headrace.errors import InvalidConfig, NotFound
from headrace.wire import protocol
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.client.errors import ConnectionLost, KafkaError, check
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import cluster

ATTEMPTS_MAX: Final = 50
BACKOFF_MS_MIN: Final = 10
BACKOFF_MS_MAX: Final = 500

_TRANSACTION_COORDINATOR: Final = 1

Address = tuple[str, int]
TopicPartition = tuple[str, int]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    name: str
    topic_id: UUID | None
    leaders: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Metadata:
    """Brokers by node id, topics by name; a topic that does not exist is absent."""

    brokers: Mapping[int, Address]
    topics: Mapping[str, TopicMetadata]


class Router:
    """Keeps one connection per broker, and what it learned about the cluster until that proves wrong."""

    def __init__(self, bootstrap: str, client_id: str) -> None:
        self._bootstrap = _addresses(bootstrap)
        self._client_id = client_id
        self._connections: dict[Address, BrokerConnection] = {}
        self._known = Metadata({}, {})
        self._coordinators: dict[str, Address] = {}

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def retry(self, attempt: Callable[[Deadline], Result], timeout_ms: int, *, retry_lost: bool = True) -> Result:
        """Attempt until it succeeds, fails for good, or time or attempts run out. The last failure is raised.

        `retry_lost` says whether a request may be sent again when it is unknown whether it was served.
        """
        deadline = Deadline(timeout_ms)
        backoff_ms = BACKOFF_MS_MIN
        for number in range(1, ATTEMPTS_MAX + 1):
            try:
                return attempt(deadline)
            except (KafkaError, ConnectionLost) as error:
                # Also before it is raised: the next request must not meet a connection that is gone.
                self._forget(lost=isinstance(error, ConnectionLost))
                final = not error.may_pass if isinstance(error, KafkaError) else not retry_lost
                if final or number == ATTEMPTS_MAX or deadline.left_s() <= backoff_ms / 1000:
                    raise
            time.sleep(backoff_ms / 1000)
            backoff_ms = min(2 * backoff_ms, BACKOFF_MS_MAX)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _forget(self, *, lost: bool) -> None:
        if lost:
            self.close()
        self._known = Metadata({}, {})
        self._coordinators.clear()

    def any_broker(self, deadline: Deadline) -> BrokerConnection:
        failure: ConnectionLost | None = None
        for address in self._bootstrap:
            try:
                return self._connection(address, deadline)
            except ConnectionLost as error:
                failure = error
        raise failure or ConnectionLost("no broker address is known")

    def controller(self, deadline: Deadline) -> BrokerConnection:
        request = cluster.MetadataRequest((), allow_auto_topic_creation=False)
        response = self.any_broker(deadline).send(protocol.METADATA, request, deadline)
        for broker in response.brokers:
            if broker.node_id == response.controller_id:
                return self._connection((broker.host, broker.port), deadline)
        return self.any_broker(deadline)

    def coordinator(self, transactional_id: str | None, deadline: Deadline) -> BrokerConnection:
        """The broker that keeps a transactional id; any, where there is none."""
        if transactional_id is None:
            return self.any_broker(deadline)
        if transactional_id not in self._coordinators:
            self._coordinators[transactional_id] = self._find_coordinator(transactional_id, deadline)
        return self._connection(self._coordinators[transactional_id], deadline)

    def _find_coordinator(self, transactional_id: str, deadline: Deadline) -> Address:
        request = cluster.FindCoordinatorRequest(transactional_id, _TRANSACTION_COORDINATOR, (transactional_id,))
        response = self.any_broker(deadline).send(protocol.FIND_COORDINATOR, request, deadline)
        found: cluster.Coordinator | cluster.FindCoordinatorResponse = response
        if response.coordinators:
            found = response.coordinators[0]
        check(found.error_code, f"coordinator of transactional id {transactional_id!r}")
        return found.host, found.port

    def load_metadata(self, names: tuple[str, ...] | None, deadline: Deadline) -> Metadata:
        wanted = None if names is None else tuple(cluster.MetadataTopicRequest(name) for name in names)
        request = cluster.MetadataRequest(wanted, allow_auto_topic_creation=False)
        response = self.any_broker(deadline).send(protocol.METADATA, request, deadline)
        brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        existing = [topic for topic in response.topics if topic.error_code == ErrorCode.NONE]
        return Metadata(brokers, {topic.name or "": _topic_metadata(topic) for topic in existing})

    def by_leader(
        self, partitions: Iterable[TopicPartition], deadline: Deadline
    ) -> dict[BrokerConnection, list[TopicPartition]]:
        """Partitions by the connection to their leader. Raises NotFound for a topic or partition that is not there."""
        found: dict[BrokerConnection, list[TopicPartition]] = {}
        for topic, index in partitions:
            found.setdefault(self._leader(topic, index, deadline), []).append((topic, index))
        return found

    def _leader(self, topic: str, index: int, deadline: Deadline) -> BrokerConnection:
        if topic not in self._known.topics:
            loaded = self.load_metadata((topic,), deadline)
            if topic not in loaded.topics:
                raise NotFound(f"topic {topic!r} does not exist")
            self._known = Metadata(loaded.brokers, {**self._known.topics, **loaded.topics})
        leaders = self._known.topics[topic].leaders
        if index not in leaders:
            raise NotFound(f"topic {topic!r} has no partition {index}", valid=[f"0 to {len(leaders) - 1}"])
        if leaders[index] not in self._known.brokers:
            check(ErrorCode.LEADER_NOT_AVAILABLE, f"{topic}-{index}")
        return self._connection(self._known.brokers[leaders[index]], deadline)

    def _connection(self, address: Address, deadline: Deadline) -> BrokerConnection:
        connection = self._connections.get(address)
        if connection is not None and connection.is_stale:
            connection.close()
            connection = None
        if connection is None:
            connection = BrokerConnection(address, self._client_id, deadline)
            self._connections[address] = connection
        return connection


def _addresses(bootstrap: str) -> tuple[Address, ...]:
    addresses = []
    for entry in bootstrap.split(","):
        host, separator, port = entry.strip().rpartition(":")
        if not separator or not host or not port.isdigit():
            raise InvalidConfig(f"broker address {entry.strip()!r}", valid=["HOST:PORT, several separated by commas"])
        addresses.append((host, int(port)))
    return tuple(addresses)


def _topic_metadata(topic: cluster.MetadataTopic) -> TopicMetadata:
    leaders = {partition.partition_index: partition.leader_id for partition in topic.partitions}
    return TopicMetadata(topic.name or "", topic.topic_id, leaders)

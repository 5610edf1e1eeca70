"""Asks brokers the same questions, so that tests can compare their answers: ours with those of Apache Kafka."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from headrace.log import encode_batches, with_producer
from headrace.wire import protocol
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import cluster, fetch, produce, topics

DEADLINE_MS: Final = 30_000
RETRY_S: Final = 0.05
# Kafka makes its own topics when they are first needed, and says so in the meantime.
NOT_YET: Final = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}


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
        if created.error_code is not ErrorCode.NONE or created.topic_id is None:
            raise AssertionError(created)
        self.settle(name, count)
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


@contextmanager
def asking(bootstrap: str) -> Iterator[Asker]:
    asker = Asker(bootstrap)
    try:
        yield asker
    finally:
        asker.close()


def configs_entry(name: str, value: str) -> topics.ConfigEntry:
    return topics.ConfigEntry(name, value)


def codes(answer: Any) -> Iterator[ErrorCode]:
    """Every error code anywhere in an answer."""
    if isinstance(answer, ErrorCode):
        yield answer
    elif isinstance(answer, tuple):
        for entry in answer:
            yield from codes(entry)


def names(answer: Any) -> list[str]:
    return [code.name for code in codes(answer)]


def batch(*values: bytes, at_ms: int = 1_000) -> bytes:
    return next(encode_batches(None, list(values), [at_ms + 1000 * n for n in range(len(values))]))


def numbered(producer_id: int, epoch: int, sequence: int, *values: bytes, transactional: bool = False) -> bytes:
    return bytes(with_producer(batch(*values), producer_id, epoch, sequence, transactional=transactional))

"""Reading topics: the files themselves when the log is on this machine, else a broker through librdkafka."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from headrace.errors import ExternalFailure, NotFound
from headrace.log import PartitionReader, Records
from headrace.spark.specs import TopicLocation
from headrace.wire.client import EARLIEST, LATEST, Client

# How often a reader looks for partitions that were added.
_PARTITIONS_REFRESH_S = 1.0
_CHUNK_RECORDS_MAX = 50_000
_POLL_TIMEOUT_S = 1.0
_SILENCE_LIMIT_S = 60.0


class Topic(Protocol):
    """A topic as a source sees it: committed records only."""

    def bounds(self) -> dict[int, tuple[int, int]]:
        """Partition → first offset kept, and the offset after the last committed one."""

    def read(self, partition: int, start: int, end: int) -> Iterator[Records]:
        """The committed records in [start, end), in order, in chunks."""

    def offsets_at(self, timestamp_ms: int) -> dict[int, int]:
        """Partition → first offset at or after a time (its end, when there is none)."""


def open_topic(location: TopicLocation) -> Topic:
    if location.log_directory is not None:
        return LocalTopic(location)
    return RemoteTopic(location)


class LocalTopic:
    """Maps the log's files: no broker CPU, no socket, and it goes on while the broker is down."""

    def __init__(self, location: TopicLocation) -> None:
        self._location = location
        self._directory = Path(location.log_directory or "")
        self._readers: dict[int, PartitionReader] = {}
        self._refreshed_s = 0.0

    def bounds(self) -> dict[int, tuple[int, int]]:
        self._refresh()
        marks = {partition: reader.watermark() for partition, reader in self._readers.items()}
        return {p: (mark.log_start_offset, mark.last_stable_offset) for p, mark in marks.items()}

    def read(self, partition: int, start: int, end: int) -> Iterator[Records]:
        return PartitionReader(self._partition_directory(partition)).read(start, end, committed=True)

    def offsets_at(self, timestamp_ms: int) -> dict[int, int]:
        return _offsets_at(self._location, timestamp_ms)

    def _refresh(self) -> None:
        now_s = time.monotonic()
        if self._readers and now_s - self._refreshed_s < _PARTITIONS_REFRESH_S:
            return
        self._refreshed_s = now_s
        while (directory := self._partition_directory(len(self._readers))).is_dir():
            self._readers[len(self._readers)] = PartitionReader(directory)
        if not self._readers:
            raise NotFound(f"topic {self._location.topic!r} does not exist")

    def _partition_directory(self, partition: int) -> Path:
        return self._directory / f"{self._location.topic}-{partition}"


class RemoteTopic:
    """A broker or a Kafka cluster somewhere else; the offsets mean the same."""

    def __init__(self, location: TopicLocation) -> None:
        self._location = location
        self._client = Client(location.bootstrap, client_id="headrace-source")

    def bounds(self) -> dict[int, tuple[int, int]]:
        partitions = self._client.partition_count(self._location.topic)
        topic = self._location.topic
        first = self._client.list_offsets(topic, dict.fromkeys(range(partitions), EARLIEST))
        after = self._client.list_offsets(topic, dict.fromkeys(range(partitions), LATEST), committed=True)
        return {partition: (first[partition].offset, after[partition].offset) for partition in range(partitions)}

    def offsets_at(self, timestamp_ms: int) -> dict[int, int]:
        return _offsets_at(self._location, timestamp_ms)

    def read(self, partition: int, start: int, end: int) -> Iterator[Records]:
        consumer = _consumer(self._location.bootstrap)
        consumer.assign([TopicPartition(self._location.topic, partition, start)])
        deadline_s = time.monotonic() + _SILENCE_LIMIT_S
        position = start
        while position < end:
            try:
                messages = [m for m in consumer.consume(_CHUNK_RECORDS_MAX, _POLL_TIMEOUT_S) if m.error() is None]
                position = consumer.position([TopicPartition(self._location.topic, partition)])[0].offset
            except KafkaException as error:
                raise ExternalFailure(f"reading {self._location.topic}-{partition}: {error}") from error
            wanted = [message for message in messages if _offset(message) < end]
            if wanted:
                deadline_s = time.monotonic() + _SILENCE_LIMIT_S
                yield _records(wanted)
            elif time.monotonic() > deadline_s:
                where = f"{self._location.topic}-{partition} at offset {position}"
                raise ExternalFailure(
                    f"{self._location.bootstrap} sent nothing of {where} for {_SILENCE_LIMIT_S:.0f} s"
                )
            if wanted and _offset(wanted[-1]) >= end - 1:
                return


def _offsets_at(location: TopicLocation, timestamp_ms: int) -> dict[int, int]:
    with Client(location.bootstrap, client_id="headrace-source") as client:
        partitions = range(client.partition_count(location.topic))
        found = client.list_offsets(location.topic, dict.fromkeys(partitions, timestamp_ms))
        after = client.list_offsets(location.topic, dict.fromkeys(partitions, LATEST), committed=True)
    return {p: found[p].offset if found[p].offset >= 0 else after[p].offset for p in partitions}


# A consumer costs tenths of a second to start, and a worker process serves many tasks.
_consumers: dict[str, Consumer] = {}


def _consumer(bootstrap: str) -> Consumer:
    if bootstrap not in _consumers:
        settings = {
            "bootstrap.servers": bootstrap,
            "group.id": "headrace-source",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "fetch.queue.backoff.ms": 10,
        }
        _consumers[bootstrap] = Consumer(settings)
    return _consumers[bootstrap]


def _offset(message: Message) -> int:
    """Every record that a broker sent has one; the type also covers messages still to be sent."""
    return cast("int", message.offset())


def _records(messages: Sequence[Message]) -> Records:
    return Records(
        offsets=np.array([_offset(message) for message in messages], np.int64),
        timestamps_ms=np.array([message.timestamp()[1] for message in messages], np.int64),
        keys=pa.array([message.key() for message in messages], pa.binary()),
        values=pa.array([message.value() for message in messages], pa.binary()),
        headers=None,
    )

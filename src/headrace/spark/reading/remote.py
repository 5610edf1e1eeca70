"""Topics of a broker or a Kafka cluster somewhere else, through librdkafka; the offsets mean the same."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from headrace.credential import client_settings
from headrace.errors import ExternalFailure
from headrace.log import Records
from headrace.spark.specs import TopicLocation
from headrace.wire.client import EARLIEST, LATEST, Client

_CHUNK_RECORDS_MAX = 50_000
_POLL_TIMEOUT_S = 1.0
_SILENCE_LIMIT_S = 60.0


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
        return offsets_at(self._location, timestamp_ms)

    def close(self) -> None:
        self._client.close()

    def read(self, partition: int, start: int, end: int, *, headers: bool = False) -> Iterator[Records]:
        """Ends at the first record at or above `end`, or at the end of the partition where none follows: the last
        offsets of a range may be markers and aborted records, which are never given."""
        consumer = _consumer(self._location.bootstrap)
        consumer.assign([TopicPartition(self._location.topic, partition, start)])
        place = f"{self._location.topic}-{partition} from {self._location.bootstrap}"
        silent_since_s = time.monotonic()
        done = start >= end
        while not done:
            messages = _consume(consumer, place)
            done = any(_offset(message) >= end for message in messages)
            wanted = [message for message in messages if message.error() is None and _offset(message) < end]
            if wanted:
                silent_since_s = time.monotonic()
                yield _records(wanted, headers=headers)
                done = done or _offset(wanted[-1]) == end - 1
            elif time.monotonic() - silent_since_s > _SILENCE_LIMIT_S:
                raise ExternalFailure(f"nothing came of {place} for {_SILENCE_LIMIT_S:.0f} s, up to offset {end}")


def _consume(consumer: Consumer, place: str) -> list[Message]:
    """Records, and the word that the partition ended. Raises ExternalFailure for everything else."""
    try:
        messages = consumer.consume(_CHUNK_RECORDS_MAX, _POLL_TIMEOUT_S)
    except KafkaException as error:
        raise ExternalFailure(f"reading {place}: {error}") from error
    for message in messages:
        trouble = message.error()
        if trouble is not None and trouble.code() != KafkaError._PARTITION_EOF:
            raise ExternalFailure(f"reading {place}: {trouble}")
    return messages


def offsets_at(location: TopicLocation, timestamp_ms: int) -> dict[int, int]:
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
            **client_settings(bootstrap),
            "bootstrap.servers": bootstrap,
            "group.id": "headrace-source",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 10,
            "log_level": 0,  # what matters is raised as an error
        }
        _consumers[bootstrap] = Consumer(settings)
    return _consumers[bootstrap]


def _offset(message: Message) -> int:
    """Every record that a broker sent has one; the type also covers messages still to be sent."""
    return cast("int", message.offset())


def _records(messages: Sequence[Message], *, headers: bool) -> Records:
    return Records(
        offsets=np.array([_offset(message) for message in messages], np.int64),
        timestamps_ms=np.array([message.timestamp()[1] for message in messages], np.int64),
        keys=pa.array([message.key() for message in messages], pa.binary()),
        values=pa.array([message.value() for message in messages], pa.binary()),
        headers=[_headers(message) for message in messages] if headers else None,
    )


def _headers(message: Message) -> list[tuple[str, bytes | None]]:
    return cast("list[tuple[str, bytes | None]]", message.headers() or [])

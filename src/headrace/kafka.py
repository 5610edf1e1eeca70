"""Sending and reading records with confluent-kafka, the field's client: for scripts, the command line and the demo."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as KafkaProducer

from headrace.credential import client_settings
from headrace.errors import ExternalFailure, InvalidInput, NotFound

IN_FLIGHT_MAX: Final = 10_000
REQUEST_TIMEOUT_S: Final = 10.0
# A record is sent again for this long: longer than a broker needs to come back.
DELIVERY_TIMEOUT_MS: Final = 300_000
POLL_S: Final = 0.1
FETCH_COUNT: Final = 1_000

_QUIET: Final = {"log_level": 0, "allow.auto.create.topics": False}


@dataclass(frozen=True, slots=True)
class Record:
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


class Sender:
    """Sends records with acks from all replicas, in order, each once: a broker that comes back gets what it missed."""

    def __init__(self, bootstrap: str, *, client_id: str = "headrace", in_flight_max: int = IN_FLIGHT_MAX) -> None:
        self._in_flight_max = in_flight_max
        self._failure: KafkaError | None = None
        self.sent = 0
        self.acked = 0
        self._producer = KafkaProducer(
            {
                **client_settings(bootstrap),
                "bootstrap.servers": bootstrap,
                "client.id": client_id,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
                "reconnect.backoff.max.ms": 500,
                "retry.backoff.max.ms": 500,
                "log_level": 0,
            }
        )

    def send(self, topic: str, value: bytes | None, key: bytes | None = None) -> None:
        """Waits while too many records are on their way. Raises ExternalFailure when one was refused."""
        while self.sent - self.acked >= self._in_flight_max:
            self._producer.poll(POLL_S)
            self._check()
        self._producer.produce(topic, value=value, key=key, on_delivery=self._delivered)
        self.sent += 1
        self._producer.poll(0)
        self._check()

    def flush(self, timeout_s: float = DELIVERY_TIMEOUT_MS / 1_000) -> None:
        """Everything sent is acked afterwards. Raises ExternalFailure."""
        deadline_s = time.monotonic() + timeout_s
        while self._producer.flush(POLL_S) > 0:
            self._check()
            if time.monotonic() > deadline_s:
                left = self.sent - self.acked
                raise ExternalFailure(f"{left} records were not acknowledged within {timeout_s:.0f} s")
        self._check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.flush()

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acked += 1
        else:
            self._failure = error

    def _check(self) -> None:
        if self._failure is not None:
            raise ExternalFailure(f"a record was not accepted: {self._failure.str()}")


class Reader:
    """Committed records of one topic, partition by partition in order. Belongs to no consumer group."""

    def __init__(self, bootstrap: str, topic: str, start: str = "earliest", *, client_id: str = "headrace") -> None:
        """`start` is earliest, latest or an offset. Raises NotFound, InvalidInput, ExternalFailure."""
        self._consumer = Consumer(
            {
                **_QUIET,
                **client_settings(bootstrap),
                "bootstrap.servers": bootstrap,
                "client.id": client_id,
                "group.id": "headrace-unused",  # librdkafka asks for one even where no group is joined
                "enable.auto.commit": False,
                "auto.offset.reset": "error" if start.isdigit() else "earliest",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "reconnect.backoff.max.ms": 500,
            }
        )
        try:
            self._partitions = self._partition_numbers(topic, bootstrap)
            offset = _offset(start)
            self._consumer.assign([TopicPartition(topic, number, offset) for number in self._partitions])
        except BaseException:
            self._consumer.close()
            raise

    def records(self, *, follow: bool = False) -> Iterator[Record]:
        """Ends where all partitions end, unless following. Raises ExternalFailure for an answer that is an error."""
        ended: set[int] = set()
        while follow or len(ended) < len(self._partitions):
            for message in self._consumer.consume(FETCH_COUNT, POLL_S):
                error = message.error()
                if error is None:
                    yield _record(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition() or 0)
                elif not error.retriable() and error.code() not in _PASSING:
                    raise ExternalFailure(f"the topic cannot be read: {error.str()}")

    def poll(self) -> list[Record]:
        """What has come by now; waits at most POLL_S. Errors that may pass are passed over."""
        messages = self._consumer.consume(FETCH_COUNT, POLL_S)
        return [_record(message) for message in messages if message.error() is None]

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _partition_numbers(self, topic: str, bootstrap: str) -> list[int]:
        try:
            found = self._consumer.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic]
        except KafkaException as error:
            raise ExternalFailure(f"no broker answers at {bootstrap}: {error.args[0].str()}") from error
        if found.error is not None or not found.partitions:
            raise NotFound(f"no topic {topic!r}", hint="headrace topic list shows those that exist")
        return sorted(found.partitions)


# A broker that is away for a moment: librdkafka connects again by itself.
_PASSING: Final = frozenset({KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE})


def _offset(start: str) -> int:
    if start == "earliest":
        return int(OFFSET_BEGINNING)
    if start == "latest":
        return int(OFFSET_END)
    if start.isdigit():
        return int(start)
    raise InvalidInput(f"cannot start at {start!r}", valid=["earliest", "latest", "an offset such as 42"])


def _record(message: Message) -> Record:
    return Record(
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
        message.timestamp()[1],
        _bytes(message.key()),
        _bytes(message.value()),
    )


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value

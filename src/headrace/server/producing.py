"""One message at a time, sent as any Kafka client would, and its place when it is on disk."""

from __future__ import annotations

import threading
from typing import Any, Final

from confluent_kafka import KafkaException, Message, Producer

from headrace.credential import client_settings
from headrace.errors import ExternalFailure, InvalidInput
from headrace.server.bodies import MessageBody
from headrace.server.contents import encoded
from headrace.server.models.topics import ProducedView
from headrace.server.topics import own_words

DELIVERY_TIMEOUT_S: Final = 10.0
CHOSEN_BY_KEY: Final = -1


class MessageSender:
    """May be used by many threads; connects when it is first used."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._lock = threading.Lock()
        self._producer: Producer | None = None

    def send(self, topic: str, body: MessageBody) -> ProducedView:
        """Raises InvalidInput for a value not of its encoding, ExternalFailure when the broker did not take it."""
        delivered: list[tuple[Any, Message]] = []
        key, value = encoded(body.key, body.key_encoding, "key"), encoded(body.value, body.value_encoding, "value")
        partition = CHOSEN_BY_KEY if body.partition is None else body.partition
        with self._lock:
            producer = self._connected()
            try:
                producer.produce(
                    topic,
                    value=value,
                    key=key,
                    headers={name: text.encode() for name, text in body.headers.items()},
                    on_delivery=lambda error, message: delivered.append((error, message)),
                    partition=partition,
                )
                producer.flush(DELIVERY_TIMEOUT_S + 1.0)
            except KafkaException as error:
                raise own_words(error, f"a message to {topic!r}") from error
            except (OverflowError, ValueError, TypeError) as error:
                raise InvalidInput(f"a message to {topic!r} cannot be sent: {error}") from error
        return _produced(topic, delivered)

    def _connected(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(
                {
                    **client_settings(self._bootstrap),
                    "bootstrap.servers": self._bootstrap,
                    "client.id": "headrace-server",
                    "acks": "all",
                    "partitioner": "murmur2_random",
                    "delivery.timeout.ms": int(DELIVERY_TIMEOUT_S * 1000),
                    "allow.auto.create.topics": False,
                    "log_level": 0,
                }
            )
        return self._producer


def _produced(topic: str, delivered: list[tuple[Any, Message]]) -> ProducedView:
    if not delivered:
        raise ExternalFailure(f"a message to {topic!r} was not acknowledged in {DELIVERY_TIMEOUT_S:.0f} s")
    error, message = delivered[0]
    if error is not None:
        raise own_words(KafkaException(error), f"a message to {topic!r}")
    return ProducedView(topic=topic, partition=message.partition() or 0, offset=message.offset() or 0)

"""The topic that the registry is kept in: compacted, one partition, written by one registry only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from headrace.errors import NotFound
from headrace.kafka import Reader, Sender
from headrace.registry.state import TOPIC
from headrace.wire.client import Client


class Journal(Protocol):
    def load(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        """All records that are there, in order."""

    def append(self, key: bytes, value: bytes | None) -> None:
        """The record is on disk afterwards. Raises ExternalFailure."""


class TopicJournal:
    """In the log itself: it is backed up with it, and Spark's tasks read it without asking anybody."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._sender: Sender | None = None

    def load(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        try:
            reader = Reader(self._bootstrap, TOPIC, client_id="headrace-registry")
        except NotFound:
            return
        with reader:
            for record in reader.records():
                yield record.key, record.value

    def append(self, key: bytes, value: bytes | None) -> None:
        if self._sender is None:
            with Client(self._bootstrap, client_id="headrace-registry") as client:
                client.create_topics({TOPIC: 1}, {"cleanup.policy": "compact"}, exist_ok=True)
            self._sender = Sender(self._bootstrap, client_id="headrace-registry")
        self._sender.send(TOPIC, value, key)
        self._sender.flush()

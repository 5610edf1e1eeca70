"""A broker in a thread, and tables over its topics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headrace.graph.document import Document
from headrace.log import encode_batches, now_ms
from headrace.operators import Catalogue
from headrace.spark.specs import TopicLocation
from headrace.sql import parse
from headrace.tables import Tables
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

SQL = """
CREATE STREAM trades (symbol STRING, price DOUBLE);
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE, open BOOLEAN, since TIMESTAMP, tags ARRAY<STRING>);
CREATE STREAM dear AS SELECT t.symbol FROM trades t JOIN limits l ON t.symbol = l.symbol WHERE price > maximum;
"""


@dataclass
class Log:
    """`documents` are the pipelines that are saved."""

    bootstrap: str
    directory: Path
    documents: list[Document]

    def tables(self) -> Tables:
        data = self.directory
        return Tables(
            data / "tables.sqlite",
            lambda topic: TopicLocation(topic, self.bootstrap, str(data / "log")),
            lambda: self.documents,
            Catalogue(),
        )

    def create(self, topic: str) -> None:
        with Client(self.bootstrap) as client:
            client.create_topics({topic: 1}, {"cleanup.policy": "compact"}, exist_ok=True)

    def write(self, topic: str, rows: Sequence[tuple[str | None, Mapping[str, Any] | bytes | None]]) -> None:
        keys = [None if key is None else key.encode() for key, _ in rows]
        values = [row if row is None or isinstance(row, bytes) else json.dumps(row).encode() for _, row in rows]
        with Client(self.bootstrap) as client:
            for batch in encode_batches(keys, values, [now_ms()] * len(rows)):
                client.produce({topic: {0: batch}})


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    directory = tmp_path_factory.mktemp("data")
    with broker_in_thread(BrokerConfig(data_dir=directory / "log", port=0)) as address:
        yield address, directory


@pytest.fixture
def log(broker: tuple[str, Path]) -> Iterator[Log]:
    """With the topic of the table limits, without rows."""
    made = Log(*broker, [parse(SQL)])
    made.create("limits")
    yield made
    with Client(made.bootstrap) as client:
        client.delete_topics(["limits"])


@pytest.fixture
def tables(log: Log) -> Iterator[Tables]:
    made = log.tables()
    made.follow()
    yield made
    made.close()

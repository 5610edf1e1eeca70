"""One broker process and one engine for all tests here; each test has topics and pipelines of its own."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.credential import credential_path, use_credential
from headrace.graph.document import Document
from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators import Catalogue, load_catalogue
from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.spark import Engine, EngineSettings
from headrace.spark.jobs.repartition import repartition
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.rules.query import PlannedQuery
from headrace.wire.client import LATEST, Client

IDLE_TIMEOUT_S = 90.0
PLUGINS = Path(__file__).parent / "plugins"
_names = itertools.count(1)


@dataclass(frozen=True)
class Stack:
    bootstrap: str
    data: Path
    engine: Engine

    def name(self, prefix: str) -> str:
        """A name that no other test uses."""
        return f"{prefix}-{next(_names)}"

    def topic(self, prefix: str, rows: Sequence[object] = (), partitions: int = 2) -> str:
        topic = self.name(prefix)
        with Client(self.bootstrap) as client:
            client.create_topics({topic: partitions})
        self.produce(topic, rows)
        return topic

    def produce(self, topic: str, rows: Sequence[object]) -> None:
        """Objects go as JSON, bytes as they are; the key is the field `k`."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 0})
        failures: list[object] = []

        def delivered(error: object, _: object) -> None:
            failures.extend([error] if error else [])

        for row in rows:
            value = row if isinstance(row, bytes) else json.dumps(row).encode()
            key = str(row["k"]).encode() if isinstance(row, dict) and "k" in row else None
            producer.produce(topic, value, key=key, on_delivery=delivered)
        producer.flush(30)
        assert not failures

    def pipeline(self, text: str, name: str | None = None) -> Document:
        return parse_text(text, self.engine.catalogue, name=name or self.name("pipeline"))

    def query(self, document: Document) -> PlannedQuery:
        """The only query that the pipeline needs."""
        validated = validate(document, self.engine.catalogue)
        (plan,) = plan_queries(validated, self.engine.catalogue)
        return PlannedQuery(plan, validated, self.engine.catalogue)

    def finish(self, document: Document) -> None:
        """Waits until everything is read, then stops."""
        status = self.engine.status(document.name)
        assert self.engine.wait_idle(document.name, IDLE_TIMEOUT_S), status
        self.engine.stop(document.name)

    def run(self, document: Document, *, reset: bool = False) -> None:
        self.engine.start(document, reset=reset)
        self.finish(document)

    def run_in_pieces(self, document: Document, source: str, rows: Sequence[object]) -> None:
        """Stopped twice on the way, once after a single row, and started again with other lanes each time."""
        middle = len(rows) * 4 // 9
        for piece, lanes in ((rows[:middle], 3), (rows[middle : middle + 1], 1), (rows[middle + 1 :], 2)):
            self.produce(source, piece)
            self.run(document)
            self.repartition(document, lanes)

    def repartition(self, document: Document, lanes: int) -> None:
        catalogue = self.engine.catalogue
        (done,) = repartition(validate(document, catalogue), catalogue, self.bootstrap, self.data / "jobs", lanes)
        assert done.lanes == lanes

    def values(self, topic: str) -> list[bytes]:
        """All committed record values of a topic."""
        return [value or b"" for _, value in self.keyed_values(topic)]

    def keyed_values(self, topic: str) -> list[tuple[str, bytes | None]]:
        """All committed records of a topic, partition by partition."""
        with Client(self.bootstrap) as client:
            count = client.partition_count(topic)
            ends = client.list_offsets(topic, dict.fromkeys(range(count), LATEST), committed=True)
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "tests",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        found: list[tuple[str, bytes | None]] = []
        try:
            for partition, end in ((partition, end) for partition, end in ends.items() if end.offset > 0):
                assignment = TopicPartition(topic, partition, 0)
                consumer.assign([assignment])
                while consumer.position([assignment])[0].offset < end.offset:
                    read = [message for message in consumer.consume(1000, 0.2) if message.error() is None]
                    found += [((message.key() or b"").decode(), message.value()) for message in read]
        finally:
            consumer.close()
        return found

    def rows(self, topic: str) -> list[dict[str, Any]]:
        return [json.loads(value) for value in self.values(topic)]


@pytest.fixture(scope="session")
def catalogue() -> Iterator[Catalogue]:
    """With the operators of the tests' own plugin folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(PLUGINS))
        yield load_catalogue(())


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, catalogue: Catalogue) -> Iterator[Stack]:
    data = tmp_path_factory.mktemp("data")
    config = data / "broker.toml"
    config.write_text("retention_interval_ms = 500")
    command = [sys.executable, "-m", "headrace.wire", "--data-dir", str(data / "log"), "--port", "0"]
    command += ["--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as broker:
        assert broker.stdout is not None
        bootstrap = f"127.0.0.1:{json.loads(broker.stdout.readline())['port']}"
        use_credential(bootstrap, credential_path(data / "log"))
        try:
            with Engine(EngineSettings(data, bootstrap, data / "log"), catalogue) as engine:
                yield Stack(bootstrap, data, engine)
        finally:
            broker.terminate()

"""Kafka Connect, distributed, on our broker: lines of a file go through a topic into another file, through restarts."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType  # type: ignore[attr-defined]
from tests.campaign import IS_CAMPAIGN
from tests.kafka_clients import AdminClient
from tests.wire.java_stack import JavaProgram, java_program, stack_classpath

from headrace.wire.testing import BrokerProcess

UNTESTED = "Kafka Connect through a restart of the broker is"
CALL_TIMEOUT_S = 60.0
# Connect stood still for 5 minutes when the broker forgot its group: this is far less, also on a busy machine.
ONWARD_TIMEOUT_S = 60.0
LINES = 2_000
# Of the source: with transactions, and fencing of producers that came before.
EXACTLY_ONCE = ["disabled", *["enabled"] * IS_CAMPAIGN]
# Connect's producers are not idempotent by default: a line whose answer is lost would be sent again.
WORKER = """bootstrap.servers = {bootstrap}
group.id = connect
listeners = http://127.0.0.1:{port}
plugin.discovery = service_load
key.converter = org.apache.kafka.connect.storage.StringConverter
value.converter = org.apache.kafka.connect.storage.StringConverter
config.storage.topic = connect-configs
config.storage.replication.factor = 1
offset.storage.topic = connect-offsets
offset.storage.replication.factor = 1
offset.storage.partitions = 5
status.storage.topic = connect-status
status.storage.replication.factor = 1
status.storage.partitions = 3
offset.flush.interval.ms = 500
producer.enable.idempotence = true
exactly.once.source.support = {exactly_once}
"""


class Connect:
    """A worker's REST interface."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    def answers(self) -> bool:
        try:
            return isinstance(self._ask("/connectors"), list)
        except urllib.error.URLError:
            return False

    def create(self, name: str, kind: str, **settings: str) -> None:
        config = {"connector.class": f"org.apache.kafka.connect.file.{kind}", "tasks.max": "1", **settings}
        self._ask("/connectors", {"name": name, "config": config})

    def states(self, name: str) -> list[str]:
        """Of the connector and its tasks."""
        status = self._ask(f"/connectors/{name}/status")
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def _ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=CALL_TIMEOUT_S) as answer:
            return json.load(answer)


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def append(path: Path, first: int) -> None:
    with path.open("a") as lines:
        lines.writelines(f"{number}\n" for number in range(first, first + LINES))


def internal_topics(broker: BrokerProcess) -> dict[str, tuple[int, str]]:
    """How many partitions, and the clean-up policy."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    topics = admin.list_topics(timeout=CALL_TIMEOUT_S).topics
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in topics if name.startswith("connect-")]
    described = admin.describe_configs(asked)
    return {
        resource.name: (len(topics[resource.name].partitions), entries.result(CALL_TIMEOUT_S)["cleanup.policy"].value)
        for resource, entries in described.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("exactly_once", EXACTLY_ONCE)
def test_lines_go_on_through_restarts(broker: BrokerProcess, tmp_path: Path, exactly_once: str) -> None:
    classpath = stack_classpath(UNTESTED)
    port, properties = free_port(), tmp_path / "worker.properties"
    properties.write_text(WORKER.format(bootstrap=broker.bootstrap, port=port, exactly_once=exactly_once))
    source, sink = tmp_path / "source", tmp_path / "sink"
    append(source, 0)
    connect, main = Connect(port), "org.apache.kafka.connect.cli.ConnectDistributed"
    with java_program(classpath, tmp_path / "java", main, str(properties)) as worker:
        worker.wait_for(connect.answers, "the worker answers")
        policies = {
            "connect-configs": (1, "compact"),
            "connect-offsets": (5, "compact"),
            "connect-status": (3, "compact"),
        }
        assert internal_topics(broker) == policies
        connect.create("from-file", "FileStreamSourceConnector", file=str(source), topic="lines")
        connect.create("to-file", "FileStreamSinkConnector", file=str(sink), topics="lines")
        arrived(worker, sink, LINES)
        restarts: list[Callable[[], None]] = [lambda: cleanly(broker), broker.restart]
        for number, restart in enumerate(restarts, start=1):
            append(source, number * LINES)
            restart()
            arrived(worker, sink, (number + 1) * LINES)
        for name in ("from-file", "to-file"):
            assert connect.states(name) == ["RUNNING", "RUNNING"]


def cleanly(broker: BrokerProcess) -> None:
    assert broker.stop() == 0
    broker.start()


def arrived(worker: JavaProgram, sink: Path, count: int) -> None:
    """All lines, in order, each once."""
    wanted = [str(number) for number in range(count)]
    worker.wait_for(
        lambda: sink.exists() and len(sink.read_text().splitlines()) >= count, f"{count} lines", ONWARD_TIMEOUT_S
    )
    assert sink.read_text().splitlines() == wanted

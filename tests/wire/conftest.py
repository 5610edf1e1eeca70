"""Real broker processes on free ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.missing import skip_without

from headrace.bench.log_brokers import Kafka
from headrace.errors import ExternalFailure
from headrace.wire import protocol
from headrace.wire.asking import asking
from headrace.wire.messages import cluster
from headrace.wire.testing import BrokerProcess

StartBroker = Callable[..., BrokerProcess]
# Tests do not wait five seconds for the next step of a group of the newer protocol.
BRISK = "consumer_heartbeat_interval_ms = 500\n"


def brisk(directory: Path) -> tuple[str, str]:
    """Arguments of a broker."""
    config = directory / "brisk.toml"
    config.write_text(BRISK)
    return "--config", str(config)


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Starts brokers with the given extra arguments; all are stopped after the test."""
    started: list[BrokerProcess] = []

    def start(*arguments: str) -> BrokerProcess:
        broker = BrokerProcess(tmp_path / f"data{len(started)}", *arguments)
        started.append(broker)
        broker.start()
        return broker

    yield start
    for broker in started:
        broker.stop()


@pytest.fixture
def broker(start_broker: StartBroker, tmp_path: Path) -> BrokerProcess:
    return start_broker(*brisk(tmp_path))


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """For tests that use topics and groups of their own and leave the process alone."""
    directory = tmp_path_factory.mktemp("broker")
    broker = BrokerProcess(directory / "data", *brisk(directory))
    broker.start()
    yield broker
    assert broker.stop() == 0
    assert "request failed" not in broker.log


@pytest.fixture(scope="package")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        node = Kafka(tmp_path_factory.mktemp("kafka"))
    except ExternalFailure as error:
        skip_without(error.message, "the same answers as Apache Kafka's are", "apt-get install maven")
    try:
        with asking(node.bootstrap) as ask:
            # Being asked for a coordinator makes Kafka create the topics that coordinators need.
            for kind in (0, 1):
                ask(protocol.FIND_COORDINATOR, cluster.FindCoordinatorRequest(key_type=kind, coordinator_keys=("a",)))
        yield node.bootstrap
    finally:
        node.close()

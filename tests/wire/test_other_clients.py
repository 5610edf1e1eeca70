"""Clients in other languages: the same small program against our broker, and what it saw.

Java's is the reference; franz-go is written from the protocol's description. Jars and modules are fetched once, by the
tools of their languages, to where those keep them.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.missing import skip_without

from headrace.bench.log_kafka import kafka_classpath
from headrace.errors import ExternalFailure
from headrace.wire.testing import BrokerProcess

CLIENTS = Path(__file__).parent / "clients"
DEADLINE_S = 150.0
COMMITTED = sorted([f"committed{number}" for number in range(5)] * 2)


def run(command: list[str], directory: Path) -> list[str]:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.slow
def test_java(shared_broker: BrokerProcess, tmp_path: Path) -> None:
    """Transactions of the newer kind with offsets in them, a group of each protocol, admin."""
    if shutil.which("java") is None:
        skip_without("java is not installed", "the broker with Kafka's Java client is", "apt-get install default-jdk")
    try:
        classpath = kafka_classpath()
    except ExternalFailure as error:
        skip_without(error.message, "the broker with Kafka's Java client is", "apt-get install maven")
    command = ["java", "-Xmx256m", "-cp", classpath, str(CLIENTS / "RoundTrip.java"), shared_broker.bootstrap, "java"]
    told = f"[{', '.join(COMMITTED)}]"
    assert run(command, tmp_path) == [f"classic {told}", f"consumer {told}", "moved 7", "partitions 2"]


@pytest.mark.slow
def test_go(shared_broker: BrokerProcess, tmp_path: Path) -> None:
    if shutil.which("go") is None:
        skip_without("go is not installed", "the broker with franz-go is", "apt-get install golang")
    built = subprocess.run(
        ["go", "build", "-o", str(tmp_path / "client"), "."],
        cwd=CLIENTS / "franz",
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    if built.returncode:
        fault = f"franz-go cannot be built ({built.stderr[-300:]})"
        skip_without(fault, "the broker with franz-go is", "set GOPROXY to a mirror that can be reached")
    assert run([str(tmp_path / "client"), shared_broker.bootstrap, "go"], tmp_path) == [f"[{' '.join(COMMITTED)}]"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the client itself
def test_kafka_python(shared_broker: BrokerProcess) -> None:
    """Admin, a transaction committed and one aborted, a group that reads what was committed."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=shared_broker.bootstrap)
    admin.create_topics([NewTopic("python", 2, 1)])
    producer = KafkaProducer(bootstrap_servers=shared_broker.bootstrap, transactional_id="python")
    producer.init_transactions()
    for outcome in ("committed", "aborted", "committed"):
        producer.begin_transaction()
        for number in range(5):
            producer.send("python", f"{outcome}{number}".encode(), key=str(number).encode())
        producer.flush()
        if outcome == "committed":
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    consumer = KafkaConsumer(
        "python",
        bootstrap_servers=shared_broker.bootstrap,
        group_id="python",
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        consumer_timeout_ms=20_000,
        enable_auto_commit=False,
    )
    seen = [next(consumer).value.decode() for _ in range(10)]
    consumer.commit()
    consumer.close()
    assert sorted(seen) == COMMITTED
    assert "python" in admin.list_topics()
    admin.close()

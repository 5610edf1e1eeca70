"""What librdkafka reports of brokers that died in a test does not reach whoever runs the tests."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

import pytest
from tests.kafka_clients import AdminClient, Consumer, Producer

DEADLINE_S = 30.0
DIRECT = re.compile(
    r"^from confluent_kafka(?:\.admin)? import [^\n]*\b(?:Producer|Consumer|AdminClient)\b", re.MULTILINE
)


@pytest.mark.parametrize("client", [AdminClient, Consumer, Producer])
def test_a_broker_that_is_gone_leaves_no_line(client: type, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Bound, and not listening: every connection is refused.
        failures: list[object] = []
        settings = {"bootstrap.servers": f"127.0.0.1:{taken.getsockname()[1]}", "error_cb": failures.append}
        made = client(settings | ({"group.id": "g"} if client is Consumer else {}))
        ends_at = time.monotonic() + DEADLINE_S
        while not failures:
            assert time.monotonic() < ends_at
            made.poll(0.05)
        if client is Consumer:
            made.close()
    assert capfd.readouterr().err == ""


def test_all_clients_of_the_wire_are_made_quiet() -> None:
    loud = [path.name for path in Path(__file__).parent.glob("test_*.py") if DIRECT.search(path.read_text())]
    assert loud == []

"""Spark's own Kafka connector reads from and writes to our broker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.missing import skip_without

from headrace.bench.connector import kafka_connector
from headrace.errors import ExternalFailure
from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess

SCRIPT = Path(__file__).parent / "clients" / "spark_connector.py"
DEADLINE_S = 240.0


@pytest.mark.slow
def test_batch_and_streams(shared_broker: BrokerProcess, tmp_path: Path) -> None:
    try:
        settings = kafka_connector()
    except ExternalFailure as error:
        skip_without(error.message, "the broker with Spark's Kafka connector is", "apt-get install maven")
    with Client(shared_broker.bootstrap) as client:
        client.create_topics({"spark-in": 2, "spark-out": 2, "spark-real-time": 2})
    command = [sys.executable, str(SCRIPT), shared_broker.bootstrap, str(tmp_path), json.dumps(settings)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["batch"] == [str(number) for number in range(10)]
    assert told["streaming"] == [str(number) for number in range(5, 10)]
    late = [f"7 late {number}" for number in range(20)]
    assert told["real_time"]["values"] == sorted([*told["streaming"], *late])
    assert not told["real_time"]["batch_ended"], "rows came before the end of their micro-batch"

"""On a real Spark cluster, a master and two workers: jobs run there, and speculative attempts change nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.chains.test_chain_crashes import EngineProcess
from tests.spark.chains.test_chain_faults import ROWS, found, pipeline, totals

from headrace.spark.session.java import find_java

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(600)]

# Spark starts no second attempt on the host of the first: each worker is a host of its own.
WORKER_HOSTS = ("127.0.0.2", "127.0.0.3")
DEADLINE_S = 120.0
SPECULATES = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "500ms",
    "spark.speculation.quantile": "0.5",
    "spark.executor.memory": "512m",
}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def start(stack: ExitStack, directory: Path, what: str, *arguments: str) -> None:
    """A part of the cluster, in a process that ends with the test."""
    package = find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    home = Path(package.origin).parent
    environment = {**os.environ, "JAVA_HOME": str(find_java(directory).home), "SPARK_HOME": str(home)}
    environment |= {"SPARK_DAEMON_MEMORY": "256m", "PYSPARK_PYTHON": sys.executable}
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}", *arguments]
    log = stack.enter_context((directory / f"{what}-{arguments[1]}.log").open("w"))
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    stack.callback(process.wait)
    stack.callback(process.terminate)


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        ports = ("--port", str(port), "--webui-port", str(page))
        start(stack, tmp_path, "master.Master", "--host", "127.0.0.1", *ports)
        for host in WORKER_HOSTS:
            size = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(tmp_path / host))
            start(stack, tmp_path, "worker.Worker", "--host", host, *size, address)
        deadline_s = time.monotonic() + DEADLINE_S
        while workers_of(page) < len(WORKER_HOSTS):
            assert time.monotonic() < deadline_s
            time.sleep(0.2)
        yield address


def workers_of(page: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=5) as answer:
            return sum(worker["state"] == "ALIVE" for worker in json.load(answer)["workers"])
    except OSError:
        return 0


def test_a_speculative_attempt_takes_over_from_one_that_hangs(stack: Stack, master: str, tmp_path: Path) -> None:
    source, target = stack.topic("in"), stack.name("out")
    marks = tmp_path / "marks"
    marks.mkdir()
    document = stack.pipeline(pipeline(source, target, f'misbehave=hang at=77 marks="{marks}" partitioned=by_key'))
    sent: list[dict[str, Any]] = []
    for more in (ROWS, [{"k": "d0", "n": 1000}]):
        stack.produce(source, more)
        sent += more
        engine = EngineProcess(stack, tmp_path / "data", document, master=master, conf=SPECULATES)
        try:
            engine.finish()
        finally:
            engine.kill()
        assert (marks / "begun").exists(), "the first attempt hung"
        assert found(stack, target) == totals(sent), "the rows and the state are those of the attempt that won"

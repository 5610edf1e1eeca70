"""A data directory that an older release left, with pipelines of every kind killed at work, goes on exactly."""

from __future__ import annotations

import io
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
import zstandard
from confluent_kafka import Consumer, TopicPartition
from tests.directories import workload

from headrace.errors import NeedsBegin
from headrace.server import BackgroundStack, StackSettings
from headrace.server.client import ServerClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
RELEASES = sorted(path.name.removesuffix(".tar.zst") for path in HERE.glob("*.tar.zst"))
START_TIMEOUT_S = 180


def unpacked(release: str, target: Path) -> Path:
    content = zstandard.decompress((HERE / f"{release}.tar.zst").read_bytes(), max_output_size=1 << 30)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(target, filter="data")
    return target


def expected(release: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(zstandard.decompress((HERE / f"{release}.json.zst").read_bytes()))
    return found


def committed(bootstrap: str) -> list[int]:
    settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "group.id": "readers"}
    consumer = Consumer(settings)
    try:
        found = consumer.committed([TopicPartition("events", 0), TopicPartition("events", 1)], timeout=30)
        return [partition.offset for partition in found]
    finally:
        consumer.close()


def begin_anew(client: ServerClient, name: str) -> None:
    """A pipeline whose state was in Spark's store does not go on by itself, and says so."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while (job := client.job(name))["state"] == "starting":
        assert time.monotonic() < deadline_s, job
        time.sleep(workload.POLL_S)
    assert f"pipeline '{name}' cannot go on exactly with this version" in job["error"]["message"]
    with pytest.raises(NeedsBegin, match="cannot go on exactly"):
        client.start(name)
    client.start(name, begin="earliest")


@pytest.mark.parametrize("release", RELEASES)
def test_pipelines_go_on_exactly(release: str, tmp_path: Path) -> None:
    data = unpacked(release, tmp_path / "data")
    stack = BackgroundStack(StackSettings(data, broker_port=0, http_port=0))
    info = stack.start(START_TIMEOUT_S)
    try:
        with ServerClient(info) as client:
            states = {entry["name"]: entry["state"] for entry in client.pipelines()}
            assert states.pop(workload.STOPPED) == "stopped"
            assert set(states) == {*workload.SQL, *workload.TEXT} - {workload.STOPPED}
            assert committed(info.bootstrap) == [17, 4]
            for name in workload.MOVED:
                begin_anew(client, name)
            workload.go_on(client, info.bootstrap)
        found = workload.records(info.bootstrap, workload.outputs())
    finally:
        stack.stop()
    wanted = expected(release)
    for topic in (f"out.{name}" for name in workload.MOVED):
        # All is read again, and its rows come twice.
        found[topic], wanted[topic] = sorted(set(found[topic])), sorted(set(wanted[topic]))
    assert {topic: len(rows) for topic, rows in found.items()} == {topic: len(rows) for topic, rows in wanted.items()}
    assert found == wanted

"""More partitions than descriptors: all are written and read, and clients still connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from headrace.log import OsStorage, encode_batches
from headrace.wire import protocol
from headrace.wire.asking import asking, names
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.messages import topics
from headrace.wire.testing import broker_in_thread

CLIENTS = 40
LARGE = 100
DEADLINE_S = 60.0


@pytest.mark.parametrize(("descriptors", "partitions"), [(256, 400), pytest.param(1024, 5_000, marks=pytest.mark.slow)])
def test_partitions_need_no_descriptors_of_their_own(tmp_path: Path, descriptors: int, partitions: int) -> None:
    command = (
        f"ulimit -n {descriptors}; exec {sys.executable} -P -m headrace.wire --port 0 --data-dir {tmp_path / 'data'}"
    )
    with (tmp_path / "log").open("w") as log:
        broker = subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, stderr=log)
    try:
        assert broker.stdout is not None
        address = f"127.0.0.1:{json.loads(broker.stdout.readline())['port']}"
        batch = next(encode_batches(None, [b"x"], [time.time_ns() // 1_000_000]))
        with Client(address, timeout_ms=300_000) as client:
            client.create_topics({"many": partitions})
            client.produce({"many": dict.fromkeys(range(partitions), batch)})
            for index in range(partitions):
                assert client.fetch("many", index, 0, max_bytes=1_000).records
        with ExitStack() as stack:
            for _ in range(CLIENTS):
                assert stack.enter_context(Client(address)).partition_count("many") == partitions
            assert len(os.listdir(f"/proc/{broker.pid}/fd")) < descriptors
        assert "fewer connections than connections_max" in (tmp_path / "log").read_text()
    finally:
        broker.terminate()
        broker.wait(120)
        if broker.stdout is not None:
            broker.stdout.close()


class Gated(OsStorage):
    """A disk that makes whoever creates partitions of the topic `large` wait."""

    def __init__(self) -> None:
        self.reached, self.gate = threading.Event(), threading.Event()

    def fsync_directory(self, path: Path) -> None:
        if path.name.startswith("large-"):
            self.reached.set()
            assert self.gate.wait(DEADLINE_S)
        super().fsync_directory(path)


def test_others_are_answered_while_a_large_topic_is_made(tmp_path: Path) -> None:
    storage = Gated()
    batch = next(encode_batches(None, [b"x"], [time.time_ns() // 1_000_000]))
    config = BrokerConfig(data_dir=tmp_path / "data", port=0, partitions_max=LARGE + 10)
    with broker_in_thread(config, storage=storage) as address, Client(address) as maker, Client(address) as other:
        other.create_topics({"small": 1})
        making = threading.Thread(target=maker.create_topics, args=({"large": LARGE},))
        making.start()
        try:
            assert storage.reached.wait(DEADLINE_S)
            other.produce({"small": {0: batch}})
            assert other.fetch("small", 0, 0).records
            assert "small" in other.metadata(["small"]).topics
            with asking(address) as ask:
                wanted = (topics.CreatableTopic("large", 1, 1), topics.CreatableTopic("too-much", 10, 1))
                answered = names(ask(protocol.CREATE_TOPICS, topics.CreateTopicsRequest(wanted)))
                assert answered == ["TOPIC_ALREADY_EXISTS", "POLICY_VIOLATION"]
        finally:
            storage.gate.set()
            making.join(DEADLINE_S)
        assert other.partition_count("large") == LARGE
        other.produce({"large": {LARGE - 1: batch}})
    with broker_in_thread(config) as address, Client(address) as client:
        assert client.partition_count("large") == LARGE

"""More partitions than descriptors: all are written and read, and clients still connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from headrace.log import encode_batches
from headrace.wire.client import Client

CLIENTS = 40


@pytest.mark.parametrize(("descriptors", "partitions"), [(256, 400), pytest.param(1024, 5_000, marks=pytest.mark.slow)])
def test_partitions_need_no_descriptors_of_their_own(tmp_path: Path, descriptors: int, partitions: int) -> None:
    command = (
        f"ulimit -n {descriptors}; exec {sys.executable} -P -m headrace.wire --port 0 --data-dir {tmp_path / 'data'}"
    )
    broker = subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE)
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
    finally:
        broker.terminate()
        broker.wait(120)
        if broker.stdout is not None:
            broker.stdout.close()

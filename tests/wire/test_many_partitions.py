"""More partitions than descriptors: all are written and read, and clients still connect."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from headrace.log import OsStorage, encode_batches
from headrace.wire import protocol
from headrace.wire.asking import asking, names
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.messages import partitions as partition_messages
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
    """A disk that makes whoever creates partitions of the topic `large` wait, once they are many."""

    def __init__(self) -> None:
        self.reached, self.gate = threading.Event(), threading.Event()
        self.fails = False

    def fsync_directory(self, path: Path) -> None:
        if path.name.startswith("large-") and path.name != "large-0":
            self.reached.set()
            assert self.gate.wait(DEADLINE_S)
            if self.fails:
                raise OSError(errno.EIO, "the disk failed")
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


def grow(address: str, count: int, *, validate_only: bool = False, timeout_ms: int = 60_000) -> list[str]:
    """The name of the answer to CreatePartitions for the topic `large`."""
    wanted = (partition_messages.GrownTopic("large", count),)
    request = partition_messages.CreatePartitionsRequest(wanted, timeout_ms, validate_only)
    with asking(address) as ask:
        return names(ask(protocol.CREATE_PARTITIONS, request))


def delete(address: str, timeout_ms: int = 60_000) -> list[str]:
    with asking(address) as ask:
        return names(ask(protocol.DELETE_TOPICS, topics.DeleteTopicsRequest(("large",), (), timeout_ms), 5))


@contextmanager
def growing(tmp_path: Path) -> Iterator[tuple[Gated, str, ThreadPoolExecutor, Future[list[str]]]]:
    """The topic `large` grows from 1 to LARGE partitions, and the disk waits for the gate."""
    storage = Gated()
    config = BrokerConfig(data_dir=tmp_path / "data", port=0, partitions_max=LARGE + 10)
    with broker_in_thread(config, storage=storage) as address, ThreadPoolExecutor(4) as clients:
        with Client(address) as client:
            client.create_topics({"large": 1})
        first = clients.submit(grow, address, LARGE)
        try:
            assert storage.reached.wait(DEADLINE_S)
            yield storage, address, clients, first
        finally:
            storage.gate.set()


def test_others_are_answered_while_a_topic_grows(tmp_path: Path) -> None:
    batch = next(encode_batches(None, [b"x"], [time.time_ns() // 1_000_000]))
    with growing(tmp_path) as (storage, address, _, first), Client(address) as other:
        other.create_topics({"small": 1})
        other.produce({"small": {0: batch}, "large": {0: batch}})
        assert other.fetch("small", 0, 0).records
        assert other.partition_count("large") == 1
        with asking(address) as ask:
            wanted = (topics.CreatableTopic("large", 1, 1), topics.CreatableTopic("too-much", 10, 1))
            answered = names(ask(protocol.CREATE_TOPICS, topics.CreateTopicsRequest(wanted)))
            assert answered == ["TOPIC_ALREADY_EXISTS", "POLICY_VIOLATION"]
        assert grow(address, 2, validate_only=True) == ["NONE"]
        assert grow(address, LARGE, validate_only=True) == ["POLICY_VIOLATION"], "those being made count"
        assert grow(address, LARGE + 1, timeout_ms=1) == ["REQUEST_TIMED_OUT"]
        assert delete(address, timeout_ms=1) == ["REQUEST_TIMED_OUT"]
        assert not first.done()
        storage.gate.set()
        assert first.result(DEADLINE_S) == ["NONE"]
        with Client(address) as newcomer:
            assert newcomer.partition_count("large") == LARGE
            newcomer.produce({"large": {LARGE - 1: batch}})
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "data", port=0)) as address, Client(address) as client:
        assert client.partition_count("large") == LARGE
        assert client.fetch("large", LARGE - 1, 0).records


def test_growths_of_one_topic_and_its_deletion_wait_their_turn(tmp_path: Path) -> None:
    with growing(tmp_path) as (storage, address, clients, first):
        later = [clients.submit(grow, address, LARGE), clients.submit(grow, address, LARGE + 1)]
        storage.gate.set()
        assert first.result(DEADLINE_S) == ["NONE"]
        assert [growth.result(DEADLINE_S) for growth in later] == [["INVALID_PARTITIONS"], ["NONE"]]
        assert delete(address) == ["NONE"]
        assert not list((tmp_path / "data").glob("large-*"))


def test_a_topic_that_is_deleted_while_it_grows_leaves_nothing(tmp_path: Path) -> None:
    with growing(tmp_path) as (storage, address, clients, first):
        deletion = clients.submit(delete, address)
        storage.gate.set()
        assert (first.result(DEADLINE_S), deletion.result(DEADLINE_S)) == (["NONE"], ["NONE"])
        assert not list((tmp_path / "data").glob("large-*"))


def test_a_growth_that_the_disk_refuses_leaves_the_topic_as_it_was(tmp_path: Path) -> None:
    with growing(tmp_path) as (storage, address, _, first), Client(address) as client:
        storage.fails = True
        storage.gate.set()
        assert first.result(DEADLINE_S) == ["KAFKA_STORAGE_ERROR"]
        assert client.partition_count("large") == 1
        storage.fails = False
        assert grow(address, LARGE) == ["NONE"]
        assert client.partition_count("large") == LARGE

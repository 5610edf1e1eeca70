"""Disks that fail and power that goes: no acknowledgement for what may not last."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import TopicPartition
from tests.kafka_clients import Consumer

from headrace.log import OsStorage, decode_fetched, encode_batches, parse_batches, with_producer
from headrace.log.testing import Fault, FaultyStorage, PowerLossStorage
from headrace.wire import BrokerConfig
from headrace.wire.client import LATEST, Client, KafkaError
from headrace.wire.testing import broker_in_thread

# Refusals that may pass are tried again for so long.
HASTY_MS = 1_000


def batch(*values: bytes) -> bytes:
    return b"".join(encode_batches([None] * len(values), list(values), [1_000] * len(values), codec="none"))


def config_for(data_dir: Path) -> BrokerConfig:
    return BrokerConfig(data_dir=data_dir, port=0)


@contextmanager
def failing_broker(data_dir: Path, storage: FaultyStorage) -> Iterator[tuple[Client, Client]]:
    """A patient client and a hasty one."""
    with (
        broker_in_thread(config_for(data_dir), storage=storage) as address,
        Client(address) as patient,
        Client(address, timeout_ms=HASTY_MS) as hasty,
    ):
        yield patient, hasty


def test_a_failed_sync_is_an_error_and_never_an_acknowledgement(tmp_path: Path) -> None:
    storage = FaultyStorage(OsStorage())
    with failing_broker(tmp_path, storage) as (client, hasty):
        client.create_topics({"failing": 2})
        client.produce({"failing": {0: batch(b"kept")}})
        storage.faults.append(Fault("fdatasync", "failing-0/00000000000000000000.log", errno.EIO))
        with pytest.raises(KafkaError, match="KAFKA_STORAGE_ERROR"):
            hasty.produce({"failing": {0: batch(b"lost")}})
        storage.faults.clear()
        with pytest.raises(KafkaError, match="KAFKA_STORAGE_ERROR"):
            hasty.produce({"failing": {0: batch(b"later")}})
        assert client.list_offsets("failing", {0: LATEST})[0].offset == 1, "what was not synced is not shown"
        assert client.produce({"failing": {1: batch(b"elsewhere")}}) == {("failing", 1): 0}


def test_a_full_disk_refuses_writes_until_there_is_room(tmp_path: Path) -> None:
    storage = FaultyStorage(OsStorage())
    with failing_broker(tmp_path, storage) as (client, hasty):
        client.create_topics({"full": 1})
        storage.faults.append(Fault("pwritev", ".log", errno.ENOSPC))
        with pytest.raises(KafkaError, match="KAFKA_STORAGE_ERROR"):
            hasty.produce({"full": {0: batch(b"no room")}})
        with pytest.raises(KafkaError, match="COORDINATOR_NOT_AVAILABLE"):
            hasty.init_producer("full")
        storage.faults.clear()
        assert client.produce({"full": {0: batch(b"room")}}) == {("full", 0): 0}
        assert client.init_producer("full").epoch >= 0


def test_a_topic_that_cannot_be_written_is_not_created(tmp_path: Path) -> None:
    storage = FaultyStorage(OsStorage())
    with failing_broker(tmp_path, storage) as (client, hasty):
        storage.faults.append(Fault("fsync_directory", "", errno.EIO))
        with pytest.raises(KafkaError, match="KAFKA_STORAGE_ERROR"):
            hasty.create_topics({"unmade": 1})
        assert client.metadata(["unmade"]).topics == {}


def test_a_marker_that_cannot_be_written_leaves_the_transaction_decided(tmp_path: Path) -> None:
    storage = FaultyStorage(OsStorage())
    with failing_broker(tmp_path, storage) as (client, hasty):
        # The records are of 1970: their marker is to be in the same segment all the same.
        client.create_topics({"marked": 1}, {"segment.ms": str(2**62)})
        producer = client.init_producer("marked")
        client.add_partitions("marked", producer, [("marked", 0)])
        records = with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0, True)
        client.produce({"marked": {0: records}}, "marked")
        storage.faults.append(Fault("pwritev", "marked-0/00000000000000000000.log", errno.ENOSPC))
        with pytest.raises(KafkaError, match="COORDINATOR_NOT_AVAILABLE"):
            hasty.end_transaction("marked", producer, commit=True)
        with pytest.raises(KafkaError, match="INVALID_TXN_STATE"):
            client.end_transaction("marked", producer, commit=False)
        storage.faults.clear()
        client.end_transaction("marked", producer, commit=True)
        assert client.list_offsets("marked", {0: LATEST}, committed=True)[0].offset == 2


@pytest.mark.parametrize("seed", range(6))
def test_what_was_acknowledged_survives_the_loss_of_power(tmp_path: Path, seed: int) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    storage = PowerLossStorage(before)
    choice = Random(seed)
    acked: list[bytes] = []
    with broker_in_thread(config_for(before), storage=storage) as address, Client(address) as client:
        client.create_topics({"power": 1})
        producer = client.init_producer("power")
        sequence = 0
        for number in range(choice.randrange(1, 8)):
            value = f"v{number}".encode()
            if choice.random() < 0.4:
                client.produce({"power": {0: batch(value)}})
                acked.append(value)
                continue
            commit = choice.random() < 0.6
            client.add_partitions("power", producer, [("power", 0)])
            records = with_producer(batch(value), producer.producer_id, producer.epoch, sequence, True)
            client.produce({"power": {0: records}}, "power")
            sequence += 1
            client.end_transaction("power", producer, commit)
            acked += [value] if commit else []
        storage.lose_power(after, choice)
    with broker_in_thread(config_for(after)) as address, Client(address) as client:
        assert visible(client) == acked
        assert client.init_producer("power").epoch > producer.epoch
        assert client.init_producer(None).producer_id > producer.producer_id


def visible(client: Client) -> list[bytes | None]:
    """All committed values; a fetch brings those of one segment."""
    values: list[bytes | None] = []
    offset = 0
    while headers := list(parse_batches((fetched := client.fetch("power", 0, offset)).records)):
        decoded = decode_fetched(bytes(fetched.records), fetched.aborted)
        values += [value for records in decoded for value in records.values.to_pylist()]
        offset = headers[-1].next_offset
    return values


def test_a_transaction_times_out_by_the_clock_also_across_a_restart(tmp_path: Path) -> None:
    now = [1_000_000]
    config = config_for(tmp_path)
    with broker_in_thread(config, clock=lambda: now[0]) as address, Client(address) as client:
        client.create_topics({"power": 1})
        producer = client.init_producer("power", timeout_ms=60_000)
        client.add_partitions("power", producer, [("power", 0)])
        records = with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0, True)
        client.produce({"power": {0: records}}, "power")
    now[0] += 59_000
    with broker_in_thread(config, clock=lambda: now[0]) as address, Client(address) as client:
        assert client.list_offsets("power", {0: LATEST}, committed=True)[0].offset == 0, "still open"
        now[0] += 2_000
        while client.list_offsets("power", {0: LATEST}, committed=True)[0].offset == 0:
            pass
        with pytest.raises(KafkaError, match="PRODUCER_FENCED"):
            client.end_transaction("power", producer, commit=True)
        assert visible(client) == []


def test_the_brokers_own_topics_stay_small(tmp_path: Path) -> None:
    config = BrokerConfig(data_dir=tmp_path, port=0, state_log_bytes_max=20_000, retention_interval_ms=20)
    with broker_in_thread(config) as address, Client(address) as client:
        client.create_topics({"power": 1})
        producers = [client.init_producer(f"small-{number}") for number in range(5)]
        start = 0
        while start == 0:
            for number in range(5):
                producers[number] = client.init_producer(f"small-{number}")
            start = client.list_offsets("__transaction_state", {0: -2})[0].offset
    with broker_in_thread(config) as address, Client(address) as client:
        again = [client.init_producer(f"small-{number}") for number in range(5)]
        assert [entry.producer_id for entry in again] == [entry.producer_id for entry in producers]
        assert all(new.epoch > old.epoch for new, old in zip(again, producers, strict=True))


def test_a_client_that_leaves_in_the_middle_does_not_stop_the_end_of_its_transaction(tmp_path: Path) -> None:
    """The request is sent, the connection closed at once; the transaction is ended all the same."""
    with broker_in_thread(config_for(tmp_path)) as address, Client(address) as client:
        client.create_topics({"power": 1})
        producer = client.init_producer("power")
        client.add_partitions("power", producer, [("power", 0)])
        records = with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0, True)
        client.produce({"power": {0: records}}, "power")
        request = struct.pack(">hhih", 26, 0, 1, -1)
        request += struct.pack(">h5sqhb", 5, b"power", producer.producer_id, producer.epoch, 1)
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as hasty:
            hasty.sendall(struct.pack(">i", len(request)) + request)
        while client.list_offsets("power", {0: LATEST}, committed=True)[0].offset < 2:
            pass
        assert visible(client) == [b"x"]


def test_offsets_of_a_group_without_members_expire(tmp_path: Path) -> None:
    now = [1_000_000_000]
    config = BrokerConfig(data_dir=tmp_path, port=0, retention_interval_ms=20, offset_expiry_ms=1_000)
    with broker_in_thread(config, clock=lambda: now[0]) as address, Client(address) as client:
        client.create_topics({"power": 1})
        reader = Consumer({"bootstrap.servers": address, "group.id": "leaving", "log_level": 0})
        reader.commit(offsets=[TopicPartition("power", 0, 3)], asynchronous=False)
        assert reader.committed([TopicPartition("power", 0)], 30)[0].offset == 3
        now[0] += 1_001
        while reader.committed([TopicPartition("power", 0)], 30)[0].offset == 3:
            pass
        reader.close()

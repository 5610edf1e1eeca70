"""Backups of a running broker, and what comes back from them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from typer.testing import CliRunner

from headrace.backup import BackupReport, ObjectStore, create_backup, moments_of, open_objects, restore_backup
from headrace.cli import app
from headrace.credential import client_settings
from headrace.errors import Conflict, CorruptData, ExternalFailure, InvalidInput, NotFound
from headrace.log import LogStore, Partition, PartitionReader, Watermark, encode_batches, place_hold, with_producer
from headrace.log.watermark import read_watermark
from headrace.wire.client import Client
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread
from headrace.wire.users import list_users

DEADLINE_S = 30.0
CONFIG = {"segment.bytes": "4096"}


class Home:
    """A data directory with a broker on it."""

    def __init__(self, directory: Path, address: str) -> None:
        self.directory = directory
        self.address = address
        self.time_ms = 1_000

    def send(self, count: int, topic: str = "events") -> None:
        with Client(self.address) as client:
            for number in range(count):
                batch = next(encode_batches([b"k"], [b"%s %d" % (topic.encode(), number) * 20], [5]))
                client.produce({topic: {0: batch}})

    def backup(self, objects: ObjectStore) -> BackupReport:
        self.time_ms += 1_000
        return create_backup(self.directory, objects, bootstrap=self.address, clock=lambda: self.time_ms)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    directory = tmp_path / "data"
    with broker_in_thread(BrokerConfig(data_dir=directory / "log", port=0)) as address:
        with Client(address) as client:
            client.create_topics({"events": 1, "empty": 2}, CONFIG)
        (directory / "wanted.json").write_text('{"low-batteries": "running"}')
        with closing(sqlite3.connect(directory / "headrace.sqlite")) as database:
            database.execute("CREATE TABLE versions (name TEXT)")
            database.execute("INSERT INTO versions VALUES ('low-batteries')")
            database.commit()
        yield Home(directory, address)


@pytest.fixture(params=["folder", "memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    places: dict[str, Callable[[], str]] = {
        "folder": lambda: str(tmp_path / "backup"),
        "memory": lambda: "memory:///",
        "s3": lambda: f"{request.getfixturevalue('s3_url')}/{tmp_path.name}",
    }
    return open_objects(places[request.param]())


def values(directory: Path, topic: str = "events") -> list[bytes | None]:
    reader = PartitionReader(directory / "log" / f"{topic}-0")
    watermark = reader.watermark()
    found = reader.read(watermark.log_start_offset, watermark.last_stable_offset)
    return [value for records in found for value in records.values.to_pylist()]


def test_what_comes_back_is_what_was_there_at_each_moment(home: Home, objects: ObjectStore, tmp_path: Path) -> None:
    home.send(40)
    first, first_values = home.backup(objects), values(home.directory)
    home.send(30)
    second, second_values = home.backup(objects), values(home.directory)
    assert moments_of(objects) == [first.time_ms, second.time_ms]
    assert 0 < second.sent_bytes < first.sent_bytes
    restore_backup(objects, tmp_path / "new")
    assert values(tmp_path / "new") == second_values
    restore_backup(objects, tmp_path / "old", time_ms=second.time_ms - 1)
    assert values(tmp_path / "old") == first_values
    with closing(sqlite3.connect(tmp_path / "new" / "headrace.sqlite")) as database:
        assert database.execute("SELECT name FROM versions").fetchall() == [("low-batteries",)]
    assert (tmp_path / "new" / "wanted.json").read_text() == (home.directory / "wanted.json").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> ObjectStore:
    return open_objects(str(tmp_path / "backup"))


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_members_of_groups_do_not_come_back(
    home: Home, folder: ObjectStore, tmp_path: Path, group_protocol: str
) -> None:
    """They are clients of the other broker; a new member must not wait for their sessions to end."""
    home.send(20)
    settings = {"group.id": "readers", "group.protocol": group_protocol, "auto.offset.reset": "earliest"}
    reader = Consumer({"bootstrap.servers": home.address, "log_level": 0, "enable.auto.commit": False, **settings})
    reader.subscribe(["events"])
    message = reader.poll(DEADLINE_S)
    assert message is not None
    reader.commit(message=message, asynchronous=False)
    home.backup(folder)
    restore_backup(folder, tmp_path / "new")
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "new" / "log", port=0)) as address:
        admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
        group = admin.describe_consumer_groups(["readers"])["readers"].result(DEADLINE_S)
        assert (group.members, group.state) == ([], ConsumerGroupState.EMPTY)
        wanted = ConsumerGroupTopicPartitions("readers", [TopicPartition("events", 0)])
        (found,) = admin.list_consumer_group_offsets([wanted])["readers"].result(DEADLINE_S).topic_partitions
        assert found.offset == 1
    reader.close()


def test_nothing_new_sends_next_to_nothing(home: Home, folder: ObjectStore) -> None:
    home.send(50)
    home.backup(folder)
    assert home.backup(folder).sent_bytes == 0


def test_groups_topics_and_offsets_come_back(home: Home, folder: ObjectStore, tmp_path: Path) -> None:
    home.send(20)
    admin = AdminClient({"bootstrap.servers": home.address, "log_level": 0})
    group = ConsumerGroupTopicPartitions("readers", [TopicPartition("events", 0, 7)])
    admin.alter_consumer_group_offsets([group])["readers"].result()
    home.backup(folder)
    restore_backup(folder, tmp_path / "new")
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "new" / "log", port=0)) as address:
        again = AdminClient({"bootstrap.servers": address, "log_level": 0})
        assert set(again.list_topics(timeout=10).topics) >= {"events", "empty"}
        wanted = ConsumerGroupTopicPartitions("readers", [TopicPartition("events", 0)])
        (found,) = again.list_consumer_group_offsets([wanted])["readers"].result().topic_partitions
        assert found.offset == 7
        with Client(address) as client:
            assert client.high_watermarks([("events", 0), ("empty", 1)]) == {("events", 0): 20, ("empty", 1): 0}
            client.produce({"events": {0: next(encode_batches(None, [b"x"], [5]))}})
            assert client.high_watermarks([("events", 0)]) == {("events", 0): 21}


def test_a_transaction_that_was_to_end_ends_after_the_restore(home: Home, folder: ObjectStore, tmp_path: Path) -> None:
    batch = next(encode_batches(None, [b"paid"], [5]))
    with Client(home.address) as client:
        producer = client.init_producer("t")
        for sequence, commit in enumerate((True, False)):
            client.add_partitions("t", producer, [("events", 0)])
            sent = with_producer(batch, producer.producer_id, producer.epoch, sequence, True)
            client.produce({"events": {0: sent}}, "t")
            client.end_transaction("t", producer, commit)
        client.add_partitions("t", producer, [("events", 0)])
        client.produce({"events": {0: with_producer(batch, producer.producer_id, producer.epoch, 2, True)}}, "t")
    home.backup(folder)
    restore_backup(folder, tmp_path / "new")
    assert values(tmp_path / "new") == [b"paid"]
    config = BrokerConfig(data_dir=tmp_path / "new" / "log", port=0)
    with broker_in_thread(config) as address, Client(address) as client:
        client.init_producer("t")  # aborts what was open
        assert client.list_offsets("events", {0: -1}, committed=True)[0].offset == 6
    assert values(tmp_path / "new") == [b"paid"]


def test_without_a_broker_the_files_are_enough(tmp_path: Path, folder: ObjectStore) -> None:
    with LogStore.open(tmp_path / "data" / "log") as store:
        partition: Partition = store.create_topic("events", 1, {**CONFIG, "cleanup.policy": "compact"}).partitions[0]
        for number in range(200):
            partition.append(next(encode_batches([b"k"], [b"%d" % number * 20], [5])))
        store.sync()
        create_backup(tmp_path / "data", folder, bootstrap=None, clock=lambda: 1)
        store.compact()
        create_backup(tmp_path / "data", folder, bootstrap=None, clock=lambda: 2)
    restore_backup(folder, tmp_path / "first", time_ms=1)
    restore_backup(folder, tmp_path / "second")
    assert len(values(tmp_path / "first")) == 200
    assert values(tmp_path / "second") == values(tmp_path / "data")


def test_retention_waits_for_the_backup(home: Home, folder: ObjectStore) -> None:
    home.backup(folder)
    assert not list((home.directory / "log" / "holds").iterdir())


def test_users_and_their_rights_come_back_for_nobody_else_to_read(
    home: Home, folder: ObjectStore, tmp_path: Path
) -> None:
    admin = AdminClient({"bootstrap.servers": home.address, "log_level": 0, **client_settings(home.address)})
    mechanism = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    user = UserScramCredentialUpsertion("alice", mechanism, b"correct horse", b"salt")
    admin.alter_user_scram_credentials([user])["alice"].result()
    place_hold(home.directory / "log", "job/query", {("events", 0): 3})
    home.backup(folder)
    restore_backup(folder, tmp_path / "new")
    log = tmp_path / "new" / "log"
    assert list(list_users(log)) == ["alice"]
    assert (log / "security.json").stat().st_mode & 0o077 == 0
    with LogStore.open(log) as store:
        assert store.pressure.holds().of("events", 0) == {"job/query": 3}


def test_files_that_a_job_removes_meanwhile_are_there(
    home: Home, folder: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cut's last record names state; the job goes on, and drops it while the topics are still being sent."""
    state = home.directory / "jobs" / "p" / "q" / "serial" / "node-0-7"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"state of batch 7")
    home.send(5)

    def read_late(directory: Path) -> Watermark:
        state.unlink(missing_ok=True)
        return read_watermark(directory)

    monkeypatch.setattr("headrace.backup.creating.read_watermark", read_late)
    home.backup(folder)
    assert not state.exists()
    restore_backup(folder, tmp_path / "new")
    assert (tmp_path / "new" / "jobs" / "p" / "q" / "serial" / "node-0-7").read_bytes() == b"state of batch 7"
    assert not list(home.directory.glob("backup-*"))


def test_the_commands_save_and_bring_back(tmp_path: Path) -> None:
    with LogStore.open(tmp_path / "data" / "log") as store:
        store.create_topic("events", 1, {}).partitions[0].append(next(encode_batches(None, [b"x"], [5])))
    runner, place = CliRunner(), str(tmp_path / "backup")
    saved = runner.invoke(app, ["backup", place, "-d", str(tmp_path / "data"), "--json"])
    assert json.loads(saved.stdout)["record_count"] == 1
    restored = runner.invoke(app, ["restore", place, "-d", str(tmp_path / "new"), "--at", "2999-01-01T00:00:00Z"])
    assert "restored 1 topics" in restored.stdout
    assert values(tmp_path / "new") == [b"x"]
    refused = runner.invoke(app, ["restore", place, "-d", str(tmp_path / "newer"), "--at", "yesterday"])
    assert isinstance(refused.exception, InvalidInput)


def test_a_damaged_object_is_reported(home: Home, folder: ObjectStore, tmp_path: Path) -> None:
    home.send(20)
    home.backup(folder)
    piece = next((tmp_path / "backup" / "log" / "events-0").iterdir())
    content = bytearray(piece.read_bytes())
    content[len(content) // 2] ^= 1
    piece.write_bytes(content)
    with pytest.raises(CorruptData, match="damaged"):
        restore_backup(folder, tmp_path / "new")


def test_a_restore_needs_a_backup_and_an_empty_directory(home: Home, folder: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no backup"):
        restore_backup(folder, tmp_path / "new")
    home.backup(folder)
    with pytest.raises(NotFound, match="of that time"):
        restore_backup(folder, tmp_path / "new", time_ms=5)
    with pytest.raises(Conflict, match="not empty"):
        restore_backup(folder, home.directory)


def test_places_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="ftp"):
        open_objects("ftp://somewhere")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with pytest.raises((ExternalFailure, NotFound)):
        open_objects("file:///proc/none").put("x", b"y")

"""The data directory: topics, their settings, one owner, a format version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.errors import Conflict, CorruptData, InvalidConfig, InvalidInput, NotFound
from headrace.log import LogRefusal, LogStore, TopicConfig, encode_batches
from headrace.log.directory import FORMAT_VERSION


def test_topics_survive_a_restart(open_store: Callable[[], LogStore]) -> None:
    created = open_store().create_topic("orders.v1", 3, {"retention.ms": "-1"})
    found = open_store().topics["orders.v1"]
    assert (found.topic_id, found.config, len(found.partitions)) == (created.topic_id, created.config, 3)
    assert found.config.retention_ms == -1


def test_a_deleted_topic_is_gone_with_its_files(open_store: Callable[[], LogStore], tmp_path: Path) -> None:
    store = open_store()
    store.create_topic("a", 2, {})
    store.create_topic("a-0", 1, {})
    store.delete_topic("a")
    assert list(store.topics) == ["a-0"]
    assert sorted(path.name for path in (tmp_path / "data").glob("a*")) == ["a-0-0"]
    assert list(open_store().topics) == ["a-0"]
    with pytest.raises(NotFound, match="no topic 'a'"):
        store.delete_topic("a")


def test_a_topic_created_again_is_empty_and_another(store: LogStore) -> None:
    first = store.create_topic("a", 1, {})
    first.partitions[0].append(next(encode_batches(None, [b"x"], [1])))
    store.sync()
    store.delete_topic("a")
    second = store.create_topic("a", 1, {})
    assert second.partitions[0].log_end_offset == 0
    assert second.topic_id != first.topic_id


def test_what_has_to_be_synced_is_known_without_looking_at_every_partition(store: LogStore) -> None:
    first, second, third = store.create_topic("a", 3, {}).partitions
    for partition in (third, first, third):
        partition.append(next(encode_batches(None, [b"x"], [1])))
    assert store.dirty() == (third, first)
    ticket = third.begin_sync()
    third.append(next(encode_batches(None, [b"y"], [2])))
    assert store.dirty() == (first,), "third waits for its sync under way"
    ticket.run()
    third.finish_sync(ticket)
    assert store.dirty() == (first, third)
    assert (third.high_watermark, third.log_end_offset) == (2, 3)
    store.sync()
    assert store.dirty() == ()
    second.append(next(encode_batches(None, [b"x"], [1])))
    store.delete_topic("a")
    assert store.dirty() == ()


def test_a_topic_grows_and_keeps_what_it_has(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    first = store.create_topic("a", 1, {"retention.ms": "5"})
    first.partitions[0].append(next(encode_batches(None, [b"x"], [1])))
    grown = store.add_partitions("a", 3)
    assert grown.partitions[0] is first.partitions[0]
    for found in (grown, store.topics["a"], open_store().topics["a"]):
        assert [partition.index for partition in found.partitions] == [0, 1, 2]
        assert (found.topic_id, found.config.retention_ms) == (first.topic_id, 5)
        assert found.partitions[0].log_end_offset == 1
    for count in (0, 2, 3, 10_001):
        with pytest.raises(InvalidInput, match="has 3 partitions"):
            open_store().add_partitions("a", count)


def test_settings_change_at_once_and_for_good(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    partition = store.create_topic("a", 1, {"retention.ms": "5"}).partitions[0]
    store.alter_config("a", {"max.message.bytes": "10"})
    with pytest.raises(LogRefusal, match=r"max\.message\.bytes is 10"):
        partition.append(next(encode_batches(None, [b"x"], [1])))
    assert open_store().topics["a"].config == TopicConfig(max_message_bytes=10)
    with pytest.raises(InvalidConfig, match="unknown topic setting"):
        open_store().alter_config("a", {"no.such": "1"})
    assert open_store().topics["a"].config == TopicConfig(max_message_bytes=10)


def test_topics_are_found_by_their_ids(store: LogStore) -> None:
    topic = store.create_topic("a", 1, {})
    assert store.name_of(topic.topic_id) == "a"
    store.delete_topic("a")
    assert store.name_of(topic.topic_id) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "x" * 250])
def test_bad_names_are_refused(store: LogStore, name: str) -> None:
    with pytest.raises(InvalidInput, match="is no topic name"):
        store.create_topic(name, 1, {})


def test_bad_arguments_change_nothing(store: LogStore, tmp_path: Path) -> None:
    store.create_topic("a", 1, {})
    before = sorted((tmp_path / "data").rglob("*"))
    with pytest.raises(Conflict, match="exists already"):
        store.create_topic("a", 1, {})
    for count in (0, -1, 10_001):
        with pytest.raises(InvalidInput, match="1 to 10000"):
            store.create_topic("b", count, {})
    with pytest.raises(InvalidConfig, match=r"did you mean retention.ms") as refused:
        store.create_topic("b", 1, {"retention.m": "5"})
    assert "segment.bytes" in refused.value.valid
    for name, value in (("retention.ms", "soon"), ("segment.bytes", "3"), ("cleanup.policy", "shred")):
        with pytest.raises(InvalidConfig, match=f"{name} cannot be '{value}'"):
            store.create_topic("b", 1, {name: value})
    assert sorted((tmp_path / "data").rglob("*")) == before


def test_settings_round_trip_under_kafkas_names() -> None:
    config = TopicConfig.from_names({"max.message.bytes": "5", "message.timestamp.type": "LogAppendTime"})
    assert TopicConfig.from_names(config.to_names()) == config
    assert config.to_names()["max.message.bytes"] == "5"


def test_unknown_partitions_are_named(store: LogStore) -> None:
    store.create_topic("a", 2, {})
    with pytest.raises(NotFound, match="partitions 0 to 1, not 2"):
        store.partition("a", 2)
    with pytest.raises(NotFound):
        store.partition("aa", 0)


def test_a_second_process_is_refused_and_told_who_is_there(store: LogStore, tmp_path: Path) -> None:
    script = "import sys, pathlib; from headrace.log import LogStore; LogStore.open(pathlib.Path(sys.argv[1]))"
    other = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "data")], capture_output=True, text=True, check=False
    )
    assert other.returncode != 0
    assert f"is in use by process {os.getpid()}" in other.stderr


def test_the_lock_is_free_after_closing(tmp_path: Path) -> None:
    LogStore.open(tmp_path / "data").close()
    LogStore.open(tmp_path / "data").close()


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    LogStore.open(tmp_path / "data").close()
    mark = tmp_path / "data" / "format.json"
    mark.write_text(json.dumps({"format_version": FORMAT_VERSION + 1}))
    known = f"format version {FORMAT_VERSION + 1}; this Headrace knows versions up to {FORMAT_VERSION}"
    with pytest.raises(Conflict, match=known):
        LogStore.open(tmp_path / "data")
    assert json.loads(mark.read_text()) == {"format_version": FORMAT_VERSION + 1}


def test_an_older_format_is_marked_as_this_one_so_that_older_brokers_refuse_it(tmp_path: Path) -> None:
    LogStore.open(tmp_path / "data").close()
    mark = tmp_path / "data" / "format.json"
    mark.write_text(json.dumps({"format_version": 1}))
    LogStore.open(tmp_path / "data").close()
    assert json.loads(mark.read_text()) == {"format_version": FORMAT_VERSION}


def test_a_strange_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Conflict, match=r"holds 'thesis.tex'"):
        LogStore.open(tmp_path)
    (tmp_path / "format.json").write_text("garbage")
    with pytest.raises(CorruptData, match=r"format.json cannot be read"):
        LogStore.open(tmp_path)


def test_missing_partition_files_are_reported(tmp_path: Path) -> None:
    with LogStore.open(tmp_path / "data") as store:
        directory = store.create_topic("a", 1, {}).partitions[0].directory
    for path in directory.iterdir():
        path.unlink()
    with pytest.raises(CorruptData, match="a-0: the partition has no segment file"):
        LogStore.open(tmp_path / "data")


def test_a_broken_topic_file_is_reported(tmp_path: Path) -> None:
    with LogStore.open(tmp_path / "data") as store:
        store.create_topic("a", 1, {})
    (tmp_path / "data" / "topics" / "a.json").write_text("{")
    with pytest.raises(CorruptData, match=r"a.json cannot be read"):
        LogStore.open(tmp_path / "data")


def test_records_without_a_topic_are_not_overwritten(store: LogStore, tmp_path: Path) -> None:
    stranger = tmp_path / "data" / "lost-0"
    stranger.mkdir()
    (stranger / f"{0:020d}.log").write_bytes(b"records")
    with pytest.raises(Conflict, match="lost-0 holds records"):
        store.create_topic("lost", 1, {})
    assert (stranger / f"{0:020d}.log").read_bytes() == b"records"


KAFKAS_SETTINGS = [
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
]


def test_every_setting_of_kafka_is_known_with_its_default() -> None:
    defaults = TopicConfig().to_names()
    assert set(KAFKAS_SETTINGS) <= set(defaults)
    assert TopicConfig.from_names(defaults) == TopicConfig()


def test_a_setting_that_was_stored_under_a_former_name_is_read(
    open_store: Callable[[], LogStore], tmp_path: Path
) -> None:
    open_store().create_topic("a", 1, {"remote.log.copy.disable": "true"})
    (stored,) = (tmp_path / "data").rglob("a.json")
    assert '"remote.log.copy.disable": "true"' in stored.read_text()
    stored.write_text(stored.read_text().replace("remote.log.copy.disable", "remote.copy.disable"))
    assert open_store().topics["a"].config.remote_log_copy_disable


def test_a_value_that_would_be_ignored_is_refused_by_name() -> None:
    with pytest.raises(InvalidConfig, match=r"flush\.ms cannot be '1000'") as refused:
        TopicConfig.from_names({"flush.ms": "1000"})
    assert refused.value.valid == (str(2**63 - 1),)


def test_the_level_of_a_codec_is_used(store: LogStore) -> None:
    values = [f"{n * n:x}{n:b}".encode() for n in range(3000)]
    sizes = []
    for level in ("1", "19"):
        settings = {"compression.type": "zstd", "compression.zstd.level": level}
        partition = store.create_topic(f"level{level}", 1, settings).partitions[0]
        partition.append(next(encode_batches(None, values, [1] * len(values))))
        sizes.append(partition.size_bytes)
    assert sizes[1] < sizes[0]


def test_a_topic_that_is_being_made_when_the_store_closes_is_not_there(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    creation = store.begin_topic("t", 2, {})
    with pytest.raises(Conflict, match="exists already"):
        store.create_topic("t", 1, {})
    creation.make()
    store.open_made(creation, 1)
    store.close()
    with pytest.raises(Conflict, match="the log is closed"):
        store.finish_creation(creation)
    with LogStore.open(tmp_path) as reopened:
        assert not reopened.topics
        assert len(reopened.create_topic("t", 3, {}).partitions) == 3


def test_a_growth_that_ends_in_a_crash_changes_nothing_and_can_be_repeated(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    store.create_topic("a", 1, {})
    growth = store.begin_growth("a", 4)
    growth.make()
    store.open_made(growth, 3)
    reopened = open_store()
    assert len(reopened.topics["a"].partitions) == 1
    assert len(reopened.add_partitions("a", 3).partitions) == 3
    assert len(open_store().topics["a"].partitions) == 3


def test_a_topic_grows_once_at_a_time_and_is_not_deleted_meanwhile(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    store.create_topic("a", 1, {})
    growth = store.begin_growth("a", 3)
    assert store.creating == {"a": 2}
    for refused in (lambda: store.add_partitions("a", 4), lambda: store.delete_topic("a")):
        with pytest.raises(Conflict, match="is getting more partitions"):
            refused()
    assert len(store.carry_out(growth).partitions) == 3
    assert not store.creating
    assert len(store.add_partitions("a", 4).partitions) == 4
    store.delete_topic("a")
    assert not open_store().topics


def test_new_partitions_have_the_settings_of_now(open_store: Callable[[], LogStore]) -> None:
    store = open_store()
    store.create_topic("a", 1, {})
    growth = store.begin_growth("a", 2)
    growth.make()
    store.open_made(growth, 1)
    store.alter_config("a", {"max.message.bytes": "10"})
    store.finish_creation(growth)
    store.end_creation(growth)
    with pytest.raises(LogRefusal, match=r"max\.message\.bytes is 10"):
        store.topics["a"].partitions[1].append(next(encode_batches(None, [b"x"], [1])))
    assert open_store().topics["a"].config == TopicConfig(max_message_bytes=10)

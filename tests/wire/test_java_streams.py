"""Kafka Streams on our broker, which is killed and restarted while words are counted: every word is counted once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from tests.campaign import often
from tests.kafka_clients import Consumer, Producer
from tests.wire.java_stack import JavaProgram, java_program, stack_classpath

from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess

UNTESTED = "Kafka Streams through a restart of the broker is"
CALL_TIMEOUT_S = 60.0
PARTITIONS = 4
WORDS = 60_000
DIFFERENT = 500
KILLS = often(1, 8)


def write_words(broker: BrokerProcess) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "queue.buffering.max.messages": 2 * WORDS})
    for number in range(WORDS):
        producer.produce("words", f"w{number % DIFFERENT}".encode(), partition=number % PARTITIONS)
    assert producer.flush(CALL_TIMEOUT_S) == 0


def everything_is_committed(reader: Consumer, topic: str) -> bool:
    places = [TopicPartition(topic, index) for index in range(PARTITIONS)]
    committed = [place.offset for place in reader.committed(places, CALL_TIMEOUT_S)]
    ends = [reader.get_watermark_offsets(place, CALL_TIMEOUT_S, cached=False)[1] for place in places]
    return committed == ends


def kill_at_work(broker: BrokerProcess, streams: JavaProgram) -> None:
    """Kills and restarts, in turn killed and stopped cleanly, all while words are processed."""
    step = WORDS // 1_000 // (KILLS + 2)
    for _ in range(KILLS):
        for _ in range(step):
            streams.expect("processed")
        broker.restart()
    for _ in range(step):
        streams.expect("processed")
    assert broker.stop() == 0
    broker.start()


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_every_word_is_counted_once(broker: BrokerProcess, tmp_path: Path, guarantee: str) -> None:
    classpath = stack_classpath(UNTESTED)
    with Client(broker.bootstrap) as client:
        client.create_topics({"words": PARTITIONS, "counts": PARTITIONS})
    write_words(broker)
    arguments = (broker.bootstrap, guarantee, str(tmp_path / "state"))
    with java_program(classpath, tmp_path / "java", "Counts.java", *arguments) as streams:
        kill_at_work(broker, streams)
        reader = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": guarantee, "log_level": 0})
        for topic in ("words", f"{guarantee}-by-word-repartition"):
            streams.wait_for(partial(everything_is_committed, reader, topic), f"all of {topic} is committed")
        reader.close()
        streams.send("end")
        assert streams.expect("failures ") == "0"
        processed = int(streams.expect("total "))
        counts = dict(entry.split("=") for entry in streams.expect("counts ").split())
    assert counts == {f"w{number}": str(WORDS // DIFFERENT) for number in range(DIFFERENT)}
    if guarantee == "at_least_once":
        assert processed == WORDS, "no word is processed again"

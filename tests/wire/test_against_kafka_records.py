"""Questions about records and their offsets, to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, batch, numbered
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import offsets, topics, transactions
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow


def writing(ask: Asker) -> Any:
    ask.create("written", max_message_bytes="2000")
    good = batch(b"a", b"b")
    bent = good[:-1] + bytes([good[-1] ^ 1])
    results = [
        ask.write("written", good),
        ask.write("written", good, acks=1),
        ask.write("written", bent),
        ask.write("written", batch(b"x" * 3000)),
        ask.write("no-such-topic", good),
        ask.write("written", good, acks=5),
    ]
    return [(r.error_code.name, r.base_offset) for r in results]


def reading(ask: Asker) -> Any:
    ask.create("read", 2)
    ask.write("read", batch(b"a", b"b"))
    ask.write("read", batch(b"c"))
    found = [ask.read("read", 0), ask.read("read", 1), ask.read("read", 3), ask.read("read", 4), ask.read("read", -5)]
    # Which of the batches come in one answer is not compared, nor the offsets beside an error.
    return [
        (f.error_code.name, f.high_watermark, f.log_start_offset, bool(f.records))
        if f.error_code is ErrorCode.NONE
        else f.error_code.name
        for f in found
    ], [ask.read("no-such", 0).error_code.name, ask.read("read", 0, index=9).error_code.name]


def offsets_by_time(ask: Asker) -> Any:
    ask.create("timed")
    ask.write("timed", batch(b"a", b"b", b"c", at_ms=10_000))
    ask.write("timed", batch(b"d", at_ms=5_000))

    def found(timestamp: int, index: int = 0, topic: str = "timed") -> tuple[str, int, int]:
        wanted = offsets.ListOffsetsTopic(topic, (offsets.ListOffsetsPartition(index, timestamp),))
        (answer,) = ask(protocol.LIST_OFFSETS, offsets.ListOffsetsRequest(-1, (wanted,))).topics[0].partitions
        return answer.error_code.name, answer.offset, answer.timestamp

    asked = (-1, -2, -3, 0, 10_000, 10_500, 12_000, 12_001)
    return [found(at) for at in asked], found(-1, 5), found(-1, 0, "no-such")


def numbering_batches(ask: Asker) -> Any:
    ask.create("numbered")
    given = ask(protocol.INIT_PRODUCER_ID, transactions.InitProducerIdRequest(None, 60_000))
    producer, epoch = given.producer_id, given.producer_epoch
    results = [
        ask.write("numbered", numbered(producer, epoch, 0, b"a", b"b")),
        ask.write("numbered", numbered(producer, epoch, 2, b"c")),
        ask.write("numbered", numbered(producer, epoch, 2, b"c")),
        ask.write("numbered", numbered(producer, epoch, 0, b"a", b"b")),
        ask.write("numbered", numbered(producer, epoch, 9, b"gap")),
        ask.write("numbered", numbered(producer, epoch + 1, 0, b"next epoch")),
        ask.write("numbered", numbered(producer, epoch, 3, b"old epoch")),
        ask.write("numbered", numbered(producer, epoch + 2, 5, b"epoch in the middle")),
    ]
    return epoch, [(r.error_code.name, r.base_offset) for r in results]


def deleting_records(ask: Asker) -> Any:
    ask.create("emptied")
    ask.write("emptied", batch(b"a", b"b", b"c"))

    def tried(offset: int, topic: str = "emptied") -> Any:
        wanted = topics.DeleteRecordsTopic(topic, (topics.DeleteRecordsPartition(0, offset),))
        (found,) = ask(protocol.DELETE_RECORDS, topics.DeleteRecordsRequest((wanted,))).topics[0].partitions
        return found.error_code.name, found.low_watermark

    return [tried(2), tried(1), tried(9), tried(-1), tried(-7), tried(0, "no-such")]


@pytest.mark.parametrize(
    "ask", [writing, reading, offsets_by_time, numbering_batches, deleting_records], ids=lambda ask: ask.__name__
)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Callable[[Asker], Any]) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)

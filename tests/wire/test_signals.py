"""Signals through a real broker: sent by ordinary clients, placed in every partition, whole after a crash."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from confluent_kafka import KafkaError
from tests.kafka_clients import Producer

from headrace.credential import client_settings
from headrace.errors import ExternalFailure, InvalidInput
from headrace.kafka import Reader, Sender
from headrace.log import LogStore, decode_fetched, encode_batches, parse_batches, with_producer
from headrace.signals import SIGNALS_TOPIC, SignalRecord, SignalRequest, read_request
from headrace.wire.client import LATEST, Client
from headrace.wire.client.signals import known_signals, send_signal
from headrace.wire.codes import Refusal
from headrace.wire.commit import Committer
from headrace.wire.sequencer import BURST_MAX, Sequencer
from headrace.wire.state_topic import StateTopic
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 30.0


@pytest.fixture
def client(shared_broker: BrokerProcess) -> Iterator[Client]:
    with Client(shared_broker.bootstrap, "test") as opened:
        yield opened


def rows(count: int) -> bytes:
    return b"".join(encode_batches(None, [b"%d" % n for n in range(count)], [0] * count))


def is_mark(client: Client, topic: str, partition: int, offset: int) -> bool:
    header = next(iter(parse_batches(client.fetch(topic, partition, offset).records)))
    return header.base_offset == offset and header.is_control and not header.is_transactional


def test_a_plain_kafka_client_sends_a_signal_and_reads_its_cut(shared_broker: BrokerProcess, client: Client) -> None:
    client.create_topics({"plain": 2, "beside": 1})
    client.produce({"plain": {0: rows(3), 1: rows(1)}})
    outcome: list[KafkaError | None] = []
    settings = {"bootstrap.servers": shared_broker.bootstrap, "enable.idempotence": True}
    producer = Producer({**settings, **client_settings(shared_broker.bootstrap)})
    asked = {"kind": "custom", "topics": ["plain", "beside"], "parameters": {"a": 1}, "handling": "until_handled"}
    value = json.dumps(asked)
    producer.produce(SIGNALS_TOPIC, value, key="sent-plainly", on_delivery=lambda error, _: outcome.append(error))
    assert producer.flush(DEADLINE_S) == 0
    assert outcome == [None]
    with Reader(shared_broker.bootstrap, SIGNALS_TOPIC) as reader:
        answers = [json.loads(r.value or b"") for r in reader.records() if r.key == b"sent-plainly"]
    assert [answer["state"] for answer in answers] == ["requested", "placed"]
    assert answers[-1]["cut"] == {"plain": {"0": 4, "1": 2}, "beside": {"0": 1}}
    assert answers[-1]["handling"] == "until_handled"
    assert all(is_mark(client, topic, p, end - 1) for topic, p, end in (("plain", 0, 4), ("plain", 1, 2)))


def test_consumers_never_see_a_mark(shared_broker: BrokerProcess, client: Client) -> None:
    client.create_topics({"unseen": 1})
    for number in range(3):
        client.produce({"unseen": {0: rows(2)}})
        send_signal(client, SignalRequest(f"unseen-{number}", "custom", ("unseen",)))
    client.produce({"unseen": {0: rows(1)}})
    expected = [0, 1, 3, 4, 6, 7, 9]
    with Reader(shared_broker.bootstrap, "unseen") as reader:
        assert [record.offset for record in reader.records()] == expected

    async def read() -> list[int]:
        reader = AIOKafkaConsumer(
            bootstrap_servers=shared_broker.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
        )
        reader.assign([TopicPartition("unseen", 0)])
        async with reader:
            return [(await reader.getone()).offset for _ in expected]

    assert asyncio.run(asyncio.wait_for(read(), DEADLINE_S)) == expected


def test_a_signal_is_placed_once_however_often_it_is_sent(client: Client) -> None:
    client.create_topics({"once": 1})
    request = SignalRequest("sent-twice", "custom", ("once",))
    first = send_signal(client, request)
    client.produce({"once": {0: rows(5)}})
    assert send_signal(client, request) == first
    assert client.list_offsets("once", {0: LATEST})[0].offset == 6
    with pytest.raises(InvalidInput, match="belongs to another signal"):
        send_signal(client, SignalRequest("sent-twice", "pause", ("once",)))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (b"no json", "JSON"),
        (b"[]", "JSON object"),
        (b'{"id": "x", "topics": ["t"]}', "needs kind"),
        (b'{"id": "x", "kind": "paus", "topics": ["t"]}', "did you mean pause"),
        (b'{"id": "x", "kind": "pause", "topics": ["t"], "node": "n"}', "whole pipeline"),
        (b'{"id": "x", "kind": "pause", "topics": ["t"], "handling": "always"}', "handled once"),
        (b'{"id": "x", "kind": "pause", "topics": [], "handling": "once"}', "1 to 16 topics"),
        (b'{"id": "x", "kind": "custom", "topics": ["t"], "nod": "n"}', "did you mean node"),
        (b'{"id": "x y", "kind": "custom", "topics": ["t"]}', "no id"),
        (b'{"id": "x", "kind": "advance_watermark", "topics": ["t"]}', "needs a time"),
        (b'{"id": "x", "kind": "update_parameters", "topics": ["t"]}', "needs a node"),
        (b'{"id": "x", "kind": "withdraw", "topics": ["t"]}', "needs the id"),
        (b'{"kind": "custom", "topics": ["t"], "parameters": "' + b"x" * 70_000 + b'"}', "at most"),
    ],
)
def test_a_wrong_request_is_refused_with_what_is_valid(value: bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_request(None, value)


def test_the_broker_refuses_what_it_cannot_place(client: Client) -> None:
    client.create_topics({"placeable": 1})
    with pytest.raises(InvalidInput, match="absent"):
        send_signal(client, SignalRequest("nowhere", "custom", ("placeable", "absent")))
    assert "nowhere" not in {record.request.id for record in known_signals(client)}
    assert client.list_offsets("placeable", {0: LATEST})[0].offset == 0, "no partition got a mark"
    producer = client.init_producer("signals-in-a-transaction")
    request = SignalRequest("transactional", "custom", ("placeable",))
    batch = b"".join(encode_batches([b"transactional"], [request.to_bytes()], [0]))
    with pytest.raises(ExternalFailure, match="INVALID_RECORD"):
        client.produce(
            {SIGNALS_TOPIC: {0: with_producer(batch, producer.producer_id, producer.epoch, 0, True)}}, "not-this-one"
        )


def test_too_many_signals_are_refused(broker: BrokerProcess) -> None:
    with Client(broker.bootstrap) as client:
        client.create_topics({"flooded": 1})
        requests = [SignalRequest(f"flood-{n}", "custom", ("flooded",)) for n in range(BURST_MAX + 1)]
        keys, values = [r.id.encode() for r in requests], [r.to_bytes() for r in requests]
        with pytest.raises(ExternalFailure, match="a second for long"):
            client.produce({SIGNALS_TOPIC: {0: b"".join(encode_batches(keys, values, [0] * len(keys)))}})
        assert known_signals(client) == []


def test_rows_of_an_open_transaction_are_on_the_side_of_their_offset(client: Client) -> None:
    # One fetch brings one segment: rows with old times and the signal's own are to be in the same.
    client.create_topics({"open": 1}, {"segment.ms": str(2**62)})
    producer = client.init_producer("over-the-cut")
    client.add_partitions("over-the-cut", producer, [("open", 0)])

    def write(sequence: int) -> None:
        batch = with_producer(rows(1), producer.producer_id, producer.epoch, sequence, True)
        client.produce({"open": {0: batch}}, "over-the-cut")

    write(0)
    cut = send_signal(client, SignalRequest("over-the-cut", "custom", ("open",))).cut["open"][0]
    write(1)
    assert client.fetch("open", 0, 0).last_stable_offset == 0, "who reads committed rows waits for the transaction"
    client.end_transaction("over-the-cut", producer, commit=True)
    fetched = client.fetch("open", 0, 0)
    offsets = [o for r in decode_fetched(fetched.records, fetched.aborted) for o in r.offsets.tolist()]
    assert [offset < cut for offset in offsets] == [True, False]
    assert fetched.last_stable_offset > cut


def test_cuts_of_a_deleted_topic_are_forgotten(client: Client) -> None:
    client.create_topics({"deleted": 1, "stays": 1})
    send_signal(client, SignalRequest("of-both", "custom", ("deleted", "stays")))
    send_signal(client, SignalRequest("of-one", "custom", ("deleted",)))
    client.delete_topics(["deleted"])
    known = {record.request.id: record.cut for record in known_signals(client)}
    assert known["of-both"] == {"stays": {0: 1}}
    assert "of-one" not in known


def in_sequencer(store: LogStore, work: Callable[[Sequencer], object], *, crash_before_marks: bool = False) -> None:
    """Runs work against a sequencer on its own, as a broker's start makes one."""

    async def run() -> None:
        committer = Committer(store, "fsync", lambda partition: None)
        sequencer = Sequencer(
            store, StateTopic(store, SIGNALS_TOPIC, 1 << 20, lambda: 0), committer, lambda: 0, lambda: 0
        )
        if crash_before_marks:
            sequencer._mark = _crash  # type: ignore[method-assign]
        try:
            await sequencer.recover()
            outcome = work(sequencer)
            if asyncio.iscoroutine(outcome):
                await outcome
        finally:
            await committer.close()

    asyncio.run(run())


def _crash(request: SignalRequest) -> str:
    raise ConnectionAbortedError


def test_a_request_without_a_cut_is_placed_at_the_next_start(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    try:
        topic = store.create_topic("t", 2, {})
        request = SignalRequest("interrupted", "custom", ("t",))
        with pytest.raises(ConnectionAbortedError):
            in_sequencer(store, lambda s: s.submit([request]), crash_before_marks=True)
        topic.partitions[0].append(rows(3))
        found: list[SignalRecord] = []
        in_sequencer(store, lambda s: found.extend(s._records.values()))
        assert [(record.state, record.cut) for record in found] == [("placed", {"t": {0: 4, 1: 1}})]
        in_sequencer(store, lambda s: s.submit([request]))
        assert topic.partitions[1].high_watermark == 1, "it is placed no second time"
    finally:
        store.close()


def test_a_signal_to_a_topic_deleted_meanwhile_is_refused_and_may_come_again(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    try:
        store.create_topic("t", 1, {})
        request = SignalRequest("late", "custom", ("t",))
        with pytest.raises(ConnectionAbortedError):
            in_sequencer(store, lambda s: s.submit([request]), crash_before_marks=True)
        store.delete_topic("t")
        found: list[SignalRecord] = []
        in_sequencer(store, lambda s: found.extend(s._records.values()))
        assert [(record.state, record.reason) for record in found] == [("refused", "the topic 't' was deleted")]
        with pytest.raises(Refusal, match="not there"):
            in_sequencer(store, lambda s: s.submit([request]))
    finally:
        store.close()


def test_after_kills_every_signal_is_whole_or_without_meaning(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    with Client(broker.bootstrap) as client:
        client.create_topics({"killed": 3})
    acked: set[str] = set()
    stopping = threading.Event()

    def send(name: int) -> int:
        with Client(broker.bootstrap) as sender, Sender(broker.bootstrap) as producer:
            number = 0
            while not stopping.is_set():
                producer.send("killed", b"row")
                request = SignalRequest(f"{name}-{number}", "custom", ("killed",))
                try:
                    send_signal(sender, request)
                except ExternalFailure:
                    continue
                acked.add(request.id)
                number += 1
        return number

    with ThreadPoolExecutor(2) as pool:
        senders = [pool.submit(send, name) for name in range(2)]
        try:
            for kill in range(2):
                while len(acked) < 5 * (kill + 1) and not any(sender.done() for sender in senders):
                    stopping.wait(0.01)
                broker.restart()
        finally:
            stopping.set()
        assert sum(sender.result(DEADLINE_S) for sender in senders) == len(acked)
    with Client(broker.bootstrap) as client:
        known = known_signals(client)
        assert {record.state for record in known} == {"placed"}
        assert acked <= {record.request.id for record in known}
        ends = [tuple(record.cut["killed"][p] for p in range(3)) for record in known]
        assert all(a < b for before, after in pairwise(ends) for a, b in zip(before, after, strict=True))
        assert all(is_mark(client, "killed", p, end - 1) for cut in ends for p, end in enumerate(cut))

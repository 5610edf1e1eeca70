"""The synchronous client against a real broker process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headrace.errors import InvalidConfig, NotFound
from headrace.log import encode_batches, parse_batches, with_producer
from headrace.wire.client import EARLIEST, LATEST, Client, ConnectionLost, KafkaError, Producer
from headrace.wire.testing import BrokerProcess


def batch(*values: bytes, timestamp_ms: int = 1_000) -> bytes:
    times = [timestamp_ms] * len(values)
    return b"".join(encode_batches([None] * len(values), list(values), times, codec="none"))


def record_counts(records: bytes | memoryview) -> list[int]:
    return [header.record_count for header in parse_batches(records)]


@pytest.fixture
def client(shared_broker: BrokerProcess) -> Iterator[Client]:
    with Client(shared_broker.bootstrap, "test") as opened:
        yield opened


def test_topics_are_created_counted_and_deleted(client: Client) -> None:
    client.create_topics({"counted": 3}, {"retention.ms": "1000"})
    assert client.partition_count("counted") == 3
    assert set(client.metadata(["counted"]).topics["counted"].leaders) == {0, 1, 2}
    client.create_topics({"counted": 5})
    assert client.partition_count("counted") == 3, "a topic that exists stays as it is"
    with pytest.raises(KafkaError) as refused:
        client.create_topics({"counted": 3}, exist_ok=False)
    assert (refused.value.error_code, refused.value.name) == (36, "TOPIC_ALREADY_EXISTS")
    client.delete_topics(["counted"])
    with pytest.raises(NotFound, match="counted"):
        client.partition_count("counted")
    assert "absent" not in client.metadata(["absent"]).topics, "asking creates nothing"


def test_batches_are_appended_listed_and_fetched(client: Client) -> None:
    client.create_topics({"raw": 2})
    first = client.produce({"raw": {0: batch(b"a", b"b", timestamp_ms=1_000), 1: batch(b"c")}})
    assert first == {("raw", 0): 0, ("raw", 1): 0}
    assert client.produce({"raw": {0: batch(b"d", timestamp_ms=5_000)}}, acks=1) == {("raw", 0): 2}
    ends = client.list_offsets("raw", {0: LATEST, 1: EARLIEST})
    assert {index: entry.offset for index, entry in ends.items()} == {0: 3, 1: 0}
    by_time = client.list_offsets("raw", {0: 4_000})[0]
    assert (by_time.offset, by_time.timestamp_ms) == (2, 5_000)
    fetched = client.fetch("raw", 0, 1)
    assert record_counts(fetched.records) == [2, 1], "an offset inside a batch brings the whole batch"
    assert (fetched.high_watermark, fetched.last_stable_offset, fetched.log_start_offset) == (3, 3, 0)
    assert client.fetch("raw", 0, 3).records == b""


def test_a_transaction_by_hand(client: Client) -> None:
    client.create_topics({"by-hand": 1})
    producer = client.init_producer("by-hand")
    for number, commit in enumerate((True, False)):
        client.add_partitions("by-hand", producer, [("by-hand", 0)])
        records = with_producer(batch(b"x", b"y"), producer.producer_id, producer.epoch, 2 * number, True)
        (start,) = client.produce({"by-hand": {0: records}}, "by-hand").values()
        assert client.fetch("by-hand", 0, start).records == b"", "undecided records are not committed ones"
        assert client.fetch("by-hand", 0, start, committed=False).records != b""
        client.end_transaction("by-hand", producer, commit)
        client.end_transaction("by-hand", producer, commit)  # a repeated end is the same end
    fetched = client.fetch("by-hand", 0, 0)
    assert fetched.last_stable_offset == 6
    assert [entry.first_offset for entry in fetched.aborted] == [3]
    with pytest.raises(KafkaError, match="INVALID_TXN_STATE"):
        client.end_transaction("by-hand", producer, commit=True)


def test_a_fenced_producer_is_told_so(client: Client) -> None:
    client.create_topics({"fenced": 1})
    old = client.init_producer("fenced")
    client.add_partitions("fenced", old, [("fenced", 0)])
    records = with_producer(batch(b"x"), old.producer_id, old.epoch, 0, True)
    client.produce({"fenced": {0: records}}, "fenced")
    new = client.init_producer("fenced")
    assert (new.producer_id, new.epoch > old.epoch) == (old.producer_id, True)
    with pytest.raises(KafkaError, match="INVALID_PRODUCER_EPOCH"):
        client.produce({"fenced": {0: with_producer(batch(b"y"), old.producer_id, old.epoch, 1, True)}}, "fenced")
    with pytest.raises(KafkaError, match="PRODUCER_FENCED"):
        client.end_transaction("fenced", old, commit=True)
    assert client.list_offsets("fenced", {0: LATEST}, committed=True)[0].offset == 2, "aborted: nothing is pending"


def test_a_partition_outside_the_transaction_takes_no_transactional_batch(client: Client) -> None:
    client.create_topics({"outside": 1})
    producer = client.init_producer("outside")
    records = with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0, True)
    with pytest.raises(KafkaError, match="INVALID_TXN_STATE"):
        client.produce({"outside": {0: records}}, "outside")
    with pytest.raises(KafkaError, match="INVALID_PRODUCER_ID_MAPPING"):
        client.add_partitions("outside", Producer(producer.producer_id + 1_000, 0), [("outside", 0)])


def test_an_unknown_topic_in_a_transaction_is_tried_again_until_time_is_up(shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap, timeout_ms=200) as client:
        producer = client.init_producer("unknown")
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            client.add_partitions("unknown", producer, [("absent", 0)])


def test_an_idempotent_batch_sent_twice_is_stored_once(client: Client) -> None:
    client.create_topics({"twice": 1})
    producer = client.init_producer(None)
    records = with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0)
    assert client.produce({"twice": {0: records}}) == {("twice", 0): 0}
    assert client.produce({"twice": {0: records}}) == {("twice", 0): 0}
    assert client.list_offsets("twice", {0: LATEST})[0].offset == 1


def test_corrupt_records_are_refused_and_not_stored(client: Client) -> None:
    client.create_topics({"corrupt": 1})
    broken = bytearray(batch(b"x"))
    broken[-1] ^= 1
    for records in (bytes(broken), b"", b"\0" * 100):
        with pytest.raises(KafkaError, match=r"CORRUPT_MESSAGE|UNSUPPORTED_FOR_MESSAGE_FORMAT"):
            client.produce({"corrupt": {0: records}})
    assert client.list_offsets("corrupt", {0: LATEST})[0].offset == 0


def test_the_brokers_own_topics_take_no_records(client: Client) -> None:
    with pytest.raises(KafkaError, match="INVALID_TOPIC_EXCEPTION"):
        client.produce({"__consumer_offsets": {0: batch(b"x")}})
    with pytest.raises(KafkaError, match="INVALID_TOPIC_EXCEPTION"):
        client.delete_topics(["__transaction_state"])


def test_wrong_addresses_and_arguments_are_named(client: Client) -> None:
    with pytest.raises(InvalidConfig, match="HOST:PORT"):
        Client("localhost")
    with pytest.raises(InvalidConfig, match="acks"):
        client.produce({"raw": {0: b""}}, acks=0)
    with pytest.raises(NotFound, match="no partition 7"):
        client.fetch("__consumer_offsets", 7, 0)
    with pytest.raises(KafkaError, match="OFFSET_OUT_OF_RANGE"):
        client.fetch("__consumer_offsets", 0, 10_000)
    with pytest.raises(ConnectionLost, match="cannot be reached"):
        Client("127.0.0.1:1", timeout_ms=200).metadata()


def test_the_client_finds_a_broker_that_came_back(broker: BrokerProcess) -> None:
    with Client(broker.bootstrap) as client:
        client.create_topics({"back": 1})
        producer = client.init_producer(None)
        client.produce({"back": {0: with_producer(batch(b"x"), producer.producer_id, producer.epoch, 0)}})
        broker.restart()
        records = with_producer(batch(b"y"), producer.producer_id, producer.epoch, 1)
        assert client.produce({"back": {0: records}}) == {("back", 0): 1}
        fresh = client.init_producer(None)
        assert fresh.producer_id > producer.producer_id, "an id is never given out twice"


def test_a_request_that_is_not_repeated_leaves_no_broken_connection(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    with Client(broker.bootstrap) as client:
        client.create_topics({"broken": 1})
        client.produce({"broken": {0: batch(b"x")}})
        broker.kill()
        with pytest.raises(ConnectionLost):
            client.produce({"broken": {0: batch(b"y")}})
        broker.start()
        client.produce({"broken": {0: batch(b"z")}})


def test_a_connection_that_was_closed_meanwhile_is_replaced_before_anything_is_sent(
    start_broker: Callable[..., BrokerProcess],
) -> None:
    """What may not be sent twice is not lost either: nothing went over the old one."""
    broker = start_broker()
    with Client(broker.bootstrap) as client:
        client.create_topics({"idle": 1})
        client.produce({"idle": {0: batch(b"x")}})
        broker.restart()
        assert client.produce({"idle": {0: batch(b"y")}}) == {("idle", 0): 1}

"""Many requests on one connection: order, limits, and clients that do not read their answers."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from headrace.log import encode_batches
from headrace.wire import protocol
from headrace.wire.client import LATEST, Client
from headrace.wire.messages.cluster import MetadataRequest
from headrace.wire.messages.fetch import FetchPartition, FetchRequest
from headrace.wire.messages.produce import ProducePartition, ProduceRequest
from headrace.wire.packing import Reader
from headrace.wire.protocol import Api
from headrace.wire.request_memory import RequestMemory
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 60.0

Request = TypeVar("Request")
Response = TypeVar("Response")


def frame(api: Api[Request, Response], version: int, correlation_id: int, request: Request) -> bytes:
    """A request as bytes, in a version without the compact encoding."""
    header = struct.pack(">hhih", api.key, version, correlation_id, -1)
    body = header + b"".join(api.codec.encode_request(version, request))
    return struct.pack(">i", len(body)) + body


def connected(broker: BrokerProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", broker.port), timeout=DEADLINE_S)


def receive(connection: socket.socket) -> Reader:
    (size,) = struct.unpack(">i", exactly(connection, 4))
    return Reader(exactly(connection, size))


def exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(size)
        assert part, "closed by the broker"
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def batch(value: bytes) -> bytes:
    return b"".join(encode_batches([None], [value], [1_000], codec="none"))


def test_answers_come_in_the_order_of_the_requests(shared_broker: BrokerProcess) -> None:
    """More than may be in flight, of kinds that take different times, sent at once."""
    with Client(shared_broker.bootstrap) as client:
        client.create_topics({"ordered": 1})
    entry = (ProducePartition("ordered", 0, batch(b"x")),)
    kinds = [
        lambda number: frame(protocol.METADATA, 1, number, MetadataRequest(())),
        lambda number: frame(protocol.PRODUCE, 7, number, ProduceRequest(None, -1, 1_000, entry)),
        lambda number: frame(protocol.FETCH, 4, number, FetchRequest(1, 1 << 20, 100, 0, _from_start())),
        lambda number: frame(protocol.PRODUCE, 7, number, ProduceRequest(None, 1, 1_000, entry)),
    ]
    with connected(shared_broker) as connection:
        connection.sendall(b"".join(kinds[number % 4](number) for number in range(400)))
        assert [receive(connection).int32() for _ in range(400)] == list(range(400))
    with Client(shared_broker.bootstrap) as client:
        assert client.list_offsets("ordered", {0: LATEST})[0].offset == 200


def _from_start() -> tuple[FetchPartition, ...]:
    return (FetchPartition("ordered", 0, 0, 100),)


def test_a_produce_request_without_acks_gets_no_answer(shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap) as client:
        client.create_topics({"silent": 1})
    entry = (ProducePartition("silent", 0, batch(b"x")),)
    with connected(shared_broker) as connection:
        for number, acks in enumerate([0, 0, -1, 0, 1]):
            connection.sendall(frame(protocol.PRODUCE, 7, number, ProduceRequest(None, acks, 1_000, entry)))
        answered = []
        for _ in range(2):
            reader = receive(connection)
            answered.append(
                (reader.int32(), protocol.PRODUCE.codec.decode_response(7, reader).partitions[0].base_offset)
            )
    assert answered == [(2, 2), (4, 4)]


def test_strange_acks_are_refused(shared_broker: BrokerProcess) -> None:
    entry = (ProducePartition("silent", 0, batch(b"x")),)
    with connected(shared_broker) as connection:
        connection.sendall(frame(protocol.PRODUCE, 7, 1, ProduceRequest(None, 5, 1_000, entry)))
        reader = receive(connection)
        assert reader.int32() == 1
        assert (
            protocol.PRODUCE.codec.decode_response(7, reader).partitions[0].error_code.name == "INVALID_REQUIRED_ACKS"
        )


def test_a_client_that_does_not_read_costs_little_and_holds_nobody_up(broker: BrokerProcess) -> None:
    with Client(broker.bootstrap) as client:
        client.create_topics({"heavy": 1}, {"max.message.bytes": "5000000"})
        client.produce({"heavy": {0: batch(os.urandom(4_000_000))}})
        before_mb = resident_mb(broker.pid)
        wanted = FetchRequest(0, 1, 5_000_000, 0, (FetchPartition("heavy", 0, 0, 5_000_000),))
        lazy = [connected(broker) for _ in range(4)]
        for connection in lazy:
            connection.sendall(b"".join(frame(protocol.FETCH, 4, number, wanted) for number in range(50)))
        for _ in range(50):
            assert client.metadata(["heavy"]).topics
        # 200 answers of 4 MB are wanted; each connection may hold back its limit and one answer.
        assert resident_mb(broker.pid) - before_mb < 4 * (8 + 4 + 4) + 20
        received = receive(lazy[0])
        assert received.int32() == 0
        for connection in lazy:
            connection.close()


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_long_poll_ends_when_a_record_comes(shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap) as client, connected(shared_broker) as waiting:
        client.create_topics({"awaited": 2})
        wanted = tuple(FetchPartition("awaited", index, 0, 1_000) for index in range(2))
        waiting.sendall(frame(protocol.FETCH, 4, 9, FetchRequest(59_000, 1, 1_000, 0, wanted)))
        client.produce({"awaited": {1: batch(b"here")}})
        reader = receive(waiting)
        assert reader.int32() == 9
        found = protocol.FETCH.codec.decode_response(4, reader).partitions
        assert [len(entry.records) > 0 for entry in found] == [False, True]


def test_a_long_poll_ends_when_its_topic_is_deleted(shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap) as client, connected(shared_broker) as waiting:
        client.create_topics({"vanishing": 1})
        wanted = (FetchPartition("vanishing", 0, 0, 1_000),)
        waiting.sendall(frame(protocol.FETCH, 4, 9, FetchRequest(59_000, 1, 1_000, 0, wanted)))
        client.delete_topics(["vanishing"])
        reader = receive(waiting)
        reader.int32()
        (found,) = protocol.FETCH.codec.decode_response(4, reader).partitions
        assert found.error_code.name == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_fetch_keeps_to_its_bytes_but_always_brings_one_batch(shared_broker: BrokerProcess) -> None:
    with Client(shared_broker.bootstrap) as client:
        client.create_topics({"bounded": 2})
        one = batch(bytes(1_000))
        for index in (0, 0, 0, 1):
            client.produce({"bounded": {index: one}})
        sizes = [
            len(client.fetch("bounded", 0, 0, max_bytes=limit).records) for limit in (1, len(one), 2 * len(one) + 5)
        ]
        assert sizes == [len(one), len(one), 2 * len(one)]
    wanted = tuple(FetchPartition("bounded", index, 0, 10 * len(one)) for index in range(2))
    with connected(shared_broker) as connection:
        connection.sendall(frame(protocol.FETCH, 4, 1, FetchRequest(0, 1, 3 * len(one), 0, wanted)))
        reader = receive(connection)
        reader.int32()
        found = protocol.FETCH.codec.decode_response(4, reader).partitions
    assert [len(entry.records) // len(one) for entry in found] == [3, 0]


def test_many_large_requests_share_a_small_memory(start_broker: Callable[..., BrokerProcess], tmp_path: Path) -> None:
    """Each of twenty clients sends more than all of them together may have held; all are served."""
    config = tmp_path / "broker.toml"
    config.write_text("in_flight_bytes_total_max = 200000")
    broker = start_broker("--config", str(config))
    with Client(broker.bootstrap) as client:
        client.create_topics({"crowded": 1})
        entry = ProducePartition("crowded", 0, batch(b"x" * 300_000))
        request = frame(protocol.PRODUCE, 7, 1, ProduceRequest(None, -1, 30_000, (entry,)))
        connections = [connected(broker) for _ in range(20)]
        for connection in connections:
            connection.sendall(request)
        for connection in connections:
            receive(connection)
            connection.close()
        assert client.list_offsets("crowded", {0: LATEST})[0].offset == 20


@given(st.lists(st.integers(1, 50), max_size=30))
def test_whoever_waits_for_memory_is_called_when_there_is_some(sizes: list[int]) -> None:
    memory = RequestMemory(60)
    called: list[int] = []
    held: list[int] = []
    for size in sizes:
        memory.hold(size)
        held.append(size)
        if memory.full:
            memory.call_when_free(lambda: called.append(1))
            assert not called
            while sum(held) >= 60:
                memory.release(held.pop())
            assert called == [1]
            called.clear()
    assert memory.held_bytes == sum(held)

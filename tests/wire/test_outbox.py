"""Records from their file to the client: whole and in order, past slow readers, failing disks and damage."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.log import OsStorage, Span, encode_batches, parse_batches
from headrace.log.storage import OpenFile
from headrace.log.testing import Fault, FaultyStorage
from headrace.wire import protocol
from headrace.wire.client import Client
from headrace.wire.client.errors import KafkaError
from headrace.wire.codes import ErrorCode
from headrace.wire.config import BrokerConfig
from headrace.wire.frames import Piece
from headrace.wire.messages.fetch import FetchPartition, FetchRequest
from headrace.wire.outbox import COPIED_BYTES_MAX, TURN_BYTES_MAX, Outbox
from headrace.wire.packing import Reader
from headrace.wire.testing import broker_in_thread

DEADLINE_S = 30.0
LARGE_BYTES = 3_000_000
CONTENT = os.urandom(2 * TURN_BYTES_MAX)

NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Sender(asyncio.Protocol):
    """Sends some pieces to whoever connects, and then closes."""

    def __init__(self, pieces: list[Piece], failures: list[str]) -> None:
        self._pieces = pieces
        self._failures = failures

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.outbox = Outbox(self._transport, 1_000_000, self._fail)
        self.outbox.send(self._pieces)
        self.outbox.close_when_sent()

    def _fail(self, reason: str) -> None:
        self._failures.append(reason)
        self._transport.abort()

    def pause_writing(self) -> None:
        self.outbox.pause()

    def resume_writing(self) -> None:
        self.outbox.resume()

    def connection_lost(self, error: Exception | None) -> None:
        self.outbox.close()


async def transferred(pieces: list[Piece], failures: list[str], step_bytes: int) -> bytes:
    """What a client gets that reads so much at a time, from a socket that holds little."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Sender(pieces, failures), "127.0.0.1", 0)
    try:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
            client.setblocking(False)
            await loop.sock_connect(client, server.sockets[0].getsockname())
            received = bytearray()
            while part := await loop.sock_recv(client, step_bytes):
                received += part
            return bytes(received)
    finally:
        server.close()
        await server.wait_closed()


def run(new_loop: NewLoop, pieces: list[Piece], failures: list[str], step_bytes: int = 1 << 20) -> bytes:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(asyncio.wait_for(transferred(pieces, failures, step_bytes), DEADLINE_S))


def differs(received: bytes, expected: bytes) -> str:
    """Where, in a few words: pytest would compare megabytes character by character."""
    if received == expected:
        return ""
    at = next((at for at, pair in enumerate(zip(received, expected, strict=False)) if pair[0] != pair[1]), -1)
    return f"{len(received)} bytes came of {len(expected)}, the first wrong one at {at}"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> OpenFile:
    path = tmp_path_factory.mktemp("outbox") / "content"
    path.write_bytes(CONTENT)
    return OpenFile.open(OsStorage(), path)


SPANS = st.tuples(st.integers(0, len(CONTENT)), st.integers(0, 700_000)).map(
    lambda span: (span[0], min(span[1], len(CONTENT) - span[0]))
)


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@settings(max_examples=25)
@given(st.lists(st.one_of(SPANS, st.binary(max_size=100), st.just(b"x" * 200_000)), max_size=8))
def test_pieces_of_every_kind_arrive_in_order(
    file: OpenFile, new_loop: NewLoop, wanted: list[tuple[int, int] | bytes]
) -> None:
    pieces = [piece if isinstance(piece, bytes) else Span(file, *piece) for piece in wanted]
    expected = b"".join(piece.content() if isinstance(piece, Span) else piece for piece in pieces)
    failures: list[str] = []
    assert not differs(run(new_loop, list(pieces), failures), expected)
    assert not failures


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_slow_reader_gets_everything(file: OpenFile, new_loop: NewLoop) -> None:
    """More than one turn, through a socket that is full most of the time."""
    pieces: list[Piece] = [b"before", Span(file, 0, len(CONTENT)), b"between", Span(file, 7, 2 * COPIED_BYTES_MAX)]
    expected = b"before" + CONTENT + b"between" + CONTENT[7 : 7 + 2 * COPIED_BYTES_MAX]
    failures: list[str] = []
    assert not differs(run(new_loop, pieces, failures, step_bytes=10_000), expected)
    assert not failures


def test_a_file_that_is_shorter_than_promised_ends_the_connection(file: OpenFile) -> None:
    failures: list[str] = []
    promised: list[Piece] = [b"before", Span(file, len(CONTENT) - 10, 20), b"after"]
    try:
        received = run(uvloop.new_event_loop, promised, failures)
    except ConnectionResetError:
        received = b""
    assert (b"before" + CONTENT[-10:]).startswith(received)
    assert "ends before what was promised" in failures[0]


def large_batch() -> bytes:
    return b"".join(encode_batches([None], [os.urandom(LARGE_BYTES)], [1_000], codec="none"))


def request(topic: str) -> bytes:
    """A fetch from the start."""
    wanted = FetchRequest(0, 1, 2 * LARGE_BYTES, 0, (FetchPartition(topic, 0, 0, 2 * LARGE_BYTES),))
    header = struct.pack(">hhih", protocol.FETCH.key, 4, 1, -1)
    body = header + b"".join(protocol.FETCH.codec.encode_request(4, wanted))
    return struct.pack(">i", len(body)) + body


def fetched(address: str, topic: str) -> tuple[int, bytes]:
    """The error code and the records of one fetch from the start."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
        connection.sendall(request(topic))
        stream = connection.makefile("rb")
        (size,) = struct.unpack(">i", stream.read(4))
        answer = stream.read(size)
        if len(answer) < size:
            raise ConnectionResetError("closed within the answer")
    reader = Reader(answer)
    reader.int32()
    (found,) = protocol.FETCH.codec.decode_response(4, reader).partitions
    return found.error_code, bytes(found.records)


@pytest.fixture
def stored(tmp_path: Path) -> bytes:
    """A large batch as it is in topic `large` below `data`."""
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "data", port=0)) as address, Client(address) as client:
        client.create_topics({"large": 1}, {"max.message.bytes": "5000000"})
        client.produce({"large": {0: large_batch()}})
        code, records = fetched(address, "large")
    assert code == 0
    (header,) = parse_batches(records)
    assert header.size_bytes == len(records) > LARGE_BYTES
    return records


def test_damage_on_disk_is_refused_and_never_sent(tmp_path: Path, stored: bytes) -> None:
    log = tmp_path / "data" / "large-0" / f"{0:020d}.log"
    content = bytearray(stored)
    content[LARGE_BYTES // 2] ^= 16
    log.write_bytes(content)
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "data", port=0)) as address, Client(address) as client:
        for _ in range(2):
            assert fetched(address, "large") == (ErrorCode.CORRUPT_MESSAGE, b"")
        with pytest.raises(KafkaError, match="CORRUPT_MESSAGE"):
            client.fetch("large", 0, 0, max_bytes=LARGE_BYTES)


def test_a_disk_that_does_not_read_is_said_before_anything_is_promised(tmp_path: Path, stored: bytes) -> None:
    storage = FaultyStorage(OsStorage())
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "data", port=0), storage=storage) as address:
        storage.faults.append(Fault("pread", "large-0/00000000000000000000.log", errno.EIO))
        assert fetched(address, "large") == (ErrorCode.KAFKA_STORAGE_ERROR, b"")
        storage.faults.clear()
        assert fetched(address, "large") == (0, stored)
        storage.faults.append(Fault("sendfile", "large-0/00000000000000000000.log", errno.EIO))
        with pytest.raises(ConnectionResetError):
            fetched(address, "large")
        storage.faults.clear()
        assert fetched(address, "large") == (0, stored)


def test_a_client_that_leaves_in_the_middle_costs_nothing(tmp_path: Path, stored: bytes) -> None:
    """No descriptor stays open for what was not sent, and the others are served."""
    with broker_in_thread(BrokerConfig(data_dir=tmp_path / "data", port=0)) as address:
        assert fetched(address, "large") == (0, stored)
        host, _, port = address.rpartition(":")
        open_before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(request("large") * 3)
                assert connection.recv(1000)
        deadline_s = time.monotonic() + DEADLINE_S
        while len(os.listdir("/proc/self/fd")) > open_before:
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        assert fetched(address, "large") == (0, stored)

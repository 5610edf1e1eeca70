"""Whatever bytes come in: a clean refusal, of that connection only."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headrace.wire.client import Client
from headrace.wire.frames import RECEIVE_BUFFER_BYTES, FrameReceiver, read_header
from headrace.wire.handlers.table import ROUTES
from headrace.wire.packing import Malformed, Reader
from headrace.wire.protocol import Api
from headrace.wire.testing import BrokerProcess

FRAME_BYTES_MAX = 3 * RECEIVE_BUFFER_BYTES
APIS = [route.api for route in ROUTES.values()]
CASES = [(api, version) for api in APIS for version in range(api.version_min, api.version_max + 1)]


def received(stream: bytes, cuts: list[int]) -> list[bytes]:
    """The frames that come out when a stream arrives in pieces."""
    receiver = FrameReceiver(FRAME_BYTES_MAX)
    frames: list[bytes] = []
    position = 0
    sizes = iter([*cuts, *([1 << 30] * 1000)])
    while position < len(stream):
        free = receiver.free()
        assert len(free) > 0
        size = min(next(sizes), len(free), len(stream) - position)
        free[:size] = stream[position : position + size]
        position += size
        frames += [bytes(frame) for frame in receiver.advance(size)]
    return frames


@given(
    st.lists(st.integers(0, FRAME_BYTES_MAX) | st.integers(0, 40), max_size=6),
    st.lists(st.integers(1, RECEIVE_BUFFER_BYTES) | st.integers(1, 5), max_size=40),
)
@example([RECEIVE_BUFFER_BYTES - 4, RECEIVE_BUFFER_BYTES - 3, 0], [])
@settings(max_examples=200)
def test_frames_come_out_as_they_went_in_however_they_are_cut(sizes: list[int], cuts: list[int]) -> None:
    frames = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    stream = b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)
    assert received(stream, cuts) == frames


@given(st.integers(-(2**31), -1) | st.integers(FRAME_BYTES_MAX + 1, 2**31 - 1))
def test_a_frame_of_an_impossible_length_is_refused_before_it_arrives(size: int) -> None:
    with pytest.raises(Malformed, match="a frame of"):
        received(struct.pack(">i", size) + b"xxxx", [])


def decode(api: Api[Any, Any], version: int, body: bytes) -> object:
    reader = Reader(body)
    reader.skip_tagged_fields(api.flexible_request(version))
    return api.codec.decode_request(version, reader)


@given(st.sampled_from(CASES), st.binary(max_size=200))
@settings(max_examples=1500)
def test_random_bytes_decode_or_are_refused(case: tuple[Api[Any, Any], int], body: bytes) -> None:
    with suppress(Malformed):
        decode(*case, body)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].name}-v{case[1]}")
def test_huge_claims_are_refused_without_huge_allocations(case: tuple[Api[Any, Any], int]) -> None:
    for body in (b"\x7f" * 40, b"\xff" * 40, b"\x00" + b"\xff\xff\xff\xff\x07" * 8, b"\x7f\xff\xff\xff" * 10):
        with suppress(Malformed):
            decode(*case, body)


@given(st.binary(max_size=60))
def test_random_headers_decode_or_are_refused(header: bytes) -> None:
    with suppress(Malformed):
        read_header(Reader(header))


# A real Produce request of version 7 and a real Fetch of version 11 to bend.
PRODUCE = bytes.fromhex("ffff ffff 00001388 00000001 0001 61 00000001 00000000 00000004 64617461".replace(" ", ""))
FETCH = bytes.fromhex(
    "ffffffff 000001f4 00000001 03200000 00 00000000 ffffffff 00000001 0001 61 00000001 00000000 ffffffff"
    "0000000000000000 ffffffffffffffff 00100000 00000000 0000".replace(" ", "")
)


@given(
    st.sampled_from([(0, 7, PRODUCE), (1, 11, FETCH)]), st.lists(st.tuples(st.integers(0, 70), st.binary(max_size=5)))
)
@settings(max_examples=500)
def test_bent_requests_decode_or_are_refused(request_: tuple[int, int, bytes], bends: list[tuple[int, bytes]]) -> None:
    key, version, raw = request_
    for position, replacement in bends:
        raw = raw[:position] + replacement + raw[position + len(replacement) :]
    with suppress(Malformed):
        decode(ROUTES[key].api, version, raw)


@pytest.mark.parametrize("key", [0, 1])
def test_truncated_requests_are_refused(key: int) -> None:
    version, raw = (7, PRODUCE) if key == 0 else (11, FETCH)
    assert decode(ROUTES[key].api, version, raw)
    for end in range(len(raw)):
        with pytest.raises(Malformed):
            decode(ROUTES[key].api, version, raw[:end])


def send(broker: BrokerProcess, raw: bytes) -> bytes:
    """What the broker answers before it closes the connection, or before it waits for more."""
    with socket.create_connection(("127.0.0.1", broker.port), timeout=0.5) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(TimeoutError, ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
        return answer


@given(st.binary(min_size=1, max_size=300), st.booleans(), st.sampled_from(CASES))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_garbage_closes_its_own_connection_and_no_other(
    shared_broker: BrokerProcess, garbage: bytes, framed: bool, case: tuple[Api[Any, Any], int]
) -> None:
    api, version = case
    header = struct.pack(">hhihs", api.key, version, 1, 1, b"f")
    raw = struct.pack(">i", len(header) + len(garbage)) + header + garbage if framed else garbage
    with Client(shared_broker.bootstrap, timeout_ms=10_000) as other:
        other.metadata([])
        send(shared_broker, raw)
        other.metadata([])


@pytest.fixture(scope="module")
def quiet_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One that has not met so much nonsense yet that it only counts it."""
    broker = BrokerProcess(tmp_path_factory.mktemp("quiet") / "data")
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (struct.pack(">ihhih", 10, 999, 0, 1, -1), "api key 999 is not known"),
        (struct.pack(">ihhih", 10, 3, 99, 1, -1), "version 99 of metadata is not known"),
        (struct.pack(">ihhih", 10, 0, 0, 1, -1), "no longer supported"),
        (struct.pack(">i", 2**31 - 1), "a frame of 2147483647 bytes"),
        (struct.pack(">ihh", 4, 3, 1), "ends inside a number"),
        (struct.pack(">ihhih", 10, 3, 1, 1, -1), "ends inside a number"),
    ],
)
def test_the_reason_is_logged(quiet_broker: BrokerProcess, raw: bytes, reason: str) -> None:
    assert send(quiet_broker, raw) == b""
    assert reason in quiet_broker.log


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(shared_broker: BrokerProcess) -> None:
    request = struct.pack(">hhih", 18, 77, 5, -1)
    answer = send(shared_broker, struct.pack(">i", len(request)) + request)
    size, correlation_id, error_code, count = struct.unpack_from(">iihi", answer)
    assert (size, correlation_id, error_code, count) == (len(answer) - 4, 5, 35, len(ROUTES))

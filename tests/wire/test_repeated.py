"""Produce requests that are recognised by their bytes say just what they say when they are read in full."""

from __future__ import annotations

import random
import struct
from typing import Final
from uuid import UUID

import pytest

from headrace.wire.frames import RequestHeader, read_header
from headrace.wire.messages import produce
from headrace.wire.messages.produce import ProducePartition, ProduceRequest
from headrace.wire.messages.repeated import RepeatedRequests
from headrace.wire.packing import Reader

VERSIONS: Final = (3, 7, 8, 9, 10, 12, 13)
TOPIC_ID: Final = UUID(int=7)
LENGTHS: Final = (0, 1, 61, 126, 127, 170, 20_000)


def frame_of(version: int, request: ProduceRequest, correlation_id: int = 1, client: str | None = "c") -> bytes:
    """As a client sends it, without the length in front."""
    raw = b"" if client is None else client.encode()
    head = struct.pack(">hhih", 0, version, correlation_id, -1 if client is None else len(raw)) + raw
    tags = b"\0" if version >= produce.FLEXIBLE_SINCE else b""
    return head + tags + b"".join(bytes(part) for part in produce.encode_request(version, request))


def request_of(
    version: int, *entries: tuple[int, bytes], topic: str = "t", transactional_id: str | None = None
) -> ProduceRequest:
    by_id = version >= produce.BY_ID_SINCE
    name, topic_id = ("", TOPIC_ID) if by_id else (topic, None)
    return ProduceRequest(
        transactional_id,
        -1,
        30_000,
        tuple(ProducePartition(name, number, records, topic_id) for number, records in entries),
    )


def read_in_full(frame: bytes) -> tuple[RequestHeader, ProduceRequest, Reader]:
    reader = Reader(frame)
    header = read_header(reader)
    reader.skip_tagged_fields(header.version >= produce.FLEXIBLE_SINCE)
    return header, produce.decode_request(header.version, reader), reader


def taught(*frames: bytes) -> RepeatedRequests:
    known = RepeatedRequests()
    for frame in frames:
        _, request, reader = read_in_full(frame)
        known.heed(reader, request)
    return known


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("client", ["c", "", None])
def test_a_request_like_the_last_two_is_read_as_in_full(version: int, client: str | None) -> None:
    like = frame_of(version, request_of(version, (0, b"records")), 1, client)
    known = taught(like, like)
    for number, length in enumerate(LENGTHS):
        records = bytes([number + 1]) * length
        frame = frame_of(version, request_of(version, (number, records)), 1000 + number, client)
        found = known.read(frame)
        assert found == read_in_full(frame)[:2]
        assert found is not None
        assert found[0].correlation_id == 1000 + number
        assert found[1].partitions[0].records == records


@pytest.mark.parametrize("version", VERSIONS)
def test_one_request_or_another_topic_in_between_teaches_nothing(version: int) -> None:
    like = frame_of(version, request_of(version, (0, b"records")))
    assert taught(like).read(like) is None
    two = frame_of(version, request_of(version, (0, b"a"), (1, b"b")))
    assert taught(two, two).read(two) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_whatever_else_differs_is_read_in_full(version: int) -> None:
    like = frame_of(version, request_of(version, (0, b"records")))
    known = taught(like, like)
    others = [
        frame_of(version, request_of(version, (0, b"records"), transactional_id="x")),
        frame_of(version, request_of(version, (0, b"records"))._replace(acks=1)),
        frame_of(version, request_of(version, (0, b"records"))._replace(timeout_ms=1)),
        frame_of(version, request_of(version, (0, b"records"), (1, b"more"))),
        frame_of(version, request_of(version, (0, b"records")), client="d"),
        frame_of(version, request_of(version, (0, b"records")), client="cc"),
        frame_of(version, request_of(version)),
        like + b"\0",
        like[:-1],
        b"",
        struct.pack(">hh", 1, version) + like[4:],
        struct.pack(">hh", 0, version + 1) + like[4:],
    ]
    if version < produce.BY_ID_SINCE:
        others.append(frame_of(version, request_of(version, (0, b"records"), topic="u")))
    assert [other for other in others if known.read(other) is not None] == []
    assert known.read(like) is not None


def test_an_empty_topic_in_front_teaches_nothing() -> None:
    """Both begin as a request for one partition would, and are longer."""
    one = frame_of(7, request_of(7, (0, b"records")))
    at = 2 + 2 + 4 + 3 + 2 + 2 + 4
    assert one[at : at + 4] == struct.pack(">i", 1)
    empty_first = one[:at] + struct.pack(">ihci", 2, 1, b"t", 0) + one[at + 4 :]
    assert read_in_full(empty_first)[1] == read_in_full(one)[1]
    known = taught(empty_first, empty_first)
    assert known.read(empty_first) is None
    assert known.read(one) is None


@pytest.mark.parametrize("version", [7, 10, 13])
def test_no_bytes_are_read_differently(version: int) -> None:
    """Of frames with bytes changed, cut off and put in, each is read as in full or not at all."""
    chance = random.Random(version)
    like = frame_of(version, request_of(version, (3, bytes(range(1, 140)))))
    known = taught(like, like)
    recognised = 0
    for _ in range(5_000):
        frame = bytearray(like)
        at = chance.randrange(len(frame))
        kind = chance.randrange(3)
        if kind == 0:
            frame[at] = chance.randrange(256)
        elif kind == 1:
            del frame[at : at + chance.randrange(1, 4)]
        else:
            frame[at:at] = chance.randbytes(chance.randrange(1, 4))
        found = known.read(bytes(frame))
        if found is not None:
            recognised += 1
            assert found == read_in_full(bytes(frame))[:2]
    assert recognised > 500

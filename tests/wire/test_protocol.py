"""Every message in every version: what one side writes the other reads, and kio's schemas agree with the table."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.serial import entity_reader, entity_writer

from headrace.log import Span
from headrace.wire import codec
from headrace.wire.codes import ErrorCode
from headrace.wire.frames import Piece
from headrace.wire.handlers.table import ROUTES
from headrace.wire.messages import fetch, produce, security
from headrace.wire.packing import Reader
from headrace.wire.protocol import Api, SchemaCodec
from headrace.wire.schema import WireName, entity_type, is_flexible

SCHEMA_APIS = [route.api for route in ROUTES.values() if isinstance(route.api.codec, SchemaCodec)]
CASES = [(api, version) for api in SCHEMA_APIS for version in range(api.version_min, api.version_max + 1)]


def case_id(case: tuple[Api[Any, Any], int]) -> str:
    return f"{case[0].name}-v{case[1]}"


def full(hint: Any, depth: int = 0) -> Any:
    """A value of the type in which nothing is a default, so that a lost field shows."""
    if hasattr(hint, "_fields"):
        return hint(**{name: full(inner, depth + 1) for name, inner in get_type_hints(hint).items()})
    if get_origin(hint) in (Union, UnionType):
        return full(next(kind for kind in get_args(hint) if kind is not NoneType), depth)
    if get_origin(hint) is tuple:
        return (full(get_args(hint)[0], depth + 1),)
    known = {
        int: 7 + depth,
        float: 0.5 + depth,
        str: f"text{depth}",
        bytes: b"raw",
        bool: True,
        UUID: UUID(int=depth + 1),
    }
    return ErrorCode.CORRUPT_MESSAGE if hint is ErrorCode else known[hint]


def same(sent: Any, received: Any) -> bool:
    """Equal, or left at the default because the version has no such field."""
    if hasattr(received, "_fields"):
        defaults = received._field_defaults
        return all(
            same(getattr(sent, name), value) or (name in defaults and value == defaults[name])
            for name, value in received._asdict().items()
        )
    if isinstance(received, tuple) and isinstance(sent, tuple):
        return len(sent) == len(received) and all(map(same, sent, received))
    return bool(sent == received)


def joined(pieces: Sequence[Piece]) -> bytes:
    return b"".join(piece.content() if isinstance(piece, Span) else piece for piece in pieces)


@pytest.mark.parametrize("case", CASES, ids=map(case_id, CASES))
def test_messages_pass_unchanged_in_every_version(case: tuple[Api[Any, Any], int]) -> None:
    api, version = case
    messages = api.codec
    request = full(messages.request)  # type: ignore[attr-defined]
    raw = b"".join(messages.encode_request(version, request))
    assert same(request, messages.decode_request(version, Reader(raw)))
    response = full(messages.response)  # type: ignore[attr-defined]
    raw = joined(messages.encode_response(version, response))
    assert same(response, messages.decode_response(version, Reader(raw)))


@pytest.mark.parametrize("case", CASES, ids=map(case_id, CASES))
def test_kio_reads_what_we_write(case: tuple[Api[Any, Any], int]) -> None:
    """Our writers and readers could be wrong in the same way; kio's reader was written by others."""
    api, version = case
    for kind, message in (("request", api.codec.request), ("response", api.codec.response)):  # type: ignore[attr-defined]
        encode = api.codec.encode_request if kind == "request" else api.codec.encode_response
        raw = joined(encode(version, full(message)))
        entity = entity_type(api.name, kind, version)  # type: ignore[arg-type]
        decoded, size = entity_reader(entity)(raw, 0)
        assert size == len(raw)
        buffer = BytesIO()
        entity_writer(entity)(buffer, decoded)
        assert buffer.getvalue() == raw


@pytest.mark.parametrize("api", [route.api for route in ROUTES.values()], ids=lambda api: api.name)
def test_the_compact_encoding_begins_where_the_schemas_say(api: Api[Any, Any]) -> None:
    versions = range(max(api.version_min, 3 if api.name == "produce" else 0), api.version_max + 1)
    flexible = [version for version in versions if is_flexible(api.name, version)]
    assert flexible == [version for version in versions if api.flexible_request(version)]


class PartitionRecords(NamedTuple):
    partition: Annotated[int, WireName("index")]
    records: bytes | None


class TopicRecords(NamedTuple):
    name: str
    partition_data: tuple[PartitionRecords, ...]


class SchemaProduceRequest(NamedTuple):
    """Produce as the schemas know it, to check the hand-written packing against."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: tuple[TopicRecords, ...]


@pytest.mark.parametrize("version", range(3, 13))
def test_produce_is_packed_as_the_schema_says(version: int) -> None:
    entries = (("a", 0, b"first"), ("a", 1, b"second"), ("b", 2, b"third"))
    request = produce.ProduceRequest("tx", -1, 1500, tuple(produce.ProducePartition(*entry) for entry in entries))
    raw = b"".join(produce.encode_request(version, request))
    seen = codec.decode(SchemaProduceRequest, "produce", "request", version, Reader(raw))
    assert (seen.transactional_id, seen.acks, seen.timeout_ms) == ("tx", -1, 1500)
    assert tuple((t.name, p.partition, p.records) for t in seen.topic_data for p in t.partition_data) == entries
    assert produce.decode_request(version, Reader(raw)) == request


@pytest.mark.parametrize("version", range(3, 13))
def test_produce_answers_pass_unchanged(version: int) -> None:
    refused = produce.ProducedPartition("a", 0, ErrorCode.CORRUPT_MESSAGE, 5, 6, 7, "why")
    response = produce.ProduceResponse((refused, produce.ProducedPartition("b", 1)))
    raw = b"".join(produce.encode_response(version, response))
    assert same(response, produce.decode_response(version, Reader(raw)))


class WantedPartition(NamedTuple):
    partition: int
    fetch_offset: int
    partition_max_bytes: int


class WantedTopic(NamedTuple):
    topic: str
    partitions: tuple[WantedPartition, ...]


class SchemaFetchRequest(NamedTuple):
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    topics: tuple[WantedTopic, ...]


@given(st.sampled_from(range(4, 13)), st.integers(0, 2**63 - 1), st.text(max_size=50))
def test_fetch_is_packed_as_the_schema_says(version: int, offset: int, topic: str) -> None:
    wanted = (fetch.FetchPartition(topic, 1, offset, 9), fetch.FetchPartition("other", 2, 0, 8))
    request = fetch.FetchRequest(500, 1, 1_000, 1, wanted)
    raw = b"".join(fetch.encode_request(version, request))
    seen = codec.decode(SchemaFetchRequest, "fetch", "request", version, Reader(raw))
    assert (seen.max_wait_ms, seen.min_bytes, seen.max_bytes, seen.isolation_level) == (500, 1, 1_000, 1)
    entries = {(t.topic, p.partition, p.fetch_offset, p.partition_max_bytes) for t in seen.topics for p in t.partitions}
    assert entries == {(topic, 1, offset, 9), ("other", 2, 0, 8)}
    assert fetch.decode_request(version, Reader(raw)) == request


class GivenPartition(NamedTuple):
    partition_index: int
    error_code: ErrorCode
    high_watermark: int
    last_stable_offset: int
    aborted_transactions: tuple[fetch.AbortedRange, ...] | None
    records: bytes | None


class GivenTopic(NamedTuple):
    topic: str
    partitions: tuple[GivenPartition, ...]


class SchemaFetchResponse(NamedTuple):
    responses: tuple[GivenTopic, ...]


@pytest.mark.parametrize("version", range(4, 13))
def test_fetch_answers_are_packed_as_the_schema_says(version: int) -> None:
    aborted = (fetch.AbortedRange(3, 10), fetch.AbortedRange(4, 11))
    found = fetch.FetchedPartition("a", 0, ErrorCode.NONE, 20, 15, 1, aborted, b"batches")
    refused = fetch.FetchedPartition("b", 3, ErrorCode.OFFSET_OUT_OF_RANGE, aborted=())
    raw = joined(fetch.encode_response(version, fetch.FetchResponse((found, refused))))
    seen = codec.decode(SchemaFetchResponse, "fetch", "response", version, Reader(raw))
    assert [topic.topic for topic in seen.responses] == ["a", "b"]
    assert seen.responses[0].partitions == (GivenPartition(0, ErrorCode.NONE, 20, 15, aborted, b"batches"),)
    assert seen.responses[1].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert same(fetch.FetchResponse((found, refused)), fetch.decode_response(version, Reader(raw)))


TOPIC_ID = UUID(int=77)
BY_ID_REQUESTS = [
    *(("fetch", version) for version in range(fetch.BY_ID_SINCE, 18)),
    ("produce", produce.BY_ID_SINCE),
]


@pytest.mark.parametrize(("name", "version"), BY_ID_REQUESTS)
def test_topics_go_by_id_as_the_schema_says(name: str, version: int) -> None:
    """kio reads what we write and writes the same bytes; our reader finds what went in."""
    if name == "fetch":
        wanted = fetch.FetchPartition("", 1, 5, 9, topic_id=TOPIC_ID)
        request: Any = fetch.FetchRequest(500, 1, 1_000, 1, (wanted,))
        aborted = (fetch.AbortedRange(3, 10),)
        found = fetch.FetchedPartition("", 0, ErrorCode.NONE, 20, 15, 1, aborted, b"batches", TOPIC_ID)
        response: Any = fetch.FetchResponse((found,), throttle_time_ms=5)
        messages: Any = fetch
    else:
        request = produce.ProduceRequest("tx", -1, 1500, (produce.ProducePartition("", 1, b"batch", TOPIC_ID),))
        code = ErrorCode.CORRUPT_MESSAGE
        response = produce.ProduceResponse((produce.ProducedPartition("", 0, code, 5, 6, 7, "why", TOPIC_ID),), 5)
        messages = produce
    for kind, message in (("request", request), ("response", response)):
        raw = b"".join(getattr(messages, f"encode_{kind}")(version, message))
        entity = entity_type(name, kind, version)  # type: ignore[arg-type]
        decoded, size = entity_reader(entity)(raw, 0)
        buffer = BytesIO()
        entity_writer(entity)(buffer, decoded)
        assert (size, buffer.getvalue()) == (len(raw), raw)
        assert getattr(messages, f"decode_{kind}")(version, Reader(raw)) == message


@pytest.mark.parametrize(
    "message",
    [
        security.SaslAuthenticateRequest(b"hunter2"),
        security.SaslAuthenticateResponse(ErrorCode.NONE, None, b"hunter2"),
        security.AlterScramRequest((), (security.ScramUpsertion("alice", 1, 4096, b"hunter2", b"hunter2"),)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_passwords_and_their_proofs_are_not_shown(message: object) -> None:
    """Not even where a message ends up in a log or a traceback."""
    assert "hunter2" not in repr(message)
    assert "concealed" in repr(message)

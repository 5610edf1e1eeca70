"""A client sends the same Produce request on and on with other records: what stands around them is read once."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from headrace.wire.frames import RequestHeader, read_header
from headrace.wire.messages.grouping import read_topic
from headrace.wire.messages.produce import BY_ID_SINCE, FLEXIBLE_SINCE, ProducePartition, ProduceRequest
from headrace.wire.packing import INT32, Malformed, Reader

# Of a frame: api key and version, and then the correlation id, which is never the same.
_KIND_BYTES: Final = 4
_SAME_FROM: Final = 8
_ACKS_AND_TIMEOUT_BYTES: Final = 6
# The tagged fields of the partition, the topic and the request: there are none.
_NO_TAGS: Final = b"\0\0\0"


class RepeatedProduce:
    """Reads requests that write to one partition of one topic, and begin as the first one did.

    The bytes in front of the partition's number are compared, not read: the same bytes say the same.
    """

    __slots__ = ("_header", "_kind", "_number_at", "_request", "_rest", "_same", "_topic")

    def __init__(self, frame: memoryview, number_at: int, header: RequestHeader, request: ProduceRequest) -> None:
        """`request` is what `frame` was read as, and `number_at` where its one partition begins."""
        self._kind, self._same, self._number_at = (
            bytes(frame[:_KIND_BYTES]),
            bytes(frame[_SAME_FROM:number_at]),
            number_at,
        )
        self._rest = _NO_TAGS if header.version >= FLEXIBLE_SINCE else b""
        self._header, self._request, self._topic = header, request, request.partitions[0]

    def read(self, frame: bytes) -> tuple[RequestHeader, ProduceRequest] | None:
        """The frame's header and request; None for one that has to be read as any other."""
        at = self._number_at
        if frame[_SAME_FROM:at] != self._same or frame[:_KIND_BYTES] != self._kind:
            return None
        reader = Reader(frame, at)
        try:
            number, records = reader.int32(), reader.nullable_bytes(flexible=bool(self._rest))
        except Malformed:
            return None
        if frame[reader.position :] != self._rest:
            return None
        key, version, _, client_id = self._header
        header = RequestHeader(key, version, INT32.unpack_from(frame, _KIND_BYTES)[0], client_id)
        transactional_id, acks, timeout_ms, _ = self._request
        partition = ProducePartition(self._topic.topic, number, records, self._topic.topic_id)
        return header, ProduceRequest(transactional_id, acks, timeout_ms, (partition,))


def repeated(frame: memoryview, request: ProduceRequest) -> RepeatedProduce | None:
    """What reads requests like this one, as which `frame` was read; None when it is not for one partition."""
    reader = Reader(frame)
    header = read_header(reader)
    flexible = header.version >= FLEXIBLE_SINCE
    reader.skip_tagged_fields(flexible)
    reader.nullable_string(flexible)
    reader.take(_ACKS_AND_TIMEOUT_BYTES)
    topics = reader.array_length(flexible)
    read_topic(reader, flexible, header.version >= BY_ID_SINCE)
    if topics != 1 or reader.array_length(flexible) != 1:
        return None
    return RepeatedProduce(frame, reader.position, header, request)


class RepeatedRequests:
    """What one client does again and again: a topic that it wrote to twice in a row, one partition at a time."""

    __slots__ = ("_known", "_written")

    def __init__(self) -> None:
        self._known: RepeatedProduce | None = None
        self._written: tuple[str, UUID | None] | None = None

    def read(self, frame: bytes | memoryview) -> tuple[RequestHeader, ProduceRequest] | None:
        """None for a request that is not known. Large ones, whose frame is not `bytes`, are worth no comparing."""
        return self._known.read(frame) if self._known is not None and isinstance(frame, bytes) else None

    def heed(self, reader: Reader, request: Any) -> Any:
        """The request, which was read in full."""
        if isinstance(request, ProduceRequest) and len(request.partitions) == 1:
            topic = (request.partitions[0].topic, request.partitions[0].topic_id)
            if topic == self._written:
                self._known = repeated(reader.whole, request)
            self._written = topic
        return request

"""Records of the broker's own topics: key and value pairs in one uncompressed batch, and back."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import google_crc32c

from headrace.log import parse_batches
from headrace.wire.packing import Malformed, Reader, Writer

StateRecord = tuple[bytes, bytes | None]

# The batch header (version 2) up to its checksum, and the part that the checksum covers together with the records.
_UNCHECKED: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_HEADER_BYTES: Final = _UNCHECKED.size + _CHECKED.size
# The length field counts what follows it: leader epoch, magic and checksum of this part.
_UNCHECKED_IN_LENGTH: Final = 9
_MAGIC: Final = 2


def encode_state_batch(records: Sequence[StateRecord], timestamp_ms: int) -> bytes:
    payload = Writer()
    for index, (key, value) in enumerate(records):
        record = _pack_record(index, key, value)
        _write_varint(payload, len(record))
        payload.raw(record)
    return _pack_batch(payload.getvalue(), len(records), timestamp_ms)


def _pack_batch(payload: bytes, record_count: int, timestamp_ms: int) -> bytes:
    checked = _CHECKED.pack(0, record_count - 1, timestamp_ms, timestamp_ms, -1, -1, -1, record_count) + payload
    crc = google_crc32c.value(checked)
    return _UNCHECKED.pack(0, _UNCHECKED_IN_LENGTH + len(checked), 0, _MAGIC, crc) + checked


def decode_state_batches(batches: bytes) -> Iterator[StateRecord]:
    """Every record of whole batches, in order. Raises Malformed."""
    position = 0
    for header in parse_batches(batches):
        reader = Reader(memoryview(batches)[position + _HEADER_BYTES : position + header.size_bytes])
        for _ in range(header.record_count):
            yield _unpack_record(Reader(reader.take(_read_varint(reader))))
        position += header.size_bytes


def _pack_record(index: int, key: bytes, value: bytes | None) -> bytes:
    writer = Writer()
    writer.int8(0)  # attributes
    _write_varint(writer, 0)  # time since the batch's
    _write_varint(writer, index)
    _write_field(writer, key)
    _write_field(writer, value)
    _write_varint(writer, 0)  # headers
    return writer.getvalue()


def _unpack_record(reader: Reader) -> StateRecord:
    reader.int8()
    _read_varint(reader)
    _read_varint(reader)
    key, value = _read_field(reader), _read_field(reader)
    if key is None:
        raise Malformed("a state record without a key")
    return key, value


def _write_field(writer: Writer, content: bytes | None) -> None:
    _write_varint(writer, -1 if content is None else len(content))
    writer.raw(content or b"")


def _read_field(reader: Reader) -> bytes | None:
    length = _read_varint(reader)
    return None if length < 0 else bytes(reader.take(length))


def _write_varint(writer: Writer, value: int) -> None:
    """Records number with the sign in the lowest bit."""
    writer.unsigned_varint((value << 1) ^ (value >> 31))


def _read_varint(reader: Reader) -> int:
    raw = reader.unsigned_varint()
    return (raw >> 1) ^ -(raw & 1)


def newest(records: Iterable[StateRecord]) -> dict[bytes, bytes]:
    """The newest value of each key; keys whose newest value is null are absent."""
    found: dict[bytes, bytes] = {}
    for key, value in records:
        if value is None:
            found.pop(key, None)
        else:
            found[key] = value
    return found

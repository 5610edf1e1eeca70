"""Kafka's record batch, version 2: the 61-byte header, its checksum, and the fields that may be patched.

    base offset 8 | length 4 | leader epoch 4 | magic 1 | crc 4 | attributes 2 | last offset delta 4 |
    base timestamp 8 | max timestamp 8 | producer id 8 | producer epoch 2 | base sequence 4 | record count 4 | records

The checksum (CRC-32C) covers everything from the attributes on, so the base offset and the leader epoch can be set
without reading the records. The length counts from the leader epoch on.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import google_crc32c
import numpy as np

from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.storage import Buffer

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = HEADER.size
PREFIX = struct.Struct(">qii")
"""Base offset, length, leader epoch: the part in front of the checksum that the broker writes itself."""
LENGTH_STARTS_AT = 12
CRC_AT = 17
CHECKED_FROM = 21
MAGIC = 2
LEADER_EPOCH = 0
"""Of every batch: one broker leads for ever."""
CODEC_MASK = 0x07
APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
NO_PRODUCER = -1
NO_APPEND_TIME_MS = -1
NO_TIME_MS = -1
SEQUENCE_SPACE = 1 << 31
"""Sequence numbers wrap to 0 after the largest 32-bit integer."""

COPIED_BYTES_MAX = 4 << 10
"""Up to here a copy costs less than a view that the checksum can be computed of."""

_CRC = struct.Struct(">I")
_PRODUCER_FIELDS = struct.Struct(">qhi")
_PRODUCER_AT = 43
_ATTRIBUTES = struct.Struct(">h")
_MAX_TIMESTAMP = struct.Struct(">q")
_MAX_TIMESTAMP_AT = 35


class BatchHeader(NamedTuple):
    """The header's fields in their order on disk. A tuple, since one is made for every batch on every path."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    def at(self, base_offset: int) -> BatchHeader:
        """The same batch at another offset."""
        return tuple.__new__(BatchHeader, (base_offset, *self[1:]))

    @property
    def size_bytes(self) -> int:
        return self.length + LENGTH_STARTS_AT

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        return (self.base_sequence + self.last_offset_delta) % SEQUENCE_SPACE

    @property
    def codec_number(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def uses_append_time(self) -> bool:
        return bool(self.attributes & APPEND_TIME_BIT)

    @property
    def append_time_ms(self) -> int:
        """When the broker stamped the batch; -1 when the records have the producer's times."""
        return self.max_timestamp_ms if self.uses_append_time else NO_APPEND_TIME_MS

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def ends_transaction(self) -> bool:
        """Of control batches only the markers of transactions say something about their producer."""
        return self.is_control and self.is_transactional


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`. The caller made sure that 61 bytes are there."""
    # As `_make`, which counts the fields once more.
    return tuple.__new__(BatchHeader, HEADER.unpack_from(buffer, position))


def is_plausible(header: BatchHeader) -> bool:
    """Whether the bytes can be a batch at all; the checksum decides whether they are one."""
    whole = header.length >= HEADER_BYTES - LENGTH_STARTS_AT
    return header.magic == MAGIC and whole and header.last_offset_delta >= 0


def checksum(buffer: Buffer) -> int:
    """CRC-32C; only what is small is copied, since that is quicker."""
    if len(buffer) <= COPIED_BYTES_MAX:
        return int(google_crc32c.value(bytes(buffer)))
    # numpy's array is a read-only buffer in the sense that the C function wants; a memoryview is not.
    return int(google_crc32c.value(np.frombuffer(buffer, dtype=np.uint8)))


def crc_matches(header: BatchHeader, buffer: Buffer, position: int = 0) -> bool:
    """Whether the whole batch at `position` has the checksum that its header states."""
    return checksum(memoryview(buffer)[position + CHECKED_FROM : position + header.size_bytes]) == header.crc


def parse_batches(buffer: Buffer) -> Iterator[BatchHeader]:
    """Headers of the batches that fill `buffer`, lengths and magic checked, checksums not.

    Raises LogRefusal (corrupt message, or unsupported format for magic 0 and 1) at the first that does not fit.
    """
    position = 0
    while position < len(buffer):
        header = header_within(buffer, position)
        yield header
        position += header.size_bytes


def header_within(buffer: Buffer, position: int) -> BatchHeader:
    """As `parse_batches`, of one batch."""
    remaining = len(buffer) - position
    if remaining < HEADER_BYTES:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, f"{remaining} bytes at {position} are too few for a record batch")
    header = read_header(buffer, position)
    if is_plausible(header) and header.size_bytes <= remaining:
        return header
    if header.magic in (0, 1):
        raise LogRefusal(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            f"message format {header.magic} is not supported",
            hint="use a client that speaks Kafka 0.11 or newer (message format 2)",
        )
    raise LogRefusal(
        ErrorCode.CORRUPT_MESSAGE,
        f"no record batch at byte {position}: magic {header.magic}, length {header.length}, {remaining} bytes left",
    )


def with_producer(
    batch: Buffer, producer_id: int, producer_epoch: int, base_sequence: int, transactional: bool = False
) -> bytes:
    """The same batch sent by an idempotent or transactional producer; the checksum is computed anew."""
    patched = bytearray(batch)
    _PRODUCER_FIELDS.pack_into(patched, _PRODUCER_AT, producer_id, producer_epoch, base_sequence)
    attributes = read_header(patched).attributes & ~TRANSACTIONAL_BIT
    _ATTRIBUTES.pack_into(patched, CHECKED_FROM, attributes | (TRANSACTIONAL_BIT if transactional else 0))
    return sealed(patched)


def with_append_time(batch: Buffer, time_ms: int) -> bytes:
    """The same batch, stamped by the broker: readers give all its records this time."""
    patched = bytearray(batch)
    _ATTRIBUTES.pack_into(patched, CHECKED_FROM, read_header(patched).attributes | APPEND_TIME_BIT)
    _MAX_TIMESTAMP.pack_into(patched, _MAX_TIMESTAMP_AT, time_ms)
    return sealed(patched)


def pack_batch(
    payload: Buffer,
    *,
    attributes: int,
    record_count: int,
    base_timestamp_ms: int,
    max_timestamp_ms: int,
    producer_id: int = NO_PRODUCER,
    producer_epoch: int = -1,
    base_sequence: int = -1,
) -> bytes:
    """A whole batch at base offset 0 around records that are encoded (and compressed) already."""
    fields = (attributes, record_count - 1, base_timestamp_ms, max_timestamp_ms)
    producer = (producer_id, producer_epoch, base_sequence)
    length = HEADER_BYTES - LENGTH_STARTS_AT + len(payload)
    header = bytearray(HEADER.pack(0, length, 0, MAGIC, 0, *fields, *producer, record_count))
    start = google_crc32c.value(bytes(header[CHECKED_FROM:]))
    _CRC.pack_into(header, CRC_AT, google_crc32c.extend(start, np.frombuffer(payload, dtype=np.uint8)))
    return b"".join((header, payload))


def with_records(header: BatchHeader, payload: Buffer, record_count: int) -> bytes:
    """A batch at the same offsets, from the same producer, around some of its records."""
    length = HEADER_BYTES - LENGTH_STARTS_AT + len(payload)
    return sealed(bytearray(HEADER.pack(*header._replace(length=length, record_count=record_count))) + payload)


def empty_batch(base_offset: int, end_offset: int) -> bytes:
    """A batch without records that stands for the offsets in [base_offset, end_offset)."""
    fields = (0, MAGIC, 0, 0, end_offset - base_offset - 1, NO_TIME_MS, NO_TIME_MS, NO_PRODUCER, -1, -1, 0)
    return sealed(bytearray(HEADER.pack(base_offset, HEADER_BYTES - LENGTH_STARTS_AT, *fields)))


def sealed(batch: bytearray) -> bytes:
    """The batch with its checksum set."""
    _CRC.pack_into(batch, CRC_AT, checksum(memoryview(batch)[CHECKED_FROM:]))
    return bytes(batch)

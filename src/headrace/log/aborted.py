"""The index of aborted transactions, one file per segment, entry by entry in the order of the abort markers."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.errors import CorruptData
from headrace.log.batch import checksum

_FIELDS = struct.Struct("<qqq")
_CRC = struct.Struct("<I")
ABORTED_ENTRY_BYTES = _FIELDS.size + _CRC.size


@dataclass(frozen=True, slots=True)
class AbortedTransaction:
    """Records of `producer_id` from `first_offset` to the marker at `last_offset` never happened."""

    producer_id: int
    first_offset: int
    last_offset: int

    def encode(self) -> bytes:
        body = _FIELDS.pack(self.producer_id, self.first_offset, self.last_offset)
        return body + _CRC.pack(checksum(body))


def decode_aborted(content: bytes, place: str, count: int | None = None) -> list[AbortedTransaction]:
    """The first `count` entries, or all. Raises CorruptData naming `place` when one is missing or damaged.

    A reader beside the writer may see the last entry half written: it reads again before it believes the damage.
    """
    if len(content) < (count or 0) * ABORTED_ENTRY_BYTES:
        raise CorruptData(f"{place}: {len(content)} bytes are too few for {count} entries")
    return [_entry(content, index, place) for index in range(len(content) // ABORTED_ENTRY_BYTES)[:count]]


def _entry(content: bytes, index: int, place: str) -> AbortedTransaction:
    position = index * ABORTED_ENTRY_BYTES
    body = content[position : position + _FIELDS.size]
    if _CRC.unpack_from(content, position + _FIELDS.size)[0] != checksum(body):
        raise CorruptData(f"{place}: entry {index} fails its checksum")
    return AbortedTransaction(*_FIELDS.unpack(body))


def overlapping(
    entries: Iterable[AbortedTransaction], start_offset: int, end_offset: int
) -> tuple[AbortedTransaction, ...]:
    """Those with a record in [start_offset, end_offset)."""
    return tuple(e for e in entries if e.last_offset >= start_offset and e.first_offset < end_offset)

"""How far a partition can be read, in one small file that readers in other processes look at.

It is rewritten in place after every sync and never synced itself: recovery computes it anew. Whatever it says was true
when it was written, so it also tells recovery what was durable at least.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import CorruptData, NotFound
from headrace.log.batch import checksum

WATERMARK_FILE = "watermark"
TORN_READS_MAX = 1000
"""A reader can meet the file half rewritten; this many times in a row means that it is damaged."""

_FIELDS = struct.Struct("<4sqqqqqq")
_CRC = struct.Struct("<I")
_MAGIC = b"HWM1"


@dataclass(frozen=True, slots=True)
class Watermark:
    """Offsets of a partition: acked below `high_watermark`, decided below `last_stable_offset`."""

    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    active_base_offset: int
    aborted_count: int
    """Entries in the aborted-transaction indexes of all segments."""
    durable_offset: int
    """Everything below was synced: the high watermark, unless the broker acks without syncing."""

    def encode(self) -> bytes:
        body = _FIELDS.pack(
            _MAGIC,
            self.high_watermark,
            self.last_stable_offset,
            self.log_start_offset,
            self.active_base_offset,
            self.aborted_count,
            self.durable_offset,
        )
        return body + _CRC.pack(checksum(body))

    @classmethod
    def decode(cls, content: bytes) -> Watermark | None:
        """None when the bytes are not a whole watermark."""
        body, crc = content[: _FIELDS.size], content[_FIELDS.size :]
        if len(crc) != _CRC.size or body[:4] != _MAGIC or _CRC.unpack(crc)[0] != checksum(body):
            return None
        return cls(*_FIELDS.unpack(body)[1:])


def read_watermark(directory: Path) -> Watermark:
    """The partition's watermark, from any process. Raises NotFound and, for a damaged file, CorruptData."""
    path = directory / WATERMARK_FILE
    for _ in range(TORN_READS_MAX):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"no partition in {directory.name}", hint="is the data directory the broker's?") from None
        if (watermark := Watermark.decode(content)) is not None:
            return watermark
    raise CorruptData(
        f"{directory.name}: the watermark file is damaged", hint="restart the broker: it writes a new one"
    )

"""What compaction did to a partition so far, file `compaction`: how far the log is clean, and since when.

A tombstone, and a transaction's marker, may go once it is clean below it for delete.retention.ms: whoever began to read
before that has seen it. Lost or damaged, the file costs one more pass and nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from headrace.log.batch import checksum
from headrace.log.storage import Storage, read_whole, replace_atomically

CLEANED_FILE = "compaction"
MARKS_MAX = 16
"""Passes that are remembered; of older ones only the last."""

_CRC_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Passes in their order: the offset up to which each cleaned, and when."""

    passes: tuple[tuple[int, int], ...] = ()

    @property
    def end_offset(self) -> int:
        """Below it every key has its newest record, among those below it, only."""
        return self.passes[-1][0] if self.passes else 0

    def removable_before(self, now_ms: int, delete_retention_ms: int) -> int:
        """Tombstones and markers below this offset have been kept long enough."""
        ended = [offset for offset, time_ms in self.passes if time_ms + delete_retention_ms <= now_ms]
        return max(ended, default=0)

    def after(self, end_offset: int, time_ms: int) -> Cleaned:
        return Cleaned((*self.passes, (end_offset, time_ms))[-MARKS_MAX:])

    def save(self, storage: Storage, directory: Path) -> None:
        """Durable and complete afterwards, or as it was before. Raises OSError."""
        body = json.dumps(self.passes).encode()
        replace_atomically(storage, directory / CLEANED_FILE, b"%08x\n%s" % (checksum(body), body))


def load_cleaned(storage: Storage, directory: Path) -> Cleaned:
    content = read_whole(storage, directory / CLEANED_FILE) or b""
    crc, body = content[:_CRC_DIGITS], content[_CRC_DIGITS + 1 :]
    if not body or crc != b"%08x" % checksum(body):
        return Cleaned()
    return Cleaned(tuple((int(offset), int(time_ms)) for offset, time_ms in json.loads(body)))

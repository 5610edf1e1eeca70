"""A partition's checkpoint, file `producers`: what recovery need not read again.

Everything below `offset` is durable when the file is written, so recovery starts there, with these producers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headrace.log.batch import checksum
from headrace.log.producers import BatchMemory, ProducerState
from headrace.log.retention import SealedSegment
from headrace.log.storage import Storage, read_whole, replace_atomically

CHECKPOINT_FILE = "producers"
_CRC_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Recovery's starting point."""

    offset: int
    log_start_offset: int
    active_aborted_count: int
    """Aborted transactions in the index of the segment that was active."""
    producers: tuple[ProducerState, ...]
    sealed: tuple[SealedSegment, ...] = ()
    """Segments that need not be opened to be known."""

    def save(self, storage: Storage, directory: Path) -> None:
        """Durable and complete afterwards, or as it was before. Raises OSError."""
        body = json.dumps(asdict(self), separators=(",", ":")).encode()
        replace_atomically(storage, directory / CHECKPOINT_FILE, b"%08x\n%s" % (checksum(body), body))


def load_checkpoint(storage: Storage, directory: Path) -> Checkpoint | None:
    """The newest checkpoint; None when there is none, or a damaged one: then recovery reads the whole log."""
    content = read_whole(storage, directory / CHECKPOINT_FILE) or b""
    crc, body = content[:_CRC_DIGITS], content[_CRC_DIGITS + 1 :]
    if not body or crc != b"%08x" % checksum(body):
        return None
    fields = json.loads(body)
    producers = tuple(_producer(producer) for producer in fields.pop("producers"))
    sealed = tuple(SealedSegment(**segment) for segment in fields.pop("sealed", ()))
    return Checkpoint(**fields, producers=producers, sealed=sealed)


def _producer(fields: dict[str, object]) -> ProducerState:
    batches = fields.pop("batches")
    assert isinstance(batches, list)  # noqa: S101 - the checksum matched, so this is what `save` wrote
    return ProducerState(**fields, batches=tuple(BatchMemory(**batch) for batch in batches))  # type: ignore[arg-type]

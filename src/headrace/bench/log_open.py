"""How long the broker needs to open ten gigabytes of log after a clean stop.

The files have the true layout, but of most batches only the header is on disk: holes cost no space and no time to make.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from headrace.bench.log_brokers import Ours
from headrace.bench.peers import Say
from headrace.log import BatchHeader, LogStore, OsStorage
from headrace.log.batch import HEADER, LENGTH_STARTS_AT, MAGIC, NO_PRODUCER
from headrace.log.checkpoint import Checkpoint
from headrace.log.retention import SealedSegment
from headrace.log.segment import Segment

LOG_BYTES: Final = 10 * 1000**3
SEGMENT_BYTES: Final = 1000**3
BATCH_BYTES: Final = 256 << 10
BATCH_RECORDS: Final = 256
TOPIC: Final = "large"


def measure_open(directory: Path, say: Say) -> float:
    """Seconds until the broker is ready on a directory with so much log. Raises HeadraceError."""
    began_s = time.monotonic()
    make_log(directory / "log", LOG_BYTES)
    say(f"a log of {LOG_BYTES / 1e9:.0f} GB was laid out in {time.monotonic() - began_s:.1f} s")
    broker = Ours(directory)
    broker.close()
    return broker.ready_s


def make_log(directory: Path, log_bytes: int, segment_bytes: int = SEGMENT_BYTES) -> None:
    """A topic with one partition of this size, its batches empty but for their headers, as after a clean stop."""
    with LogStore.open(directory) as store:
        partition = store.create_topic(TOPIC, 1, {}).partitions[0].directory
    storage, offset = OsStorage(), 0
    sealed: list[SealedSegment] = []
    for _ in range(log_bytes // segment_bytes):
        segment = Segment(storage, partition, offset, create=True)
        while segment.size_bytes < segment_bytes:
            header = _header(segment.end_offset)
            segment.file.write([HEADER.pack(*header)], segment.size_bytes)
            segment.note(header)
        segment.file.truncate(segment.size_bytes)
        offset = segment.end_offset
        sealed.append(SealedSegment.of(segment))
    Checkpoint(offset, 0, 0, (), tuple(sealed[:-1])).save(storage, partition)


def _header(base_offset: int) -> BatchHeader:
    length = BATCH_BYTES - LENGTH_STARTS_AT
    return BatchHeader(base_offset, length, 0, MAGIC, 0, 0, BATCH_RECORDS - 1, 0, 0, NO_PRODUCER, -1, -1, BATCH_RECORDS)

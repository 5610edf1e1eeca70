"""What reading a partition needs beside its segments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.errors import CorruptData
from headrace.log.batch import read_header
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.results import TimestampOffset
from headrace.log.unreadable import UnreadableBatch


@contextmanager
def refusing_reads(partition: str) -> Iterator[None]:
    """Damage and disk errors inside refuse the one request; the partition goes on."""
    try:
        yield
    except CorruptData as error:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, error.message, hint=error.hint) from error
    except OSError as error:
        raise LogRefusal(ErrorCode.KAFKA_STORAGE_ERROR, f"{partition}: {error}") from error


def first_since(batch: bytes, timestamp_ms: int, start_offset: int) -> TimestampOffset | None:
    """The batch's first record at or after a time and an offset. A marker has none. Raises CorruptData.

    Of a batch that cannot be read, its first offset: it says that it holds such a record.
    """
    header = read_header(batch)
    if header.is_control or header.last_offset < start_offset:
        return None
    # The only time that the broker looks into records: it loads Arrow then, and not before.
    from headrace.log.records import decode_batch  # noqa: PLC0415

    try:
        records = decode_batch(batch)
    except UnreadableBatch:
        return TimestampOffset(max(header.base_offset, start_offset), header.max_timestamp_ms)
    late = (records.timestamps_ms >= timestamp_ms) & (records.offsets >= start_offset)
    if not late.any():
        return None
    at = int(late.argmax())
    return TimestampOffset(int(records.offsets[at]), int(records.timestamps_ms[at]))

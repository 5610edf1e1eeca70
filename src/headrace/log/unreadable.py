"""Batches that are stored just as they were sent, and whose records nobody can read.

The broker does not look into records. So a producer can send a batch with the right checksum around bytes that unpack
to too much, or that are no records. The disk is not damaged: whoever reads goes on behind the batch.
"""

from __future__ import annotations

from headrace.errors import CorruptData
from headrace.log.batch import HEADER_BYTES, BatchHeader
from headrace.log.codec import decompress
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.storage import Buffer


class UnreadableBatch(CorruptData):
    """`header` says which offsets the batch takes, `reason` why its records cannot be read."""

    code = "unreadable_batch"

    def __init__(
        self,
        header: BatchHeader,
        reason: str,
        error_code: ErrorCode = ErrorCode.CORRUPT_MESSAGE,
        partition: str | None = None,
    ) -> None:
        self.header = header
        self.reason = reason
        self.error_code = error_code
        place = f"the batch at offset {header.base_offset} ({header.record_count} records)"
        super().__init__(
            f"{place if partition is None else f'{partition}: {place}'} cannot be read: {reason}",
            hint=f"read on from offset {header.next_offset}, or delete the records below it",
        )

    def of(self, partition: str) -> UnreadableBatch:
        """The same, with the partition named."""
        return UnreadableBatch(self.header, self.reason, self.error_code, partition)


def unpacked(header: BatchHeader, batch: Buffer) -> Buffer:
    """The bytes of the records of a batch whose checksum holds. Raises UnreadableBatch."""
    try:
        return decompress(header.codec_number, memoryview(batch)[HEADER_BYTES : header.size_bytes])
    except LogRefusal as refusal:
        raise UnreadableBatch(header, refusal.message, refusal.error_code) from refusal

"""What a partition answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from headrace.log.aborted import AbortedTransaction
from headrace.log.storage import OpenFile, Span


class Appended(NamedTuple):
    """Where records went. The time is -1 unless the topic stamps records when they are appended."""

    base_offset: int
    last_offset: int
    append_time_ms: int


@dataclass(slots=True)
class SyncTicket:
    """One sync of a partition under way."""

    end_offset: int
    file: OpenFile | None
    lost: OSError | None = None
    """A sync that failed before."""
    is_durable: bool = False
    """Whether `run` succeeded. A ticket may be finished without it, where losing acked records is accepted."""

    def run(self) -> None:
        """Make everything below `end_offset` durable; blocks, in any thread.

        Raises OSError; the ticket then goes to `Partition.fail_sync` instead of `finish_sync`.
        """
        if self.lost is not None:
            raise self.lost
        if self.file is not None:
            self.file.sync()
        self.is_durable = True


@dataclass(frozen=True, slots=True)
class Slice:
    """Whole batches, still in their file, and how far the partition could be read when they were looked up."""

    span: Span
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[AbortedTransaction, ...]

    @property
    def length(self) -> int:
        return self.span.length

    def content(self) -> bytes:
        """The bytes, read into memory. Raises OSError."""
        return self.span.content()


@dataclass(frozen=True, slots=True)
class TimestampOffset:
    """A record's offset and time."""

    offset: int
    timestamp_ms: int

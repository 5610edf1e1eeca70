"""Records out of what a fetch brought, for a client that reads only what was committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from headrace.log.batch import parse_batches
from headrace.log.records import Records, decode_batch
from headrace.log.storage import Buffer


class AbortedFrom(Protocol):
    """A producer whose records from an offset on were aborted, up to its next marker."""

    @property
    def producer_id(self) -> int: ...
    @property
    def first_offset(self) -> int: ...


def decode_fetched(records: Buffer, aborted: Iterable[AbortedFrom]) -> Iterator[Records]:
    """The committed records of whole batches, in order. Raises CorruptData, UnreadableBatch and LogRefusal."""
    return (decode_batch(batch) for batch in committed_batches(records, aborted))


def committed_batches(records: Buffer, aborted: Iterable[AbortedFrom]) -> Iterator[memoryview]:
    """Those of whole batches that hold committed records, in order. Raises LogRefusal."""
    waiting = sorted(aborted, key=lambda transaction: transaction.first_offset)
    cancelled: set[int] = set()
    position = 0
    for header in parse_batches(records):
        while waiting and waiting[0].first_offset <= header.base_offset:
            cancelled.add(waiting.pop(0).producer_id)
        if header.is_control:
            cancelled.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in cancelled):
            yield memoryview(records)[position : position + header.size_bytes]
        position += header.size_bytes

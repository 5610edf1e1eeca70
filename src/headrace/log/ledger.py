"""What the batches of a partition mean together: producers, transactions under way, transactions aborted.

Appending and recovery pass every batch through here in order, so both arrive at the same state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from headrace.log.aborted import AbortedTransaction, overlapping
from headrace.log.batch import NO_PRODUCER, BatchHeader
from headrace.log.producers import BatchMemory, Producers, ProducerState, admit, after, unseen
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.results import Appended


class Admission(NamedTuple):
    """The outcome for the batches of one append."""

    headers: list[BatchHeader | None]
    """With offsets for those that are new; None for those that were appended before."""
    appended: Appended
    states: Collection[ProducerState]
    """The producers after it."""


class Ledger:
    """The state that follows from a partition's batches."""

    def __init__(self, producers: Iterable[ProducerState] = ()) -> None:
        self.producers = Producers(producers)
        self._aborted: list[AbortedTransaction] = []
        self._ended: deque[tuple[int, int]] = deque()

    def admit(self, headers: Sequence[BatchHeader], next_offset: int, now_ms: int) -> Admission:
        """Give offsets to the batches of one append that are new. Changes nothing yet. Raises LogRefusal."""
        if len(headers) == 1 and headers[0].producer_id == NO_PRODUCER:
            placed = headers[0].at(next_offset)
            return Admission([placed], Appended(next_offset, placed.last_offset, placed.append_time_ms), ())
        staged: dict[int, ProducerState] = {}
        fresh: list[BatchHeader | None] = []
        places: list[BatchHeader | BatchMemory] = []
        for header in headers:
            placed = header.at(next_offset)
            if header.producer_id != NO_PRODUCER:
                state = staged.get(header.producer_id, self.producers.get(header.producer_id))
                memory = admit(state, header)
                if memory is not None:
                    fresh.append(None)
                    places.append(memory)
                    continue
                staged[header.producer_id] = after(state, placed, now_ms)
            fresh.append(placed)
            places.append(placed)
            next_offset = placed.next_offset
        last = places[-1]
        return Admission(fresh, Appended(places[0].base_offset, last.last_offset, last.append_time_ms), staged.values())

    def accept(self, admission: Admission) -> None:
        """The admitted batches are in the log."""
        for state in admission.states:
            self.producers.put(state)

    def replay(self, header: BatchHeader, now_ms: int) -> None:
        """A batch is in the log since before the start."""
        if header.producer_id != NO_PRODUCER:
            self.producers.put(after(self.producers.get(header.producer_id), header, now_ms))

    def check_marker(self, producer_id: int, producer_epoch: int) -> None:
        """Raises LogRefusal when the producer has a newer epoch: the marker's sender is out of date."""
        state = self.producers.get(producer_id)
        if state is not None and producer_epoch < state.epoch:
            raise LogRefusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {producer_id}: a marker of epoch {producer_epoch}, epoch {state.epoch} has begun",
            )

    def mark(self, header: BatchHeader, *, commit: bool, now_ms: int) -> AbortedTransaction | None:
        """A marker is in the log: the producer's transaction, if one was open, has ended.

        Returns the aborted transaction if it was one; the caller writes it down and passes it to `adopt_aborted`.
        """
        state = self.producers.get(header.producer_id) or unseen(header.producer_id, header.producer_epoch)
        self.producers.put(state.after_marker(header.producer_epoch, now_ms))
        if state.transaction_offset is None:
            return None
        self._ended.append((state.transaction_offset, header.base_offset))
        if commit:
            return None
        return AbortedTransaction(header.producer_id, state.transaction_offset, header.base_offset)

    def adopt_aborted(self, entries: Iterable[AbortedTransaction]) -> None:
        """Know aborted transactions from now on. They come in the order of their markers."""
        self._aborted.extend(entries)

    def stable_offset(self, high_watermark: int) -> int:
        """Below it every transaction is decided, and its marker is below the high watermark, which never goes back."""
        while self._ended and self._ended[0][1] < high_watermark:
            self._ended.popleft()
        undecided = [first for first, _ in self._ended]
        if (first_open := self.producers.first_open_offset()) is not None:
            undecided.append(first_open)
        return min([high_watermark, *undecided])

    @property
    def aborted_count(self) -> int:
        return len(self._aborted)

    def aborted_between(self, start_offset: int, end_offset: int) -> tuple[AbortedTransaction, ...]:
        """Aborted transactions with a record in [start_offset, end_offset)."""
        return overlapping(self._aborted[self._first_marked_at(start_offset) :], start_offset, end_offset)

    def forget_below(self, log_start_offset: int) -> None:
        """Forget aborted transactions whose marker is no longer in the log."""
        del self._aborted[: self._first_marked_at(log_start_offset)]

    def forget_aborted(self, marker_offsets: Collection[int]) -> None:
        """Forget aborted transactions of which compaction removed everything, the marker last."""
        self._aborted = [entry for entry in self._aborted if entry.last_offset not in marker_offsets]

    def _first_marked_at(self, offset: int) -> int:
        return bisect_left(self._aborted, offset, key=lambda entry: entry.last_offset)

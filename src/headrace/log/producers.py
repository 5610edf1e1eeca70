"""What a partition remembers of each producer: epoch, sequence numbers, open transaction.

A producer numbers its records per partition without gaps. From the numbers of its last batches the partition knows a
resent batch (answered with the offsets of the first time) from a new one, and refuses one that would leave a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from headrace.log.batch import NO_PRODUCER, SEQUENCE_SPACE, BatchHeader
from headrace.log.refusal import ErrorCode, LogRefusal

REMEMBERED_BATCHES = 5
"""As many as a client may have in flight, so each of them can be resent."""

PRODUCERS_MAX = 10_000
"""Per partition. Above it those idle longest and without an open transaction are forgotten."""

PRODUCER_IDLE_MS_MAX = 24 * 3600 * 1000
"""A producer unseen for so long is forgotten, as in Kafka."""


@dataclass(frozen=True, slots=True)
class BatchMemory:
    """A batch that was appended."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    append_time_ms: int


@dataclass(frozen=True, slots=True)
class ProducerState:
    """One producer as the partition last saw it. `transaction_offset` is the first record of its open transaction."""

    producer_id: int
    epoch: int
    batches: tuple[BatchMemory, ...]
    transaction_offset: int | None
    seen_ms: int

    def admit(self, header: BatchHeader) -> BatchMemory | None:
        """Whether the batch may be appended: None when it may, its memory when it was already.

        Raises LogRefusal for an epoch of the past, a gap in the sequence, or a write outside the open transaction.
        """
        if header.producer_epoch < self.epoch:
            raise self._refusal(ErrorCode.INVALID_PRODUCER_EPOCH, f"epoch {self.epoch} has begun", header)
        if header.producer_epoch == self.epoch and (known := self._remembered(header)) is not None:
            return known
        expected = self._next_sequence() if header.producer_epoch == self.epoch else 0
        if header.base_sequence != expected:
            cause = f"sequence {header.base_sequence} came, {expected} was next"
            raise self._refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, cause, header)
        if self.transaction_offset is not None and not header.is_transactional:
            raise self._refusal(ErrorCode.INVALID_TXN_STATE, "a write outside the open transaction", header)
        return None

    def after(self, header: BatchHeader, now_ms: int) -> ProducerState:
        """The state once the admitted batch, its offsets set, is appended."""
        memory = BatchMemory(
            header.base_sequence,
            header.last_sequence,
            header.base_offset,
            header.last_offset,
            header.append_time_ms,
        )
        earlier = self.batches if header.producer_epoch == self.epoch else ()
        opened = header.base_offset if header.is_transactional else None
        return ProducerState(
            self.producer_id,
            header.producer_epoch,
            (*earlier, memory)[-REMEMBERED_BATCHES:],
            opened if self.transaction_offset is None else self.transaction_offset,
            now_ms,
        )

    def after_marker(self, epoch: int, now_ms: int) -> ProducerState:
        """The state once a transaction marker is appended. A newer epoch starts its sequence anew."""
        batches = self.batches if epoch == self.epoch else ()
        return replace(self, epoch=epoch, batches=batches, transaction_offset=None, seen_ms=now_ms)

    def _remembered(self, header: BatchHeader) -> BatchMemory | None:
        wanted = (header.base_sequence, header.last_sequence)
        return next((b for b in self.batches if (b.base_sequence, b.last_sequence) == wanted), None)

    def _next_sequence(self) -> int:
        return (self.batches[-1].last_sequence + 1) % SEQUENCE_SPACE if self.batches else 0

    def _refusal(self, code: ErrorCode, cause: str, header: BatchHeader) -> LogRefusal:
        return LogRefusal(code, f"producer {self.producer_id} epoch {header.producer_epoch}: {cause}")


def admit(state: ProducerState | None, header: BatchHeader) -> BatchMemory | None:
    """As `ProducerState.admit`, for a producer that may be unknown: it has to start at 0."""
    if state is not None:
        return state.admit(header)
    if header.base_sequence != 0:
        raise LogRefusal(
            ErrorCode.UNKNOWN_PRODUCER_ID,
            f"producer {header.producer_id} is unknown and starts at sequence {header.base_sequence}, not 0",
        )
    return None


def unseen(producer_id: int, epoch: int) -> ProducerState:
    """A producer before its first batch."""
    return ProducerState(producer_id, epoch, (), None, 0)


def after(state: ProducerState | None, header: BatchHeader, now_ms: int) -> ProducerState:
    """As `ProducerState.after`, for a producer that may be unknown."""
    return (state or unseen(header.producer_id, header.producer_epoch)).after(header, now_ms)


class Producers:
    """All producers of a partition. Kept in the order in which they were last seen."""

    def __init__(self, states: Iterable[ProducerState] = ()) -> None:
        self._states: dict[int, ProducerState] = {}
        self._open: dict[int, int] = {}
        for state in states:
            self.put(state)

    def get(self, producer_id: int) -> ProducerState | None:
        return self._states.get(producer_id)

    def put(self, state: ProducerState) -> None:
        """Remember the newest state of a producer, at the price of the one idle longest when there are too many."""
        self._states.pop(state.producer_id, None)
        self._states[state.producer_id] = state
        if state.transaction_offset is None:
            self._open.pop(state.producer_id, None)
        else:
            self._open[state.producer_id] = state.transaction_offset
        if len(self._states) > PRODUCERS_MAX:
            self._forget(next((p for p in self._states if p not in self._open), NO_PRODUCER))

    def states(self) -> tuple[ProducerState, ...]:
        return tuple(self._states.values())

    def open_transactions(self) -> Mapping[int, int]:
        """Producer id to the offset of its open transaction's first record."""
        return dict(self._open)

    def first_open_offset(self) -> int | None:
        return min(self._open.values(), default=None)

    def forget_idle(self, now_ms: int) -> None:
        """Forget producers unseen for too long, unless a transaction of theirs is open."""
        idle = [s.producer_id for s in self._states.values() if now_ms - s.seen_ms > PRODUCER_IDLE_MS_MAX]
        for producer_id in idle:
            if producer_id not in self._open:
                self._forget(producer_id)

    def _forget(self, producer_id: int) -> None:
        self._states.pop(producer_id, None)

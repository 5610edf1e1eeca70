"""The sequencer: gives a signal its place in every partition of its topics, and writes the cut down in `__signals`.

In this order, each step durable before the next: the request; a mark in every partition, all in one step of the event
loop; the record with the cut. Readers that see the request wait for its cut, so none of them can pass the marks
unknowingly. After a crash a request without a cut is placed anew: the marks of the first attempt mean nothing then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from headrace.errors import CorruptData, HeadraceError, InvalidInput
from headrace.log import LogRefusal, LogStore, Partition, parse_batches
from headrace.signals import Cut, SignalRecord, SignalRequest, read_request
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.commit import Committer
from headrace.wire.event_log import EventLog
from headrace.wire.state_topic import StateTopic

if TYPE_CHECKING:
    from headrace.log.storage import Buffer

# Every cut costs each job that reads the topics a micro-batch.
SIGNALS_PER_SECOND_MAX: Final = 20
BURST_MAX: Final = 200
# Older ones are forgotten: a job that is further behind passes over them.
SIGNALS_KEPT_MAX: Final = 10_000
# Partitions of all topics of one signal.
PARTITIONS_MAX: Final = 1_000

_log = EventLog()

# Marks of one signal: each partition, and the offset after its mark.
Marks = list[tuple[Partition, int]]


class Sequencer:
    """Places signals one after the other, so that their cuts are in the same order in every partition."""

    def __init__(
        self,
        store: LogStore,
        topic: StateTopic,
        committer: Committer,
        clock: Callable[[], int],
        monotonic_ms: Callable[[], int],
    ) -> None:
        """Knows what was written before; `recover` must be called next."""
        self._store = store
        self._topic = topic
        self._committer = committer
        self._clock = clock
        self._rate = _Rate(monotonic_ms)
        self._lock = asyncio.Lock()
        self._records = {key.decode(): SignalRecord.from_bytes(value) for key, value in topic.values.items()}
        self._number = max((record.number for record in self._records.values()), default=0)

    async def recover(self) -> None:
        """Called once, before the first request, and now and then: requests without a cut get theirs."""
        async with self._lock:
            await self._place([record.request for record in self._records.values() if record.state == "requested"])

    async def submit(self, requests: Sequence[SignalRequest]) -> None:
        """Placed, and durable, afterwards. One whose id was placed before stays where it is. Raises a Refusal."""
        async with self._lock:
            fresh = {request.id: request for request in requests if not self._is_placed(request)}
            for request in fresh.values():
                self._check(request)
            if not fresh:
                return
            self._rate.take(len(fresh))
            await self._write([SignalRecord(request, "requested", self._clock()) for request in fresh.values()])
            await self._place(fresh.values())
            refused = [self._records[name] for name in fresh if self._records[name].state == "refused"]
        if refused:
            raise Refusal(ErrorCode.KAFKA_STORAGE_ERROR, refused[0].reason or "")

    async def forget_topic(self, name: str) -> None:
        """Called when a topic is deleted: offsets of a new one of the same name mean something else."""
        async with self._lock:
            found = [record for record in self._records.values() if name in record.cut]
            cuts = [(record, {topic: ends for topic, ends in record.cut.items() if topic != name}) for record in found]
            await self._write([replace(record, cut=cut) for record, cut in cuts if cut])
            await self._forget([record.request.id for record, cut in cuts if not cut])

    async def keep_small(self) -> None:
        """Called now and then: bounds what readers and a restart have to read."""
        async with self._lock:
            settled = [name for name, record in self._records.items() if record.state != "requested"]
            if len(settled) > SIGNALS_KEPT_MAX:
                _log.warning("oldest signals forgotten", count=len(settled) - SIGNALS_KEPT_MAX)
                await self._forget(settled[: len(settled) - SIGNALS_KEPT_MAX])
            await self._topic.keep_small(self._committer)

    def _is_placed(self, request: SignalRequest) -> bool:
        known = self._records.get(request.id)
        if known is not None and known.request != request:
            raise Refusal(ErrorCode.INVALID_RECORD, f"the id {request.id!r} belongs to another signal")
        return known is not None and known.state == "placed"

    def _check(self, request: SignalRequest) -> None:
        count = 0
        for topic in request.topics:
            if topic not in self._store.topics:
                raise Refusal(ErrorCode.INVALID_RECORD, f"a signal to the topic {topic!r}, which is not there")
            count += len(self._store.topics[topic].partitions)
        if count > PARTITIONS_MAX:
            raise Refusal(
                ErrorCode.POLICY_VIOLATION, f"a signal to {count} partitions, at most {PARTITIONS_MAX} are allowed"
            )

    async def _place(self, requests: Iterable[SignalRequest]) -> None:
        marked = [(request, self._mark(request)) for request in requests]
        if marked:
            await self._committer.durable()
            await self._write([self._placed(request, marks) for request, marks in marked])

    def _mark(self, request: SignalRequest) -> Marks | str:
        """The marks, not yet durable; a text says why there are none."""
        try:
            partitions = [partition for topic in request.topics for partition in self._store.topics[topic].partitions]
            return [(partition, partition.append_signal_mark().last_offset + 1) for partition in partitions]
        except KeyError as error:
            return f"the topic {error} was deleted"
        except (LogRefusal, HeadraceError) as error:
            return str(error)

    def _placed(self, request: SignalRequest, marks: Marks | str) -> SignalRecord:
        if not isinstance(marks, str) and any(partition.high_watermark < end for partition, end in marks):
            marks = "the disk refused a mark"
        if isinstance(marks, str):
            _log.error("signal refused", id=request.id, reason=marks)
            return SignalRecord(request, "refused", self._clock(), reason=marks)
        self._number += 1
        cut: Cut = {}
        for partition, end in marks:
            cut.setdefault(partition.topic, {})[partition.index] = end
        return SignalRecord(request, "placed", self._clock(), self._number, cut)

    async def _write(self, records: Sequence[SignalRecord]) -> None:
        if records:
            await self._topic.write([(r.request.id.encode(), r.to_bytes()) for r in records], self._committer)
            self._records.update({record.request.id: record for record in records})

    async def _forget(self, names: Sequence[str]) -> None:
        if names:
            await self._topic.write([(name.encode(), None) for name in names], self._committer)
            for name in names:
                del self._records[name]


def read_signals(records: Buffer) -> list[SignalRequest]:
    """The requests in a client's batches. Raises a Refusal for all of them where one is wrong."""
    # Arrow comes with it, which a broker without signals need not load.
    from headrace.log import UnreadableBatch, decode_batch  # noqa: PLC0415

    requests: list[SignalRequest] = []
    view, position = memoryview(records), 0
    for header in parse_batches(view):
        if header.is_control or header.is_transactional:
            raise Refusal(ErrorCode.INVALID_RECORD, "signals are not sent in transactions")
        try:
            decoded = decode_batch(view[position : position + header.size_bytes])
            pairs = zip(decoded.keys.to_pylist(), decoded.values.to_pylist(), strict=True)
            requests += [read_request(key, value) for key, value in pairs]
        except UnreadableBatch as error:
            raise Refusal(ErrorCode(error.error_code), error.message) from error
        except CorruptData as error:
            raise Refusal(ErrorCode.CORRUPT_MESSAGE, error.message) from error
        except InvalidInput as error:
            raise Refusal(ErrorCode.INVALID_RECORD, str(error)) from error
        position += header.size_bytes
    if not requests:
        raise Refusal(ErrorCode.CORRUPT_MESSAGE, "no record batch")
    return requests


class _Rate:
    """So many at once, and then so many a second."""

    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self._monotonic_ms = monotonic_ms
        self._left = float(BURST_MAX)
        self._since_ms = monotonic_ms()

    def take(self, count: int) -> None:
        """Raises a Refusal when there were too many."""
        now_ms = self._monotonic_ms()
        gained = (now_ms - self._since_ms) * SIGNALS_PER_SECOND_MAX / 1000
        self._left, self._since_ms = min(float(BURST_MAX), self._left + gained), now_ms
        if count > self._left:
            raise Refusal(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"more than {BURST_MAX} signals at once, or {SIGNALS_PER_SECOND_MAX} a second for long",
            )
        self._left -= count

"""A topic that holds the broker's own state: the newest record of a key is its value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from headrace.errors import CorruptData
from headrace.log import LogRefusal, LogStore, Partition, parse_batches
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.commit import Committer
from headrace.wire.packing import Malformed
from headrace.wire.state_records import StateRecord, decode_state_batches, encode_state_batch, newest

_UNKNOWN: Final = -1
_READ_BYTES: Final = 4 * 1024 * 1024
_REWRITTEN_RECORDS: Final = 1_000
_CONFIG: Final = {"cleanup.policy": "compact", "retention.ms": "-1", "segment.bytes": str(8 * 1024 * 1024)}


class StateTopic:
    """One partition. Grown by `bytes_max`, its live records are written again and its past is deleted."""

    def __init__(self, store: LogStore, name: str, bytes_max: int, clock: Callable[[], int]) -> None:
        """Creates the topic unless it is there, and reads what it holds. Raises CorruptData, and as `create_topic`."""
        topic = store.topics.get(name) or store.create_topic(name, 1, _CONFIG)
        self.topic_id = topic.topic_id
        self._partition: Partition = topic.partitions[0]
        self._bytes_max = bytes_max
        self._clock = clock
        self._rewrite_at_bytes = bytes_max
        # The newest value of each key as it stands in the log, whether or not it is durable yet.
        self._values = self._load()
        self._end_offset = self._partition.log_end_offset

    @property
    def values(self) -> Mapping[bytes, bytes]:
        """The newest value of each key. Raises CorruptData when the log has to be read again and cannot be."""
        return self._known()

    def _known(self) -> dict[bytes, bytes]:
        if self._end_offset != self._partition.log_end_offset:
            # A sync failed, or recovery found less than was written: what is durable is what counts.
            self._values = self._load()
            self._end_offset = self._partition.log_end_offset
        return self._values

    def _load(self) -> dict[bytes, bytes]:
        try:
            return newest(self._records())
        except (Malformed, LogRefusal) as error:
            raise CorruptData(f"{self._partition.topic} cannot be read: {error}") from error

    def _records(self) -> Iterator[StateRecord]:
        offset = self._partition.log_start_offset
        while offset < self._partition.high_watermark:
            batches = self._partition.read(offset, _READ_BYTES, committed=False).content()
            yield from decode_state_batches(batches)
            offset = _end_of(batches)

    def append(self, records: Sequence[StateRecord]) -> int:
        """Write records, not yet durable; the offset that must be passed before they are. Raises a Refusal."""
        values = self._known()
        try:
            appended = self._partition.append(encode_state_batch(records, self._clock()), origin="internal")
        except LogRefusal as refusal:
            raise Refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, refusal.message) from refusal
        for key, value in records:
            if value is None:
                values.pop(key, None)
            else:
                values[key] = value
        self._end_offset = appended.last_offset + 1
        return appended.last_offset

    async def write(self, records: Sequence[StateRecord], committer: Committer) -> None:
        """Durable when it returns. Raises a Refusal when the disk failed; whether the records last is then unknown."""
        await self.durable(self.append(records), committer)

    def is_durable(self, offset: int) -> bool:
        return self._partition.high_watermark > offset

    async def durable(self, offset: int, committer: Committer) -> None:
        """Returns once the record at the offset is. Raises as `write`."""
        if self.is_durable(offset):
            return
        await committer.durable()
        if not self.is_durable(offset):
            self._end_offset = _UNKNOWN
            raise Refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the disk refused the state record")

    async def keep_small(self, committer: Committer) -> None:
        """Called now and then: bounds what a restart has to read. Raises a Refusal when the disk failed."""
        if self._partition.size_bytes < self._rewrite_at_bytes or not self.values:
            return
        first_offset = self._partition.log_end_offset
        live: list[StateRecord] = list(self._values.items())
        for start in range(0, len(live), _REWRITTEN_RECORDS):
            last_offset = self.append(live[start : start + _REWRITTEN_RECORDS])
        await committer.durable()
        if self._partition.high_watermark > last_offset:
            self._partition.delete_records(first_offset)
            self._rewrite_at_bytes = self._partition.size_bytes + self._bytes_max


def _end_of(batches: bytes) -> int:
    return max(header.next_offset for header in parse_batches(batches))

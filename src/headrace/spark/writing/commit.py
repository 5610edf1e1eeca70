"""The commit record: the one truth about what a query has done.

Every micro-batch ends with one transaction in the log. It holds the batch's rows for all topics and one record in the
query's own commit topic: which batch it was and what Spark's write-ahead file said. The rows become visible with the
record or not at all. ARCHITECTURE.md lists the crash points that this survives.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from headrace.errors import CorruptData
from headrace.log import decode_fetched, encode_batches, parse_batches, with_producer
from headrace.wire.client import EARLIEST, LATEST, Client

OPENED: Final = -1
TRANSACTION_TIMEOUT_MS: Final = 60_000
# One produce request carries at most about this much.
REQUEST_BYTES_MAX: Final = 8 * 1024 * 1024
# Sequence numbers of a producer are 31 bits wide and begin again.
SEQUENCE_SPACE: Final = 1 << 31
_COMMIT_TOPIC_CONFIG = {
    "retention.ms": "-1",
    "retention.bytes": str(8 * 1024 * 1024),
    "segment.bytes": str(1024 * 1024),
}

# Where a record was written before queries had several sources.
_ONLY_SOURCE = ""

# (topic, partition) → encoded record batches, still without a producer
Rows = dict[tuple[str, int], list[bytes]]


@dataclass(frozen=True, slots=True)
class FileMove:
    """A finished file waiting under a hidden name, and where it becomes visible."""

    staged: str
    final: str


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """Batch `OPENED` says where the sources begin; every other batch what Spark planned for it.

    `identity` tells which plan the state belongs to; `starts` is by source node, for those that are topics.
    """

    batch: int
    time_ms: int
    identity: str
    starts: dict[str, dict[str, int]]
    offsets: str | None = None
    previous_offsets: str | None = None
    previous_commit: str | None = None
    files: tuple[FileMove, ...] = ()
    chain: dict[str, Any] | None = None
    """State files and event time of the query's chain, if it has one."""
    signals: dict[str, Any] | None = None
    """What became of the signals that the batch ended at, and what of them still counts."""
    totals: dict[str, Any] | None = None
    """What was counted by node, with this batch."""
    released: dict[str, dict[str, int]] | None = None
    """Where topics ended when the query began anew: a `stop` below that was for what ran before."""

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    def with_sources(self, nodes: Iterable[str]) -> CommitRecord:
        """With the start of a query of one source under the name of its node: older records do not have it."""
        if _ONLY_SOURCE not in self.starts:
            return self
        return replace(self, starts=dict.fromkeys(nodes, self.starts[_ONLY_SOURCE]))

    @classmethod
    def from_bytes(cls, data: bytes) -> CommitRecord:
        fields = json.loads(data)
        if "start" in fields:
            start = fields.pop("start")
            fields["starts"] = {} if start is None else {_ONLY_SOURCE: start}
        return cls(**{**fields, "files": tuple(FileMove(**move) for move in fields["files"])})


class CommitLog:
    """The commit topic of one query, and the transactions that write to it.

    The first use fences: from then on no older writer of the same query can commit, so that the last record stays the
    last until this one commits.
    """

    def __init__(self, client: Client, query: str) -> None:
        self._client = client
        self.topic = commit_topic(query)
        self._transactional_id = f"headrace.{query}"
        self._transaction: Transaction | None = None
        self._last: CommitRecord | None = None

    def of(self, query: str) -> CommitLog:
        """That of another query, to look at."""
        return CommitLog(self._client, query)

    def create(self) -> None:
        """The topic is there afterwards."""
        self._client.create_topics({self.topic: 1}, _COMMIT_TOPIC_CONFIG, exist_ok=True)

    def forget(self) -> None:
        """After a failure: what is known may be wrong, so the next use fences and reads again."""
        self._transaction = self._last = None

    def last(self) -> CommitRecord | None:
        """The newest committed record; None only for a query that was never opened."""
        if self._transaction is None:
            self._fenced()
            try:
                self._last = self._read_last()
            except BaseException:
                self.forget()
                raise
        return self._last

    def _fenced(self) -> Transaction:
        """Ends whatever an earlier writer left open: a prepared transaction is finished, any other is aborted."""
        if self._transaction is None:
            self._transaction = Transaction(self._client, self._transactional_id)
        return self._transaction

    def peek(self) -> CommitRecord | None:
        """The newest committed record, for those who only look: nobody is fenced."""
        return self._read_last()

    def commit(self, record: CommitRecord, rows: Rows) -> None:
        """All rows and the record, atomically. After an error, `forget` and `last` tell what became of it."""
        try:
            self._fenced().append({**rows, (self.topic, 0): [_as_batch(record.to_bytes())]})
        except BaseException:
            self.forget()
            raise
        self._last = record

    def close(self) -> None:
        self._client.close()

    def _read_last(self) -> CommitRecord | None:
        end = self._client.list_offsets(self.topic, {0: LATEST}, committed=True)[0].offset
        first = self._client.list_offsets(self.topic, {0: EARLIEST})[0].offset
        # The record and its transaction's marker end the log, unless aborted attempts follow: then look further back.
        step = 2
        while end > first:
            start = max(first, end - step)
            records = self._committed(start, end)
            if records:
                return self._parsed(*records[-1])
            if start == first:
                break
            step *= 16
        if end > 0:
            raise CorruptData(f"{self.topic} has no readable commit record", hint="start with --reset to begin anew")
        return None

    def _parsed(self, offset: int, value: bytes) -> CommitRecord:
        try:
            return CommitRecord.from_bytes(value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptData(
                f"the newest record of {self.topic}, at offset {offset}, is no commit record: somebody else wrote to "
                "that topic",
                hint="start with --reset to begin anew",
            ) from error

    def _committed(self, start: int, end: int) -> list[tuple[int, bytes]]:
        """Offsets and values of the records that have one."""
        found: list[tuple[int, bytes]] = []
        while start < end:
            fetched = self._client.fetch(self.topic, 0, start, committed=True, max_bytes=REQUEST_BYTES_MAX)
            headers = list(parse_batches(fetched.records))
            if not headers:
                break
            for records in decode_fetched(fetched.records, fetched.aborted):
                pairs = zip(records.offsets.tolist(), records.values.to_pylist(), strict=True)
                found += [(offset, value) for offset, value in pairs if value is not None]
            start = headers[-1].next_offset
        return found


class Transaction:
    """A transactional producer of ours: takes the id over when made, then appends all or nothing, again and again."""

    def __init__(self, client: Client, transactional_id: str) -> None:
        self._client = client
        self._id = transactional_id
        self._producer = client.init_producer(transactional_id, TRANSACTION_TIMEOUT_MS)
        self._sequences: dict[tuple[str, int], int] = {}

    def append(self, rows: Rows) -> None:
        """One transaction. Raises ExternalFailure; this object must not be used again then."""
        self._client.add_partitions(self._id, self._producer, list(rows))
        for request in self._requests(rows):
            self._client.produce(request, transactional_id=self._id)
        self._client.end_transaction(self._id, self._producer, commit=True)

    def _requests(self, rows: Rows) -> Iterator[dict[str, dict[int, bytes]]]:
        """Produce requests of bounded size, each partition's batches in order and numbered for the producer."""
        request: dict[str, dict[int, bytes]] = {}
        size = 0
        for (topic, partition), chunks in rows.items():
            for batch in self._numbered((topic, partition), chunks):
                # The broker takes one batch a partition and request, as it does from every client.
                if size + len(batch) > REQUEST_BYTES_MAX or partition in request.get(topic, {}):
                    yield request
                    request, size = {}, 0
                request.setdefault(topic, {})[partition] = batch
                size += len(batch)
        if request:
            yield request

    def _numbered(self, target: tuple[str, int], chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            position = 0
            for header in parse_batches(chunk):
                batch = chunk[position : position + header.size_bytes]
                sequence = self._sequences.get(target, 0)
                yield with_producer(
                    batch, self._producer.producer_id, self._producer.epoch, sequence, transactional=True
                )
                position += header.size_bytes
                self._sequences[target] = (sequence + header.record_count) % SEQUENCE_SPACE


def commit_topic(query: str) -> str:
    return f"__commits.{query}"


def append_rows(client: Client, transactional_id: str, rows: Rows) -> None:
    """Rows alone, in one transaction: what a batch run does once, at its end."""
    if rows:
        Transaction(client, transactional_id).append(rows)


def _as_batch(value: bytes) -> bytes:
    return b"".join(encode_batches(None, [value], [time.time_ns() // 1_000_000]))

"""Looking into topics of any size: found by offset or time, filtered a block at a time, within a budget, by pages.

Forward from a place, or backward from the end. A cursor says for each partition where the next page begins; messages
of several partitions are merged by time, each partition's own order is kept.
"""

from __future__ import annotations

import base64
import heapq
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headrace.errors import CorruptData, InvalidInput, NotFound
from headrace.log import Records, UnreadableBatch, committed_batches, decode_batch, parse_batches
from headrace.server.contents import Format, shown, shown_headers
from headrace.server.models.topics import MessagePage, MessageView
from headrace.server.positions import TopicPosition
from headrace.wire.client import EARLIEST, LATEST, Client, Fetched

BUDGET_S: Final = 1.5
ANSWER_TIMEOUT_MS: Final = 10_000
MESSAGES_MAX: Final = 500
PAGE_BYTES_MAX: Final = 8 * 1024 * 1024
# Blocks that are fetched at once: small for the first page, larger while nothing fits the filter.
FETCH_BYTES_MIN: Final = 32 * 1024
FETCH_DOUBLINGS_MAX: Final = 5
# Offsets that are read at once on the way back; doubled while nothing fits the filter.
WINDOW_OFFSETS_MIN: Final = 100
WINDOW_OFFSETS_MAX: Final = 50_000
CURSOR_CHARACTERS_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    """`filter` is a text that key or value must contain, in any case."""

    topic: str
    start: TopicPosition
    partition: int | None = None
    cursor: str | None = None
    filter: str | None = None
    limit: int = 50
    format: Format = "auto"


@dataclass(frozen=True, slots=True)
class Cursor:
    """By partition: forward the next offset to read, backward the one after the next to read."""

    is_backward: bool
    offsets: Mapping[int, int]

    def text(self) -> str:
        fields = {"back": self.is_backward, "at": {str(p): offset for p, offset in self.offsets.items()}}
        return base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode()

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Raises InvalidInput for anything but what `text` made."""
        try:
            fields = json.loads(base64.b64decode(text[:CURSOR_CHARACTERS_MAX].encode(), altchars=b"-_", validate=True))
            offsets = {int(partition): int(offset) for partition, offset in fields["at"].items()}
            return cls(bool(fields["back"]), offsets)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput("the cursor is none of ours", hint="use `next` of the page before") from error


@dataclass(frozen=True, slots=True)
class Found:
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    error: str | None = None

    @property
    def size_bytes(self) -> int:
        return len(self.key or b"") + len(self.value or b"")


@dataclass(slots=True)
class _Scan:
    """What was found in one partition, in reading order, and how far it was read."""

    partition: int
    position: int
    end: int
    found: list[Found] = field(default_factory=list)
    steps: int = 0

    @property
    def is_done(self) -> bool:
        return self.position == self.end

    def resume_after(self, taken: int, *, is_backward: bool) -> int:
        """Where the next page begins, when `taken` of the found messages are shown on this one."""
        if taken == len(self.found):
            return self.position
        return self.found[taken].offset + 1 if is_backward else self.found[taken].offset


class Browser:
    """One look at a topic. Not for use by several threads."""

    def __init__(self, client: Client, question: Question, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._question = question
        self._clock_s = clock_s
        self._deadline_s = clock_s() + BUDGET_S
        self._began_s = clock_s()
        self._blocks = 0
        self._scanned = 0
        self._found_bytes = 0

    def page(self) -> MessagePage:
        """Raises NotFound for a topic or partition that is not there, InvalidInput for a wrong cursor."""
        scans, is_backward = self._scans()
        self._read_all(scans, self._step_back if is_backward else self._step_on)
        taken = self._merged(scans, is_backward)
        counts = {scan.partition: sum(found.partition == scan.partition for found in taken) for scan in scans}
        offsets = {scan.partition: scan.resume_after(counts[scan.partition], is_backward=is_backward) for scan in scans}
        is_complete = all(offsets[scan.partition] == scan.end for scan in scans)
        return MessagePage(
            messages=[_message(found, self._question.format) for found in taken],
            next=None if is_complete else Cursor(is_backward, offsets).text(),
            is_complete=is_complete,
            scanned=self._scanned,
            remaining=sum(abs(scan.end - offsets[scan.partition]) for scan in scans),
            took_ms=round((self._clock_s() - self._began_s) * 1000),
        )

    @property
    def _is_over(self) -> bool:
        return self._clock_s() >= self._deadline_s or self._found_bytes >= PAGE_BYTES_MAX

    def _scans(self) -> tuple[list[_Scan], bool]:
        """One for each partition: where it begins, and where it will have read all."""
        partitions = self._partitions()
        topic = self._question.topic
        starts = self._client.list_offsets(topic, dict.fromkeys(partitions, EARLIEST))
        ends = self._client.list_offsets(topic, dict.fromkeys(partitions, LATEST), committed=True)
        bounds = {p: (starts[p].offset, ends[p].offset) for p in partitions}
        cursor = self._begin(bounds) if self._question.cursor is None else Cursor.parse(self._question.cursor)
        scans = []
        for partition, (start, end) in bounds.items():
            position = min(max(cursor.offsets.get(partition, end), start), end)
            scans.append(_Scan(partition, position, start if cursor.is_backward else end))
        return scans, cursor.is_backward

    def _partitions(self) -> list[int]:
        known = list(range(self._client.partition_count(self._question.topic)))
        wanted = self._question.partition
        if wanted is not None and wanted not in known:
            raise NotFound(f"topic {self._question.topic!r} has no partition {wanted}", hint=f"it has 0 to {known[-1]}")
        return known if wanted is None else [wanted]

    def _begin(self, bounds: Mapping[int, tuple[int, int]]) -> Cursor:
        start = self._question.start
        if start.kind == "latest":
            return Cursor(True, {p: end for p, (_, end) in bounds.items()})
        if start.kind == "earliest":
            return Cursor(False, {p: first for p, (first, _) in bounds.items()})
        if start.kind == "offset":
            return Cursor(False, dict.fromkeys(bounds, start.value))
        listed = self._client.list_offsets(self._question.topic, dict.fromkeys(bounds, start.value))
        return Cursor(False, {p: listed[p].offset if listed[p].offset >= 0 else end for p, (_, end) in bounds.items()})

    def _read_all(self, scans: list[_Scan], step: Callable[[_Scan], None]) -> None:
        """The partitions in turn, those first of which nothing is found. Each is read once even when the time is up:
        what is not known of one holds back all others, and every page must come nearer to the end."""
        while open_ := [scan for scan in scans if not scan.is_done and len(scan.found) < self._question.limit]:
            scan = min(open_, key=lambda scan: (scan.steps > 0, len(scan.found), scan.steps))
            if scan.steps > 0 and self._is_over:
                return
            step(scan)

    def _step_on(self, scan: _Scan) -> None:
        room = self._question.limit - len(scan.found)
        found, scan.position = self._fetch(scan.partition, scan.position, scan.end, room)
        scan.found += found
        scan.steps += 1

    def _step_back(self, scan: _Scan) -> None:
        """Whole windows only: a part of one could not be said in a cursor."""
        window = min(max(WINDOW_OFFSETS_MIN, self._question.limit) << scan.steps, WINDOW_OFFSETS_MAX)
        low = max(scan.end, scan.position - window)
        position, inside = low, list[Found]()
        while position < scan.position:
            found, position = self._fetch(scan.partition, position, scan.position, window)
            inside += found
        scan.found += reversed(inside)
        scan.position = low
        scan.steps += 1

    def _fetch(self, partition: int, start: int, end: int, room: int) -> tuple[list[Found], int]:
        """At most `room` that fit the filter in one block from `start` on, and where to go on after them."""
        size_bytes = FETCH_BYTES_MIN << min(self._blocks, FETCH_DOUBLINGS_MAX)
        fetched = self._client.fetch(self._question.topic, partition, start, max_bytes=size_bytes)
        self._blocks += 1
        blocks = list(parse_batches(fetched.records))
        after = min(blocks[-1].next_offset, end) if blocks else end
        try:
            found = list(islice(self._fitting(partition, fetched, start, end), room))
        except CorruptData as error:
            error.hint = f"partition {partition}, offset {start} or after; choose a later offset"
            raise
        self._found_bytes += sum(one.size_bytes for one in found)
        return found, found[-1].offset + 1 if len(found) == room else after

    def _fitting(self, partition: int, fetched: Fetched, start: int, end: int) -> Iterator[Found]:
        """Headers cost much to decode: only those of batches in which something fits are."""
        for batch in committed_batches(fetched.records, fetched.aborted):
            try:
                mask = self._mask(decode_batch(batch), start, end)
            except UnreadableBatch as unreadable:
                if self._question.filter is None and unreadable.header.base_offset < end:
                    yield _unreadable(partition, unreadable, end)
                continue
            if not mask.any():
                continue
            whole = decode_batch(batch, headers=True)
            yield from (_found(partition, whole, row) for row in mask.nonzero()[0].tolist())

    def _mask(self, records: Records, start: int, end: int) -> NDArray[np.bool_]:
        inside = (records.offsets >= start) & (records.offsets < end)
        self._scanned += int(inside.sum())
        return inside & _contain(records, self._question.filter) if self._question.filter else inside

    def _merged(self, scans: list[_Scan], is_backward: bool) -> list[Found]:
        """By time, then partition and offset. It ends where a partition that is not read to its end has no more found:
        what comes next there may be earlier than all else."""
        sign = -1 if is_backward else 1
        merged = heapq.merge(
            *(scan.found for scan in scans),
            key=lambda found: (sign * found.timestamp_ms, found.partition, sign * found.offset),
        )
        left = {scan.partition: len(scan.found) for scan in scans if not scan.is_done}
        taken: list[Found] = []
        for found in merged:
            if len(taken) == self._question.limit or 0 in left.values():
                break
            taken.append(found)
            if found.partition in left:
                left[found.partition] -= 1
        return taken


def browse(bootstrap: str, question: Question) -> MessagePage:
    with Client(bootstrap, client_id="headrace-server", timeout_ms=ANSWER_TIMEOUT_MS) as client:
        return Browser(client, question).page()


def _unreadable(partition: int, batch: UnreadableBatch, end: int) -> Found:
    """One message stands for the whole batch, at its last offset: the next page begins behind it."""
    header = batch.header
    offset = min(header.last_offset, end - 1)
    return Found(partition, offset, header.max_timestamp_ms, None, None, [], batch.message)


def _found(partition: int, records: Records, row: int) -> Found:
    key, value = records.keys[row].as_py(), records.values[row].as_py()
    headers = records.headers[row] if records.headers else []
    return Found(partition, int(records.offsets[row]), int(records.timestamps_ms[row]), key, value, headers)


def _contain(records: Records, text: str) -> NDArray[np.bool_]:
    """Which rows have the text in their key or value, in any case of letters."""
    columns: tuple[Any, Any] = (records.values, records.keys)
    in_value, in_key = (pc.match_substring(column, text, ignore_case=True) for column in columns)
    # Where one is null the other decides.
    either: Any = pc.coalesce(pc.or_kleene(in_value, in_key), pa.scalar(False))
    chosen: NDArray[np.bool_] = either.to_numpy(zero_copy_only=False)
    return chosen


def _message(found: Found, wanted: Format) -> MessageView:
    value, error = shown(found.value, wanted)
    return MessageView(
        partition=found.partition,
        offset=found.offset,
        timestamp=datetime.fromtimestamp(found.timestamp_ms / 1000, UTC) if found.timestamp_ms >= 0 else None,
        key=shown(found.key, "auto" if wanted == "json" else wanted)[0],
        value=value,
        headers=shown_headers(found.headers),
        size=found.size_bytes,
        error=found.error or error,
    )

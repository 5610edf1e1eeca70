"""What the log holds and where a query cut it: the two inputs of the oracle, read from a real broker.

Which rows are late depends on the log, on the bounds of its streams, and on the cuts: the offsets and the time of each
micro-batch. A commit record names both, so the cuts of any run can be read afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.log import decode_fetched, parse_batches
from headrace.spark.reading.positions import position_in
from headrace.spark.writing.commit import CommitRecord, commit_topic
from headrace.wire.client import EARLIEST, LATEST, Client

# Topic and partition.
Origin = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a topic, decoded. `time_us` is its event time."""

    origin: Origin
    offset: int
    time_us: int
    values: Mapping[str, Any]

    @property
    def order(self) -> tuple[Origin, int]:
        return self.origin, self.offset


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of a micro-batch: its time, and the first offset of each source partition that is not in it."""

    batch: int
    now_us: int
    ends: Mapping[Origin, int]


def recorded_cuts(client: Client, query: str, topics: Mapping[str, str]) -> list[Cut]:
    """Of every micro-batch that the query has committed, in order. `topics` are by source node."""
    records = [CommitRecord.from_bytes(value) for _, value in committed(client, commit_topic(query), 0)]
    return [_cut(record, topics) for record in records if record.offsets is not None]


def _cut(record: CommitRecord, topics: Mapping[str, str]) -> Cut:
    assert record.offsets is not None
    now_us = int(json.loads(record.offsets.splitlines()[1])["batchTimestampMs"]) * 1000
    position = position_in(record.offsets, record.starts)
    ends = {(topics[node], int(number)): end for node, offsets in position.items() for number, end in offsets.items()}
    return Cut(record.batch, now_us, ends)


def committed(client: Client, topic: str, partition: int) -> list[tuple[int, bytes]]:
    """Offsets and values of all records of a partition that readers of committed records see."""
    end = client.list_offsets(topic, {partition: LATEST}, committed=True)[partition].offset
    start = client.list_offsets(topic, {partition: EARLIEST})[partition].offset
    found: list[tuple[int, bytes]] = []
    while start < end:
        fetched = client.fetch(topic, partition, start, committed=True, max_bytes=1 << 20)
        headers = list(parse_batches(fetched.records))
        assert headers, f"{topic}-{partition} ends at {start}, before {end}"
        for records in decode_fetched(fetched.records, fetched.aborted):
            pairs = zip(records.offsets.tolist(), records.values.to_pylist(), strict=True)
            found += [(offset, value) for offset, value in pairs if value is not None]
        start = headers[-1].next_offset
    return found


def batches_of(log: list[Row], cuts: list[Cut]) -> list[tuple[Cut, list[Row]]]:
    """The rows of each micro-batch, in order."""
    made, begin = [], dict.fromkeys({row.origin for row in log}, 0)
    for cut in cuts:
        inside = [row for row in log if begin[row.origin] <= row.offset < cut.ends.get(row.origin, 0)]
        made.append((cut, sorted(inside, key=lambda row: row.order)))
        begin = {origin: max(at, cut.ends.get(origin, 0)) for origin, at in begin.items()}
    return made

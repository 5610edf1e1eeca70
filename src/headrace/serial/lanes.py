"""Lanes: which one a key belongs to, and one micro-batch of one lane from the state before to the state after."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial.boundary import DeadLetter
from headrace.serial.chain import Chain, Moment, NodeReport
from headrace.serial.context import microseconds
from headrace.serial.keys import Integers
from headrace.serial.store import StateStore, Version

# Between the texts of several key columns: no text of a key column ends with it by accident and none begins so.
KEY_SEPARATOR = "\x1f"
NULL_KEY = "\x00"


def lane_of(keys: Sequence[pa.Array[Any]], lane_count: int) -> Integers:
    """The lane of each key: a checksum of the keys as text, so that Spark and Python agree on it."""
    texts = [column.cast(pa.string()).to_pylist() for column in keys]
    joined = (
        KEY_SEPARATOR.join(NULL_KEY if text is None else text for text in key) for key in zip(*texts, strict=True)
    )
    return np.fromiter((zlib.crc32(text.encode()) % lane_count for text in joined), np.int64, len(keys[0]))


@dataclass(slots=True)
class LaneResult:
    """What a micro-batch of a lane leaves for the commit: versions of its state, figures, rows set aside."""

    lane: int
    versions: dict[str, Version] = field(default_factory=dict)
    reports: dict[str, NodeReport] = field(default_factory=dict)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    latest_us: int | None = None


class LaneRun:
    """One micro-batch of one lane. Iterate `rows`, all of it; then `result` is complete and its state on disk."""

    def __init__(
        self,
        chain: Chain,
        store: StateStore,
        lane: int,
        moment: Moment,
        versions: Mapping[str, Version],
        *,
        event_time: str | None = None,
    ) -> None:
        self._chain = chain
        self._store = store
        self._moment = moment
        self._versions = versions
        self._event_time = event_time
        self.result = LaneResult(lane)

    def rows(self, batches: Iterable[pa.RecordBatch], *, private: bool = False) -> Iterator[pa.RecordBatch]:
        """The rows that leave the chain. Raises OperatorFailed; then nothing of the state is kept."""
        lane = self.result.lane
        states = {node: self._store.load(node, lane, version) for node, version in self._versions.items()}
        with _closing(self._chain):
            yield from self._chain.open(lane, self._moment, states)
            for batch in batches:
                self._see(batch)
                yield from self._chain.process(batch, private=private)
            self.result.reports = self._chain.finish()
            self.result.dead_letters = self._chain.dead_letters()
        for node, state in states.items():
            base = self._versions[node]
            self.result.versions[node] = self._store.write(node, lane, self._moment.batch, state, base)

    def _see(self, batch: pa.RecordBatch) -> None:
        if self._event_time is None or not batch.num_rows:
            return
        times = batch.column(self._event_time).drop_null()
        if len(times):
            latest = int(microseconds(times).max())
            self.result.latest_us = max(latest, self.result.latest_us or latest)


@contextmanager
def _closing(chain: Chain) -> Iterator[None]:
    try:
        yield
    finally:
        chain.close()

"""The runtime of lanes without Spark, over a log with cuts: for tests against the oracle.

Several lanes have one watermark, and state files in memory; a restart may come with another number of lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from tests.oracle.cuts import Cut, Row, batches_of

from headrace.operators import Catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneInput, LaneResult, LaneRun, Moment, Progress, StateStore
from headrace.serial.key_hash import lane_of
from headrace.serial.places import origin_of
from headrace.serial.repartition import repartitioned
from headrace.serial.versions import Manifest
from headrace.testing import MemoryFiles

CATALOGUE = Catalogue()


@dataclass
class Lanes:
    """Runs a chain whose inputs are topics. `partitions` are those of each topic, which all count for the watermark."""

    plan: ChainPlan
    lane_count: int
    bound_us: int
    partitions: int = 1
    progress: Progress = field(default_factory=Progress)
    manifest: Manifest = field(default_factory=dict)
    files: MemoryFiles = field(default_factory=MemoryFiles)
    emitted: list[dict[str, Any]] = field(default_factory=list)
    late: int = 0
    _before_us: int | None = None
    _store: StateStore | None = None

    @property
    def topics(self) -> list[str]:
        return [one.source for one in self.plan.inputs]

    def run(self, log: list[Row], cuts: list[Cut], restarts: Callable[[int], int | None] = lambda number: None) -> None:
        """`restarts` tells before which micro-batches the query is started anew, and with how many lanes."""
        for number, (cut, rows) in enumerate(batches_of(log, cuts)):
            lane_count = restarts(number)
            if lane_count is not None:
                self._start_again(lane_count, number)
            self._micro_batch(number, cut, rows)

    def _start_again(self, lane_count: int, number: int) -> None:
        self._store = None
        if lane_count == self.lane_count or not self.manifest:
            self.lane_count = lane_count
            return
        wanted = {name: stage.lanes_of(name) for stage in self.plan.stages(CATALOGUE) for name in stage.nodes}
        self.manifest = repartitioned(
            StateStore(self.files), self.manifest, lambda node: wanted[node], lane_count, number  # type: ignore[arg-type,return-value]
        )  # fmt: skip
        self.lane_count = lane_count

    def _micro_batch(self, number: int, cut: Cut, rows: list[Row]) -> None:
        self._store = self._store or StateStore(self.files)
        moment = Moment(number, self.progress.watermark_us, cut.now_us, before_us=self._before_us)
        results = [self._lane(lane, moment, rows, self._store) for lane in range(self.lane_count)]
        latest: dict[int, int] = {}
        made: dict[str, dict[int, Any]] = {node: dict(lanes) for node, lanes in self.manifest.items()}
        for result in results:
            for origin, at_us in result.latest_us.items():
                latest[origin] = max(at_us, latest.get(origin, at_us))
            for node, version in result.versions.items():
                made.setdefault(node, {})[result.lane] = version
            self.late += sum(report.counts.get("late", 0) for report in result.reports.values())
        self.manifest = made
        self._before_us = moment.watermark_us
        everywhere = [origin_of(one, two) for one in range(len(self.topics)) for two in range(self.partitions)]
        self.progress = self.progress.advanced(latest, cut.now_us, self.bound_us, 30_000_000, partitions=everywhere)

    def _lane(self, lane: int, moment: Moment, rows: list[Row], store: StateStore) -> LaneResult:
        versions = {node: lanes[lane] for node, lanes in self.manifest.items() if lane in lanes}
        times = [one.schema.event_time for one in self.plan.inputs]
        run = LaneRun(self.plan.chain(CATALOGUE), store, lane, moment, versions, event_times=times)
        for made in run.rows(self._inputs(lane, rows)):
            self.emitted += made.to_pylist()
        return run.result

    def _inputs(self, lane: int, rows: list[Row]) -> Iterator[LaneInput]:
        """Rows of this lane; those of others move its event time no less in theirs."""
        for number, one in enumerate(self.plan.inputs):
            lanes = self.plan.input_lanes(number, CATALOGUE)
            for partition in range(self.partitions):
                some = [row for row in rows if row.origin == (one.source, partition)]
                batch = pa.RecordBatch.from_pylist([dict(row.values) for row in some], schema=arrow_schema(one.schema))
                keys = [] if lanes is None else [batch.column(key) for key in lanes.keys]
                is_here = lane_of(keys, self.lane_count) == lane if keys else np.full(len(some), lane == 0)
                if is_here.any():
                    yield LaneInput(batch.filter(pa.array(is_here)), origin=origin_of(number, partition), source=number)


def at(us: int) -> datetime:
    return datetime.fromtimestamp(us / 1_000_000, UTC)


def cuts_of(counts: Mapping[tuple[str, int], int], places: Sequence[Mapping[tuple[str, int], int]]) -> list[Cut]:
    """Micro-batches a second apart that end at these offsets, the last at the end of the log."""
    found: list[Cut] = []
    ends = dict.fromkeys(counts, 0)
    for place in (*places, counts):
        ends = {origin: max(end, min(place.get(origin, 0), counts[origin])) for origin, end in ends.items()}
        found.append(Cut(len(found), 1_000_000 * len(found), ends))
    return found

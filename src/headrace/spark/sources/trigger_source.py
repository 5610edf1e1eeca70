"""Triggers as a Spark data source: one partition, the offset is the time of the last firing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from headrace.operators.schedules import NEVER, Once, Schedule, firings_ms
from headrace.operators.trigger_source import TRIGGERED_AT, TriggerConfig, schedule_of

if TYPE_CHECKING:
    import pyarrow as pa

# Under which the time of the last firing stands in an offset.
FIRED: Final = "fired_ms"
# Of a trigger that was down for long, so many firings come in one micro-batch.
FIRINGS_PER_BATCH_MAX: Final = 10_000
Moment = dict[str, int]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class TriggerDataSource(DataSource):
    """`spark.readStream.format("headrace-trigger")`: the compiler gives the settings and the first start."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.config = TriggerConfig.model_validate_json(options["config"])
        self.opened_ms = int(options["opened_ms"])

    @classmethod
    def name(cls) -> str:
        return "headrace-trigger"

    def streamReader(self, schema: StructType) -> TriggerStreamReader:  # noqa: N802  (Spark's name)
        return TriggerStreamReader(self.config, self.opened_ms)


@dataclass(frozen=True)
class Firings(InputPartition):
    """What a task makes rows of: all firings after one moment, up to and at another."""

    after_ms: int
    until_ms: int


class TriggerStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Which rows a micro-batch has follows from its offsets alone; only how far it goes follows from the clock."""

    def __init__(self, config: TriggerConfig, opened_ms: int, clock: Callable[[], int] = now_ms) -> None:
        self._schedule: Schedule = schedule_of(config, opened_ms)
        self._only_last = config.missed == "last"
        self._opened_ms = opened_ms
        self._clock = clock
        self._target_ms: int | None = None

    def initialOffset(self) -> Moment:  # noqa: N802
        return {FIRED: NEVER if isinstance(self._schedule, Once) else self._opened_ms}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(FIRINGS_PER_BATCH_MAX)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target_ms = self._clock()

    def reportLatestOffset(self) -> Moment:  # noqa: N802
        return {FIRED: self._schedule.last_ms(self._clock()) or NEVER}

    def latestOffset(self, start: Moment, limit: ReadLimit) -> Moment:  # noqa: N802
        until_ms = self._clock() if self._target_ms is None else self._target_ms
        next_ms = self._schedule.next_ms(start[FIRED])
        if next_ms is None or next_ms > until_ms:
            return start
        if self._only_last:
            return {FIRED: self._schedule.last_ms(until_ms) or next_ms}
        count_max = None if isinstance(limit, ReadAllAvailable) else FIRINGS_PER_BATCH_MAX
        reached = deque(islice(firings_ms(self._schedule, start[FIRED], until_ms), count_max), maxlen=1)
        return {FIRED: reached[0]}

    def partitions(self, start: Moment, end: Moment) -> Sequence[Firings]:
        return [Firings(start[FIRED], end[FIRED])]

    def read(self, partition: Firings) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        if self._only_last:
            moments = [partition.until_ms] if partition.after_ms < partition.until_ms else []
        else:
            moments = list(firings_ms(self._schedule, partition.after_ms, partition.until_ms))
        yield firing_rows(moments)


def firing_rows(moments_ms: Sequence[int]) -> pa.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415  (only tasks make rows)

    times = pa.array([moment_ms * 1000 for moment_ms in moments_ms], pa.int64()).cast(pa.timestamp("us", "UTC"))
    return pa.record_batch({TRIGGERED_AT: times})

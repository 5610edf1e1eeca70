"""Our Spark data source: topics as streams and as ranges, decoded to Arrow, only the columns that are asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from headrace.errors import CorruptData
from headrace.spark.chains.due_mark import DueMark
from headrace.spark.reading.positions import Position, lower, newest_position, newest_watermark_ms
from headrace.spark.reading.table_versions import with_versions
from headrace.spark.reading.topics import open_topic
from headrace.spark.sources.signal_log import SignalLog
from headrace.spark.specs import OPTION, Offsets, SourceSpec

if TYPE_CHECKING:
    import pyarrow as pa


# A counter among the offsets: when it moves, Spark runs a batch, even one without rows.
TICK = "tick"
TICK_FIRST_S = 0.5
TICK_LONGEST_S = 60.0


# How far event time came on a quiet stream, among the offsets: milliseconds since the epoch.
IDLE = "idle_ms"
# The number of the task that has no records to read, only the row that says so.
IDLE_TASK = -1


class TopicDataSource(DataSource):
    """`spark.readStream.format("headrace-topic")`: the compiler gives the schema and the spec."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.spec = SourceSpec.from_json(options[OPTION])

    @classmethod
    def name(cls) -> str:
        return "headrace-topic"

    def streamReader(self, schema: StructType) -> TopicStreamReader:  # noqa: N802  (Spark's name)
        return TopicStreamReader(self.spec, schema)

    def reader(self, schema: StructType) -> TopicRangeReader:
        return TopicRangeReader(self.spec, schema)


@dataclass(frozen=True)
class OffsetRange(InputPartition):
    """What one task reads: [start, end) of one topic partition."""

    partition: int
    start: int
    end: int


class TopicStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in one process for as long as its query runs; `read` alone runs in the tasks."""

    def __init__(self, spec: SourceSpec, schema: StructType) -> None:
        self.spec = spec
        self.schema = schema
        self._target: Offsets | None = None
        self._topic = None if spec.end else open_topic(spec.location)
        self._signals = SignalLog(spec.location, spec.pipeline, spec.read)
        self._until_tick = _Patience(TICK_FIRST_S)
        self._until_idle = _Patience((spec.idle_after_ms or 0) / 1000)
        self._pace: Pace | None = None
        self._due_mark = None if spec.due_mark is None else DueMark(Path(spec.due_mark))

    def __getstate__(self) -> dict[str, object]:
        # Tasks get the spec, never an open topic.
        return {"spec": self.spec, "schema": self.schema, "_target": None, "_topic": None}

    def initialOffset(self) -> Offsets:  # noqa: N802
        return {**self.spec.start, **self.spec.tag}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self.spec.max_rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self.reportLatestOffset()

    def reportLatestOffset(self) -> Offsets:  # noqa: N802
        return {str(partition): end for partition, (_, end) in self._bounds().items()}

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """As far as the limit and the next signal let us go; a partition that appeared begins at its first offset."""
        bounds = self._bounds()
        cuts = self._signals.cuts()
        begin = {str(p): start.get(str(p), first) for p, (first, _) in bounds.items()}
        end = self._target or {str(p): end for p, (_, end) in bounds.items()}
        end = {p: max(end.get(p, offset), offset) for p, offset in begin.items()}
        is_quiet = begin == end
        if cuts.signals or cuts.waiting:
            position = self._position(begin)
            if cuts.is_held(position, self.spec.read.released):
                return {**start, **begin}
            end = cuts.limited(self.spec.node, position, begin, end)
        if not isinstance(limit, ReadAllAvailable):
            rows_max = limit.max_rows if isinstance(limit, ReadMaxRows) else self.spec.max_rows_per_batch
            end = share_limit(begin, end, rows_max)
        ticks = self._ticks(start, is_quiet) if self.spec.serves_chain else {}
        beside = {**ticks, **self._idles(start, is_quiet), **self.spec.tag}
        return with_versions({**end, **beside}, start, self.spec.tables)

    def _position(self, begin: Offsets) -> Position:
        """Where all sources of the query stand."""
        read, node = self.spec.read, self.spec.node
        if read.checkpoint is None:
            return {node: begin}
        found = newest_position(Path(read.checkpoint), read.began)
        return {**found, node: lower(begin, found.get(node, {}))}

    def _ticks(self, start: Offsets, is_quiet: bool) -> Offsets:
        """On a quiet stream, batches without rows: at once where a chain has timers to call, else ever more rarely."""
        is_marked = is_quiet and self._due_mark is not None and self._due_mark.is_set
        return {TICK: start.get(TICK, 0) + (is_marked or self._until_tick.is_over(self._waits(is_quiet)))}

    def _idles(self, start: Offsets, is_quiet: bool) -> Offsets:
        """On a quiet stream, event time goes on at the pace of the clock, from where Spark's watermark is."""
        after_ms, checkpoint = self.spec.idle_after_ms, self.spec.watermark_in
        if after_ms is None or self.spec.event_time is None or checkpoint is None:
            return {}
        passed_ms, now_ms = start.get(IDLE, 0), time.time_ns() // 1_000_000
        if self._pace is None or not is_quiet:
            self._pace = Pace(now_ms + after_ms)
        if self._until_idle.is_over(self._waits(is_quiet)):
            reached_ms = newest_watermark_ms(Path(checkpoint)) + self.spec.watermark_ms
            passed_ms = max(passed_ms, self._pace.reached_ms(reached_ms, now_ms, after_ms))
            # What Spark's plan hands over now, a chain behind it may soon want to be called for.
            self._until_tick.restart()
        return {IDLE: passed_ms} if passed_ms else {}

    def _waits(self, is_quiet: bool) -> bool:
        """Whether there may be rows later: not in a run over what is there."""
        return is_quiet and self._target is None

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[OffsetRange]:
        bounds = self._bounds()
        stops = {int(p): stop for p, stop in end.items() if p.isdigit()}
        ranges = [OffsetRange(p, start.get(str(p), bounds[p][0]), stop) for p, stop in stops.items()]
        if self.spec.serves_chain:
            # The number of a task is the lane of its chain: it must not shift when a partition is empty.
            ranges.sort(key=lambda wanted: wanted.partition)
        else:
            ranges = [wanted for wanted in ranges if wanted.start < wanted.end]
        kept = [_kept(self.spec, wanted, bounds[wanted.partition][0]) for wanted in ranges]
        passed_ms = end.get(IDLE, 0)
        return [*kept, OffsetRange(IDLE_TASK, passed_ms, passed_ms)] if passed_ms > start.get(IDLE, 0) else kept

    def read(self, partition: OffsetRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return _read(self.spec, self.schema, partition)

    def stop(self) -> None:
        if self._topic is not None:
            self._topic.close()
        self._signals.close()

    def _bounds(self) -> dict[int, tuple[int, int]]:
        if self._topic is None:
            self._topic = open_topic(self.spec.location)
        return self._topic.bounds()


class _Patience:
    """Runs out when nothing came for `first_s`, and then ever more rarely."""

    def __init__(self, first_s: float) -> None:
        self._first_s = self._wait_s = first_s
        self._since_s = time.monotonic()

    def is_over(self, is_quiet: bool) -> bool:
        if not is_quiet:
            self.restart()
        elif time.monotonic() - self._since_s >= self._wait_s:
            self._since_s = time.monotonic()
            self._wait_s = min(2 * self._wait_s, max(self._first_s, TICK_LONGEST_S))
            return True
        return False

    def restart(self) -> None:
        self._since_s, self._wait_s = time.monotonic(), self._first_s


@dataclass(slots=True)
class Pace:
    """Of one quiet time of a stream: how far event time came in it, and when that was so."""

    counted_ms: int
    """Up to when the clock was counted; at first, when the stream becomes idle."""
    _told_ms: int = 0

    def reached_ms(self, left_ms: int, now_ms: int, after_ms: int) -> int:
        """Where it is now, if rows, and what was told before, left it at `left_ms`."""
        # With it comes Arrow, which planning does not need.
        from headrace.serial.watermark import at_pace  # noqa: PLC0415

        passed_ms = max(now_ms - self.counted_ms, 0)
        self._told_ms = at_pace(max(left_ms, self._told_ms), passed_ms, now_ms - after_ms)
        self.counted_ms = now_ms
        return self._told_ms


class TopicRangeReader(DataSourceReader):
    """The same rows for a batch run."""

    def __init__(self, spec: SourceSpec, schema: StructType) -> None:
        self.spec = spec
        self.schema = schema

    def partitions(self) -> Sequence[OffsetRange]:
        ends = self.spec.end or {}
        ranges = [OffsetRange(int(partition), self.spec.start[partition], end) for partition, end in ends.items()]
        # Spark wants at least one partition, even of nothing.
        return [wanted for wanted in ranges if wanted.start < wanted.end] or [OffsetRange(0, 0, 0)]

    def read(self, partition: OffsetRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return _read(self.spec, self.schema, partition)


def _read(spec: SourceSpec, schema: StructType, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    # Loaded in the tasks alone: the process that only plans offsets starts sooner without Arrow.
    if spec.chain is not None:
        from headrace.spark.sources.chain_reader import read_chained  # noqa: PLC0415

        return read_chained(spec, spec.chain, wanted.partition, wanted.start, wanted.end)
    if spec.direct is not None:
        from headrace.spark.sources.direct_reader import read_direct  # noqa: PLC0415

        return read_direct(spec, spec.direct, wanted.partition, wanted.start, wanted.end)
    from headrace.spark.reading.ranges import idle_row, read_range  # noqa: PLC0415

    if wanted.partition == IDLE_TASK:
        return iter([idle_row(spec, schema, wanted.end)])
    return read_range(spec, schema, wanted.partition, wanted.start, wanted.end)


def share_limit(begin: Offsets, end: Offsets, rows_max: int) -> Offsets:
    """Ends that take at most `rows_max` rows in all, each partition its share of the backlog and at least one row."""
    backlog = {partition: end[partition] - begin[partition] for partition in begin}
    total = sum(backlog.values())
    if total <= rows_max:
        return end
    shares = {p: min(rows, max(1, rows_max * rows // total)) for p, rows in backlog.items() if rows}
    return {partition: begin[partition] + shares.get(partition, 0) for partition in begin}


def _kept(spec: SourceSpec, wanted: OffsetRange, first_kept: int) -> OffsetRange:
    if wanted.start < min(first_kept, wanted.end):
        where = f"{spec.location.topic}-{wanted.partition}"
        raise CorruptData(
            f"{where}: offsets {wanted.start} to {first_kept - 1} are needed, and are no longer in the log",
            node=spec.node,
            hint="retention removed them before they were read; restart with --reset to go on from what is left",
        )
    return wanted

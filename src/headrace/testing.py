"""For tests of operators: chains without Spark, by the same code, in milliseconds.

tester = ChainTester(lambda: Chain.line([Step("window", MyWindow())]))
assert tester.run({"k": ["a"], "n": [1]}).to_pylist() == [...]

`rows_on_spark` runs the same case through a broker and Spark.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from uuid import uuid4

import pyarrow as pa

from headrace.errors import Conflict, CorruptData, InvalidInput, JobFailed
from headrace.graph import Node, Schema
from headrace.operators import Catalogue, KeyedOperator, duration_ms, entry_of
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.event_time import with_event_time
from headrace.operators.serial_chain import ChainPlan
from headrace.operators.serial_operator import SerialOperator
from headrace.serial import (
    END_OF_TIME_US,
    Chain,
    DeadLetter,
    LaneInput,
    LaneRun,
    Moment,
    NodeReport,
    Progress,
    Signal,
    StateStore,
    Version,
)
from headrace.signals import watermark_us

__all__ = ["ChainTester", "Crash", "CrashPoint", "FakeClock", "MemoryFiles", "chain_tester", "cut", "rows_on_spark"]

Rows: TypeAlias = "pa.RecordBatch | pa.Table | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | LaneInput"


class Crash(Exception):
    """Thrown at a crash point. Everything that was not committed is lost."""


class FakeClock:
    """Time that moves only when told."""

    def __init__(self, now_us: int = 0) -> None:
        self.now_us = now_us

    def advance(self, us: int) -> None:
        self.now_us += us


class MemoryFiles:
    """State files in memory. `tear` makes the next write stop half-way, as a crash would."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.tear = False

    def write(self, name: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        if name in self.contents:
            raise Conflict(f"the state file {name} exists already")
        content = b"".join(bytes(part) for part in parts)
        self.contents[name] = content[: len(content) // 2] if self.tear else content
        if self.tear:
            self.tear = False
            raise Crash

    def read(self, name: str) -> pa.Buffer:
        if name not in self.contents:
            raise CorruptData(f"the state file {name} is gone")
        return pa.py_buffer(self.contents[name])

    def names(self) -> list[str]:
        return sorted(self.contents)

    def remove(self, name: str) -> None:
        self.contents.pop(name, None)


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """Where a micro-batch is cut off: after so many batches of rows, while its state is written, or just before the
    commit. The worker's memory may survive (a lost task) or not (a lost process)."""

    after_batches: int | None = None
    while_writing: bool = False
    keeps_memory: bool = False


@dataclass
class ChainTester:
    """A source, a sink and a commit record around one lane of a chain. `make` builds the chain anew each time.

    Rows that left the chain, and were committed, are in `rows`.
    """

    make: Callable[[], Chain]
    nodes: Sequence[str] = ()
    event_time: str | None = None
    """The column of event time, of every source."""
    event_times: Sequence[str | None] = ()
    """That of each source, where they differ."""
    delay_us: int = 0
    lane: int = 0
    files: MemoryFiles = field(default_factory=MemoryFiles)
    clock: FakeClock = field(default_factory=FakeClock)
    rows: list[pa.RecordBatch] = field(default_factory=list)
    reports: dict[str, NodeReport] = field(default_factory=dict)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    handled: dict[str, list[str]] = field(default_factory=dict)
    """Signal → nodes that handled it, in the last micro-batch."""
    batch: int = 0
    schema: pa.Schema | None = None
    """The columns of the rows, for rows that are given as dicts."""

    def __post_init__(self) -> None:
        self.nodes = self.nodes or self.make().nodes
        self.versions = {node: Version() for node in self.nodes}
        self.progress = Progress()
        self._before_us: int | None = None
        self._store = StateStore(self.files)

    def run(self, *batches: Rows, signals: Sequence[Signal] = (), crash: CrashPoint | None = None) -> pa.Table | None:
        """One micro-batch: rows, then signals. Returns the rows that left, None if there were none.

        Rows are columns by name, or, where the tester knows its `schema`, a list of dicts. Errors name the offsets of
        rows that have a column `_offset`. A chain of several sources is given rows as `LaneInput(rows, source=number)`.
        Raises Crash at a crash point.
        """
        inputs = [_as_input(self._in_columns(rows)) for rows in batches]
        return self._run(inputs, self.progress.watermark_us, crash, signals)

    def end(self) -> pa.Table | None:
        """The end of a bounded input: a micro-batch without rows, after every time."""
        return self._run([], END_OF_TIME_US, None)

    def table(self) -> pa.Table | None:
        """Everything that was committed."""
        return pa.Table.from_batches(self.rows) if self.rows else None

    @property
    def emitted(self) -> list[dict[str, Any]]:
        """The same as dicts."""
        return [row for batch in self.rows for row in batch.to_pylist()]

    def _in_columns(self, rows: Rows) -> pa.RecordBatch | pa.Table | Mapping[str, Sequence[Any]] | LaneInput:
        if not isinstance(rows, Sequence):
            return rows
        if self.schema is None:
            raise InvalidInput("rows are given as dicts, and the tester does not know their columns", hint="schema=…")
        return pa.RecordBatch.from_pylist([dict(row) for row in rows], schema=self.schema)

    def sweep(self) -> list[str]:
        """Removes state files that no commit names, as a start does."""
        return self._store.sweep({node: {self.lane: version} for node, version in self.versions.items()})

    def _run(
        self,
        batches: list[LaneInput],
        watermark_us: int | None,
        crash: CrashPoint | None,
        signals: Sequence[Signal] = (),
    ) -> pa.Table | None:
        moment = Moment(self.batch, watermark_us, self.clock.now_us, before_us=self._before_us)
        chain, versions = self.make(), self.versions
        times = self.event_times or [self.event_time] * chain.source_count
        run = LaneRun(chain, self._store, self.lane, moment, versions, event_times=times, signals=signals)
        self.files.tear = crash is not None and crash.while_writing
        try:
            made = list(run.rows(_until(batches, crash)))
            if crash is not None:
                raise Crash
        except BaseException:
            self.files.tear = False
            if crash is None or not crash.keeps_memory:
                self._store = StateStore(self.files)
            raise
        self._commit(run, made)
        self._before_us = watermark_us
        return pa.Table.from_batches(made) if made else None

    def _commit(self, run: LaneRun, made: list[pa.RecordBatch]) -> None:
        result = run.result
        self.versions = result.versions
        self.reports = result.reports
        self.handled = result.handled
        self.dead_letters += result.dead_letters
        self.rows += made
        self.progress = self.progress.advanced(result.latest_us, self.clock.now_us, self.delay_us, None)
        for signal in run.signals:
            if signal.kind == "advance_watermark":
                self.progress = self.progress.raised(watermark_us(signal.parameters))
        self.batch += 1
        # The next micro-batch may meet another worker: state that was changed and not saved is gone, here as there.
        self._store = StateStore(self.files)


def chain_tester(
    operator: SerialOperator[Any] | type[KeyedOperator[Any, Any, Any, Any]],
    columns: str,
    *,
    event_time: str | None = None,
    watermark: str = "0 seconds",
    **settings: Any,
) -> ChainTester:
    """A chain of this operator alone, for rows of these columns, such as `device STRING, ts TIMESTAMP`. A keyed class
    names its event time itself. Raises InvalidInput as validation does."""
    entry: SerialOperator[Any] = operator if isinstance(operator, SerialOperator) else entry_of(operator)
    time = event_time if isinstance(operator, SerialOperator) else operator.event_time
    schema = with_event_time(Schema.parse(columns), time)
    plan = ChainPlan.line([Node("it", entry.spec.name, settings)], schema)
    catalogue = Catalogue([entry])
    return ChainTester(
        lambda: plan.chain(catalogue),
        event_time=schema.event_time,
        delay_us=duration_ms(watermark) * 1000,
        schema=arrow_schema(schema),
    )


class Home(Protocol):
    """What `headrace.local()` gives, as far as a case needs it."""

    def create_topic(self, name: str) -> None: ...
    def produce(self, topic: str, rows: list[dict[str, Any]]) -> int: ...
    def start(self, pipeline: Any) -> Any: ...
    def wait_idle(self, pipeline: Any) -> bool: ...
    def stop(self, pipeline: Any) -> Any: ...
    def rows(self, topic: str) -> list[dict[str, Any]]: ...


def rows_on_spark(
    home: Home, make: Callable[[str, str], Any], *batches: pa.RecordBatch | pa.Table | Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """The same case on Spark: all rows that leave the pipeline that `make` builds between two topics, given by name.

    The rows of one batch are committed before those of the next are sent. Raises JobFailed when they are not.
    """
    source = f"case-{uuid4().hex[:12]}"
    sink = f"{source}-out"
    pipeline = make(source, sink)
    for topic in (source, sink):
        home.create_topic(topic)
    home.start(pipeline)
    try:
        for batch in batches:
            home.produce(source, _as_batch(batch).to_pylist())
            if not home.wait_idle(pipeline):
                raise JobFailed(f"rows of {source} are not committed, or the pipeline has ended")
    finally:
        home.stop(pipeline)
    return home.rows(sink)


def cut(rows: pa.RecordBatch | pa.Table, places: Iterable[int]) -> list[pa.RecordBatch]:
    """The rows in pieces, cut at these row numbers."""
    whole = rows if isinstance(rows, pa.RecordBatch) else _as_batch(rows)
    bounds = sorted({0, whole.num_rows, *(place for place in places if 0 < place < whole.num_rows)})
    return [whole.slice(start, end - start) for start, end in itertools.pairwise(bounds)]


def _until(batches: Iterable[LaneInput], crash: CrashPoint | None) -> Iterable[LaneInput]:
    for number, batch in enumerate(batches):
        if crash is not None and crash.after_batches == number:
            raise Crash
        yield batch


def _as_input(rows: pa.RecordBatch | pa.Table | Mapping[str, Sequence[Any]] | LaneInput) -> LaneInput:
    if isinstance(rows, LaneInput):
        return rows
    batch = _as_batch(rows)
    known = batch.schema.get_field_index("_offset") >= 0
    return LaneInput(batch, offsets=batch.column("_offset").to_numpy() if known else None)


def _as_batch(rows: pa.RecordBatch | pa.Table | Mapping[str, Sequence[Any]]) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    table = rows if isinstance(rows, pa.Table) else pa.table(dict(rows))
    arrays = [column.combine_chunks() for column in table.columns]
    return pa.record_batch([_one(array) for array in arrays], schema=table.schema)


def _one(array: Any) -> pa.Array[Any]:
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array

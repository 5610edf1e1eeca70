"""Sources written in Python as a Spark data source: one partition, offsets are row numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from headrace.operators.plugin_folder import use_plugin_folder
from headrace.operators.python_source import load_source
from headrace.serial.outside import RowSource, batches_of

if TYPE_CHECKING:
    import pyarrow as pa

# Under which the number of the next row stands in an offset.
ROW = "row"
Numbers = dict[str, int]


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where a source is, its settings, and the plugin folder that the pipeline was started with."""

    place: str
    settings: dict[str, Any] | None
    plugins: str | None

    def load(self) -> RowSource:
        """In a process of Spark."""
        use_plugin_folder(self.plugins)
        return load_source(self.place, self.settings)


class PythonDataSource(DataSource):
    """`spark.readStream.format("headrace-python")`: the compiler gives the schema and where the source is."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        settings = json.loads(options.get("settings", "null"))
        self.source = SourcePlace(options["source"], settings, options.get("plugins") or None)
        self.rows_max = int(options["max_rows"])

    @classmethod
    def name(cls) -> str:
        return "headrace-python"

    def streamReader(self, schema: StructType) -> PythonStreamReader:  # noqa: N802  (Spark's name)
        return PythonStreamReader(self.source, self.rows_max)

    def reader(self, schema: StructType) -> PythonRangeReader:
        return PythonRangeReader(self.source)


@dataclass(frozen=True)
class RowRange(InputPartition):
    """What a task reads: rows `start` to `end - 1`."""

    start: int
    end: int


class PythonStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in one process for as long as its query runs; `read` alone runs in the tasks."""

    def __init__(self, place: SourcePlace, rows_max: int) -> None:
        self._place = place
        self._rows_max = rows_max
        self._source: RowSource | None = None
        self._target: int | None = None

    def __getstate__(self) -> dict[str, object]:
        # Tasks make a source of their own.
        return {**vars(self), "_source": None, "_target": None}

    def initialOffset(self) -> Numbers:  # noqa: N802
        return {ROW: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._rows_max)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._end()

    def reportLatestOffset(self) -> Numbers:  # noqa: N802
        return {ROW: self._end()}

    def latestOffset(self, start: Numbers, limit: ReadLimit) -> Numbers:  # noqa: N802
        end = self._end() if self._target is None else self._target
        if not isinstance(limit, ReadAllAvailable):
            end = min(end, start[ROW] + self._rows_max)
        return {ROW: max(start[ROW], end)}

    def partitions(self, start: Numbers, end: Numbers) -> Sequence[RowRange]:
        return [RowRange(start[ROW], end[ROW])]

    def read(self, partition: RowRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return batches_of(self._place.load(), partition.start, partition.end)

    def _end(self) -> int:
        # Asked before every micro-batch, in one process: the source is made once there.
        self._source = self._source or self._place.load()
        return self._source.end()


class PythonRangeReader(DataSourceReader):
    """All rows that there are when a batch run is planned."""

    def __init__(self, place: SourcePlace) -> None:
        self._place = place

    def partitions(self) -> Sequence[RowRange]:
        return [RowRange(0, self._place.load().end())]

    def read(self, partition: RowRange) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        return batches_of(self._place.load(), partition.start, partition.end)

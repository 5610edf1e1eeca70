"""Tables as a Spark data source: no stream, but each micro-batch reads the version that stands among its offsets."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from headrace.spark.reading.table_versions import pinned, version_of
from headrace.spark.specs import BATCH_PROPERTY, OPTION, Offsets, TableSpec
from headrace.spark.writing.checkpoint import Checkpoint

if TYPE_CHECKING:
    import pyarrow as pa


class TableDataSource(DataSource):
    """`spark.read.format("headrace-table")`: the compiler gives the schema and the spec."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.spec = TableSpec.from_json(options[OPTION])

    @classmethod
    def name(cls) -> str:
        return "headrace-table"

    def reader(self, schema: StructType) -> TableReader:
        return TableReader(self.spec, schema)


class TableReader(DataSourceReader):
    """Spark asks for partitions once a query, so there is one: what it holds is decided when it is read."""

    def __init__(self, spec: TableSpec, schema: StructType) -> None:
        self.spec = spec
        self.schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Loaded in the tasks alone: the process that only plans starts sooner without Arrow.
        from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

        from headrace.spark.reading.table_copy import rows_at  # noqa: PLC0415

        columns = to_arrow_schema(self.schema, timezone="UTC")
        yield from rows_at(self.spec, columns, self._version()).to_batches()

    def _version(self) -> Offsets:
        """That of the batch run, or of the micro-batch that this task belongs to; the newest where no topic is read.

        Spark fills a broadcast before it hands the micro-batch to the writer: only what it has planned can tell.
        """
        if self.spec.end is not None:
            return self.spec.end
        context = TaskContext.get()
        batch = context.getLocalProperty(BATCH_PROPERTY) if context else None
        planned = Checkpoint(Path(self.spec.checkpoint or "")).offsets(int(batch or 0))
        return pinned(planned, self.spec.node) or version_of(self.spec.location)

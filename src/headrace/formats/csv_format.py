"""CSV: one line a record."""

from __future__ import annotations

import csv
import io
from typing import Any, cast

import pyarrow as pa

from headrace.formats.decoding import RowDecoder
from headrace.formats.times import TIMESTAMP, as_time


class CsvDecoder(RowDecoder):
    """One line a record, columns in the order of the declared schema."""

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        if values.null_count:
            raise ValueError("a record without a value")
        cells = [self._cells(value) for value in cast("list[bytes]", values.to_pylist())]
        columns = [self._column([row[index] for row in cells], field.type) for index, field in enumerate(self.schema)]
        return pa.record_batch(columns, schema=self.schema)

    def _cells(self, value: bytes) -> list[str | None]:
        rows = list(csv.reader(io.StringIO(value.decode())))
        if len(rows) != 1 or len(rows[0]) != len(self.schema):
            raise ValueError(f"not one line of {len(self.schema)} values")
        return [cell if cell else None for cell in rows[0]]

    @staticmethod
    def _column(cells: list[str | None], type_: pa.DataType) -> pa.Array[Any]:
        text = pa.array(cells, pa.string())
        return as_time(pa.chunked_array([text])).combine_chunks() if type_ == TIMESTAMP else text.cast(type_)
